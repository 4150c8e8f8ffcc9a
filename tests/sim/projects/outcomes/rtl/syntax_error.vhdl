library ieee;
use ieee.std_logic_1164.all;

entity syntax_error is
  port (clk : in std_logic; q : out std_logic);
end entity;

architecture rtl of syntax_error is
begin
  q <= clk
end architecture;
