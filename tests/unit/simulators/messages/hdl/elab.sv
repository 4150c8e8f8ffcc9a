module top #(parameter W=3); if (W > 2) $error("width %0d too wide", W); $fatal(1, "no"); initial assert (W==1); static_assert_: assert final(1); endmodule
