import nopkg::*;
module top; cls_t c; import p2::x; initial nopkg::f(); endmodule
