module dut(input logic clk, output logic q);
  always_ff @(posedge clk) q <= missing;
endmodule
