`timescale 1ns/1ps
// One register that counts up, and a switch that makes it give up.
module dut (
  input  logic       clk,
  input  logic       rst_n,
  input  logic       overflow,
  input  logic [7:0] d,
  output logic [7:0] q,
  output logic       ready
);
  assign ready = 1'b0;

  always @(posedge clk) begin
    if (!rst_n) q <= 8'h00;
    else        q <= d + 8'h01;
    if (overflow) $fatal(1, "FIFO overflow detected, fill %0d", q);
  end
endmodule
