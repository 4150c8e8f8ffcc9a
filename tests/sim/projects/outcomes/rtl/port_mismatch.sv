`timescale 1ns/1ps
module stage (
  input logic clk
);
endmodule

module port_mismatch (
  input logic clk
);
  stage u_stage (.clk(clk), .nope(clk));
endmodule
