"""The command on terminal and page gives the same cause in a new clone with a minimal environment."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from . import pasted
from .harness import Archive, Project, environment, missing
from .outcomes import Session, sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from .harness import Call, Cause, Record

pytestmark = [pytest.mark.sim, pytest.mark.timeout(1800)]

INSIDE = "blocks/outcomes"
"""Folder of the project in its repository."""
NATIVE = ("-p", "cocotb_tools._pytest.plugin", "--cocotb-simulator=icarus")
ONE_A_FLOW: Mapping[str, tuple[str, Sequence[str]]] = {
    "R": ("ghdl", ("outcomes/test_runner.py::test_fatal", "--timeout", "100")),
    "N": ("icarus", ("outcomes/test_native_more.py::test_seeds", *NATIVE)),
    "C": ("icarus", ("outcomes/test_cocotb_test.py::test_fatal",)),
    "M": ("icarus", ("test_fatal",)),
    "P": ("icarus", ("outcomes/test_plain.py::test_assert",)),
}
"""For each flow a simulator, and what to run from the folder above the project; for flow M, what `regress.py` runs."""


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=one", "-c", "user.email=one@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def origin(shared: Path) -> Path:
    """Return the repository with the project."""
    folder = shared / "origin"
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            made = Project.copy("outcomes", folder / INSIDE).folder
            subprocess.run([sys.executable, "regress.py", "--places"], cwd=made, check=True)
            (folder / ".gitignore").write_text(".agent/\nsim_build/\n__pycache__/\nresults.xml\n*.log\n")
            git(folder, "init", "-q")
            git(folder, "add", "-A")
            git(folder, "commit", "-qm", "project")
    return folder


def clone(shared: Path, folder: Path) -> Path:
    """Return a new clone."""
    shutil.rmtree(folder, ignore_errors=True)
    git(shared, "clone", "-q", str(origin(shared)), str(folder))
    return folder


def record_in(folder: Path) -> Record:
    return Archive(folder / INSIDE / ".agent").record


def printed(call: Call) -> list[str]:
    return pasted.on_terminal(call.output.partition(" dvwiki ")[2] or call.output)


def on_page(folder: Path, cause: Cause) -> str:
    """Return the command that the page of a cause shows."""
    for path in (folder / INSIDE / ".agent" / "wiki" / "bugs").glob("[A-Z]*.md"):
        text = path.read_text(encoding="utf-8")
        if f"fingerprint: {cause.fingerprint}" in text.replace('"', ""):
            return pasted.on_page(text)
    # A cause in the environment alone has no page.
    command = cause.command
    assert command is not None
    words = [
        f'{name}="{value}"' if "$PWD" in value else f"{name}={shlex.quote(value)}"
        for name, value in command["variables"].items()
    ]
    line = " ".join([*words, shlex.join(command["arguments"])])
    return f'cd "$(git rev-parse --show-toplevel)"/{command["folder"]} && {line}'


def paste(line: str, folder: Path, here: str, *, flow: str, cause: Cause, simulator: str | None) -> Record:
    """Run a command with a minimal environment, and return the causes.

    Args:
        line: The command.
        folder: The clone.
        here: Current folder in the clone.
        flow: Flow of the cause; a Makefile's output is archived afterwards.
        cause: The expected cause.
        simulator: The simulator on the path.
    """
    env = pasted.bare(simulator)
    call = pasted.paste(line, folder / here, env)
    if flow == "M":
        item = cause.tests[0].nodeid.removeprefix("made/").partition("/")[0].partition("::")[0]
        (folder / INSIDE / "made" / item / "make.log").write_text(call.output, encoding="utf-8")
        words = [sys.executable, "-m", "pytest_dvwiki", "ingest", "--root", ".", f"made/{item}"]
        call = Project(folder / INSIDE).call(words, env)
    assert Archive(folder / INSIDE / ".agent").records, f"{line}\n{call.output}"
    return record_in(folder)


def complaint(line: str, cause: Cause, again: Record) -> str:
    return pasted.complaint(line, cause, again.causes)


@pytest.mark.parametrize("flow", ONE_A_FLOW)
def test_the_printed_command_gives_the_same_cause_wherever_it_is_pasted(
    shared: Path, tmp_path: Path, flow: str
) -> None:
    simulator, words = ONE_A_FLOW[flow]
    if reason := missing(simulator):
        pytest.skip(reason)
    if flow == "C":
        pytest.importorskip("cocotb_test")
    folder = clone(shared, tmp_path / "first")
    variables = environment(simulator, {"COCOTB_RANDOM_SEED": "77"})
    if flow == "M":
        inside = Project(folder / INSIDE)
        inside.call([sys.executable, "regress.py", *words], variables)
        user = "blocks/outcomes/bench"
        ingest = ("ingest", "--root", "..", "../made")
        call = Project(folder / user).call([sys.executable, "-m", "pytest_dvwiki", *ingest], environment(simulator))
    else:
        user = "blocks"
        call = Project(folder / user).call([sys.executable, "-m", "pytest", "--dvwiki", *words], variables)
    causes = record_in(folder).causes
    commands = printed(call)
    assert len(commands) == len(causes) > 0, call.output
    # The terminal shows the causes with most tests first, as the record does.
    cause = causes[0]
    first = clone(shared, tmp_path / "again")
    told: dict[str, Any] = {"flow": flow, "cause": cause, "simulator": simulator}
    assert not complaint(commands[0], cause, paste(commands[0], first, user, **told))
    line = on_page(folder, cause)
    # The table below tests the other flows.
    for place in {"P": (".", f"{INSIDE}/rtl"), "M": (f"{INSIDE}/rtl",)}.get(flow, ()):
        again = paste(line, clone(shared, tmp_path / "again"), place, **told)
        assert not complaint(line, cause, again)


@pytest.mark.further_mode
def test_cocotb_s_plugin_that_a_conftest_loads_is_there_in_the_simulator_too(tmp_path: Path) -> None:
    """If one name is a part of another, the pytest in the simulator gets other arguments."""
    if reason := missing("icarus"):
        pytest.skip(reason)
    folder = tmp_path / "repository" / INSIDE
    made = Project.copy("outcomes", folder).folder
    (made / "tb").mkdir()
    (made / "conftest.py").unlink()
    (made / "tb" / "conftest.py").write_text('pytest_plugins = ("cocotb_tools._pytest.plugin",)\n')
    (made / "tb" / "parts_bench.py").write_text(
        "import cocotb\nfrom cocotb.triggers import Timer\n\n\n@cocotb.test()\nasync def wrap(dut):\n"
        '    await Timer(10, "ns")\n    assert False, "ready never rose"\n\n\n@cocotb.test()\n'
        'async def wrap_around(dut):\n    await Timer(10, "ns")\n'
    )
    (made / "tb" / "test_parts.py").write_text(
        "import sys\nfrom pathlib import Path\n\nimport pytest\n\n"
        "sys.path.insert(0, str(Path(__file__).parent))\n\n\n"
        '@pytest.mark.cocotb_runner("parts_bench")\ndef test_run(hdl):\n    hdl.toplevel = "dut"\n'
        '    hdl.sources = [Path(__file__).parents[1] / "rtl" / "dut.sv"]\n    hdl.build(always=True)\n    hdl.test()\n'
    )
    git(tmp_path / "repository", "init", "-q")
    project = Project(made)
    call = project.run("tb", "--cocotb-simulator=icarus")
    (cause,) = project.archive.record.causes
    (line,) = printed(call)
    assert "--cocotb-pytest-args" in line
    shutil.rmtree(made / ".agent")
    again = paste(line, tmp_path / "repository", INSIDE, flow="N", cause=cause, simulator="icarus")
    assert not complaint(line, cause, again)
    assert again.totals["passed"] == 0  # the other test is deselected


# The whole table


FURTHER = [name for name, session in sessions().items() if session.simulator != "verilator"]


@pytest.mark.further_mode
@pytest.mark.parametrize("name", [*FURTHER, "verilator"])
def test_every_command_of_the_table_gives_its_cause_again(shared: Path, tmp_path: Path, name: str) -> None:
    session = sessions()[name]
    if reason := missing(session.simulator):
        pytest.skip(reason)
    folder = clone(shared, tmp_path / "first")
    call = run(session, folder)
    record = record_in(folder)
    complaints = list(_complaints(shared, tmp_path, folder, session, record))
    assert not complaints, "\n".join([*complaints, call.output[-2000:]])


def run(session: Session, folder: Path) -> Call:
    (folder / INSIDE / ".agent").mkdir()  # by which `dvwiki ingest` knows the project's root
    return session.run(Project(folder / INSIDE), session.modes[0])


def _complaints(shared: Path, tmp_path: Path, folder: Path, session: Session, record: Record) -> Iterator[str]:
    for number, cause in enumerate(record.causes):
        if cause.command is None:
            if not cause.unreproducible:
                yield f"{cause.label} {cause.primary!r} has neither a command nor a reason"
            continue
        line = on_page(folder, cause)
        # Alternately from the root and from a folder in it, since each takes a simulation.
        here = (".", f"{INSIDE}/rtl")[number % 2]
        clone(shared, tmp_path / "again")
        again = paste(line, tmp_path / "again", here, flow=session.flow, cause=cause, simulator=session.simulator)
        if said := complaint(line, cause, again):
            yield said
