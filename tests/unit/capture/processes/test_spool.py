"""The output of child processes is kept in files and still reaches its original reader.

Each test runs in a process of its own, whose file descriptors 1 and 2 are known.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import os, subprocess, sys, time
from pathlib import Path
from pytest_dvwiki.capture.processes.spool import Spool
base = Path(sys.argv[1]) / "main"
"""


def run(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(code), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def test_output_is_kept_and_passed_on_by_stream(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        print("before")
        spool = Spool(base, live=False)
        spool.attach()
        subprocess.run(["sh", "-c", "echo out; echo err >&2"])
        print("python")
        spool.detach()
        print("after")
        spool.close()
        """,
    )
    assert done.stdout == "before\nout\npython\nafter\n"
    assert done.stderr == "err\n"
    assert (tmp_path / "main.out").read_text() == "out\npython\n"
    assert (tmp_path / "main.err").read_text() == "err\n"


def test_live_output_arrives_while_the_child_runs(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HEAD
            + 'spool = Spool(base, live=True); spool.attach(); subprocess.run(["sh", "-c", "echo now; read x"])\n'
            + "spool.close()\n",
            str(tmp_path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "now\n"  # the child still waits for its standard input
    child.communicate("go\n", timeout=30)
    assert child.returncode == 0


def test_a_child_that_outlives_its_test_keeps_its_end(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        spool = Spool(base, live=False)
        spool.attach()
        child = subprocess.Popen(["sh", "-c", "echo early; read x; echo late"], stdin=subprocess.PIPE)
        while not (base.parent / "main.out").read_text(): time.sleep(0.01)
        spool.detach()
        spool.clear()
        print("between", flush=True)
        child.communicate(b"go")
        spool.forward()
        spool.close()
        """,
    )
    assert done.stdout == "early\nbetween\nlate\n"
    assert (tmp_path / "main.out").read_text() == "late\n"


def test_whoever_takes_the_descriptor_meanwhile_keeps_it(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        spool = Spool(base, live=False)
        spool.attach()
        os.write(1, b"spooled ")
        mine = os.open(base.parent / "mine", os.O_CREAT | os.O_WRONLY)
        os.dup2(mine, 1)
        spool.detach()
        os.write(1, b"to my file")
        spool.close()
        """,
    )
    assert (tmp_path / "mine").read_text() == "to my file"
    assert done.stdout == "spooled "


def test_a_listener_that_left_does_not_end_the_run(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HEAD
            + 'spool = Spool(base, live=True); spool.attach(); subprocess.run(["sh", "-c", "read x; echo a; echo b"])\n'
            + 'spool.close(); (base.parent / "done").touch()\n',
            str(tmp_path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    child.stdout.close()
    child.stdin.write(b"go\n")
    child.stdin.close()
    child.wait(timeout=30)
    assert (tmp_path / "done").exists()
    assert (tmp_path / "main.out").read_text() == "a\nb\n"


def test_what_was_printed_outlives_a_kill(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HEAD
            + 'spool = Spool(base, live=False); spool.attach(); subprocess.run(["sh", "-c", "echo told; sleep 60"])',
            str(tmp_path),
        ],
        stdout=subprocess.DEVNULL,
    )
    out = tmp_path / "main.out"
    while not out.exists() or not out.read_text():
        assert child.poll() is None
    child.kill()
    child.wait()
    assert out.read_text() == "told\n"
