module dut(input logic clk, output logic q);
  always_ff @(posedge clk) q <= 1
endmodule
