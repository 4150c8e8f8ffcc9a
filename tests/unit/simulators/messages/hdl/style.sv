module Dut(input a);
	always @(a) begin q = 1;  end 
  initial $random;
endmodule