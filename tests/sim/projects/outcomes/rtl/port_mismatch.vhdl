library ieee;
use ieee.std_logic_1164.all;

entity stage is
  port (clk : in std_logic);
end entity;

architecture rtl of stage is
begin
end architecture;

library ieee;
use ieee.std_logic_1164.all;

entity port_mismatch is
  port (clk : in std_logic);
end entity;

architecture rtl of port_mismatch is
begin
  u_stage : entity work.stage port map (clk => clk, nope => clk);
end architecture;
