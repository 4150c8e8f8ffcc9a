"""Classify an occurrence again from the excerpt in its record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.model import Excerpt, Failure
from pytest_dvwiki.model.sentences import is_own
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage.label import ASSERTIONS
from pytest_dvwiki.triage.place import frame_in_excerpt, is_part_of_identity
from pytest_dvwiki.version import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from pytest_dvwiki.model import Occurrence, Source, Verdict
    from pytest_dvwiki.triage.classify import Classifier

_PYTEST = re.compile(r"^E {1,}\S", re.MULTILINE)
_EXCEPTION = re.compile(r"[A-Z]\w*[a-z]\w*")


def reclassify_failure(occurrence: Occurrence, fingerprint_version: int, classifier: Classifier) -> Verdict | None:
    """Return the verdict that the current patterns give on an archived occurrence; None if its excerpt is not enough.

    An excerpt is not enough if it is empty, if no pattern matches it, or if it lacks the source location that
    identifies an exception. An excerpt has less information than the log of the failed test. So the recorded first
    cause is kept if a pattern of tier `cause` matches it. The recorded fingerprint is then kept, too, if its version is
    current.

    Args:
        occurrence: The occurrence as archived.
        fingerprint_version: The version of the recorded fingerprint.
        classifier: The current classifier, without a history.
    """
    if not occurrence.excerpt.strip():
        return None
    excerpt = Excerpt(source=_source(occurrence.excerpt), lines=tuple(enumerate(occurrence.excerpt.split("\n"), 1)))
    own_sentence = (Excerpt(source="run", lines=((1, occurrence.primary),)),) if is_own(occurrence.primary) else ()
    verdict = classifier.classify(_failure(occurrence, *own_sentence, excerpt))
    is_same = mask(verdict.primary) == mask(occurrence.primary)
    if not is_same:
        line = Excerpt(source="log", lines=((1, occurrence.primary),))
        alone = classifier.classify(_failure(occurrence, line))
        if _names_a_cause(alone, classifier):
            verdict, is_same = alone, True
            excerpt = line
    if verdict.error_class == UNKNOWN:
        return None
    if is_same and fingerprint_version == FINGERPRINT_VERSION:
        return replace(verdict, fingerprint=occurrence.fingerprint)
    return verdict if _has_needed_location(verdict, excerpt) else None


def _failure(occurrence: Occurrence, *excerpts: Excerpt) -> Failure:
    test = occurrence.tests[0] if occurrence.tests else None
    is_simulated = any(one.simulator or one.sim_time for one in occurrence.tests)
    # A failed assertion is a `python_error` only without a simulator, so the recorded class shows where it failed.
    is_check = occurrence.failure_subtype == "assertion_error" or (occurrence.pattern or "").startswith(ASSERTIONS)
    is_of_item = occurrence.error_class == "python_error" and is_check
    return Failure(
        nodeid=test.nodeid if test else "",
        phase=test.phase if test else "call",
        outcome=test.outcome if test else "failed",
        excerpts=excerpts,
        in_simulator=is_simulated and not is_of_item,
        ran_simulator=is_simulated and is_of_item,
        sim_time=test.sim_time if test else None,
        simulator=test.simulator if test else None,
    )


def _names_a_cause(verdict: Verdict, classifier: Classifier) -> bool:
    pattern = classifier.registry.get(verdict.pattern) if verdict.pattern else None
    return pattern is not None and pattern.tier == "cause"


def _source(text: str) -> Source:
    return "report" if _PYTEST.search(text) else "log"


def _has_needed_location(verdict: Verdict, excerpt: Excerpt) -> bool:
    """Return False if an exception is identified by its source location and the excerpt does not show the location."""
    parts = parse_report(verdict.primary)
    is_exception = parts.file is None and parts.message_id is None and _EXCEPTION.fullmatch(parts.report_class)
    if not is_exception or not is_part_of_identity(parts):
        return True
    return frame_in_excerpt(excerpt, verdict.line or 0) is not None
