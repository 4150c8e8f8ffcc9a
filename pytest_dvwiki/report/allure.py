"""Allure output: adds the causes of a failed test to its result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_dvwiki.report.github import markdown
from pytest_dvwiki.report.junit import FINGERPRINT, LABEL, PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.report.brief import Brief


def completed(text: str, causes_of: Callable[[str], Sequence[Brief]]) -> str:
    """Return the text of a result file, with the test's causes added to its description and labels.

    A label written when the test failed is replaced by the cause's label after the whole run.

    Args:
        text: The file as allure-pytest wrote it.
        causes_of: Returns the archived causes of a test, given the fingerprint in its labels.
    """
    if FINGERPRINT not in text:
        return text
    result = json.loads(text)
    labels = result.get("labels", [])
    found = (brief for each in labels if each["name"] == FINGERPRINT for brief in causes_of(each["value"]))
    briefs = {brief.fingerprint: brief for brief in found}.values()
    if not briefs:
        return text
    result["labels"] = [each for each in labels if each["name"] not in {LABEL, FINGERPRINT}] + [
        {"name": name, "value": value}
        for brief in briefs
        for name, value in ((LABEL, brief.label), (FINGERPRINT, brief.fingerprint), (PAGE, brief.page))
        if value
    ]
    described = [result["description"]] if result.get("description") else []
    result["description"] = "\n\n".join((*described, *map(markdown, briefs)))
    return json.dumps(result, ensure_ascii=False)
