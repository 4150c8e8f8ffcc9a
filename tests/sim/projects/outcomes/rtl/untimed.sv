// No timescale: Icarus counts in whole seconds.
module untimed (
  input logic clk
);
endmodule
