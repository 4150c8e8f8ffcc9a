"""A statement that prints a name as one of its values reports one cause, as occurrences on record show."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from msgspec.structs import replace

from pytest_dvwiki.cli import main
from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.model import Place, Vcs
from pytest_dvwiki.version import FINGERPRINT_VERSION
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.supersession import MergeError
from pytest_dvwiki.wiki.writing.build import archive, build, merge, undo_merge

from ..samples import failed, files, git, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence, RunRecord

COMMIT = "c" * 40
WORDS = "FAILED: V {} V = V expected V"


def said(word: str, words: str = WORDS, **place: Any) -> Occurrence:
    where: dict[str, Any] = {"report": "ERROR", "file": "tb/testbench.py", "line": 41} | place
    text = words.format(word)
    identity = fingerprint(
        report_class=where["report"],
        file=where["file"],
        message_id=None,
        function=where.get("function"),
        source_line=where.get("source"),
        text=text,
    )
    return occurrence(
        identity,
        primary=f"ERROR {where['file']}({where['line']}): {text}",
        place=Place(words=text, **where),
        tests=(failed("tests/test_alu.py::test_alu::random_ops", seed=word),),
    )


def run_of(number: int, *occurrences: Occurrence, **changes: Any) -> RunRecord:
    given: dict[str, Any] = {"commit": COMMIT, "fingerprint_version": FINGERPRINT_VERSION, "schema": 2} | changes
    return record(number, *occurrences, **given)


def standing(root: Path) -> dict[str, int]:
    """Return the bug pages of causes, with their runs."""
    found = {}
    for path in sorted((layout(root).wiki / "bugs").glob("[!_]*.md")):
        metadata = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        if metadata["hit_count"]:
            found[path.stem] = metadata["hit_count"]
    return found


def archived(root: Path, *records: RunRecord) -> dict[str, int]:
    for each in records:
        archive(layout(root), each)
    return standing(root)


def test_one_run_in_which_a_statement_prints_three_operations_makes_one_page(tmp_path: Path) -> None:
    assert list(archived(tmp_path, run_of(1, said("MUL"), said("ADD"), said("XOR"))).values()) == [1]
    assert len(list((layout(tmp_path).wiki / "bugs").glob("[!_]*.md"))) == 1


def test_two_words_are_two_causes_and_the_third_makes_them_one(tmp_path: Path) -> None:
    first = archived(tmp_path, run_of(1, said("MUL")), run_of(2, said("ADD")))
    assert list(first.values()) == [1, 1]
    now = archived(tmp_path, run_of(3, said("XOR")))
    assert list(now.values()) == [3]
    assert now.keys() < first.keys()
    (path,) = (layout(tmp_path).tasks / "verdicts").glob("*.yaml")
    (merge,) = yaml.safe_load(path.read_text(encoding="utf-8"))["merges"]
    assert merge["words"] == "FAILED : V * V = V expected V"
    assert [(each["word"], each["task_id"]) for each in merge["members"]] == [
        (word, run_of(number).task_id) for number, word in enumerate(("MUL", "ADD", "XOR"), 1)
    ]
    assert build(layout(tmp_path), check=True).changed == []


def test_a_cause_that_is_one_with_others_is_known_by_any_of_its_words(tmp_path: Path) -> None:
    archived(tmp_path, run_of(1, said("MUL"), said("ADD"), said("XOR")))
    with WikiHistory(layout(tmp_path)) as history:
        known = [history.cause(said(word).fingerprint) for word in ("MUL", "ADD", "XOR")]
        assert {(each.occurrence.fingerprint, each.page) for each in known if each} == {
            (min(said(word).fingerprint for word in ("MUL", "ADD", "XOR")), known[0].page if known[0] else None)
        }
        prints, pages = history.names(said("XOR").fingerprint, None)
    assert set(prints) == {said(word).fingerprint for word in ("MUL", "ADD", "XOR")}
    assert len(pages) == 1


def test_a_further_word_joins_where_the_same_sources_print_it_and_not_elsewhere(tmp_path: Path) -> None:
    records = [run_of(1, said("MUL"), said("ADD"), said("XOR")), run_of(2, said("AND"))]
    assert list(archived(tmp_path, *records).values()) == [2]
    moved = run_of(3, said("SUB", line=57), commit="d" * 40)
    assert sorted(archived(tmp_path, moved).values()) == [1, 2]
    # At that commit, known words are from the same line.
    assert sorted(archived(tmp_path, run_of(4, said("MUL", line=57), commit="d" * 40)).values()) == [1, 3]
    assert list(archived(tmp_path, run_of(5, said("XOR", line=57), commit="d" * 40)).values()) == [5]


TRACED = {"function": "check", "source": "assert got == want, message"}


def test_a_statement_that_a_traceback_shows_is_the_same_at_another_commit(tmp_path: Path) -> None:
    archived(tmp_path, run_of(1, *(said(word, **TRACED) for word in ("MUL", "ADD", "XOR"))))
    assert list(archived(tmp_path, run_of(2, said("AND", **TRACED), commit="d" * 40)).values()) == [2]


THREE = ("MUL", "ADD", "XOR")


@pytest.mark.parametrize(
    "causes",
    [
        [said("MUL"), said("ADD")],
        [said("MUL", line=1), said("ADD", line=2), said("XOR", line=3)],
        [said(word, file=f"tb/{word}.py") for word in THREE],
        [said(word, function=word, source="assert got == want") for word in THREE],
        [said(word, function="check", source=f"assert {word}") for word in THREE],
        [said(word, report=word) for word in THREE],
        [replace(said(word), failure_subtype=word) for word in THREE],
        [replace(said(word), error_class="compile_error", failure_subtype="undeclared") for word in THREE],
        [said(word, WORDS + word) for word in THREE],
        [said("MUL"), said("ADD", WORDS + " in V"), said("XOR")],
        [said(word, "{} mismatch: V V") for word in ("PARITY", "LENGTH", "ADDRESS")],
        [said(word, "FIFO {} at V", **TRACED) for word in ("overflow", "underflow", "timeout")],
        [said(word, callers=(f"test_alu.py:{n}",), **TRACED) for n, word in enumerate(THREE)],
        [said(word, "{}: V is not V") for word in ("status", "data", "addr")],
        [said("V"), said("XZ"), said("MUL")],
    ],
)
def test_what_may_be_different_checks_is_never_joined(tmp_path: Path, causes: list[Occurrence]) -> None:
    assert list(archived(tmp_path, run_of(1, *causes)).values()) == [1] * len(causes)


@pytest.mark.parametrize(
    "changes",
    [
        {"vcs": Vcs()},
        {"vcs": Vcs(commit=COMMIT, dirty=True)},
    ],
)
def test_runs_whose_sources_nobody_knows_teach_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert len(archived(tmp_path, run_of(1, *map(said, THREE), **changes))) == 3


def test_words_of_different_commits_teach_nothing(tmp_path: Path) -> None:
    records = [run_of(n, said(word), commit=str(n) * 40) for n, word in enumerate(THREE, 1)]
    assert len(archived(tmp_path, *records)) == 3


def test_a_line_that_prints_a_word_of_another_line_does_not_bring_its_own_words_in(tmp_path: Path) -> None:
    records = [run_of(1, *map(said, THREE)), run_of(2, said("MUL", line=90)), run_of(3, said("NOP", line=90))]
    assert sorted(archived(tmp_path, *records).values()) == [1, 2]


# Order of archiving, and branches

DAY = [
    run_of(1, said("MUL"), said("NOT", line=9)),
    run_of(2, said("ADD")),
    run_of(3, said("XOR"), said("SUB")),
    run_of(4, said("AND", line=57), said("MUL", line=57), said("XOR", line=57), commit="d" * 40),
    run_of(5, said("OR", "stuck at {}", line=70)),
]


def kept(root: Path) -> dict[str, bytes]:
    """Return the bug and pattern pages, without pages that only link to others and without lines about those."""
    found = files(layout(root).wiki)
    pages = {name: data for name, data in found.items() if name.startswith(("bugs/", "patterns/"))}
    return {
        name: b"\n".join(
            line
            for line in data.split(b"\n")
            if b"has the same cause; what people" not in line and not line.startswith(b"aliases:")
        )
        for name, data in pages.items()
        if b"stale_reason: same fingerprint" not in data
        and b'stale_reason: "same fingerprint"' not in data
        and not name.endswith("_index.md")
    }


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("order")
    archived(root, *DAY)
    build(layout(root))
    return kept(root)


def test_the_day_in_order_makes_three_causes(in_order: dict[str, bytes]) -> None:
    assert len([name for name in in_order if name.startswith("bugs/")]) == 3


@pytest.mark.parametrize("seed", range(6))
def test_every_order_of_the_records_ends_in_the_same_pages(
    tmp_path: Path, in_order: dict[str, bytes], seed: int
) -> None:
    order = random.Random(seed).sample(DAY, len(DAY))
    archived(tmp_path, *order)
    build(layout(tmp_path))
    assert kept(tmp_path) == in_order
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize("ours", [[0, 1], [0, 2], [1, 3], [0, 1, 2], [2]])
def test_every_split_over_two_branches_ends_in_the_same_pages(
    tmp_path: Path, in_order: dict[str, bytes], ours: list[int]
) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "README").write_text("a project\n", encoding="utf-8")
    commit(tmp_path)
    git(tmp_path, "checkout", "--quiet", "-b", "theirs")
    archived(tmp_path, *(each for number, each in enumerate(DAY) if number not in ours))
    commit(tmp_path)
    git(tmp_path, "checkout", "--quiet", "main")
    archived(tmp_path, *(DAY[number] for number in ours))
    commit(tmp_path)
    git(tmp_path, "merge", "theirs", check=False)
    assert build(layout(tmp_path)).refused == []
    assert kept(tmp_path) == in_order
    assert build(layout(tmp_path), check=True).changed == []


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")


# Contrary verdicts of people


def page_of(root: Path, word: str) -> str:
    with WikiHistory(layout(root)) as history:
        return history.bug_pages(said(word).fingerprint)[0].path


FOUR = (*THREE, "AND")


def test_a_cause_that_people_set_apart_has_its_own_page_again_and_stays_apart(tmp_path: Path) -> None:
    archived(tmp_path, run_of(1, said("MUL")), run_of(2, *map(said, FOUR[1:])))
    assert len(standing(tmp_path)) == 1
    undo_merge(layout(tmp_path), said("MUL").fingerprint, said("ADD").fingerprint, "another adder")
    assert len({page_of(tmp_path, word) for word in ("MUL", "XOR", "AND")}) == 1
    assert page_of(tmp_path, "ADD") != page_of(tmp_path, "MUL")
    assert sorted(standing(tmp_path).values()) == [1, 2]
    assert build(layout(tmp_path), check=True).changed == []
    later = archived(tmp_path, run_of(3, *map(said, ("ADD", "SUB", "MUL", "OR"))))
    assert sorted(later.values()) == [2, 3]
    with pytest.raises(MergeError, match="set apart"):
        merge(layout(tmp_path), page_of(tmp_path, "MUL"), page_of(tmp_path, "ADD"))


def test_too_few_words_that_are_left_are_no_merge(tmp_path: Path) -> None:
    archived(tmp_path, run_of(1, *map(said, THREE)))
    undo_merge(layout(tmp_path), said("MUL").fingerprint, said("ADD").fingerprint)
    assert len(standing(tmp_path)) == 3
    assert build(layout(tmp_path), check=True).changed == []


def test_what_people_merged_can_be_undone_and_a_later_merge_of_a_branch_does_not_count(tmp_path: Path) -> None:
    archived(tmp_path, run_of(1, said("MUL"), said("ADD")))
    pages = page_of(tmp_path, "MUL"), page_of(tmp_path, "ADD")
    merge(layout(tmp_path), *pages)
    merged = {path: (layout(tmp_path).wiki / path).read_bytes() for path in pages}
    assert len(standing(tmp_path)) == 1
    undo_merge(layout(tmp_path), said("MUL").fingerprint, said("ADD").fingerprint)
    assert (len(standing(tmp_path)), page_of(tmp_path, "ADD")) == (2, pages[1])
    for path, data in merged.items():
        (layout(tmp_path).wiki / path).write_bytes(data)
    build(layout(tmp_path))
    assert len(standing(tmp_path)) == 2


def test_an_undoing_of_one_branch_beats_what_the_other_one_learns(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    archived(tmp_path, run_of(1, said("MUL"), said("ADD")))
    commit(tmp_path)
    git(tmp_path, "checkout", "--quiet", "-b", "theirs")
    archived(tmp_path, run_of(2, said("XOR"), said("AND")))
    assert len(standing(tmp_path)) == 1
    commit(tmp_path)
    git(tmp_path, "checkout", "--quiet", "main")
    undo_merge(layout(tmp_path), said("MUL").fingerprint, said("ADD").fingerprint)
    commit(tmp_path)
    git(tmp_path, "merge", "theirs", check=False)
    build(layout(tmp_path))
    assert sorted(standing(tmp_path).values()) == [1, 2]
    assert page_of(tmp_path, "XOR") == page_of(tmp_path, "MUL") != page_of(tmp_path, "ADD")


def test_the_command_sets_causes_apart_by_page_or_fingerprint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archived(tmp_path, run_of(1, *map(said, FOUR)))
    kept = page_of(tmp_path, "MUL").removeprefix("bugs/").removesuffix(".md")
    names = [said(word).fingerprint for word in FOUR]
    alone = next(
        name
        for name in names
        if name not in (layout(tmp_path).wiki / page_of(tmp_path, "MUL")).read_text().split("fingerprint_aliases")[0]
    )
    assert main(["merge", "--undo", kept, alone[:8], "--reason", "a fault of its own", "--root", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{kept} and ")
    assert "are two causes from now on" in out
    assert sorted(standing(tmp_path).values()) == [1, 1]
    assert main(["merge", "--undo", kept, kept, "--root", str(tmp_path)]) == 2
    (said_so,) = [path for path in (layout(tmp_path).tasks / "verdicts").glob("*.yaml") if "apart" in path.read_text()]
    assert yaml.safe_load(said_so.read_text())["apart"][0]["reason"] == "a fault of its own"


def test_ingest_learns_and_tells_the_cause_as_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit_all(tmp_path)
    head = git(tmp_path, "rev-parse", "HEAD").stdout.strip()
    told = []
    for number, word in enumerate(THREE):
        log = tmp_path / f"night{number}" / "sim.log"
        log.parent.mkdir()
        report = f"UVM_ERROR /w/sb.sv(41) @ {number}10: uvm_test_top.env.sb [SCBD] FAILED: 0x7b {word} 0x3 expected 0x4"
        log.write_text(f"UVM_INFO @ 0: reporter [RNTST] Running test t...\n{report}\n", encoding="utf-8")
        arguments = ["--commit", head, "--run-id", str(number), "--root", str(tmp_path)]
        assert main(["ingest", str(log), *arguments]) == 0
        told.append(capsys.readouterr().out)
    assert [("NEW" in out, "KNOWN" in out) for out in told] == [(True, False), (True, False), (False, True)]
    assert "seen in 2 runs since" in told[2]
    assert list(standing(tmp_path).values()) == [3]


def commit_all(root: Path) -> None:
    (root / "README").write_text("a project\n", encoding="utf-8")
    commit(root)
