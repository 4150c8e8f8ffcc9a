module sub(input logic a); endmodule
module top; logic x; sub #(.W(3)) u(.b(x)); sub v(.a(x), .a(x)); endmodule
