`timescale 1ns / 1ps

// Four 32-bit registers behind AXI4-Lite:
//   0x00 CTRL     read and write; bit 0 enables the block, bit 1 its interrupt
//   0x04 SCRATCH  read and write
//   0x08 STATUS   read only, the input `status`
//   0x0C ID       read only
// A write to a read-only register answers SLVERR, any other address DECERR.
module axil_regs (
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
    output reg  [1:0]  s_axil_bresp,
    output reg         s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [7:0]  s_axil_araddr,
    input  wire [2:0]  s_axil_arprot,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output reg  [31:0] s_axil_rdata,
    output reg  [1:0]  s_axil_rresp,
    output reg         s_axil_rvalid,
    input  wire        s_axil_rready,

    output reg  [31:0] ctrl,
    input  wire [31:0] status,
    output wire        irq
);
    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10, DECERR = 2'b11;
    localparam [5:0] CTRL = 0, SCRATCH = 1, STATUS = 2, ID = 3;

    reg fault_no_bvalid, fault_ctrl_no_reset, fault_ro_okay, fault_debug_finish;
    initial begin
        fault_no_bvalid = $test$plusargs("regs_no_bvalid") != 0;
        fault_ctrl_no_reset = $test$plusargs("regs_ctrl_no_reset") != 0;
        fault_ro_okay = $test$plusargs("regs_ro_okay") != 0;
        fault_debug_finish = $test$plusargs("regs_debug_finish") != 0;
    end

    reg [31:0] scratch;

    assign irq = ctrl[1] && status != 0;

    // Write: address and data are taken in any order, then answered.
    reg         have_addr, have_data, data_first;
    reg  [7:0]  waddr;
    reg  [31:0] wdata;
    reg  [3:0]  wstrb;
    wire        write = have_addr && have_data && !s_axil_bvalid;
    wire [31:0] mask = {{8{wstrb[3]}}, {8{wstrb[2]}}, {8{wstrb[1]}}, {8{wstrb[0]}}};

    assign s_axil_awready = !have_addr;
    assign s_axil_wready  = !have_data;

    always @(posedge clk) begin
        if (s_axil_awvalid && s_axil_awready) begin
            have_addr  <= 1;
            waddr      <= s_axil_awaddr;
            data_first <= have_data;
        end
        if (s_axil_wvalid && s_axil_wready) begin
            have_data <= 1;
            wdata     <= s_axil_wdata;
            wstrb     <= s_axil_wstrb;
        end
        if (s_axil_bvalid && s_axil_bready) s_axil_bvalid <= 0;
        if (write) begin
            have_addr     <= 0;
            have_data     <= 0;
            s_axil_bvalid <= !(fault_no_bvalid && data_first);
            s_axil_bresp  <= OKAY;
            case (waddr[7:2])
                CTRL:       ctrl <= (ctrl & ~mask) | (wdata & mask);
                SCRATCH:    scratch <= (scratch & ~mask) | (wdata & mask);
                STATUS, ID: s_axil_bresp <= fault_ro_okay ? OKAY : SLVERR;
                default:    s_axil_bresp <= DECERR;
            endcase
        end
        if (rst) begin
            have_addr     <= 0;
            have_data     <= 0;
            s_axil_bvalid <= 0;
            scratch       <= 0;
            if (!fault_ctrl_no_reset) ctrl <= 0;
        end
    end

    // Read: one answer at a time.
    assign s_axil_arready = !s_axil_rvalid;

    always @(posedge clk) begin
        if (s_axil_rvalid && s_axil_rready) s_axil_rvalid <= 0;
        if (s_axil_arvalid && s_axil_arready) begin
            s_axil_rvalid <= 1;
            s_axil_rresp  <= OKAY;
            case (s_axil_araddr[7:2])
                CTRL:    s_axil_rdata <= ctrl;
                SCRATCH: s_axil_rdata <= scratch;
                STATUS:  s_axil_rdata <= status;
                ID:      s_axil_rdata <= 32'h5D1C_0001;
                default: begin
                    s_axil_rdata <= 0;
                    s_axil_rresp <= DECERR;
                    if (fault_debug_finish) $finish;
                end
            endcase
        end
        if (rst) s_axil_rvalid <= 0;
    end
endmodule
