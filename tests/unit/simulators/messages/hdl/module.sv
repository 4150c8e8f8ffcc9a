module top; fifo #(.W(3)) u(.a(1)); endmodule
