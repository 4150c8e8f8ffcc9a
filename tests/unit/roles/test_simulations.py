"""What the simulations of an item have in common, for a failure of the item itself."""

from __future__ import annotations

from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
from pytest_dvwiki.model import Simulator
from pytest_dvwiki.roles.reports import Simulated
from pytest_dvwiki.roles.simulations import _same_in_all

ONE = SimulationOutcome(
    simulator=Simulator(name="icarus"), config="0123456789ab", seed="1", reads=("rtl/a.sv", "test_a.py"), directed=True
)
ALL = Simulated(simulator="icarus", config="0123456789ab", seed="1", reads=ONE.reads, directed=True)


def test_one_simulation_gives_everything() -> None:
    assert _same_in_all([ONE], is_complete=True) == ALL


def test_different_seeds_leave_the_seed_unknown() -> None:
    found = _same_in_all([ONE, replace(ONE, seed="2", reads=("rtl/b.sv",), directed=False)], is_complete=True)
    assert found == replace(ALL, seed=None, reads=("rtl/a.sv", "test_a.py", "rtl/b.sv"), directed=False)


def test_different_configurations_leave_simulator_and_seed_unknown() -> None:
    found = _same_in_all([ONE, replace(ONE, config="ba9876543210")], is_complete=True)
    assert (found.simulator, found.config, found.seed) == (None, None, None)


def test_the_files_read_are_known_only_if_those_of_all_simulations_are() -> None:
    assert _same_in_all([ONE, replace(ONE, reads=())], is_complete=True).reads == ()


def test_a_simulation_whose_results_are_gone_may_have_had_another_seed() -> None:
    assert _same_in_all([ONE], is_complete=False) == Simulated(simulator="icarus", config="0123456789ab")
