`include "nothere.svh"
module top; initial $display(`NOPE); endmodule
