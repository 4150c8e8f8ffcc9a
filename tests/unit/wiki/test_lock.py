"""Only one process writes at a time, nothing is lost, and a timeout reports the reason."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records import WikiError
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.writing.build import archive, init

from ..samples import files, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

_HOLD = """
    import sys, time
    from pathlib import Path
    from pytest_dvwiki.wiki.lock import locked
    with locked(Path({wiki!r})):
        print("held", flush=True)
        time.sleep(60)
"""


def _python(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)


def test_who_waits_in_vain_hears_who_holds_the_lock(tmp_path: Path) -> None:
    holder = _python(_HOLD.format(wiki=str(tmp_path)))
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(WikiError, match=rf"process {holder.pid} on .* has held its lock") as caught,
            locked(tmp_path, 0.3),
        ):
            pytest.fail("two hold one lock")
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


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As on NFS without its lock service; a lock file would remain after a killed process."""

    def flock(_file: int, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    place = layout(tmp_path)
    init(place)
    before = files(place.agent)
    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(WikiError, match=r"its file system has no working locks; put wiki_dir on a local disk") as told:
        archive(place, record(1, occurrence()))
    assert str(place.wiki) in str(told.value)
    assert files(place.agent) == before
