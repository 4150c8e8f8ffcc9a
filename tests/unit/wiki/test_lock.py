"""One writes at a time; nothing is lost, and who waits in vain hears why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pytest_dvwiki.records import WikiError
from pytest_dvwiki.wiki import pages
from pytest_dvwiki.wiki.build import build
from pytest_dvwiki.wiki.lock import locked

from ..samples import layout

TESTS = Path(__file__).parents[2]
_ARCHIVE_MANY = """
    from pathlib import Path
    from unit.samples import layout, occurrence, record
    from pytest_dvwiki.wiki.build import archive
    for number in range(25):
        archive(layout(Path({root!r})), record({first} + number, occurrence(), occurrence("{first:012x}")))
"""
_HOLD = """
    import sys, time
    from pathlib import Path
    from pytest_dvwiki.wiki.lock import locked
    with locked(Path({wiki!r})):
        print("held", flush=True)
        time.sleep(60)
"""


def _python(code: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, env=environment
    )


@pytest.mark.slow
def test_eight_processes_lose_nothing(tmp_path: Path) -> None:
    writers = [_python(_ARCHIVE_MANY.format(root=str(tmp_path), first=first * 25)) for first in range(8)]
    assert [writer.wait(600) for writer in writers] == [0] * 8
    for writer in writers:
        writer.communicate()
    place = layout(tmp_path)
    assert build(place, check=True).changed == []
    counts = sorted(
        pages.read(page.read_bytes()).metadata["hit_count"] for page in (place.wiki / "bugs").glob("RTL*.md")
    )
    assert counts == [25] * 8 + [200]
    lines = (place.wiki / "log.md").read_text().splitlines()
    assert sum(" ingest | " in line for line in lines) == 200
    assert all(line.startswith(("## [", "# ")) or not line for line in lines)


def test_who_waits_in_vain_hears_who_holds_the_lock(tmp_path: Path) -> None:
    holder = _python(_HOLD.format(wiki=str(tmp_path)))
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        began = time.monotonic()
        with (
            pytest.raises(WikiError, match=rf"process {holder.pid} on .* holds its lock") as caught,
            locked(tmp_path, 0.3),
        ):
            pytest.fail("two hold one lock")
        assert time.monotonic() - began < 10
        assert "\n" not in str(caught.value)
    finally:
        holder.kill()
        holder.communicate()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    holder = _python(_HOLD.format(wiki=str(tmp_path)))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with locked(tmp_path, 5.0):
        assert f"process {os.getpid()} on " in (tmp_path / ".lock").read_text()
