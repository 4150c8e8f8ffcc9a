"""Measures how often a printed origin is right, on faults whose origin is known.

    python -m tests.bench.origin [--fit] [--wrong]

`origin.jsonl` has one line for each failing run after a change of one line in the design or the testbench of a project.
A line has the clues of the verdict, and no text of the project. `truth` is the side that was changed. In half of the
lines, the files that changed since the last pass are known. One in six of these has changes on both sides. Of the
others whose design builds, one in eight has a change on the wrong side only, as when a stricter check shows an older
fault. In the other half, for two in three of the failures at run time, the files that changed since a pass with another
seed are known (`likely`), and at least two runs failed since. One in six of these has changes on both sides, and one in
six of the others a change on the wrong side only. One in nine of these faults is older than the pass. These shares were
chosen, not measured.

Judges each project with weights fitted on all other projects. Prints the deciles of confidence by the rule of `dvwiki
lint`, and the Brier score next to that of the constant base rate. `--fit` prints the weights that all projects together
give: those of `pytest_dvwiki/triage/origin.py`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pytest_dvwiki.patterns.registry import load_registry, load_subtypes
from pytest_dvwiki.triage import changes
from pytest_dvwiki.triage import origin as origins
from pytest_dvwiki.upkeep.calibration import Decile, Decision, by_decile, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_dvwiki.model import Clue, Origin, OriginType

SET = Path(__file__).with_suffix(".jsonl")
RIDGE = 0.3
"""Pulls the weights of rare clues towards zero: five right of five are no certainty."""
_STEPS = 300


@dataclass(frozen=True, slots=True)
class Case:
    """A verdict whose truth is known."""

    project: str
    public: bool
    fault: str
    truth: OriginType
    pattern: str | None
    clues: tuple[Clue, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """The verdicts on all cases, each with weights fitted without its project."""

    said: tuple[tuple[Case, Origin], ...]
    base: tuple[float, ...]
    """The share of design faults in the other projects, for each case."""

    @property
    def deciles(self) -> tuple[Decile, ...]:
        """Return the verdicts that name an origin, in deciles of confidence."""
        return by_decile(
            Decision(said.type, said.confidence, case.truth, case.pattern)
            for case, said in self.said
            if said.type in {"RTL_BUG", "TB_BUG"}
        )

    @property
    def brier(self) -> float:
        """Return the mean squared error of the confidence; an unknown origin counts as 50 %."""
        return _mean((_chance_of_design(said) - (case.truth == "RTL_BUG")) ** 2 for case, said in self.said)

    @property
    def brier_of_base(self) -> float:
        """Return the Brier score of the constant base rate."""
        pairs = zip(self.said, self.base, strict=True)
        return _mean((base - (case.truth == "RTL_BUG")) ** 2 for (case, _), base in pairs)


def load(path: Path = SET) -> list[Case]:
    """Read the set, and derive the clues by today's rules."""
    return [_case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def score(cases: Sequence[Case]) -> Score:
    """Judge each project by weights that were fitted on the others."""
    said: list[tuple[Case, Origin]] = []
    base: list[float] = []
    for project in sorted({case.project for case in cases}):
        others = [case for case in cases if case.project != project]
        weights = fit(others)
        share = _mean(case.truth == "RTL_BUG" for case in others)
        for case in cases:
            if case.project == project:
                said.append((case, origins.conclude(_weighted(case.clues, weights))))
                base.append(share)
    return Score(tuple(said), tuple(base))


def fit(cases: Iterable[Case]) -> dict[str, float]:
    """Return the weight of each kind of clue, at least 0, by ridge regression on the log-odds."""
    rows = Counter(
        (
            case.truth == "RTL_BUG",
            tuple((clue.kind, 1 if clue.side == "RTL_BUG" else -1) for clue in _fitted(case.clues)),
        )
        for case in cases
    )
    weights = dict.fromkeys(sorted(origins.WEIGHTS), 0.0)
    for _ in range(_STEPS):
        slope = {kind: -RIDGE * weight for kind, weight in weights.items()}
        bend = dict.fromkeys(weights, RIDGE)
        for (is_design, signs), count in rows.items():
            chance = 1 / (1 + math.exp(-sum(sign * weights[kind] for kind, sign in signs)))
            for kind, sign in signs:
                slope[kind] += count * sign * (is_design - chance)
                bend[kind] += count * max(chance * (1 - chance), 0.05) * len(signs)
        for kind in weights:
            weights[kind] = max(0.0, weights[kind] + slope[kind] / bend[kind])
    return {kind: round(weight, 1) for kind, weight in weights.items()}


def _weighted(clues: Iterable[Clue], weights: Mapping[str, float]) -> tuple[Clue, ...]:
    return tuple(replace(clue, weight=weights.get(clue.kind, clue.weight)) for clue in clues)


def _fitted(clues: Iterable[Clue]) -> list[Clue]:
    return [clue for clue in clues if clue.kind in origins.WEIGHTS]


def _case(row: Mapping[str, Any]) -> Case:
    patterns, subtypes = _known()
    # A cocotb testbench is in Python; no build gets its files.
    sources = frozenset(row["sources"])
    clues = origins.judge(
        error_class=row["error_class"],
        failure_subtype=row["failure_subtype"],
        pattern=patterns.get(row["pattern"]),
        file=row["file"],
        frame=None,
        subtypes=subtypes,
        sources=sources,
        python_bench=True,
    )
    if row["error_class"] != "tool_error":
        clues += origins.of_seeds(*row.get("seeds", (0, 0)))
        clues += origins.of_simulators([row["simulator"]], row.get("passes_on", ()))
        changed, likely = row["changed"] or (), row.get("likely", ())
        # The set lists only the sources of the build. Today a run also knows the Python files that it read, and the
        # files that were changed for the set are among them.
        read = sources.union(name for name in (*changed, *likely) if name.endswith(".py"))
        clues += changes.of_changes(changed, "0" * 8, sources=read, python_bench=True)
        clues += changes.of_changes(likely, "0" * 8, sources=read, python_bench=True, failures=origins.FEWEST_SEEDS)
    return Case(row["project"], row["public"], row["fault"], row["truth"], row["pattern"], clues)


@cache
def _known() -> tuple[Any, Any]:
    return {pattern.id: pattern for pattern in load_registry()}, load_subtypes()


def _chance_of_design(said: Origin) -> float:
    return {"RTL_BUG": said.confidence, "TB_BUG": 1 - said.confidence}.get(said.type, 0.5)


def _mean(values: Iterable[float]) -> float:
    taken = list(values)
    return sum(taken) / len(taken)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true", help="print the weights that all projects together give")
    parser.add_argument("--wrong", action="store_true", help="print the verdicts that were wrong")
    options = parser.parse_args()
    cases = load()
    if options.fit:
        for kind, weight in fit(cases).items():
            print(f'    "{kind}": {weight},')
        return
    found = score(cases)
    public = sum(case.public for case in cases)
    print(f"{len(cases)} verdicts, {public} of them on projects of others, {len({c.project for c in cases})} projects")
    print("\n".join(table(found.deciles)[1:]))
    claims = [(case, said) for case, said in found.said if said.type in {"RTL_BUG", "TB_BUG"}]
    right = sum(case.truth == said.type for case, said in claims)
    print(f"claimed {len(claims)}, right {right} ({right / len(claims):.0%}); unknown {len(cases) - len(claims)}")
    print(f"Brier score {found.brier:.3f}; of the constant base rate {found.brier_of_base:.3f}")
    by_fault: dict[str, list[bool | None]] = defaultdict(list)
    for case, said in found.said:
        by_fault[case.fault].append(said.type == case.truth if said.type in {"RTL_BUG", "TB_BUG"} else None)
    for fault, told in sorted(by_fault.items()):
        print(
            f"  {fault}: {len(told)}, right {told.count(True)}, wrong {told.count(False)}, unknown {told.count(None)}"
        )
    for case, said in claims if options.wrong else ():
        if case.truth != said.type:
            kinds = ", ".join(f"{clue.kind} ({clue.side})" for clue in case.clues)
            print(f"  {case.project}: {case.fault}: {said.type} {said.confidence:.2f}: {kinds}")


if __name__ == "__main__":
    main()
