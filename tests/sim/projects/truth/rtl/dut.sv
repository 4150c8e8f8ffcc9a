`timescale 1ns/1ps
module dut #(parameter WIDTH = 8) (input clk, input [7:0] d, output reg [WIDTH-1:0] q);
  always @(posedge clk) q <= d;
endmodule
