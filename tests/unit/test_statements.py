"""Terminal, page and prompt print the same statements, so that they never disagree on a fact."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pytest_dvwiki.agent.knowledge import Knowledge
from pytest_dvwiki.causes.cause import Cause, RuledOut
from pytest_dvwiki.causes.statements import (
    Accepted,
    Came,
    FixedBy,
    Regressed,
    Seen,
    Standing,
    Unseeded,
    beside,
    standing,
    statements,
)
from pytest_dvwiki.causes.words import PLAIN, sentence, text
from pytest_dvwiki.model import FirstBad, Fix, Waived
from pytest_dvwiki.pipeline import Archived
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.report.terminal import Session, render
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import build, write_record_alone

from . import known_causes
from .samples import CAUSE, failed, fixed, layout, occurrence, passing, record, suites

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_dvwiki.causes.statements import Statement
    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout

NAMES = [f"{letter}" * 12 for letter in "abcdef"]
SHARED = (Regressed, Seen, FixedBy, Accepted, Came, Unseeded)
"""Statements on the page, in the prompt and, for a failing cause, on the terminal."""
FIX = Fix(text="regs: ack", commits=("a" * 40, "b" * 40), date="2026-11-20T10:00:00Z", needed=4)


def grown(place: Layout, runs: int) -> None:
    """Write runs in which causes appear, are fixed in all ways, pass by chance, and return; make their pages."""

    def kept(place: Layout, run: RunRecord, names: Sequence[str] = ()) -> None:
        write_record_alone(place, replace(run, suites=suites(*names)) if names else run, lists=[names] if names else [])

    chance = random.Random(20261123)
    for number in range(1, runs):
        name = chance.choice(NAMES)
        test = f"tests/test_fifo.py::test_fifo::{name[:4]}{chance.randrange(2)}"
        unseeded = "tb/gen_data.py" if name in NAMES[:2] else None
        failing = occurrence(name, tests=(failed(test, seed=str(chance.randrange(3))),), unseeded=unseeded)
        match chance.randrange(6):
            case 0 | 1:
                came = FirstBad(
                    fingerprint=name,
                    nodeid=test,
                    good="a" * 40,
                    bad=f"{number:040x}",
                    log=(f"{number:012x} fifo: rework *all*",),
                    log_count=1,
                    files=("rtl/fifo.sv",),
                    file_count=1,
                )
                waived = Waived(id="W-1", fingerprint=name, tests=(test,), reason="waits [for] it", owner="fifo")
                kept(place, record(number, failing, first_bad=(came,), waived=chance.choice(((), (waived,)))), [test])
            case 2:
                kept(place, passing(number, name, test, changed=chance.choice(("commit", "seed", "older"))), [test])
            case 3:
                row = fixed(
                    number, name, by="person", text="reset the _pointer_", result=chance.choice(("open", "held"))
                )
                kept(place, record(number, fixes=(row,)))
            case _:
                kept(place, record(number), [test])
    build(place)


def unmarked(printed: str) -> str:
    """Return the text of a page, a prompt or the terminal on one line, without marks and sources."""
    # Only the terminal names the files of a fix.
    plain = re.sub(r" \(source: [^)]*\)| \(`?rtl/fifo.sv`?\)", "", printed)
    return " ".join(re.sub(r"[`\\]", "", plain).split())


def said(cause: Cause) -> list[str]:
    return [unmarked(sentence(text(each))) for each in statements(cause) if isinstance(each, SHARED)]


def test_page_prompt_and_terminal_say_the_same(tmp_path: Path) -> None:
    place = layout(tmp_path)
    grown(place, 120)
    kinds: set[Any] = set()
    with WikiHistory(place) as history, Knowledge(place) as knowledge:
        for page in knowledge.all("bugs"):
            found = aggregate.cause(history.archive, page.fingerprints())
            assert found is not None
            cause = Cause.on_record(page.cause, found)
            kinds |= {each.standing if isinstance(each, FixedBy) else type(each) for each in statements(cause)}
            on_page = unmarked((place.wiki / page.path).read_text("utf-8"))
            (block,) = knowledge.blocks([page])
            in_prompt = unmarked(" ".join(block.lines))
            for words in said(cause):
                assert words in on_page
                # A prompt adds the seeds.
                assert words.removesuffix(".") in in_prompt
            failing = replace(cause, news="KNOWN")
            on_terminal = unmarked(_terminal(place, failing))
            for each in statements(failing):
                if isinstance(each, (Seen, FixedBy, Came, Accepted, Unseeded)):
                    assert unmarked(text(each)) in on_terminal
    assert {Seen, Came, Accepted, Regressed, Unseeded, "held", "returned", "failed"} <= kinds


def _terminal(place: Layout, cause: Cause) -> str:
    session = Session(archived=Archived(causes=(cause,)), root=place.root, wiki=place.wiki)
    return " ".join(line.text for line in render(session, verbosity=1, width=4000))


@pytest.mark.parametrize(
    ("changes", "failing", "expected", "words"),
    [
        ({"result": "held", "passes": 4}, False, "held", "fixed by bbbbbbb regs: ack, 2026-11-20, held"),
        (
            {"passes": 2},
            False,
            "passing",
            "fixed by bbbbbbb regs: ack, 2026-11-20: passed 2 of 4 runs needed for it to hold",
        ),
        (
            {"passes": 2, "counts": False, "needed_as_proof": 3},
            False,
            "chance",
            "maybe fixed by bbbbbbb regs: ack, 2026-11-20: passed 2 of 3 runs needed, which may be chance",
        ),
        ({}, False, "stated", "said to be fixed by bbbbbbb regs: ack, 2026-11-20: passed 0 of 4 runs needed"),
        ({"passes": 2}, True, "returned", "failed again after the fix by bbbbbbb regs: ack, 2026-11-20"),
        (
            {"passes": 2, "result": "failed", "returned": "2026-11-21T10:00:00Z"},
            False,
            "returned",
            "failed again after the fix by bbbbbbb regs: ack, 2026-11-20",
        ),
        (
            {"passes": 2, "counts": False, "needed_as_proof": 3},
            True,
            "failed",
            "maybe not fixed by bbbbbbb regs: ack, 2026-11-20",
        ),
        ({"result": "failed"}, False, "failed", "maybe not fixed by bbbbbbb regs: ack, 2026-11-20"),
    ],
)
def test_each_standing_of_a_fix_has_its_words(
    changes: dict[str, Any], failing: bool, expected: Standing, words: str
) -> None:
    state = known_causes.state(replace(FIX, **changes))
    assert standing(state, failing=failing) == expected
    assert text(FixedBy(fix=state.fix, standing=expected), PLAIN) == words


@pytest.mark.parametrize(
    ("in_place", "more"),
    [(None, ""), (True, "; that change is still in place: maybe another fault"), (False, "; that change was undone")],
)
def test_passes_that_may_be_chance_are_told_when_the_cause_is_back_after_other_changes(
    in_place: bool | None, more: str
) -> None:
    known = known_causes.cause(replace(FIX, passes=2, counts=False, needed_as_proof=3))
    back = replace(known, news="KNOWN", changed_since_fix=True, fix_in_place=in_place)
    (said,) = (text(each) for each in statements(back) if isinstance(each, FixedBy))
    assert said == f"passed in 2 runs after bbbbbbb regs: ack, 2026-11-20{more}"
    later = replace(
        known_causes.cause(replace(FIX, passes=2, counts=False, returned="2026-11-21T10:00:00Z")), news="KNOWN"
    )
    assert not any(isinstance(each, FixedBy) for each in statements(replace(later, changed_since_fix=True)))


@pytest.mark.parametrize(("subtype", "shown"), [("scoreboard_fail", True), ("missing_timescale", False)])
def test_only_where_a_seed_matters_it_is_said_not_to_decide(subtype: str, shown: bool) -> None:
    seen = occurrence(error_class="sim_error", failure_subtype=subtype, unseeded="tb/gen_data.py")
    assert any(isinstance(each, Unseeded) for each in statements(Cause(name=CAUSE, occurrence=seen))) is shown


@pytest.mark.parametrize(
    ("counts", "ruled_out", "why"),
    [
        (True, "unread", " (fixed by bbbbbbb regs: ack)"),
        (False, "passed", " (these tests passed with the changes that introduced that one)"),
        (False, "unread", " (this simulation read none of the changes that introduced that one)"),
        (False, "", ""),
    ],
)
def test_another_fault_is_told_from_a_cause_by_a_fix_only_where_its_passes_are_no_chance(
    counts: bool, ruled_out: RuledOut, why: str
) -> None:
    known = known_causes.cause(replace(FIX, counts=counts))
    said = text(beside(known, ruled_out))
    assert said == f"treated as a different fault from bugs/RTL_20261121_480127.md, reported by the same check{why}"


def test_a_test_that_passed_since_is_named_by_more_than_what_all_tests_of_its_runner_have_in_common() -> None:
    names = ("t/test_bus.py::test_bus[3]::writes", "t/test_bus.py::test_bus[4]::writes")
    found = FirstBad(
        fingerprint=CAUSE,
        nodeid=names[0],
        good="a" * 40,
        bad="b" * 40,
        log=("b fifo",),
        log_count=1,
        passed_after=names[1:],
    )
    assert "; but test_bus[4]::writes passed after that" in text(Came(found=found))


def test_a_cause_that_returned_is_not_first_seen_where_it_came_back() -> None:
    found = FirstBad(fingerprint=CAUSE, nodeid="t", good="a" * 40, bad="b" * 40, passed_with="other")
    new = replace(known_causes.cause(), first_bad=found)
    back = replace(known_causes.cause(replace(FIX, passes=2)), first_bad=found, news="KNOWN")
    said = [text(each) for cause in (new, back) for each in statements(cause) if isinstance(each, Came)]
    where = "at bbbbbbb, passed before that with another seed at aaaaaaa"
    assert said == [f"first seen {where}", f"seen again {where}"]


@pytest.mark.parametrize(("day", "verb"), [("19", "first seen"), ("21", "seen again")])
def test_what_was_seen_before_a_fix_that_failed_was_not_seen_again_there(day: str, verb: str) -> None:
    found = FirstBad(fingerprint=CAUSE, nodeid="t", good="a" * 40, bad="b" * 40, passed_with="other")
    fix = replace(FIX, result="failed", date="2026-11-20T20:25:11Z")
    changes: dict[str, Any] = {"first_bad": found, "first_bad_found": f"2026-11-{day}T20:25:11Z"}
    back = known_causes.cause(fix, **changes)
    later = known_causes.cause(fix, replace(FIX, date="2026-11-25T20:25:11Z"), **changes)
    # After that, another simulator may have passed for the first time and failed again.
    known = replace(later, news="KNOWN")
    for each in (back, replace(back, news="KNOWN"), later, known):
        (came,) = (text(said) for said in statements(each) if isinstance(said, Came))
        assert came == f"{verb} at bbbbbbb, passed before that with another seed at aaaaaaa"


def test_a_fix_of_others_is_none_of_the_tests_that_fail() -> None:
    cause = replace(known_causes.cause(replace(FIX, passes=2, counts=False)), news="KNOWN", fixed_elsewhere=True)
    fixes: list[Statement] = [each for each in statements(cause) if isinstance(each, FixedBy)]
    assert list(map(text, fixes)) == ["other tests or simulators may have been fixed by bbbbbbb regs: ack, 2026-11-20"]
    cause = replace(known_causes.cause(replace(FIX, passes=2)), news="KNOWN", fixed_elsewhere=True)
    fixes = [each for each in statements(cause) if isinstance(each, FixedBy)]
    assert list(map(text, fixes)) == ["other tests or simulators were fixed by bbbbbbb regs: ack, 2026-11-20"]


def test_nobody_is_said_to_have_closed_a_page_where_an_older_fix_had_held() -> None:
    back = ("2026-11-22T00:00:00Z", "regression_x")
    for fixes, reason in (
        ((replace(FIX, result="held"), FIX), "its fix had held"),
        ((FIX,), "its page had been closed"),
    ):
        cause = known_causes.cause(*fixes, regressed=back)
        (said,) = [text(each) for each in statements(cause) if isinstance(each, Regressed)]
        assert said == f"came back on 2026-11-22 after {reason}"
