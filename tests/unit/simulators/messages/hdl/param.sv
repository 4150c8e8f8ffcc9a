module sub #(parameter int W) (); endmodule
module top; sub u(); localparam int X = 1/0; logic [X:0] y; int n; logic [n:0] z; endmodule
