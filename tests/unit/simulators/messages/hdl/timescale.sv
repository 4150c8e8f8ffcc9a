module top; endmodule
`timescale 1ns/1ps
module a; initial begin : b end c endmodule
