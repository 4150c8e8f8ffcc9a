module top(input logic a, output logic q);
  assign a = 1; assign q = 0; always_comb q = 1; const int c = 3; initial c = 4;
  logic [3:0] n; assign n = 8'hff; initial n[9] = 1;
  initial foo(); initial n.bar = 3;
endmodule
