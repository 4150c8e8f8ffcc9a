"""CI jobs with the recipes of `ci` that push records to one bare repository, while some are killed and one builds."""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import yaml
from unit.samples import git

from pytest_dvwiki.wiki.text import pages

from .recipes import RECIPES

PUSH = Path(__file__).parents[2] / "ci" / "push.sh"
_LONGEST_S = 300
_TESTS = """\
import os

def check(): raise ValueError("wrong word")
def test_all_jobs(): check()
def test_own_cause(): raise KeyError(f"config {chr(97 + int(os.environ['JOB'])) * 8}")
def test_passes(): pass
"""


class _Job:
    """A clone, and the process that runs in it."""

    def __init__(self, folder: Path, bare: Path, number: int) -> None:
        self.folder = folder / f"job{number}"
        self.number = number
        git(folder, "clone", "-q", str(bare), str(self.folder))

    def start(self, script: str) -> None:
        self.process = subprocess.Popen(
            ["sh", "-c", script],
            cwd=self.folder,
            env={**os.environ, "JOB": str(self.number), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def kill(self) -> None:
        """Kill all its processes, and remove git's locks, as git requires after a kill."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        for lock in (self.folder / ".git").rglob("*.lock"):
            lock.unlink()

    def end(self) -> str:
        text, _ = self.process.communicate(timeout=_LONGEST_S)
        assert self.process.returncode == 0, f"job {self.number} ended with {self.process.returncode}:\n{text}"
        return text

    def records(self) -> set[str]:
        return {path.stem for path in self.folder.glob(".agent/tasks/2*/*/*.yaml")}


def pushes(folder: Path, rounds: int) -> str:
    """Run all rounds, and compare the records in the repository with those that the jobs wrote.

    Returns:
        A summary in one line.

    Raises:
        AssertionError: A push did not land, a record is lost, or a count is wrong.
    """
    bare, seed = folder / "bare.git", folder / "seed"
    git(folder, "init", "-q", "--bare", "-b", "main", str(bare))
    git(folder, "init", "-q", "-b", "main", str(seed))
    (seed / "tests").mkdir()
    (seed / "tests" / "test_it.py").write_text(_TESTS)
    shutil.copytree(PUSH.parent, seed / "ci")
    git(seed, "add", ".")
    git(seed, "commit", "-q", "-m", "tests")
    git(seed, "push", "-q", str(bare), "main")
    jobs = [_Job(folder, bare, number) for number in range(len(RECIPES))]
    builder = _Job(folder, bare, len(jobs))
    kills, attempts = 0, Counter[int]()
    for number in range(rounds):
        for job in jobs:
            git(job.folder, "fetch", "-q")
            git(job.folder, "reset", "-q", "--hard", "origin/main")
            job.start(RECIPES[job.number]())
        builder.start(f"sleep {random.random() * 3}; {PUSH} --build origin main")
        victim = random.choice(jobs)
        time.sleep(random.random() * 5)
        if victim.process.poll() is None:
            victim.kill()
            kills += 1
            victim.start(RECIPES[victim.number]())
        for job in (*jobs, builder):
            attempts.update(int(found) for found in re.findall(r"attempt (\d+)", job.end()))
        if sys.stdout.isatty() or number % 10 == 9:
            _say(f"round {number + 1}, {kills} kills, attempts {dict(sorted(attempts.items()))}")
    builder.start(f"{PUSH} --build origin main")
    builder.end()
    return f"{rounds} rounds, {kills} kills, {_settled(folder, bare, jobs)}; attempts {dict(sorted(attempts.items()))}"


def _settled(folder: Path, bare: Path, jobs: list[_Job]) -> str:
    git(folder, "clone", "-q", str(bare), str(folder / "clone"))
    place = folder / "clone" / ".agent"
    paths = list(place.glob("tasks/2*/*/*.yaml"))
    lost = set().union(*(job.records() for job in jobs)) - {path.stem for path in paths}
    assert not lost, f"lost: {sorted(lost)}"
    seen = Counter(
        each["fingerprint"] for path in paths for each in yaml.safe_load(path.read_text("utf-8"))["occurrences"]
    )
    shown = {
        pages.read(page.read_bytes()).metadata["fingerprint"]: pages.read(page.read_bytes()).metadata["hit_count"]
        for page in place.glob("wiki/bugs/[!_]*.md")
    }
    assert shown == dict(seen), f"pages say {shown}, records {seen}"
    checked = subprocess.run(
        [sys.executable, "-m", "pytest_dvwiki", "build", "--check"], cwd=place.parent, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    return f"{len(paths)} records, none lost; {len(shown)} pages, all counts right"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    with tempfile.TemporaryDirectory(prefix="dvwiki-") as name:
        _say(pushes(Path(name), parser.parse_args().rounds))
