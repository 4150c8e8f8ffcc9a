`timescale 1ns/1ps
`include "defs.svh"
module dut #(parameter WIDTH = 8) (input clk, output reg [WIDTH-1:0] q);
  initial q = 0;
  always @(posedge clk) q <= q + `STEP;
endmodule
