`timescale 1ns / 1ps

// A FIFO that software enables and watches: CTRL[0] opens its input, STATUS shows its level.
module stream_buffer (
    input  wire        clk,
    input  wire        rst,

    input  wire [7:0]  s_axil_awaddr,
    input  wire [2:0]  s_axil_awprot,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0]  s_axil_wstrb,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output wire [1:0]  s_axil_bresp,
    output wire        s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [7:0]  s_axil_araddr,
    input  wire [2:0]  s_axil_arprot,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0]  s_axil_rresp,
    output wire        s_axil_rvalid,
    input  wire        s_axil_rready,

    input  wire        in_valid,
    input  wire [7:0]  in_data,
    output wire        in_ready,
    output wire        out_valid,
    output wire [7:0]  out_data,
    input  wire        out_ready,
    output wire        irq
);
    wire [31:0] ctrl;
    wire [3:0]  level;
    wire        full, empty;

`ifdef BUFFER_SYNTAX
    assign in_ready  = ctrl[0] && !full
`else
    assign in_ready  = ctrl[0] && !full;
`endif
    assign out_valid = !empty;

    axil_regs regs (
        .clk(clk),
        .rst(rst),
        .s_axil_awaddr(s_axil_awaddr),
        .s_axil_awprot(s_axil_awprot),
        .s_axil_awvalid(s_axil_awvalid),
        .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb),
        .s_axil_wvalid(s_axil_wvalid),
        .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid),
        .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr),
        .s_axil_arprot(s_axil_arprot),
        .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata),
        .s_axil_rresp(s_axil_rresp),
        .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .ctrl(ctrl),
        .status({28'd0, level}),
        .irq(irq)
    );

    sync_fifo fifo (
        .clk(clk),
        .rst(rst),
        .wr_en(in_valid && in_ready),
        .wr_data(in_data),
        .full(full),
        .rd_en(out_ready),
        .rd_data(out_data),
        .empty(empty),
        .level(level)
    );
endmodule
