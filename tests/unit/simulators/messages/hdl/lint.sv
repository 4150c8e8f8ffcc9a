module top(input logic a, output logic q); logic unused; always_comb begin case(a) 1'b0: q = 1; endcase end
 always_latch if (a) q = 1; endmodule
