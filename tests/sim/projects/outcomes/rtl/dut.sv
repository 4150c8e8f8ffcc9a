`timescale 1ns/1ps
// One register, and a switch for each way in which a design ends or disturbs a simulation.
module dut (
  input  logic       clk,
  input  logic       rst_n,
  input  logic       overflow,
  input  logic       stop,
  input  logic       complain,
  input  logic [7:0] d,
  output logic [7:0] q,
  output logic [7:0] unset,
  output logic       ready
);
  assign ready = 1'b0;

  always @(posedge clk) begin
    if (!rst_n) q <= 8'h00;
    else        q <= d + 8'h01;
  end

  always @(posedge clk) begin
    if (overflow) $fatal(1, "FIFO overflow detected, fill %0d", q);
    if (stop)     $finish;
    if (complain) $error("q reached %0d", q);
  end
endmodule
