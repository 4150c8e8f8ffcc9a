"""The failures that the texts of one session mention: found by rules, or by a model if the rules find none."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pytest_dvwiki.intake.fields import MOST, groups, word
from pytest_dvwiki.intake.findings import is_about_failure, same_failure, with_judgements, without_bullet
from pytest_dvwiki.intake.prose import failures_in_prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_dvwiki.llm.model import Model
    from pytest_dvwiki.model import Verdict
    from pytest_dvwiki.pipeline.services import Services
    from pytest_dvwiki.settings import Layout

_logger = logging.getLogger(__name__)


class SessionReader:
    """Finds the failures in the texts of one session by rules, or else by the model; a context manager."""

    def __init__(self, layout: Layout, llm: Model | None = None) -> None:
        self._layout = layout
        self._llm = llm
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def failures(
        self, report: str | None, failure_summary: str | None, classification: str | None
    ) -> list[dict[str, str]]:
        """Return the fields of each failure, with `error_class` and `failure_subtype` where they are known.

        A failure that is in the report and in the summary is returned once.

        Raises:
            ModelError: The rules find no failure in the texts, and the model gave no usable answer.
        """
        found = [group for group in groups(failure_summary) if is_about_failure(group)]
        summed = len(found)
        for group in filter(is_about_failure, groups(report)):
            same = next((place for place, each in enumerate(found[:summed]) if same_failure(each, group)), None)
            if same is not None:
                found[same] = group | found[same]
            elif not summed or {"error_class", "failure_subtype", "primary"} & group.keys():
                found.append(group)
        texts = [text for text in (failure_summary, report) if text and text.strip()]
        for text in texts:
            in_prose = failures_in_prose(text, self._verdict, only_headed=bool(found))
            found += [each for each in in_prose if not any(same_failure(each, known) for known in found)]
        if not found and texts and self._llm is not None:
            from pytest_dvwiki.intake.by_model import failures_by_model  # noqa: PLC0415  # where a model is asked

            found = failures_by_model("\n\n".join(texts), self._llm)
        if len(found) > MOST:
            _logger.warning("only the first %d of the %d failures in the report are archived", MOST, len(found))
        return [self._named(each) for each in with_judgements(found[:MOST], groups(classification)[:MOST])]

    def _named(self, failure: dict[str, str]) -> dict[str, str]:
        """Add to a failure, from its message, the label if it has none, and the fingerprint of a cause on record."""
        lines = lines_of(failure)
        verdict = self._verdict("\n".join(lines)) if lines else None
        if verdict is None:
            return failure
        label = {"error_class": verdict.error_class, "failure_subtype": verdict.failure_subtype}
        named = label | failure
        if "fingerprint" not in named and all(word(named[name]) == label[name] for name in label):
            archive = self._services.history.archive
            if archive.newest_occurrence((verdict.fingerprint,)) is not None:
                named["fingerprint"] = verdict.fingerprint
        return named

    def _verdict(self, text: str) -> Verdict | None:
        return self._services.text_classifier.classify_text(text)

    @cached_property
    def _services(self) -> Services:
        from pytest_dvwiki.pipeline.services import Services  # noqa: PLC0415  # the registry loads with it
        from pytest_dvwiki.settings import Settings, SettingsError, resolve  # noqa: PLC0415

        try:
            settings = replace(resolve(self._layout.root), layout=self._layout)
        except SettingsError as error:
            _logger.warning("the report is read with default settings: %s", error)
            settings = Settings(layout=self._layout)
        return self._open.enter_context(Services(settings, note=_logger.warning))


def lines_of(failure: Mapping[str, str]) -> list[str]:
    """Return the message of a failure and the lines around it.

    If there is no message, the symptom is used, else the first line of context, else the title. Failures without any of
    these differ only by label and test.
    """
    primary, symptom, title = (failure.get(name, "") for name in ("primary", "symptom", "title"))
    context = [without_bullet(line) for line in failure.get("context", "").splitlines()]
    if primary:
        return [*primary.splitlines(), *(line for line in context if line not in primary)]
    first = " ".join(symptom.split()) or (context[:1] or [title])[0]
    return [line for line in (first, *context) if line]
