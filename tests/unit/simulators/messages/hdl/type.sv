class c; rand int a; endclass
interface bus_if; logic v; modport m(input v); endinterface
module top; c o; bus_if b(); initial begin int i; i = o; o.nofield = 1; o.f(); b.zz = 1; end
 enum {A,B} e; initial e = 3; function int f(int x); endfunction initial f(1,2);
endmodule
