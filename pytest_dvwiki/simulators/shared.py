"""Options that programs of several vendors share, because users expect them of every Verilog tool."""

from pytest_dvwiki.simulators.tool import options

COMPILER = options(
    list="-f -file", list_beside="-F", source="-v", library="-y", word="-work -l -timescale -pli -lib -L -t"
)
GENERICS = options(parameter="-g -G")
LOADER = options(
    list="-f",
    parameter="-g -G",
    word="-do -onfinish -pli -foreign -t -lib -work -L -Lf -l -wlf -sv_lib -sv_seed -modelsimini -loadvpi -loadvhpi"
    " -gblso -title -coverstore -testname",
)
"""Options of a simulator that loads a design from a library by the name of its top."""
