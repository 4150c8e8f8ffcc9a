library ieee;
use ieee.std_logic_1164.all;

entity missing_module is
  port (clk : in std_logic);
end entity;

architecture rtl of missing_module is
begin
  u_sub : entity work.missing_sub port map (clk => clk);
end architecture;
