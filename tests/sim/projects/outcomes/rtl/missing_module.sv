`timescale 1ns/1ps
module missing_module (
  input logic clk
);
  missing_sub u_sub (.clk(clk));
endmodule
