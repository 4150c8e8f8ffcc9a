"""A test's child processes and their logs are noticed, whatever starts them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.processes.children import Children, listen, unwatched

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def children() -> Iterator[Children]:
    found = Children()
    listen(found)
    yield found
    listen(None)


def test_a_child_is_noticed_with_folder_and_what_cocotb_was_told(children: Children, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", ""],
        cwd=tmp_path,
        env={**os.environ, "COCOTB_RESULTS_FILE": "r.xml", "SECRET": "x"},
        check=True,
    )
    (child,) = children.children
    assert child.folder == tmp_path
    assert child.environment["COCOTB_RESULTS_FILE"] == "r.xml"
    assert "SECRET" not in child.environment
    assert child.program == os.path.basename(sys.executable)  # noqa: PTH119


def test_children_of_a_shell_and_of_asyncio_are_noticed(children: Children) -> None:
    os.system("expr 1 > /dev/null")  # noqa: S605

    async def run() -> None:
        process = await asyncio.create_subprocess_exec("true")
        await process.wait()

    asyncio.run(run())
    assert [child.program for child in children.children] == ["expr", "true"]


def test_a_shell_s_make_has_its_own_folder_variables_and_log(children: Children, tmp_path: Path) -> None:
    (tmp_path / "fifo").mkdir()
    script = "cd fifo && RANDOM_SEED=3 SECRET=x make --version > sim.log"
    subprocess.run(script, shell=True, cwd=tmp_path, check=False)  # noqa: S602  # the case under test
    (child,) = children.children
    assert (child.program, child.folder, child.environment) == ("make", tmp_path / "fifo", {"RANDOM_SEED": "3"})
    assert children.opened == [tmp_path / "fifo" / "sim.log"]


def test_the_log_opened_for_a_child_is_noticed_and_its_sources_are_not(children: Children, tmp_path: Path) -> None:
    with (tmp_path / "sim.log").open("w") as log:
        subprocess.run(["true"], stdout=log, check=True)
    (tmp_path / "cmds.f").write_text("+timescale")
    (tmp_path / "sim.log").read_text()
    assert children.opened == [tmp_path / "sim.log"]


def test_each_child_is_told_before_it_starts(children: Children, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    seen: list[bool] = []
    children.on_start = lambda child: seen.append(mark.exists())
    subprocess.run(["touch", str(mark)], check=True)
    subprocess.run(["true"], check=True)
    assert seen == [False, True]
    assert mark.exists()


def test_an_error_in_the_listener_never_keeps_a_child_from_starting(children: Children) -> None:
    def fail(child: object) -> None:
        raise RuntimeError

    children.on_start = fail
    assert subprocess.run(["true"], check=True).returncode == 0


def test_nobody_listens_outside_a_test(children: Children) -> None:
    listen(None)
    subprocess.run(["true"], check=True)
    assert not children.children


def test_children_of_the_plugin_itself_are_not_noticed_and_add_no_hook(children: Children) -> None:
    with unwatched():
        subprocess.run(["true"], check=True)
    assert not children.children
    subprocess.run(["true"], check=True)
    assert len(children.children) == 1


def test_memory_is_bounded_for_a_test_that_starts_very_many(children: Children) -> None:
    for _ in range(80):
        subprocess.run(["true"], check=True)
    assert len(children.children) <= 64


FIRST_CHILD = """
import os, subprocess, sys
from pytest_dvwiki.capture.processes.children import Children, listen, unwatched

untouched = subprocess.Popen.__init__, os.system
children = Children()
listen(children)
with open("sim.log", "w") as log:
    {start}
print(*(child.program for child in children.children), *(path.name for path in children.opened))
print((subprocess.Popen.__init__, os.system) == untouched)
"""


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("subprocess.run(['true'], stdout=log)", "true sim.log"),
        ("subprocess.Popen(['true'], -1, None, None, log).wait()", "true sim.log"),
        ("os.system('expr 1 > expr.log')", "expr expr.log"),
    ],
)
def test_the_first_child_of_a_process_is_noticed_with_its_log_and_leaves_no_trace(
    start: str, said: str, tmp_path: Path
) -> None:
    script = FIRST_CHILD.format(start=start)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [said, "True"]
