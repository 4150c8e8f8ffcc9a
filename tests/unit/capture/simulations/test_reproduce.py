"""The command follows from the user's call of pytest; tests/sim/test_commands.py runs such commands."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.simulations.reproduce import STRICT, Call, again, native, options_of, pytest_call
from pytest_dvwiki.settings import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

NODEID = "tests/test_fifo.py::test_fifo"


def chosen(filter_: str, *tests: str) -> list[str]:
    """Return the tests that a filter selects, by cocotb's full names."""
    return [test for test in tests if re.search(filter_, test)]


def test_it_names_seed_test_and_item() -> None:
    command = again(Call(), NODEID, test="overflow", seed="42")
    assert command.variables == {"COCOTB_RANDOM_SEED": "42", "COCOTB_TEST_FILTER": "\\.overflow$"}
    assert command.arguments == ("pytest", NODEID)


def test_a_test_whose_name_ends_in_the_name_is_not_chosen() -> None:
    told = again(Call(), NODEID, test="overflow").variables["COCOTB_TEST_FILTER"]
    assert chosen(told, "t.overflow", "t.no_overflow", "t.overflow_again") == ["t.overflow"]


def test_a_module_is_told_apart_where_it_is_given() -> None:
    told = again(Call(), NODEID, test="overflow", module="pkg.t").variables["COCOTB_TEST_FILTER"]
    assert chosen(told, "pkg.t.overflow", "other.overflow", "pkg_t.overflow") == ["pkg.t.overflow"]


@pytest.mark.parametrize("test", ["par/x=1.5/y=a+b", "größe", "it's", "a b", "$(touch x)", "a|b", "x[0]*"])
def test_any_name_survives_the_expression_also_in_a_makefile(test: str) -> None:
    told = again(Call(), NODEID, test=test).variables["COCOTB_TEST_FILTER"]
    assert chosen(told, f"t.{test}", "t.a", "t.x0") == [f"t.{test}"]
    of_make = again(Call(arguments=("make",), items=None), "sim", test=test).variables["COCOTB_TEST_FILTER"]
    assert f"t.{test}" in chosen(of_make.replace("$$", "$"), f"t.{test}", "t.a")
    # make passes it to a shell without quotes.
    assert not set(of_make) & set(" '\"\\()|;&<>`")


def test_cocotb_1_9_has_variables_of_its_own() -> None:
    command = again(Call(), NODEID, test="bad", seed="7", cocotb="1.9.2")
    assert command.variables == {"RANDOM_SEED": "7", "TESTCASE": "bad"}


def test_strict_logs_are_switched_on_again() -> None:
    assert again(Call(), NODEID, strict=True).arguments == ("pytest", NODEID, *STRICT)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("tests -k 'a or b' -x -n 2 --dist loadfile --timeout=5", "--timeout=5"),
        ("-p no:timeout -pxdist -c tests/pytest.ini -x", "-p no:timeout -pxdist -c tests/pytest.ini"),
        ("--rootdir . -o x=1 -v", "--rootdir . -o x=1"),
        ("-xvs -rA -kfoo -m slow --tb short --maxfail 1 --sim=questa", "--sim=questa"),
        ("--junitxml out.xml --junitxml=out.xml -q --lf --cov tests --cov", ""),
        ("--dvwiki --dvwiki-task nightly --dvwiki-tee=no --runxfail", "--runxfail"),
        (" ".join(f"{each.flag}{' x' * (not each.is_switch)}" for each in OPTIONS if each.flag), ""),
        ("--cocotb-seed=5 --cocotb-parameters A=1 B=2", "--cocotb-parameters A=1 B=2"),
        ("-xk name -vv --deselect tests/a.py::b --import-mode importlib", "--import-mode importlib"),
        ("-n 2 -- tests", ""),
    ],
)  # fmt: skip
def test_options_that_matter_are_kept_and_no_others(line: str, kept: str) -> None:
    words = shlex.split(line)
    items = [word for word in words if word == "tests" and "--cov" not in words]
    assert options_of(words, items) == shlex.split(kept)


def called(root: Path, here: Path, *words: str, **changes: object) -> Call:
    values: dict[str, object] = {"configuration": None, "items": (), "environment": {}}
    return pytest_call(words, root=root, here=here, **values | changes)  # type: ignore[arg-type]  # values of the arguments


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with two projects."""
    for folder in (".git", "blocks/fifo/tests", "blocks/uart"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_it_starts_from_the_folder_where_pytest_was_called(repository: Path) -> None:
    root = repository / "blocks" / "fifo"
    command = called(root, root / "tests").command(NODEID)
    assert (command.folder, command.arguments) == ("blocks/fifo/tests", ("pytest", "test_fifo.py::test_fifo"))
    above = called(root, repository).command("tests/test_x.py::test_a[b/../c]")
    assert (above.folder, above.arguments[1]) == (".", "blocks/fifo/tests/test_x.py::test_a[b/../c]")
    assert above.in_repository


def test_a_call_from_outside_of_the_repository_starts_from_the_root(repository: Path) -> None:
    root = repository / "blocks" / "fifo"
    command = called(root, repository.parent, f"--sim-root={root}/tests").command(NODEID)
    assert (command.folder, command.arguments) == ("blocks/fifo", ("pytest", NODEID, "--sim-root=tests"))


def test_without_a_repository_the_workspace_root_is_the_top(tmp_path: Path) -> None:
    command = called(tmp_path, tmp_path).command(NODEID)
    assert (command.folder, command.in_repository) == (".", False)


def test_the_variables_that_choose_are_kept(repository: Path) -> None:
    environment = {
        "SIM": "ghdl",
        "TOPLEVEL_LANG": "vhdl",
        "PYTHONPATH": f"{repository}/lib:/opt/other:{repository}/blocks/fifo",
        "PYTEST_ADDOPTS": "--timeout 30 -n 4",
        "HOME": "/home/x",
        "SIM_ARGS": "+key=AKIAABCDEFGHIJKLMNOP",
        "COCOTB_RANDOM_SEED": "5",
    }
    command = called(repository / "blocks/fifo", repository / "blocks/fifo", environment=environment).command(NODEID)
    assert command.variables == {
        "SIM": "ghdl",
        "TOPLEVEL_LANG": "vhdl",
        "SIM_ARGS": "…",
        "PYTHONPATH": "$PWD/../../lib:$PWD",
    }
    assert command.arguments == ("pytest", NODEID, "--timeout", "30")


def test_the_variables_that_the_files_of_a_test_ask_for_are_kept(repository: Path) -> None:
    fifo = repository / "blocks/fifo"
    (fifo / "test_fifo.py").write_text(
        "LEVEL = os.environ.get('REG_LEVEL', 'FUNC')\nif \"API_TOKEN\" in os.environ: os.getenv('HOME')\n"
        "os.environ['MODEL']\nseed = os.getenv(\n    'SEED')\n"
    )
    (fifo / "conftest.py").write_text("waves = 'FULL_WAVES' not in os.environ\n")
    environment = {
        "REG_LEVEL": "GATE",
        "API_TOKEN": "abcdef123456",
        "HOME": "/home/x",
        "MODEL": f"{repository}/lib/model.so",
        "FULL_WAVES": "1",
        "EDITOR": "vi",
    }
    call = called(fifo, fifo, environment=environment)
    assert call.command("test_fifo.py::test_fifo[a]").variables == {
        "API_TOKEN": "…",
        "FULL_WAVES": "1",
        "MODEL": "$PWD/../../lib/model.so",
        "REG_LEVEL": "GATE",
    }
    assert call.command("test_other.py::test_x").variables == {"FULL_WAVES": "1"}
    assert "abcdef123456" not in str(call)


def test_the_variables_that_imported_files_ask_for_are_kept(repository: Path) -> None:
    fifo = repository / "blocks/fifo"
    (fifo / "test_fifo.py").write_text("from const import cfg\n")
    (fifo / "const.py").write_text("import os\nTOP = os.getenv('DUT')\n")
    (fifo / "bench.py").write_text("from levels import LEVEL\n")
    (fifo / "levels.py").write_text("LEVEL = os.environ['LEVEL']\n")
    call = called(fifo, fifo, environment={"DUT": "fifo_top", "LEVEL": "3", "EDITOR": "vi"})
    assert call.command("test_fifo.py::test_fifo").variables == {"DUT": "fifo_top"}
    assert again(call, "test_fifo.py::test_fifo", modules=("bench",)).variables == {"DUT": "fifo_top", "LEVEL": "3"}


def test_a_secret_among_the_options_is_masked(repository: Path) -> None:
    command = called(repository, repository, "--api-key=abcdef123456", "--token", "x").command(NODEID)
    assert command.arguments[2] == "--api-key=…"


def test_another_configuration_than_the_nearest_is_named(repository: Path) -> None:
    (repository / "pytest.ini").touch()
    nearest = called(repository, repository, configuration=repository / "pytest.ini")
    nodeid = "blocks/fifo/tests/test_a.py::test_a"
    assert nearest.command(nodeid).arguments == ("pytest", nodeid)
    (repository / "blocks" / "tox.ini").touch()
    nodeid = "blocks/fifo/tests/test_b.py::test_a"  # git is called once for a file, since each failure needs the answer
    assert nearest.command(nodeid).arguments == ("pytest", nodeid, "-c", "pytest.ini")
    given = called(repository, repository, "-c", "pytest.ini", configuration=repository / "pytest.ini")
    assert given.command(nodeid).arguments == ("pytest", nodeid, "-c", "pytest.ini")
    none = called(repository, repository / "blocks")
    assert none.command(nodeid).arguments[2:] == ("-c", "/dev/null", "--rootdir", "..")


TOOL = Call(arguments=("pytest", "-p", "tool"))
WRAP = "tb/test_fifo.py::test_run::bench::wrap"


def of_plugin(nodeid: str | None, *others: str, strict: bool = False) -> tuple[str, ...]:
    command = native(TOOL, nodeid, runner="tb/test_fifo.py::test_run", seed=7, others=others, strict=strict)
    assert command.variables == {"COCOTB_RANDOM_SEED": "7"}
    return command.arguments


def test_a_native_test_is_chosen_by_the_names_of_runner_and_test() -> None:
    expected = ("pytest", "tb/test_fifo.py", "-p", "tool", "-k", "test_run and wrap")
    assert of_plugin(WRAP, "overflow", "wrap", "test_run") == expected


def test_a_native_test_is_told_apart_from_those_that_its_name_is_a_part_of() -> None:
    *outer, inner = of_plugin(WRAP, "wrap", "wrap_around", "no_Wrap", "test_run")
    assert outer == ["pytest", "tb/test_fifo.py::test_run", "-p", "tool"]
    # The inner pytest needs the file's conftest.py, too.
    assert inner == "--cocotb-pytest-args=tb/test_fifo.py -p tool -k 'wrap and not no_Wrap and not wrap_around'"


def test_strict_logs_reach_the_pytest_in_the_simulator() -> None:
    *outer, inner = of_plugin(WRAP, "wrap", "wrap_around", strict=True)
    assert tuple(outer[-2:]) == STRICT
    assert " ".join(STRICT) in inner


def test_a_native_runner_is_told_apart_from_those_that_its_name_is_a_part_of() -> None:
    assert of_plugin(None, "test_run", "test_run_wide") == ("pytest", "tb/test_fifo.py::test_run", "-p", "tool")


def test_a_name_that_no_keyword_can_be_is_left_to_its_function() -> None:
    assert of_plugin("tb/test_fifo.py::test_run::wrap[a=1]")[-1] == "test_run and wrap"
