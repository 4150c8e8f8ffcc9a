library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

-- The VHDL twin of dut.sv, as far as its kinds need it.
entity dff is
  port (
    clk      : in  std_logic;
    rst_n    : in  std_logic;
    overflow : in  std_logic;
    complain : in  std_logic;
    d        : in  std_logic_vector(7 downto 0);
    q        : out std_logic_vector(7 downto 0);
    unset    : out std_logic_vector(7 downto 0);
    ready    : out std_logic
  );
end entity;

architecture rtl of dff is
begin
  ready <= '0';

  process (clk)
  begin
    if rising_edge(clk) then
      if rst_n = '0' then
        q <= (others => '0');
      else
        q <= std_logic_vector(unsigned(d) + 1);
      end if;
      assert overflow /= '1' report "FIFO overflow detected" severity failure;
      assert complain /= '1' report "q changed" severity error;
    end if;
  end process;
end architecture;
