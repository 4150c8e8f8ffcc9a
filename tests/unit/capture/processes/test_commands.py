"""The commands behind a shell, `timeout` and their like are found, with folder, variables and log."""

from __future__ import annotations

import pytest

from pytest_dvwiki.capture.processes.commands import SimpleCommand, commands

MAKE = SimpleCommand(words=("make",), folder="/tb")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["make", "-C", "fifo"], [SimpleCommand(words=("make", "-C", "fifo"), folder="/tb")]),
        (["sh", "-c", "make"], [MAKE]),
        (["timeout", "600", "make"], [MAKE]),
        (["/usr/bin/timeout", "-k", "5", "--foreground", "10m", "make"], [MAKE]),
        (["nice", "-n", "10", "timeout", "-s", "KILL", "60", "make"], [MAKE]),
        (
            ["env", "-u", "X", "SIM=icarus", "make"],
            [SimpleCommand(words=("make",), folder="/tb", variables={"SIM": "icarus"})],
        ),
        (["env", "-C", "fifo", "make"], [SimpleCommand(words=("make",), folder="/tb/fifo")]),
        (["timeout", "9", "sh", "-ec", "make"], [MAKE]),
    ],
)
def test_the_command_behind_programs_that_run_another(words: list[str], found: list[SimpleCommand]) -> None:
    assert commands(words, "/tb") == found


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("cd fifo && make", [SimpleCommand(words=("make",), folder="/tb/fifo")]),
        ("cd /sim\nmake \\\n all", [SimpleCommand(words=("make", "all"), folder="/sim")]),
        ("(cd a && make); make", [SimpleCommand(words=("make",), folder="/tb/a"), MAKE]),
        ("mkdir -p out; make | tee out/log", [MAKE]),
        ("RANDOM_SEED=3 make", [SimpleCommand(words=("make",), folder="/tb", variables={"RANDOM_SEED": "3"})]),
        ("export RANDOM_SEED=3; make", [SimpleCommand(words=("make",), folder="/tb", variables={"RANDOM_SEED": "3"})]),
        ("if ! make clean; then make; fi", [SimpleCommand(words=("make", "clean"), folder="/tb"), MAKE]),
        ("cd a; make > sim.log 2>&1", [SimpleCommand(words=("make",), folder="/tb/a", outputs=("/tb/a/sim.log",))]),
        ("make < /dev/null >& all.log", [SimpleCommand(words=("make",), folder="/tb", outputs=("/tb/all.log",))]),
        ("make 'A=x;y'", [SimpleCommand(words=("make", "A=x;y"), folder="/tb")]),
    ],
)
def test_the_commands_of_a_script(script: str, found: list[SimpleCommand]) -> None:
    assert commands(["bash", "-c", script], "/tb") == found


@pytest.mark.parametrize(
    "words", [[], ["sh", "run.sh"], ["sh", "-c"], ["timeout"], ["sh", "-c", "make '"], ["sh", "-c", "true"]]
)
def test_what_cannot_be_taken_apart_stays_as_it_is(words: list[str]) -> None:
    assert commands(words, "/tb") == [SimpleCommand(words=tuple(words), folder="/tb")]


def test_a_script_without_end_gives_a_bounded_number() -> None:
    assert len(commands(["sh", "-c", "make;" * 5000], "/tb")) <= 32
