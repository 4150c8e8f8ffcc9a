"""The values that a Makefile's variables from outside had in a run, inferred from the values in the run's log."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.capture.make.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

REFERENCE = re.compile(r"\$[({]([A-Za-z_]\w*)[)}]", re.ASCII)
OLD_NAMES = {"MODULE": "COCOTB_TEST_MODULES", "TOPLEVEL": "COCOTB_TOPLEVEL", "TESTCASE": "COCOTB_TESTCASE"}
_CHOOSING = (("COCOTB_TEST_MODULES", "MODULE"), ("COCOTB_TOPLEVEL", "TOPLEVEL"), ("COCOTB_RESULTS_FILE",))
"""The variables, with their old names, that show which design and tests ran."""
_COMPARED = re.compile(
    r"ifn?eq\b[ \t]*(?:\([ \t]*|[\"'])\$[({](\w+)[)}](?:[ \t]*,[ \t]*|[\"'][ \t]+[\"'])([\w.-]+)[ \t]*[)\"']"
)
"""Matches the comparison of a variable with a fixed value: `ifeq ($(DUT), fifo)`."""
_TESTED = re.compile(r"ifn?def[ \t]+(\w+)")
_MOST_COMBINATIONS = 256
_MOST_ROUNDS = 4


class Solution(Struct, frozen=True):
    """The values of a Makefile's variables in a run."""

    values: dict[str, str]
    """Values of the variables that the Makefile takes from outside."""
    evaluation: Evaluation
    """The Makefile with these values."""
    unknown: str
    """Why make may run something else with these values than in that run; empty if make runs the same."""

    def made(self, name: str) -> str | None:
        """Return the value that the Makefile gives a variable; None if it is unknown."""
        return self.evaluation.value(name)


def solve(
    lines: Sequence[tuple[str, str, str]],
    names: AbstractSet[str],
    logged: Mapping[str, str],
    *,
    given: Mapping[str, str],
    likely: Mapping[str, str],
    environment: Mapping[str, str],
) -> Solution:
    """Find values of the variables from outside for which the Makefile yields the values in the log.

    Args:
        lines: The assignments and conditions of the Makefile, as from `statements`.
        names: The variables that the Makefile takes from outside.
        logged: Maps variables to their values in the run.
        given: Variables on the command line of make, by their current names.
        likely: Values of variables from outside, inferred from words of the Makefile that match words of the log.
        environment: The current environment, whose values may be those of the run.
    """
    on_line = dict(given) | {old: given[new] for old, new in OLD_NAMES.items() if new in given}
    choices = _choices(lines, names - logged.keys(), logged, likely, environment)

    def runs(evaluation: Evaluation) -> list[str | None]:
        return [evaluation.value(name) for group in _CHOOSING[:2] for name in group]

    fixed = {name: value for name, value in likely.items() if name not in choices}
    named = {"SIM": logged["SIM"]} if "SIM" in logged else {}
    set_here = {name for name, how, _ in lines if how}
    groups = [(group, _first(logged, group)) for group in _CHOOSING if set_here & {*group} and group[0] not in given]

    def evaluated(values: Mapping[str, str], unknown: Collection[str] = ()) -> Evaluation:
        return Evaluation(lines, {**named, **fixed, **values}, on_line, unknown)

    def unlike(evaluation: Evaluation) -> list[tuple[str, ...]]:
        made = (
            (group, wanted, _first({name: evaluation.value(name) for name in group}, group)) for group, wanted in groups
        )
        return [group for group, wanted, value in made if wanted and value and value != wanted]

    combinations = [
        {name: value for name, value in zip(choices, each, strict=True) if value is not None}
        for each in itertools.islice(itertools.product(*choices.values()), _MOST_COMBINATIONS)
    ]
    fitting = [each for each in combinations if not unlike(evaluated(each))]
    values = (fitting or combinations)[0]
    evaluation = evaluated(values)
    # Values that fit as well, but run other tests or another design.
    ran = runs(evaluation)
    others = [each for each in fitting if runs(evaluated(each)) != ran]
    missing = {name: None for each in others for name in choices if each.get(name) != values.get(name)}

    def deciding(group: tuple[str, ...], among: Collection[str]) -> Iterator[str]:
        """Yield the variables of `among` without which a variable of the group has no known value."""
        for name in sorted(among):
            without = {each: value for each, value in values.items() if each != name}
            open_to_all = evaluated(without, {name})
            if any(evaluation.value(each) and open_to_all.value(each) is None for each in group):
                yield name

    wrong = unlike(evaluation)
    for group, wanted in groups:
        if group in wrong:
            missing |= dict.fromkeys(deciding(group, names))
        elif not wanted and group in _CHOOSING[:2]:
            missing |= dict.fromkeys(deciding(group, names - {*fixed, *values, *environment, *group}))
    conditions = [line for line, how, _ in lines if not how]
    if "SIM" not in {*logged, *given, *environment} and any("SIM" in _mentioned(line) for line in conditions):
        missing["SIM"] = None
    return Solution({**fixed, **values}, evaluation, _reason(list(missing)))


def _reason(names: Sequence[str]) -> str:
    if not names:
        return ""
    values = f"{'value' if len(names) == 1 else 'values'} of {' and '.join(names)}"
    return f"the log does not show the {values}, which {'decides' if len(names) == 1 else 'decide'} what make runs"


def _first(values: Mapping[str, str | None], names: Sequence[str]) -> str | None:
    return next((value for name in names if (value := values.get(name))), None)


def _mentioned(condition: str) -> set[str]:
    return {*REFERENCE.findall(condition), *_TESTED.findall(condition)}


def _choices(
    lines: Sequence[tuple[str, str, str]],
    names: Collection[str],
    logged: Mapping[str, str],
    likely: Mapping[str, str],
    environment: Mapping[str, str],
) -> dict[str, list[str | None]]:
    """Return the values that variables set outside the Makefile may have had, likeliest first; None means not set."""
    found: dict[str, dict[str, None]] = {}
    known = {**logged, **{old: logged[new] for old, new in OLD_NAMES.items() if new in logged}}
    known |= {new: logged[old] for old, new in OLD_NAMES.items() if old in logged}
    for _ in range(_MOST_ROUNDS):
        more: dict[str, str] = {}
        for name, how, text in lines:
            if how and name in known and REFERENCE.search(text):
                for inner, value in values_in({known[name]}, text).items():
                    if inner in names:
                        found.setdefault(inner, {})[value] = None
                    elif inner not in known:
                        more[inner] = value
        known |= more
        if not more:
            break
    choices: dict[str, list[str | None]] = {name: [*values] for name, values in found.items()}
    compared: dict[str, dict[str, None]] = {}
    for line, how, _ in lines:
        if not how and (match := _COMPARED.search(line)) and match[1] in names:
            compared.setdefault(match[1], {})[match[2]] = None
    for name in {**found, **compared}:
        others = [given for values in (likely, environment) if (given := values.get(name))]
        choices[name] = list(dict.fromkeys((*choices.get(name, ()), *others, None, *compared.get(name, ()))))
    return choices


def values_in(logged: Collection[str], word: str) -> dict[str, str]:
    """Infer the values of the variables in a word of a Makefile from the logged words that match it.

    `-Pdut.WIDTH=$(WIDTH)` and the logged `-Pdut.WIDTH=16` give `WIDTH` the value 16. The result is empty if no logged
    word matches, or if the matches give different values.
    """
    from pytest_dvwiki.expressions import LONGEST, compile_re2  # noqa: PLC0415  # loaded only for a Makefile with such words

    literals, names = REFERENCE.split(word)[::2], REFERENCE.findall(word)
    if "" in literals[1:-1]:
        return {}  # the boundary between two adjacent variables is unknown
    groups = (f"(?P<v{number}>[^'\"]*?)" for number in range(len(names)))
    parts = (part for pair in zip(map(re.escape, literals), (*groups, r"\z"), strict=True) for part in pair)
    # The word and the log come from untrusted files: the time must be linear in their length.
    expression = compile_re2(rf"\A{''.join(parts)}")
    longest = max(literals, key=len)
    fits: set[tuple[tuple[str, str], ...]] = set()
    for one in logged:
        match = expression.search(one) if longest in one and len(one) < LONGEST else None
        if match is not None:
            pairs = {(name, match.groups[f"v{number}"]) for number, name in enumerate(names)}
            if len(pairs) == len(set(names)):  # a variable has one value everywhere
                fits.add(tuple(sorted(pairs)))
    return dict(fits.pop()) if len(fits) == 1 else {}
