`timescale 1ns/1ps
module dut (
  input  logic       clk,
  output logic [7:0] q
);
  always @(posedge clk) q <= ;
endmodule
