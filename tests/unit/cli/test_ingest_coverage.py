"""`dvwiki ingest` of coverage reports: holes get pages, a later report fills them, and each report counts once."""

from __future__ import annotations

import os
import tarfile
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.cli import main
from pytest_dvwiki.wiki.text import pages

from ..capture.files.test_artefacts import results
from ..coverage_reports import needs, run, sampled
from ..samples import files, written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def report(**hits: int) -> str:
    bins = "".join(f'<bin0 bin="{name}" hits="{count}"/>' for name, count in hits.items())
    return f'<top abs_name="top"><fifo abs_name="top.fifo"><l abs_name="top.fifo.l">{bins}</l></fifo></top>'


def write(project: Path, day: int, **files: str) -> None:
    """Write files with the time of a day in January 2026; `a__b` means `a/b`."""
    for name, text in files.items():
        path = project / f"{name.replace('__', '/')}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_767_225_600 + day * 86_400,) * 2)


def holes(project: Path) -> dict[str, dict[str, Any]]:
    folder = project / ".agent/wiki/coverage"
    return {path.stem: pages.read(path.read_bytes()).metadata for path in sorted(folder.glob("[!_]*.md"))}


def test_only_holes_get_pages(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, 1, cov=report(empty=3, full=0))
    assert main(["ingest", "cov.xml"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("cov.xml: 1 coverage report\n")
    assert "COVERAGE   1 of 2 bins covered, 1 hole: 1 new\n  hole   fifo.l: full\n" in out
    assert holes(project) == {
        "fifo.l_full": {
            "type": "coverage",
            "covergroup": "fifo.l",
            "bin": "full",
            "action_class": "needs_investigation",
            "feature": "fifo",
            "priority": 1,
            "filled": False,
            "filled_by_task": None,
        }
    }
    assert main(["search", "full"]) == 0
    title, page, *_ = capsys.readouterr().out.splitlines()
    assert (title, page.split()[0]) == ("Coverage: fifo.l.full", "coverage/fifo.l_full.md")
    assert page.endswith(", coverage, needs_investigation")
    (record,) = written(project)
    assert [source["path"] for source in record["sources"]] == ["cov.xml"]
    assert (record["finished"], record["totals"]["passed"]) == ("2026-01-02T00:00:00Z", 0)


def test_the_same_report_again_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, 1, cov=report(full=0))
    main(["ingest", "cov.xml"])
    before = files(project / ".agent")
    write(project, 5, copy=report(full=0))
    for name in ("cov.xml", "copy.xml"):
        capsys.readouterr()
        assert main(["ingest", name]) == 0
        assert "already archived as regression_20260102T000000Z" in capsys.readouterr().out
    assert files(project / ".agent") == before


def test_a_hole_is_filled_opened_again_and_keeps_its_history(project: Path) -> None:
    for day, hits in ((1, 0), (2, 4), (3, 0), (4, 0)):
        write(project, day, cov=report(empty=day, full=hits))
        assert main(["ingest", "cov.xml"]) == 0
        filled_by = written(project)[-1]["task_id"] if hits else None
        hole = holes(project)["fifo.l_full"]
        assert (hole["filled"], hole["filled_by_task"]) == (bool(hits), filled_by)
    text = (project / ".agent/wiki/coverage/fifo.l_full.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| 2026")]
    assert [(row[0], row[-2], row[-1]) for row in rows] == [
        ("| 2026-01-04", "0 of 1", "unfilled |"),
        ("| 2026-01-03", "4 of 1", "filled |"),
        ("| 2026-01-02", "0 of 1", "unfilled |"),
    ]
    assert main(["build", "--check"]) == 0


def test_what_people_decide_of_a_hole_stays(project: Path) -> None:
    write(project, 1, cov=report(full=0))
    main(["ingest", "cov.xml"])
    page = project / ".agent/wiki/coverage/fifo.l_full.md"
    text = page.read_text().replace("action_class: needs_investigation", "action_class: protocol_blocked  # AXI 3.4")
    text = text.replace("feature: fifo", "feature: flow control").replace("priority: 1", "priority: 7")
    page.write_text(text.replace("Nobody has written this yet.", "Hold BREADY low for 9 cycles."))
    write(project, 2, cov=report(full=1))
    main(["ingest", "cov.xml"])
    text = page.read_text()
    for kept in (
        "protocol_blocked  # AXI 3.4",
        "feature: flow control",
        "priority: 7",
        "Hold BREADY low for 9 cycles.",
    ):
        assert kept in text
    assert holes(project)["fifo.l_full"]["filled"] is True


def test_reports_of_one_folder_are_one_run_and_folders_come_in_the_order_of_time(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, 1, z__one=report(full=0, half=1), z__two=report(full=1, half=0))
    write(project, 2, b__cov=report(full=0, half=1))
    write(project, 3, a__cov=report(full=2, half=1))
    assert main(["ingest", "a", "b", "z"]) == 0
    assert [len(record["coverage"]) for record in written(project)] == [0, 1, 1]
    assert holes(project)["fifo.l_full"]["filled"] is True
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith(("COVERAGE", "  "))]
    page = "page   .agent/wiki/coverage/_index.md"
    opened = ["COVERAGE   1 of 2 bins covered, 1 hole: 1 new", "hole   fifo.l: full", page]
    filled = ["COVERAGE   2 of 2 bins covered, 0 holes: 1 filled", "filled fifo.l: full", page]
    assert told == opened + filled, "and of the run without news nothing"


def test_tests_and_coverage_of_a_folder_are_records_of_their_own(project: Path) -> None:
    write(project, 1, a__results=results(), a__cov=report(full=0))
    assert main(["ingest", "a"]) == 0
    assert sorted((len(record["occurrences"]), len(record["coverage"])) for record in written(project)) == [
        (0, 1),
        (1, 0),
    ]


def test_a_broken_report_is_named_and_the_others_still_fill(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, 1, cov=report(full=0))
    main(["ingest", "cov.xml"])
    write(project, 2, a__good=report(full=1, half=0), a__bad=report(full=1)[:90], a__results=results())
    assert main(["ingest", "a"]) == 1
    assert "dvwiki ingest: a/bad.xml: not well-formed XML: " in capsys.readouterr().err
    # The coverage of the broken one is unknown, so there is no new hole; the tests are not affected.
    assert {name: hole["filled"] for name, hole in holes(project).items()} == {"fifo.l_full": True}
    assert sum(len(record["occurrences"]) for record in written(project)) == 1


def test_reports_alone_that_cannot_be_read_make_no_record(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "cov.yml").write_text("nothing: [\n")
    assert main(["ingest", "cov.yml"]) == 1
    said = capsys.readouterr()
    assert "cov.yml: cannot be read as plain YAML: line 2" in said.err
    assert "cov.yml: not archived, because it contains no bins" in said.out
    assert written(project) == []
    write(project, 1, a__cov=report(full=1))
    assert main(["ingest", "cov.yml", "a"]) == 1
    assert "2 runs: 1 archived, 1 not archived; 0 causes" in capsys.readouterr().out


@needs("cocotb_coverage")
def test_reports_come_from_folders_globs_and_archives_in_both_formats(project: Path) -> None:
    run(project / "out", sampled(("push", 0)))
    (project / "out/settings.yml").write_text("a: 1\n")
    with tarfile.open(project / "nightly.tar.gz", "w:gz") as archive:
        archive.add("out")
    for given in (["out"], ["out/*.yml"], ["nightly.tar.gz"], ["out/report.xml"]):
        assert main(["ingest", *given]) == (1 if given == ["out/*.yml"] else 0)
    # Both formats of one run have the same content, so only the first had news.
    assert [len(record["coverage"]) > 0 for record in written(project)].count(True) == 1
    assert "fifo.cross_pop__2_" in " ".join(holes(project))


def test_a_huge_cross_makes_one_page(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, 1, cov=report(**{f"b{number}": number % 2 for number in range(10_000)}))
    assert main(["ingest", "cov.xml"]) == 0
    out = capsys.readouterr().out
    assert "5000 of 10000 bins covered, 5000 holes: 1 new" in out
    assert "5000 of 10000 bins covered\n" in out.partition("  hole   ")[2]
    assert "all bins" not in out
    assert [hole["bin"] for hole in holes(project).values()] == ["all bins"]
    wiki = project / ".agent/wiki"
    page = (wiki / "coverage" / f"{next(iter(holes(project)))}.md").read_text("utf-8")
    assert "# Coverage: fifo.l, more than 32 bins\n" in page
    assert ", 5000 of 10000 covered bins in the newest run." in page
    assert "| more than 32 bins |" in (wiki / "index.md").read_text("utf-8")
    assert main(["context"]) == 0
    assert "fifo.l, more than 32 bins** (needs_investigation)" in capsys.readouterr().out
