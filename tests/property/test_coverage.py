"""With any names of points and bins, pages stay inside the wiki, stay Markdown, and follow from the records."""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import markdown_it
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_dvwiki.capture.files.coverage import read_reports
from pytest_dvwiki.model import RunRecord
from pytest_dvwiki.settings import Layout
from pytest_dvwiki.triage.holes import coverage_news
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

NASTY = (
    "../../x",
    "a|b",
    "```",
    "<!-- dvwiki:begin history",
    "('a', \"b\")",
    "(" * 200,
    "null",
    "---",
    "=======",
    "con",
    "# h",
    "[x](y)",
    "all bins",
    "x" * 300,
    " ",
    "'\"\\",
    "\u202e",
)
XML_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=30)
NAMES = st.sampled_from(NASTY) | XML_TEXT
POINTS = st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 2), max_size=4), max_size=3)


def report(points: dict[str, dict[str, int]]) -> bytes:
    top = ET.Element("top", {"abs_name": "top"})
    for name, bins in points.items():
        point = ET.SubElement(top, "point", {"abs_name": f"top.{name}", "at_least": "1"})
        for label, hits in bins.items():
            ET.SubElement(point, "bin", {"bin": label, "hits": str(hits)})
    return ET.tostring(top, encoding="unicode").encode()


@settings(max_examples=40, deadline=None)
@given(POINTS)
def test_every_name_gets_a_page_that_reads_as_it_was_meant(points: dict[str, dict[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "report.xml"
        path.write_bytes(report(points))
        found = read_reports([("report.xml", path)])
        assert found.problems == ()
        news = coverage_news(found.bins, {}, whole=True)
        layout = Layout(root=root, wiki=root / ".agent" / "wiki")
        time = "2026-11-21T20:27:30Z"
        done = archive(
            layout,
            RunRecord(
                task_id="run_1",
                tool="t",
                registry="",
                fingerprint_version=1,
                started=time,
                finished=time,
                duration_s=0.0,
                coverage=news.rows,
            ),
        )
        assert done.refused == []
        assert len(done.pages_created) == len(news.found)
        assert {path.name for path in root.iterdir()} == {"report.xml", ".agent"}
        for name in done.pages_created:
            page = pages.read((layout.wiki / name).read_bytes())
            assert page.metadata["filled"] is False
            headings = [
                token.map for token in markdown_it.MarkdownIt().parse(page.body) if token.type == "heading_open"
            ]
            assert len(headings) == 4
            assert page.body.count("\n| 2026-11-21 |") == 1
        assert build(layout, check=True).changed == []


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["r.xml", "r.yml"]))
def test_no_bytes_do_anything_but_be_read_or_refused(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for content in (data, b'<top abs_name="t"><p abs_name="t.p"><b bin="1" hits="0"/>' + data, b"t:\n  x: " + data):
            path.write_bytes(content)
            found = read_reports([(name, path)])
            assert all("\n" not in problem for problem in found.problems)
