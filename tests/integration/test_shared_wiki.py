"""Two users write one wiki in a group's folder, each from their own workspace."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from pytest_dvwiki import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP = 61_000
USERS = (61_001, 61_002)
TEST = "def test_word(): raise ValueError('wrong word')\n"


@dataclass(frozen=True)
class Shared:
    """The group's folder, and a workspace for each user."""

    top: Path

    @property
    def wiki(self) -> Path:
        return self.top / "shared" / "wiki"

    def workspace(self, user: int) -> Path:
        return self.top / f"home{user}"

    def run(self, user: int, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python as a user, with a umask that lets nobody else read.

        The user may read every file, since this installation may be closed to others, but write only files open to
        them.
        """
        home = self.workspace(user)
        who = (f"--reuid={user}", f"--regid={user}", f"--groups={GROUP}")
        reads = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
        return subprocess.run(
            ["setpriv", *who, *reads, sys.executable, "-m", *arguments],
            cwd=home,
            env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **variables},
            umask=0o077,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture
def shared() -> Iterator[Shared]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can run as two users, with setpriv")
    top = Path(tempfile.mkdtemp(prefix="dvwiki-shared-"))  # other users cannot enter pytest's folders
    top.chmod(0o755)
    folder = top / "shared"
    folder.mkdir()
    os.chown(folder, 0, GROUP)
    folder.chmod(0o2770)
    found = Shared(top)
    for user in USERS:
        home = found.workspace(user)
        (home / "tests").mkdir(parents=True)
        (home / "pytest.ini").write_text("[pytest]\n", "utf-8")
        (home / "tests" / "test_it.py").write_text(TEST, "utf-8")
        for path in (home, *home.rglob("*")):
            os.chown(path, user, user)
    yield found
    shutil.rmtree(top)


def test_two_users_write_one_wiki(shared: Shared) -> None:
    for user in USERS:
        done = shared.run(user, "pytest", "-p", "no:cacheprovider", "--dvwiki", f"--dvwiki-dir={shared.wiki}")
        assert done.returncode == 1, done.stdout
        assert "archived as" in done.stdout
        assert "dvwiki: " not in done.stdout, done.stdout
    paths = [path for path in shared.wiki.parent.rglob("*") if "journal" not in path.parts]
    assert {path.stat().st_uid for path in paths} == set(USERS)
    assert {path.stat().st_gid for path in paths} == {GROUP}
    closed = {path.name for path in paths if path.stat().st_mode & 0o060 != 0o060}
    assert not closed, "files take the access that the folder gives"
    assert all(path.stat().st_mode & stat.S_ISGID for path in paths if path.is_dir())
    (page,) = shared.wiki.glob("bugs/[!_]*.md")
    assert "hit_count: 2\n" in page.read_text("utf-8")
    for path in shared.wiki.parent.glob("tasks/2*/*/*.yaml"):
        text = path.read_text("utf-8")
        assert str(shared.top) not in text, "paths are relative to the workspace"
        (cause,) = yaml.safe_load(text)["occurrences"]
        assert cause["tests"][0]["nodeid"] == "tests/test_it.py::test_word"


COMMANDS = [
    words
    for name in cli.COMMANDS.keys() - {"check"}  # it reads the files
    for words in {"patterns": ["patterns list"], "spec": ["spec add", "spec generate"]}.get(name, [name])
]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_finds_it(command: str) -> None:
    with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()) as text:
        cli.main([*command.split(), "--help"])
    assert "--wiki-dir" in text.getvalue()
