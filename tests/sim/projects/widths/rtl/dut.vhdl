library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity dut is
  generic (WIDTH : integer := 8);
  port (clk : in std_logic; q : out unsigned(WIDTH - 1 downto 0));
end entity;

architecture rtl of dut is
  signal count : unsigned(WIDTH - 1 downto 0) := (others => '0');
begin
  q <= count;
  process (clk)
  begin
    if rising_edge(clk) then
      count <= count + 1;
    end if;
  end process;
end architecture;
