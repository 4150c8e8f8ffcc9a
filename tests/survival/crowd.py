"""Many processes at one wiki: some write, some read, and one kills writers."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from unit.samples import CAUSE, layout, occurrence, record

from pytest_dvwiki import WikiConfig, WikiStore
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.wiki.store_protocol import Fetched
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.settings import Layout

EVERY_S = 0.2
COUNTER = "specs/counter#Count"
_PAGE = "---\ntype: spec\nfeature: counter\n---\n\n# Counter\n\n## Count\n\n0\n"


def crowd(place: Layout, *, writers: int, readers: int, kills: int) -> str:
    """Let processes archive and read while a writer is killed every 200 ms, and check the wiki.

    Returns:
        A summary in one line.

    Raises:
        AssertionError: Something is torn, lost or wrong.
    """
    archive(place, record(0, occurrence()))
    said = place.root / "said"
    said.mkdir()
    alive = [_fork(lambda: _write(place, said)) for _ in range(writers)]
    looking = [_fork(lambda: _read(place)) for _ in range(readers)]
    for _ in range(kills):
        time.sleep(EVERY_S)
        at = random.randrange(writers)
        _end(alive[at], signal.SIGKILL)
        alive[at] = _fork(lambda: _write(place, said))
    for process in alive:
        _end(process, signal.SIGKILL)
    assert [_end(process, signal.SIGTERM) for process in looking] == [-signal.SIGTERM] * readers, "a reader saw a fault"
    acknowledged = [line for path in sorted(said.iterdir()) for line in path.read_text("ascii").splitlines()]
    return f"{kills} kills, {_settle(place, acknowledged)}"


def _settle(place: Layout, acknowledged: list[str]) -> str:
    _whole(place)
    result = build(place)
    assert (result.refused, result.problems) == ([], [])
    assert build(place, check=True).changed == []
    with Archive(place.tasks, None) as records:
        records.refresh()
        lost = [task_id for task_id in acknowledged if records.record(task_id) is None]
        assert not lost, f"lost: {lost}"
        cause = aggregate.cause(records, (CAUSE,))
        assert cause is not None
        written = list(place.tasks.glob("2026/11/*.yaml"))
        assert cause.runs == len(written)
    (page,) = (path for path in place.wiki.glob("bugs/RTL*.md") if CAUSE in path.read_text("utf-8"))
    assert pages.read(page.read_bytes()).metadata["hit_count"] == len(written)
    log = (place.wiki / "log.md").read_text("utf-8").splitlines()
    assert all(line.startswith("## [") for line in log[2:])
    return f"{len(acknowledged)} records acknowledged, {len(written)} written, none lost"


def _write(place: Layout, said: Path) -> None:
    name = os.urandom(4).hex()
    with (said / name).open("a", encoding="ascii") as told:
        number = 0
        while True:
            number += 1
            identity = f"crowd-{name}_{number:06d}"
            other = occurrence(f"{random.randrange(5):012x}")
            archive(place, record(number % 200, occurrence(), other, task_id=identity))
            print(identity, file=told, flush=True)


def _read(place: Layout) -> None:
    while True:
        _whole(place)
        WikiStore(WikiConfig(wiki_dir=place.wiki), "agent").list()


def _whole(place: Layout) -> None:
    for path in place.wiki.glob("*/*.md"):
        data = path.read_bytes()
        assert data.endswith(b"\n"), path
        if path.name != "_index.md":
            assert pages.read(data).metadata, path
            assert not isinstance(pages.regions(data), pages.Refused), path


def increments(place: Layout, *, writers: int, count: int) -> str:
    """Let processes count on one page: each reads the number and writes it plus one.

    Raises:
        AssertionError: A count is lost.
    """
    config = WikiConfig(wiki_dir=place.wiki)
    assert WikiStore(config, "human").create("specs", "counter", _PAGE).status == "done"
    processes = [_fork(lambda: _count(config, count)) for _ in range(writers)]
    assert [_end(process) for process in processes] == [0] * writers
    found = WikiStore(config, "human").fetch(COUNTER)
    assert isinstance(found, Fetched)
    assert int(found.content) == writers * count
    assert build(place, check=True).changed == []
    return f"{found.content} of {writers * count} increments"


def _count(config: WikiConfig, count: int) -> None:
    for _ in range(count):
        status = ""
        while status != "done":
            # A session may read a section only a limited number of times.
            store = WikiStore(config, "agent", lock_timeout=600.0)
            found = store.fetch(COUNTER)
            assert isinstance(found, Fetched)
            status = store.commit(COUNTER, str(int(found.content) + 1), found.version).status


def _fork(work: Callable[[], object]) -> int:
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        random.seed()
        work()
        status = 0
    except Exception as error:  # noqa: BLE001  # the parent reads the status, a person this line
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        sys.stderr.flush()
        os._exit(status)


def _end(process: int, by: int = 0) -> int:
    """Wait for a process, with or without sending a signal; return its exit status, negative for a signal."""
    if by:
        os.kill(process, by)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--increments", type=int, default=200, help="of each writer")
    args = parser.parse_args()
    for name in ("crowd", "counter"):
        (args.root / name).mkdir(parents=True)
    numbers = {"writers": args.writers, "readers": args.readers, "kills": args.kills}
    sys.stdout.write(f"{crowd(layout(args.root / 'crowd'), **numbers)}\n")
    sys.stdout.write(f"{increments(layout(args.root / 'counter'), writers=args.writers, count=args.increments)}\n")


if __name__ == "__main__":
    main()
