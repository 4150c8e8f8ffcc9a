module top; logic a; logic a; int i = "x"; string s = 3; endmodule
module top; endmodule
