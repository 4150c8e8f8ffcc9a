"""Compares fingerprints with dvsim's buckets and Drain3 at telling causes apart, on reports of real UVM statements.

    python tests/bench/identity.py FOLDER [--lines N] [--most N] [--show REPOSITORY]

Drain3 takes part if it is installed (`pip install drain3`).

FOLDER has a folder with the SystemVerilog sources of each repository. From every `uvm_error and `uvm_fatal whose
message is a literal or a $sformatf, the benchmark makes N reports as simulators print them, with different values,
signs, X and Z, times, folders, instances, and enumeration values. Two reports have the same cause if they come from the
same statement (file, severity, id, format and printed names) and have X in the same places. Equal statements of one
file count as one, since only the line number differs.

Prints for each method the pairwise precision, recall and F1 within each repository (mean over repositories), the share
of statements whose reports are exactly one group, the number of groups, and the processor time per report.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import fingerprint
from pytest_dvwiki.logtext.report_parts import parse_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CALL = re.compile(r"`uvm_(error|fatal)\s*\(")
_FORMAT = re.compile(r"%(?P<width>-?\d*(?:\.\d+)?)(?P<kind>[a-zA-Z%])")
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ENUMS = ("READ", "WRITE", "OKAY", "SLVERR", "IDLE", "BUSY", "NONSEQ", "UVM_IS_OK", "UVM_NOT_OK", "FIXED", "INCR")
_COMPARED = re.compile(r"(?:\b(?:exp|expected|expect|act|actual|got|was)|=)\W*$", re.IGNORECASE)
_WIDTHS = (1, 4, 8, 12, 16, 32, 64)


@dataclass(frozen=True)
class Statement:
    """A report statement of a source file."""

    repository: str
    file: str
    line: int
    severity: str
    identity: str
    """The expression of the id."""
    form: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """A line as a simulator prints it, with the statement from which it comes."""

    text: str
    truth: tuple[str, ...]


# From sources to statements


def statements(folder: Path) -> Iterator[Statement]:
    """Yield all statements of one repository for whose message a value can be made up."""
    for path in sorted([*folder.rglob("*.sv"), *folder.rglob("*.svh")]):
        source = path.read_text("utf-8", "replace")
        # Strings that contain comment marks are rare enough to ignore.
        for call in _CALL.finditer(_COMMENTS.sub(lambda found: "\n" * found[0].count("\n"), source)):
            found = _statement(call, folder, path)
            if found is not None:
                yield found


def _statement(call: re.Match[str], folder: Path, path: Path) -> Statement | None:
    parts = _arguments(call.string, call.end())
    if len(parts) != 2:
        return None
    message = re.fullmatch(r"\$(?:sformatf|psprintf)\s*\((.*)\)", parts[1], re.DOTALL)
    form, *values = _arguments(message[1] + ")", 0) if message else parts[1:]
    literal = _STRING.fullmatch(form)
    if literal is None:
        return None
    return Statement(
        repository=folder.name,
        file=path.relative_to(folder).as_posix(),
        line=call.string.count("\n", 0, call.start()) + 1,
        severity=call[1].upper(),
        identity=parts[0],
        form=literal[1].replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\n", ""),
        arguments=tuple(values),
    )


def _arguments(text: str, start: int) -> list[str]:
    """Return the arguments of a call whose opening parenthesis precedes `start`."""
    parts, depth, at, begin = [], 0, start, start
    while at < len(text):
        char = text[at]
        if char == '"':
            string = _STRING.match(text, at)
            at = string.end() if string else at + 1
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                parts.append(text[begin:at].strip())
                return parts
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return []


# From statements to reports


def reports(statement: Statement, count: int, dice: random.Random) -> Iterator[Report]:
    """Yield `count` reports of a statement, one per run."""
    same = (Path(statement.file).name, statement.severity, statement.identity, *_words(statement))
    constant = random.Random(repr(same))
    widths = [constant.choice(_WIDTHS) for _ in _FORMAT.findall(statement.form)]
    scope = constant.choice(["env.m_agent", "env.u_sb", "env.agents", "reporter"])
    style = constant.choice(["plain", "unit", "questa"])
    enum = constant.choice(_ENUMS)
    for _ in range(count):
        unknown: list[str] = []
        body = _body(statement, widths, enum, unknown, dice).split("\n")[0]
        moment = dice.randrange(10 ** dice.randrange(2, 10))
        where = _scope(scope, dice)
        name = _identity(statement, where)
        root = dice.choice(["", "../../", f"/home/u{dice.randrange(99)}/work/p{dice.randrange(9)}/", "/proj/dv/"])
        stamp = f"{moment}" if style == "plain" else f"{moment / 1000:.2f}ns" if style == "unit" else f"{moment} ps"
        head = f"UVM_{statement.severity} {root}{statement.file}({statement.line}) @ {stamp}: {where} [{name}] "
        yield Report(head + body, (*same, *unknown))


def _words(statement: Statement) -> list[str]:
    """Return the first line of a format, and the names of the values that it prints as text."""
    first = statement.form.split("\n")[0]
    kinds = [found["kind"] for found in _FORMAT.finditer(first) if found["kind"] not in "%m"]
    return [first, *(a for kind, a in zip(kinds, statement.arguments, strict=False) if kind.lower() in "sv")]


def _scope(kind: str, dice: random.Random) -> str:
    if kind == "reporter":
        return dice.choice(["reporter", "reporter"])
    index = dice.randrange(8)
    return {
        "env.m_agent": f"uvm_test_top.env.m_agent[{index}].driver",
        "env.u_sb": f"uvm_test_top.m_env{index}.sb",
        "env.agents": f"uvm_test_top.env.agents_{index}.sequencer@@seq{index}",
    }[kind]


def _identity(statement: Statement, where: str) -> str:
    literal = _STRING.fullmatch(statement.identity)
    if literal:
        return literal[1]
    if "type_name" in statement.identity or "gtn" in statement.identity:
        return Path(statement.file).stem
    if re.search(r"full_name|gfn", statement.identity):
        return where.split("@@", maxsplit=1)[0]
    return re.sub(r"\W+", "_", statement.identity).strip("_") or "ID"


@dataclass(frozen=True)
class Field:
    """A conversion in a format, such as `%0d`."""

    kind: str
    given: str
    """The characters between % and the letter."""
    argument: str
    before: str
    width: int
    """Number of bits of the argument."""
    constant: str
    """The enumeration value that this statement always prints if it compares nothing."""

    @property
    def zeros(self) -> bool:
        """Return whether leading zeros are omitted, as with %0h."""
        return bool(self.given) and not self.given.strip("0")

    @property
    def columns(self) -> int:
        """Return the requested width."""
        return int(self.given.strip("-").split(".")[0] or 0)


def _body(statement: Statement, widths: list[int], constant: str, unknown: list[str], dice: random.Random) -> str:
    at = iter(range(len(widths)))
    values = iter(statement.arguments)
    spoiled = dice.randrange(len(widths)) if widths and dice.random() < 0.1 else -1

    def shown(found: re.Match[str]) -> str:
        number = next(at)
        if found["kind"] == "%":
            return "%"
        if found["kind"] == "m":
            return f"tb_top.dut.gen_blk[{dice.randrange(8)}].u_core"
        place = Field(
            kind=found["kind"].lower(),
            given=found["width"],
            argument=next(values, ""),
            before=found.string[: found.start()],
            width=widths[number],
            constant=constant,
        )
        if number == spoiled and place.kind in "hxbd":
            unknown.append(f"X at {number}")
            return _unknown(place, dice)
        return _value(place, dice)

    return _FORMAT.sub(shown, statement.form)


def _unknown(place: Field, dice: random.Random) -> str:
    if place.kind == "d" or (place.zeros and dice.random() < 0.5):
        return "x"
    digits = place.width if place.kind == "b" else (place.width + 3) // 4
    return "".join(dice.choice("xX01" if place.kind == "b" else "xxX0f7") for _ in range(digits - 1)) + "x"


def _value(place: Field, dice: random.Random) -> str:
    width = place.width
    number = dice.getrandbits(width) if dice.random() < 0.8 else dice.getrandbits(min(width, 8))
    members = ", ".join(f"'h{dice.getrandbits(8):x}" for _ in range(3))
    digits = 1 if place.zeros else max(place.columns, (width + 3) // 4)
    signed = number - (1 << width) if width >= 4 and number >> (width - 1) and dice.random() < 0.6 else number
    shown = {
        "h": f"{number:0{digits}x}",
        "b": f"{number:b}" if place.zeros else f"{number:0{width}b}",
        "o": f"{number:o}",
        "d": f"{signed}" if place.zeros else f"{signed:{max(place.columns, len(str(1 << width)))}d}",
        "t": f"{number / 1000:.3f} ns" if len(place.constant) & 1 else f"{number}",
        "f": f"{number / 7:.6f}",
        "c": "c",
        "p": f"'{{addr:'h{number:x}, data:'{{{members}}}}}",
    }
    kind = {"x": "h", "i": "d", "g": "f", "e": "f", "r": "f"}.get(place.kind, place.kind)
    return shown[kind] if kind in shown else _text(place, dice)


def _text(place: Field, dice: random.Random) -> str:
    """Return a text for %s; it varies only if the name is one that a check compares."""
    index = dice.randrange(8)
    if "full_name" in place.argument or "gfn" in place.argument:
        return f"uvm_test_top.env.m_agent[{index}].driver"
    if re.search(r"get_name|path", place.argument):
        return f"m_agent[{index}]"
    if re.search(r"\.name\b", place.argument):
        return dice.choice(_ENUMS) if _COMPARED.search(place.before) else place.constant
    if re.search(r"string|sprint|str\b", place.argument):
        return f"addr=0x{dice.getrandbits(32):x} data='h{dice.getrandbits(32):x} id={dice.getrandbits(4)} wr=1"
    return _word(place.argument)


def _word(argument: str) -> str:
    return re.sub(r"\W+", "_", argument).strip("_").lower()[:30] or "name"


# Methods


def ours(reports_: list[Report]) -> list[str]:
    """Return the fingerprints of reports."""
    found = []
    for report in reports_:
        parts = parse_report(report.text)
        found.append(
            fingerprint(
                report_class=parts.report_class,
                file=parts.file,
                message_id=parts.message_id,
                function=None,
                source_line=None,
                text=parts.text,
            )
        )
    return found


_TOP = re.compile(r"\w*top\.\S+\.(\w+)")
_BUCKET = (
    # removes times and blanks
    *((re.compile(form), "") for form in (r"@\s+[\d.]+\s+[np]s: ", r"\[[\d.]+\s+[np]s\] ", r"^\s+", r"\s+(?=\s)")),
    # reduces a hierarchical path to its last name
    (_TOP, r"\1"),
    # hexadecimal numbers with a base, fractions, numbers between signs, in parentheses, after = and :, and at both ends
    # of a word
    *(
        (re.compile(form), "*")
        for form in (
            r"(?:0x|'h)\s*[\da-fA-F]+",
            r"(?<=[^a-zA-Z0-9])\d+\.\d+",
            r"(?<=[^a-zA-Z0-9()])\d+(?=$|[^a-zA-Z0-9()])",
            r"(?<= \()\s*\d+\s*(?=\)(?:$|[ ,.:;]))",
            r"(?<=[\w\]][=:])[\da-fA-F]+(?=$|[ ,.:;])",
            r"(?<=[\w\]][=:] )[\da-fA-F]+(?=$|[ ,.:;])",
            r"(?<=[\w\]] [=:])[\da-fA-F]+(?=$|[ ,.:;])",
            r"(?<=[\w\]] [=:] )[\da-fA-F]+(?=$|[ ,.:;])",
            r"(?<= )\d+(?=\S)",
            r"(?<=\S)\d+(?=$|[ =\[,.(])",
        )
    ),
)


def buckets(reports_: list[Report]) -> list[str]:
    """Group messages by the rule of dvsim, as its documentation and source state it.

    Removes times and repeated blanks, reduces a hierarchical path to its last name, and replaces numbers by a star if
    they touch no letter, follow a base, or are at the end of a word. Keeps signs and the folder of the source file.
    """
    found = []
    for report in reports_:
        text = report.text
        for form, by in _BUCKET:
            text = form.sub(by, text)
        found.append(text)
    return found


def drain(reports_: list[Report]) -> list[str]:
    """Group reports by Drain3 with its defaults; each report counts for the group that it joins first."""
    package = importlib.import_module("drain3")
    config = importlib.import_module("drain3.template_miner_config").TemplateMinerConfig()
    miner = package.TemplateMiner(config=config)
    return [str(miner.add_log_message(report.text)["cluster_id"]) for report in reports_]


def raw(reports_: list[Report]) -> list[str]:
    """Return the text unchanged."""
    return [report.text for report in reports_]


# Scores


def _pairs(counts: Counter[object]) -> int:
    return sum(count * (count - 1) // 2 for count in counts.values())


@dataclass(frozen=True)
class Score:
    """The score of a method on one repository."""

    precision: float
    recall: float
    groups: int
    truths: int
    whole: int
    """Number of statements whose reports are exactly one group."""

    @property
    def f1(self) -> float:
        """Return the harmonic mean of pairwise precision and recall."""
        return (
            2 * self.precision * self.recall / (self.precision + self.recall) if self.precision + self.recall else 0.0
        )


def score(truth: list[tuple[str, ...]], found: list[str]) -> Score:
    """Compare a grouping with the truth."""
    both = Counter(zip(truth, found, strict=True))
    true, made = Counter(truth), Counter(found)
    together = _pairs(Counter(both))
    whole = sum(count == true[one] == made[group] for (one, group), count in both.items())
    return Score(
        precision=together / _pairs(Counter(made)) if _pairs(Counter(made)) else 1.0,
        recall=together / _pairs(Counter(true)) if _pairs(Counter(true)) else 1.0,
        groups=len(made),
        truths=len(true),
        whole=whole,
    )


def sample(folder: Path, lines: int, most: int) -> list[Report]:
    """Return reports of at most `most` statements of one repository, in random order."""
    dice = random.Random(folder.name)
    known = {(s.file, s.line): s for s in statements(folder)}
    chosen = sorted(known.values(), key=lambda s: (s.file, s.line))
    if len(chosen) > most:
        chosen = dice.sample(chosen, most)
    made = [report for statement in chosen for report in reports(statement, lines, dice)]
    dice.shuffle(made)
    return made


def show_faults(reports_: list[Report], found: list[str]) -> None:
    """Print the statements that were split, and the groups with reports of several statements."""
    split: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    merged: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for report, group in zip(reports_, found, strict=True):
        split[report.truth].setdefault(group, report.text)
        merged[group].setdefault(report.truth, report.text)
    for examples in split.values():
        if len(examples) > 1:
            print("SPLIT ", *list(examples.values())[:3], sep="\n    ")
    for texts in merged.values():
        if len(texts) > 1:
            print("MERGED", *list(texts.values())[:3], sep="\n    ")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=12, help="reports of each statement")
    parser.add_argument("--most", type=int, default=150, help="statements of each repository")
    parser.add_argument("--show", help="print the faults in this repository")
    options = parser.parse_args()
    folders = sorted(path for path in options.folder.iterdir() if path.is_dir())
    samples = {path.name: made for path in folders if (made := sample(path, options.lines, options.most))}
    if options.show:
        show_faults(samples[options.show], ours(samples[options.show]))
        return
    total = sum(map(len, samples.values()))
    print(f"{len(samples)} repositories, {total} reports")
    print(f"{'method':14} precision recall  macro F1  worst F1  whole   groups/truths   us/report")
    methods: dict[str, Callable[[list[Report]], list[str]]] = {"fingerprint": ours, "dvsim buckets": buckets}
    if importlib.util.find_spec("drain3"):
        methods["Drain3"] = drain
    methods["raw text"] = raw
    own: dict[str, Score] = {}
    for name, method in methods.items():
        began = time.process_time()
        scores = {key: score([r.truth for r in made], method(made)) for key, made in samples.items()}
        seconds = time.process_time() - began
        own = own or scores
        mean = partial(_mean, list(scores.values()))
        print(
            f"{name:14} {mean('precision'):9.3f} {mean('recall'):6.3f}  {mean('f1'):8.4f}"
            f"  {min(s.f1 for s in scores.values()):8.4f}"
            f"  {sum(s.whole for s in scores.values()) / sum(s.truths for s in scores.values()):5.3f}"
            f"  {sum(s.groups for s in scores.values()):7d}/{sum(s.truths for s in scores.values())}"
            f"  {seconds / total * 1e6:10.1f}"
        )
    for key, one in sorted(own.items(), key=lambda item: item[1].f1):
        print(f"  {key:60.60} F1 {one.f1:.4f}  groups {one.groups}/{one.truths}")


def _mean(scores: list[Score], field: str) -> float:
    return float(sum(getattr(one, field) for one in scores) / len(scores))


if __name__ == "__main__":
    main()
