`ifndef COUNTER_NO_TIMESCALE
`timescale 1ns / 1ps
`endif

// Counts the rising edges of `event_in`, an input of another clock domain.
module event_counter #(
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             event_in,
    output reg  [WIDTH-1:0] count
);
    reg [2:0] sync;

    always @(posedge clk) begin
        sync <= {sync[1:0], event_in};
        if (sync[1] && !sync[2]) count <= count + 1'b1;
        if (rst) begin
            sync  <= 0;
            count <= 0;
        end
    end
endmodule
