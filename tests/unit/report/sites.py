"""A small project with hostile logs, and its report."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki import runs
from pytest_dvwiki.model import OtherTest, PassedAgain, Suite, Totals, Waived
from pytest_dvwiki.records.store import suite_id
from pytest_dvwiki.report.site import make_site
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, TEST, TODAY, failed, fixed, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout

OTHER = "0a66a656159d"
WAIVED = "77aa66a65615"
HOSTILE = "UVM_ERROR </pre><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>"
PAGE = """
[evil](javascript:window.hacked=1) [out](../../../etc/passwd) [web](https://example.com/a)
[pattern](../patterns/timeout.md)
<script>window.hacked = 1</script> <a href="RTL_0.md" onclick="window.hacked=1">gone</a> <b>bold</b>
"""
TESTS = [TEST, "tests/test_fifo.py::test_fifo::underflow", "tests/test_axi.py::test_axi::burst[<img src=x>]"]


def records() -> Iterator[RunRecord]:
    """Yield some nights: a cause that fails three times and is fixed, a hostile one, a waived one, a flaky test."""
    lists = {"suites": (Suite(suite=suite_id(TESTS), simulator="icarus"),)}
    slow = replace(failed(), duration_s=1800.0)
    for number in range(3):
        found = [occurrence(tests=(slow,))]
        if number == 2:
            hostile = replace(failed(TESTS[2]), duration_s=5400.0)
            found.append(
                occurrence(
                    OTHER,
                    primary=HOSTILE,
                    excerpt=f"before\n{HOSTILE}\nafter",
                    failure_subtype="timeout",
                    tests=(hostile,),
                )
            )
        yield night(number, *found, totals=Totals(passed=3 - len(found), failed=len(found)), **lists)
    accepted = occurrence(WAIVED, failure_subtype="null_handle", primary="null handle", tests=(failed(TESTS[1]),))
    waived = Waived(id="W-1", fingerprint=WAIVED, tests=(TESTS[1],), reason="late", owner="fifo", expires="2026-11-25")
    yield night(
        3,
        accepted,
        waived=(waived,),
        other=(
            OtherTest(nodeid=TESTS[1], outcome="waived", simulator="icarus"),
            OtherTest(nodeid=TESTS[2], outcome="flaky", simulator="icarus"),
        ),
        totals=Totals(passed=1, waived=1, flaky=1),
        passed_again=(
            PassedAgain(
                nodeid=TEST, fingerprint=CAUSE, seed="42", changed="commit", failed_seed="42", simulator="icarus"
            ),
        ),
        fixes=(fixed(3, CAUSE),),
        **lists,
    )


def night(number: int, *occurrences: Any, **changes: Any) -> RunRecord:
    """Return a run of the nightly regression."""
    made = record(number, *occurrences, **changes)
    return replace(made, task_id=made.task_id.replace("regression", "nightly"))


def project(root: Path) -> Layout:
    """Write the wiki of the project."""
    place = layout(root)
    for each in records():
        archive(place, each, lists=[TESTS])
    page = next((place.wiki / "bugs").glob("[A-Z]*.md"))
    page.write_text(page.read_text("utf-8").replace("\n## Resolution", f"{PAGE}\n## Resolution"), "utf-8")
    return place


def report(root: Path) -> Path:
    """Make the project's report on the day of the tests; return its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "time", SimpleNamespace(time=TODAY.timestamp))
        make_site(project(root / "fifo"), root / "site")
    return root / "site"


class Elements(HTMLParser):
    """Parser for the elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> list[str]:
        """Return the addresses of the links."""
        return [str(attributes["href"]) for tag, attributes in self.found if tag == "a" and "href" in attributes]

    @property
    def ids(self) -> set[str]:
        """Return the ids of the elements."""
        return {str(attributes["id"]) for _, attributes in self.found if "id" in attributes}

    @property
    def words(self) -> str:
        """Return the text with single spaces."""
        return re.sub(r"\s+", " ", self.text)
