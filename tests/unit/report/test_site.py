"""The report as a site: its numbers agree with the records, its links work, and all texts are escaped."""

from __future__ import annotations

import http.client
import json
import posixpath
import re
import shutil
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki import runs
from pytest_dvwiki.cli import main
from pytest_dvwiki.records import WikiError, overview
from pytest_dvwiki.report.attention import ProjectData
from pytest_dvwiki.report.site import make_site
from pytest_dvwiki.report.site.charts import Chart, ChartRow
from pytest_dvwiki.report.site.data import Data
from pytest_dvwiki.report.site.making import MANIFEST, evidence
from pytest_dvwiki.report.site.markdown import address, render
from pytest_dvwiki.report.site.serving import Server
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, TEST, TODAY, layout, occurrence
from .sites import HOSTILE, OTHER, TESTS, WAIVED, Elements, night, project, records, report

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("site"))


def pages(site: Path) -> dict[str, Elements]:
    return {
        path.relative_to(site).as_posix(): Elements(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }


def test_every_link_leads_to_a_page_and_a_place_in_it(site: Path) -> None:
    found = pages(site)
    for path, page in found.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if link.startswith("https://example.com/"):
                continue
            at = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert at in found, f"{path}: {link}"
            assert not anchor or anchor in found[at].ids, f"{path}: {link}"


def test_no_page_has_a_script_or_style_of_its_own(site: Path) -> None:
    for path, page in pages(site).items():
        scripts = [attributes for tag, attributes in page.found if tag == "script"]
        assert [str(each["src"]).lstrip("./") for each in scripts] == ["assets/report.js"], path
        names = {name for _, attributes in page.found for name in attributes}
        assert not any(name.startswith("on") or name == "style" for name in names), path
        assert {tag for tag, _ in page.found}.isdisjoint({"style", "img", "iframe", "form", "object"}), path
        (policy,) = (
            str(attributes["content"])
            for tag, attributes in page.found
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )
        assert "default-src 'none'; script-src 'self'" in policy


def test_what_logs_hold_is_shown_as_text(site: Path) -> None:
    page = pages(site)[f"causes/{OTHER}.html"]
    assert HOSTILE in page.text
    first = next(text for tag, text in page.found if tag == "mark")
    assert first == {}


def test_links_of_the_wiki_lead_to_its_pages_or_to_the_web(site: Path) -> None:
    (page,) = (each for path, each in pages(site).items() if path.startswith("wiki/bugs/") and "evil" in each.text)
    assert "https://example.com/a" in page.links
    assert "../patterns/timeout.html" in page.links
    assert not any("script:" in link or "passwd" in link or "RTL_0" in link for link in page.links)
    assert any("runs/2026-11.html#nightly_" in link for link in page.links)


def test_numbers_are_those_of_the_records(tmp_path: Path) -> None:
    made = list(records())
    with ProjectData(project(tmp_path)) as sources:
        data = Data(sources)
        assert [run.task_id for run in data.runs] == [each.task_id for each in made]
        assert [run.totals for run in data.runs] == [each.totals for each in made]
        assert data.failing_tests == 5
        assert data.hours_lost == pytest.approx(3 * 0.5 + 1.5)
        words = [[(each.known.name, each.word) for each in data.causes_of[run.number]] for run in data.runs]
        assert words == [
            [(CAUSE, "NEW")],
            [(CAUSE, "KNOWN")],
            [(OTHER, "NEW"), (CAUSE, "KNOWN")],
            [(WAIVED, "WAIVED")],
        ]
        known = {each.name: (each.runs, each.tests, each.hours) for each in data.causes}
        assert known == {CAUSE: (3, 3, 1.5), OTHER: (1, 1, 1.5), WAIVED: (1, 1, 0.0)}
        assert [(each.known.name, each.value) for each in data.pareto()] == [(CAUSE, 3), (OTHER, 1), (WAIVED, 1)]
        assert [(each.known.name, each.cumulative) for each in data.pareto(by_hours=True)] == [(OTHER, 0.5), (CAUSE, 1)]
        states = {row.nodeid: "".join(state or "-" for state in row.states) for row in data.tests}
        assert states == {TEST: ".FFF", TESTS[1]: "W...", TESTS[2]: "KF.."}
        recovery = data.recovery("nightly")
        assert (recovery.failing_since, recovery.hours) == ("", (3.0,))
        assert overview.failing_tests(data.archive, "2026-11", "2026-11~")[0] == (TEST, 3, (CAUSE,))


def test_the_overview_says_why_who_and_which_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = project(tmp_path / "fifo")
    (page,) = (path for path in (place.wiki / "bugs").glob("[A-Z]*.md") if OTHER in path.read_text("utf-8"))
    page.write_text(page.read_text("utf-8").replace("\nowner: null\n", "\nowner: Grace\n"), "utf-8")
    archive(place, night(20, occurrence(), regressed=(CAUSE,)))
    with ProjectData(place) as sources:
        data = Data(sources)
        words = [[each.word for each in found if each.known.name == CAUSE] for found in data.causes_of.values()]
        assert words == [["NEW"], ["KNOWN"], ["KNOWN"], [], ["REGRESSED"]]
        assert [(owner, [each.name for each in causes]) for owner, causes in data.owned if owner] == [
            ("Grace", [OTHER])
        ]
    monkeypatch.setattr(runs, "time", SimpleNamespace(time=TODAY.timestamp))
    make_site(place, tmp_path / "site")
    overview_page = Elements((tmp_path / "site" / "index.html").read_text("utf-8"))
    assert "Regressed (1)" in overview_page.words
    assert "Came back on 2026-11-" in overview_page.words
    cause = Elements((tmp_path / "site" / "causes" / f"{CAUSE}.html").read_text("utf-8"))
    told = "Fixes Failed again after the fix by 0000000 fifo: reset the read pointer (rtl/fifo.sv), 2026-11-"
    assert told in cause.words
    waived = Elements((tmp_path / "site" / "causes" / f"{WAIVED}.html").read_text("utf-8"))
    assert "Waivers W-1: late (fifo, until 2026-11-25)" in waived.words


def test_a_second_call_renders_only_what_changed(tmp_path: Path) -> None:
    place = project(tmp_path / "fifo")
    folder = tmp_path / "site"
    first = make_site(place, folder)
    assert first.written == first.pages
    again = make_site(place, folder)
    assert (again.written, again.pages) == (0, first.pages)
    old = (folder / "causes" / f"{OTHER}.html").stat().st_mtime_ns
    archive(place, night(20, occurrence()))
    made = make_site(place, folder)
    assert 0 < made.written < made.pages
    assert (folder / "causes" / f"{OTHER}.html").stat().st_mtime_ns == old
    assert "4 runs" in (folder / "causes" / f"{CAUSE}.html").read_text(encoding="utf-8")


def test_pages_of_what_is_gone_are_removed(tmp_path: Path) -> None:
    place = project(tmp_path / "fifo")
    folder = tmp_path / "site"
    make_site(place, folder)
    page = next((place.wiki / "patterns").glob("null_handle.md"))
    page.unlink()
    make_site(place, folder)
    assert not (folder / "wiki" / "patterns" / "null_handle.html").exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    place = project(tmp_path / "fifo")
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work", encoding="utf-8")
    monkeypatch.chdir(place.root)
    assert main(["report", "--html", str(other)]) == 2
    assert "contains other files; give a new or empty folder" in capsys.readouterr().err
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    assert main(["report", "--html", "../site"]) == 0
    assert capsys.readouterr().out.startswith("../site/index.html: ")


def test_a_page_may_have_any_name(tmp_path: Path) -> None:
    place = project(tmp_path / "fifo")
    (place.wiki / "specs" / "odd # 100%? <b>.md").write_text("---\nid: x\n---\n# Odd\n", encoding="utf-8")
    make_site(place, tmp_path / "site")
    page = Elements((tmp_path / "site" / "wiki" / "specs" / "_index.html").read_text(encoding="utf-8"))
    assert "odd%20%23%20100%25%3F%20%3Cb%3E.html" in page.links
    assert (tmp_path / "site" / "wiki" / "specs" / "odd # 100%? <b>.html").is_file()


def test_links_do_not_lead_the_writing_out_of_the_folder(tmp_path: Path) -> None:
    place = project(tmp_path / "fifo")
    site, mine = tmp_path / "site", tmp_path / "mine"
    mine.mkdir()
    (mine / "text").write_text("mine", encoding="utf-8")
    make_site(place, site)
    manifest = site / MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"../mine/text": "x"}), encoding="utf-8")
    (site / "index.html").unlink()
    (site / "index.html").symlink_to(mine / "text")
    make_site(place, site)
    assert not (site / "index.html").is_symlink()
    assert (mine / "text").read_text(encoding="utf-8") == "mine"
    shutil.rmtree(site / "runs")
    (site / "runs").symlink_to(mine)
    with pytest.raises(WikiError, match="is a symlink to a location outside the folder; remove it"):
        make_site(place, site)
    assert [path.name for path in mine.iterdir()] == ["text"]


def test_a_project_without_runs_has_a_report_too(tmp_path: Path) -> None:
    (tmp_path / "fifo").mkdir()
    make_site(layout(tmp_path / "fifo"), tmp_path / "site")
    assert "No run is on record." in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_search_data_is_a_script(site: Path) -> None:
    text = (site / "assets" / "search.js").read_text(encoding="utf-8")
    entries = json.loads(text.removeprefix("window.dvwikiSearch = ").removesuffix(";\n"))
    assert ("cause", TEST, f"causes/{CAUSE}.html") in [(kind, words, url) for kind, _, words, url in entries]
    assert all((site / entry[3].partition("#")[0]).is_file() for entry in entries)
    assert {title for kind, title, *_ in entries if kind == "test"} == set(TESTS)


@pytest.mark.parametrize(
    ("primary", "excerpt", "marked"),
    [
        ("b", "a\nb\nc", "b"),
        ("FATAL: x  Time: 3", "a\n  FATAL: x\n   Time: 3\nc", "  FATAL: x\n   Time: 3"),
        ("b", "a\n123ns ERROR b !\nb", "123ns ERROR b !"),
        ("elsewhere", "a\nb", ""),
        ("SimTimeoutError in tb.py:run at 3 ns", "a\nSimTimeoutError", "SimTimeoutError"),
        ("AssertionError: assert x.tuser in tb.py:run", "assert 0\n  assert x.tuser", "  assert x.tuser"),
        ("Err in tb.py:run", "a\nErr", ""),
        ("", "a\nb", ""),
    ],
)
def test_the_lines_of_the_first_cause_are_marked(primary: str, excerpt: str, marked: str) -> None:
    lines = evidence(occurrence(primary=primary, excerpt=excerpt))
    assert "\n".join(line for line, _ in lines) == excerpt
    assert "\n".join(line for line, is_first in lines if is_first) == marked


@pytest.mark.parametrize(
    ("target", "leads_to"),
    [
        ("../patterns/a.md", "../patterns/a.html"),
        ("../patterns/a.md#fixes", "../patterns/a.html"),
        ("../../tasks/x.yaml", None),
        ("../../../etc/a.md", None),
        ("//example.com/a.md", None),
        ("javascript:x", None),
        ("http://[", None),
        ("#here", "#here"),
        ("mailto:a@example.com", "mailto:a@example.com"),
    ],
)
def test_where_links_of_pages_lead(target: str, leads_to: str | None) -> None:
    assert address("bugs/b.md", target, {"patterns/a.md"}) == leads_to


def test_citations_lead_to_the_run_and_the_addresses_of_links_stay() -> None:
    data = b"[a *tasks/n_1.yaml*](https://example.com/tasks/n_1.yaml) (source: tasks/n_1.yaml)"
    html = render("bugs/a.md", data, (), "../../runs.html#{}".format).html
    assert (
        '<a href="https://example.com/tasks/n_1.yaml" rel="noopener noreferrer">a <em>tasks/n_1.yaml</em></a>' in html
    )
    assert '(source: <a href="../../runs.html#n_1">tasks/n_1.yaml</a>)' in html


def test_a_link_without_a_page_is_looked_at_again() -> None:
    found = render("bugs/b.md", b"# T\n[x](c.md)\n", set(), lambda _: None)
    assert found.dangling
    assert "href" not in found.html


def test_charts_hold_no_style_or_script_and_each_value_has_its_words() -> None:
    rows = (ChartRow("2026-11-20 02:00", (1, 3)), ChartRow("2026-11-21 02:00", (0, 2)), ChartRow("z", (None, 0)))
    page = Elements(Chart("causes", "Causes <b>", ("as", "bs"), rows).svg)
    assert {tag for tag, _ in page.found} == {"svg", "g", "rect", "path", "text", "title"}
    assert not any("style" in attributes for _, attributes in page.found)
    assert page.found[0][1]["aria-label"] == "Causes <b>. The table below has its values."
    heights = [float(str(each["height"])) for _, each in page.found if "reactive" in str(each.get("class"))]
    assert [round(height / heights[0], 2) for height in heights] == [1, 3, 2]
    assert re.findall(r"2026-11-2\d 02:00: \d \ws", page.text) == [
        "2026-11-20 02:00: 1 as",
        "2026-11-20 02:00: 3 bs",
        "2026-11-21 02:00: 2 bs",
    ]


@pytest.mark.parametrize(("lowest", "begins"), [(0, "0 %"), (89.9, "80 %"), (99.4, "98 %"), (100, "98 %")])
def test_a_pass_rate_ends_at_100_and_has_a_gap_where_nothing_is_known(lowest: float, begins: str) -> None:
    rows = tuple(ChartRow("x", (value,)) for value in (lowest, 100, None, 100, 100))
    page = Elements(Chart("rate", "Rate", ("passed",), rows, " %").svg)
    lines = [str(each["d"]) for _, each in page.found if str(each.get("class")).startswith("line reactive")]
    assert len(lines) == 2
    marks = re.findall(r"\d+ %", page.text)
    assert (marks[0], "100 %" in marks) == (begins, True)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_that_names_another_host_is_refused(tmp_path: Path, method: str) -> None:
    (tmp_path / "index.html").write_text("<body class=''>", "utf-8")
    with Server(tmp_path, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = []
        for host in (f"localhost:{server.server_port}", "example.com"):
            asked = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
            asked.request(method, "/", headers={"Host": host})
            found.append(asked.getresponse().status)
            asked.close()
        server.shutdown()
    assert found == [200, 403]
