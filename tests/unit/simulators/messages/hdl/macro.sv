`include "x.svh"
module a;
`FOO(
