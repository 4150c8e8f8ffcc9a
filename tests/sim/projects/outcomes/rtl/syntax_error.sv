`timescale 1ns/1ps
module syntax_error (
  input  logic clk,
  output logic q
);
  always @(posedge clk) begin
    q <= ;
  end
endmodule
