"""Mask the names of assertions, tests, signals and instances in a message, because names do not describe a failure."""

from __future__ import annotations

import functools
import re

WORDED = frozenset(
    {"scoreboard_fail", "timeout", "hang", "x_propagation", "coverage_miss", "protocol_violation", "timing_offset"}
)
"""Subtypes of patterns that match by wording alone, for any tool."""

_NAME = "N"
_DETAIL = re.compile(r"\b(Scope|Instance|Process|Region|Module): ?(?:in )?[^\s,;]+")
_ASSERTION = re.compile(
    r"(?P<head>(?i:\bassert(?:ion|_property)?) (?:property )?(?P<quote>[`'\"]?))(?!error|failed|violat|fail\b|failure)"
    r"[\w.$:\[\]]{1,200}(?=(?P=quote)'? ?:? ?(?i:has |was )?(?i:fail|violat|triggered|fired))"
    r"|(?P<after>(?i:\bassertion (?:failed|violation) in ))[\w.$\[\]]{1,200}"
)
_TEST = re.compile(
    r"(?P<head>(?i:\btest(?:case| case|bench)?:? )(?P<quote>['\"]?))[\w.$\[\]-]{1,200}"
    r"(?=(?P=quote):? ?(?i:has |is )?(?i:fail))"
)
_IDENTIFIER = re.compile(
    # A name has an underscore, a dot or a bracket. A word without one is skipped at once, because what follows is slow.
    r"(?P<open>\[?)(?<![\w$.\\<-])(?=[^\s_.\[]*+[_.\[])(?P<name>[A-Za-z$][\w$]*(?:\[\w{1,20}\])?(?:[._][\w$]+(?:\[\w{1,20}\])?)+)"
    r"(?P<close>\]?)(?P<label>(?:\([^()\s]{0,20}\)|\[[^\[\]\s]{0,20}\])? ?[:=]?= ?(?=\S))?"
)
_COMPARED = re.compile(r"(?i:(?:^|[_.])(?:exp\w*|act\w*|got|dut|ref\w*|golden|model|rtl|iss)(?:$|[_.\d]))")
_CHECKER = re.compile(r"(?i:scoreboard|scbd?|checker|comparator|predictor|(?:^|[_.])sb(?:$|[_.\d]))")
_CALL = re.compile(r"(?:fail_(?:unless|if)|await|check)_\w+")
"""Procedures of testbench libraries that include their own names in reports."""
_CAPITALS = re.compile(r"[A-Z0-9_$]+")
_EXCEPTION = re.compile(r"(?:\w+\.)*(?:\w+\$)?[A-Z]\w*[a-z]\w*")


@functools.lru_cache(maxsize=64)
def nameless(text: str) -> str:
    """Return a message with its names masked.

    Not masked are ids in brackets or capitals, exception types, names of checkers, and labels of compared values
    (`exp_data=3`).
    """
    text = _DETAIL.sub(rf"\1: {_NAME}", text)
    text = _ASSERTION.sub(lambda found: f"{found['head'] or found['after']}{_NAME}", text)
    text = _TEST.sub(rf"\g<head>{_NAME}", text)
    return _IDENTIFIER.sub(_without_name, text)


def _without_name(found: re.Match[str]) -> str:
    name = found["name"]
    is_id = found["open"] and found["close"] and "." not in name
    if (
        is_id
        or _CAPITALS.fullmatch(name)
        or _CHECKER.search(name)
        or _CALL.fullmatch(name)
        or _EXCEPTION.fullmatch(name)
    ):
        return found[0]
    if found["label"] and _COMPARED.search(name):
        return found[0]
    shown = f"dut.{_NAME}" if name.startswith("dut.") else _NAME
    return f"{found['open']}{shown}{found['close']}{found['label'] or ''}"
