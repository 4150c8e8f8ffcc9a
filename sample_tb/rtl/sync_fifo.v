`timescale 1ns / 1ps

// Synchronous FIFO, first word falls through: `rd_data` is valid while `empty` is low.
// DEPTH is a power of two.
module sync_fifo #(
    parameter WIDTH = 8,
    parameter DEPTH = 8
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire                   wr_en,
    input  wire [WIDTH-1:0]       wr_data,
    output wire                   full,
    input  wire                   rd_en,
    output wire [WIDTH-1:0]       rd_data,
    output wire                   empty,
    output wire [$clog2(DEPTH):0] level
);
    localparam ADDR = $clog2(DEPTH);
    localparam [ADDR:0] CAPACITY = DEPTH;
    localparam [ADDR:0] ONE = 1;

    reg fault_drop, fault_late_full;
    initial begin
        fault_drop = $test$plusargs("fifo_drop") != 0;
        fault_late_full = $test$plusargs("fifo_late_full") != 0;
    end

    reg [WIDTH-1:0] memory [0:DEPTH-1];
    // One bit wider than an address, so that full and empty differ.
    reg [ADDR:0] wr_ptr, rd_ptr;

    assign level   = wr_ptr - rd_ptr;
    assign empty   = level == 0;
    assign rd_data = memory[rd_ptr[ADDR-1:0]];
    assign full    = fault_late_full ? level > CAPACITY : level == CAPACITY;

    wire read  = rd_en && !empty;
    wire write = wr_en && !full && !(fault_drop && read && level == ONE);

    always @(posedge clk) begin
        if (rst) begin
            wr_ptr <= 0;
            rd_ptr <= 0;
        end else begin
            if (write) begin
                memory[wr_ptr[ADDR-1:0]] <= wr_data;
                wr_ptr <= wr_ptr + ONE;
            end
            if (read) rd_ptr <= rd_ptr + ONE;
        end
    end

    always @(posedge clk)
        if (!rst && write && level == CAPACITY)
            $fatal(1, "FIFO overflow: write of 0x%02x at level %0d", wr_data, level);
endmodule
