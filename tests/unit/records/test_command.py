"""Commands in records are printed for a shell, for this folder and for any folder of the repository."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.model import Command
from pytest_dvwiki.records.command import from_anywhere, from_here, masked_note, start, with_seed, words

if TYPE_CHECKING:
    from pathlib import Path

SEEDED = Command(arguments=("pytest", "t.py::a"), variables={"SIM": "icarus", "COCOTB_RANDOM_SEED": "42"})
HARD = (
    "it's a * $HOME",
    "a b",
    "$(touch x)",
    "`id`",
    'say "hi"',
    "back\\slash",
    "x[0]",
    "",
    "it's",
    "!x'",
    "-k 'a and b'",
)


@pytest.mark.parametrize(
    ("command", "seed", "other"),
    [
        (SEEDED, "7", {"SIM": "icarus", "COCOTB_RANDOM_SEED": "7"}),
        (Command(arguments=("make",), variables={"RANDOM_SEED": "4"}), "7", {"RANDOM_SEED": "7"}),
        (Command(arguments=("pytest", "RANDOM_SEED=42")), "7", None),
        (SEEDED, None, None),
        (None, "7", None),
    ],
)
def test_only_the_seed_is_another(command: Command | None, seed: str | None, other: dict[str, str] | None) -> None:
    changed = with_seed(command, seed)
    assert (None if changed is None else changed.variables) == other


def test_a_shell_reads_each_word_and_value_as_it_is(tmp_path: Path) -> None:
    show = "import os, sys; print([os.environ['V'], *sys.argv[1:]])"
    for text in HARD:
        command = Command(arguments=("python3", "-c", show, text), variables={"V": text})
        said = subprocess.run(["sh", "-c", " ".join(words(command))], cwd=tmp_path, capture_output=True, text=True)  # noqa: PLW1510
        assert said.stdout == f"{[text, text]}\n", said.stderr


def test_a_name_that_no_shell_takes_runs_nothing(tmp_path: Path) -> None:
    command = Command(arguments=("true",), variables={"X; touch made #": "1", "$(touch made)": ""})
    subprocess.run(["sh", "-c", " ".join(words(command))], cwd=tmp_path, stderr=subprocess.DEVNULL, check=False)
    assert not list(tmp_path.iterdir())


def test_a_value_finds_the_folder_wherever_the_project_stands(tmp_path: Path) -> None:
    (tmp_path / "my project").mkdir()
    command = Command(arguments=("sh", "-c", 'echo "$V"'), variables={"V": "$PWD/tb:$PWD"})
    line = " ".join(words(command))
    said = subprocess.run(["sh", "-c", line], cwd=tmp_path / "my project", capture_output=True, text=True)  # noqa: PLW1510
    assert said.stdout == f"{tmp_path}/my project/tb:{tmp_path}/my project\n"
    assert line == 'V="$PWD/tb:$PWD" sh -c \'echo "$V"\''


def test_from_here_it_goes_to_its_folder_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for folder in ("blocks/fifo", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    command = Command(arguments=("make", "A=1"), folder="blocks/fifo")

    def told(here: str, root: str = ".") -> str:
        return " ".join(from_here(command, root=tmp_path / root, here=tmp_path / here))

    assert told("blocks/fifo") == "make A=1"
    assert told(".") == "(cd blocks/fifo && make A=1)"
    assert told("docs") == "(cd ../blocks/fifo && make A=1)"
    assert told(".", root="blocks") == "(cd blocks/fifo && make A=1)"  # the folder is relative to the repository's root


def test_without_a_repository_the_folder_counts_from_the_workspace_root(tmp_path: Path) -> None:
    (tmp_path / "work" / "sim").mkdir(parents=True)
    command = Command(arguments=("make",), folder="sim", in_repository=False)
    assert from_here(command, root=tmp_path / "work", here=tmp_path / "work") == ["(cd", "sim", "&&", "make)"]
    assert from_anywhere(command) == "cd sim && make"
    assert "workspace root" in start(command)


def test_a_page_finds_the_repository_by_itself() -> None:
    assert start(SEEDED) == ""
    top = 'cd "$(git rev-parse --show-toplevel)"'
    assert from_anywhere(SEEDED) == f"{top} && SIM=icarus COCOTB_RANDOM_SEED=42 pytest t.py::a"
    assert from_anywhere(Command(arguments=("make",), folder="my sim")) == f"{top}/'my sim' && make"


def test_what_is_masked_is_named() -> None:
    command = Command(arguments=("make",), variables={"SIM": "vcs", "API_TOKEN": "…"})
    assert words(command)[1] == "API_TOKEN=…"
    assert masked_note(command) == "masked values are shown as …: fill in API_TOKEN before you run it"
    assert masked_note(SEEDED) == ""
