"""Reader of functional coverage reports: XML and YAML of cocotb-coverage, UCIS XML of simulators and pyucis.

UCIS XML is read without pyucis, which expands entities, builds a tree even for millions of bins, and stops at the first
cross that it cannot resolve. The few elements that hold bins are read as parser events instead. Code coverage in a UCIS
file is skipped: its holes are source lines, which other tools show better.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.xml_events import FileError, UnfitError, read_events
from pytest_dvwiki.model import CoverBin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_BINS_LIMIT = 1_000_000
_YAML_LIMIT = 64 << 20
_NAME_LIMIT = 160
_XML_HEAD = re.compile(rb"<(?![?!])(?:[\w.-]+:)?(?:UCIS\b|[\w.-]+(?:\s+[\w:.-]+=(?:\"[^\"]*\"|'[^']*'))*?\s+abs_name=)")
_YAML_HEAD = re.compile(rb"^[ \t]+cover_percentage:", re.MULTILINE)
_ROOT = "top."
_POINT_KEYS = frozenset({"cover_percentage", "bins:_hits"})
_CHECK = frozenset({"PASS", "FAIL"})
_LEFT_OUT = frozenset({"ignore", "illegal"})
_AGAIN = "export the report again"
_PART = r"""'[^'"\\(),]*'|"[^"\\(),]*"|[\w.+-]+"""
_TUPLE = re.compile(rf"\(((?:{_PART})(?:, (?:{_PART}))*),?\)")
_NUMBER = re.compile(r"\d{1,18}")


class CoverageError(FileError):
    """A coverage report that cannot be used."""


def is_coverage(name: str, head: bytes) -> bool:
    """Return whether a file is a coverage report, judged by its name and its first bytes."""
    if name.lower().endswith(".xml"):
        # Only the first element identifies the format: UCIS by its name, cocotb-coverage by its attribute.
        first = re.search(rb"<[A-Za-z_]", head)
        return first is not None and _XML_HEAD.match(head, first.start()) is not None
    return is_yaml(name) and _YAML_HEAD.search(head) is not None


def is_yaml(name: str) -> bool:
    """Return whether a file has the name of a YAML file, and so may be a coverage report."""
    return name.lower().endswith((".yaml", ".yml"))


def read_coverage(path: Path) -> list[CoverBin]:
    """Return the bins of a coverage report.

    Ignored, illegal and excluded bins are left out, and so are all bins of a point with weight 0. The root `top`, which
    cocotb-coverage adds to names in XML but not in YAML, is removed.

    Raises:
        CoverageError: The file cannot be read, or is not a coverage report.
    """
    if is_yaml(path.name):
        return list(_yaml_bins(path))
    reader = _ReportReader()
    read_events(path, reader, CoverageError)
    return reader.bins


class Coverage(Struct, frozen=True):
    """The merged coverage reports of one run."""

    bins: tuple[CoverBin, ...] = ()
    """The bins; the hits of a bin that is in several reports are added up."""
    problems: tuple[str, ...] = ()
    """Messages about reports that cannot be used; each begins with the report's name."""


def read_reports(reports: Iterable[tuple[str, Path]]) -> Coverage:
    """Read the coverage reports of one run, given as pairs of displayed name and path.

    If cocotb-coverage exported a report in both formats, `cov.xml` and `cov.yml`, only the XML is read.
    """
    given = list(reports)
    in_xml = {path.with_suffix("") for _, path in given if not is_yaml(path.name)}
    found: dict[tuple[str, str], CoverBin] = {}
    problems: list[str] = []
    for shown, path in given:
        if is_yaml(path.name) and path.with_suffix("") in in_xml:
            continue
        try:
            bins = read_coverage(path)
        except CoverageError as error:
            problems.append(f"{shown}: {error.reason}")
            continue
        for one in bins:
            key = (one.covergroup, one.bin)
            before = found.get(key)
            found[key] = replace(before, hits=before.hits + one.hits) if before else one
    return Coverage(tuple(found.values()), tuple(problems))


def _bins(
    point: str, hits: Mapping[str, int], *, goal: int, weight: int, size: int | None = None
) -> Iterator[CoverBin]:
    """Yield the bins of a point of cocotb-coverage.

    Args:
        point: Name of the point.
        hits: Maps the label of a bin to its number of hits.
        goal: The point's `at_least`: the number of hits at which a bin is covered.
        weight: The point's weight.
        size: The point's `size`; it distinguishes a check from a point with bins called `PASS` and `FAIL`.
    """
    if weight <= 0:
        return
    if hits.keys() == _CHECK and size == weight:
        # A check that ever failed counts as uncovered; otherwise its passes are its hits.
        hits = {"PASS": 0 if hits["FAIL"] else hits["PASS"]}
    covergroup = _name(point.removeprefix(_ROOT))
    for label, count in hits.items():
        yield CoverBin(covergroup=covergroup, bin=_name(_plain(label)), hits=count, goal=goal, weight=weight)


def _plain(label: str) -> str:
    """Return the label of a cross bin as plain text: `push, 8` for `('push', 8)`."""
    found = _TUPLE.fullmatch(label)
    return ", ".join(part.strip("'\"") for part in found[1].split(", ")) if found else label


def _name(text: str) -> str:
    """Return a name on one line; a long name is truncated, and its hash is appended to keep it unique."""
    line = " ".join(text.split()) or '""'
    if len(line) <= _NAME_LIMIT:
        return line
    return f"{line[: _NAME_LIMIT - 9]}…{hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _number(text: str | None, what: str, default: int | None = None) -> int:
    """Return a count from a report, or the default if the value is missing.

    Raises:
        UnfitError: The value is not a number, or is missing and has no default.
    """
    if text is None and default is not None:
        return default
    if text is None or not _NUMBER.fullmatch(text.strip()):
        raise UnfitError(f"{what} is {text!r:.40}, not a number; {_AGAIN}")
    return int(text)


# YAML of cocotb-coverage


def _yaml_bins(path: Path) -> Iterator[CoverBin]:
    from pytest_dvwiki.yamlio import YamlError, load  # noqa: PLC0415  # loaded only for a YAML report

    try:
        if path.stat().st_size > _YAML_LIMIT:
            raise CoverageError(path, f"larger than {_YAML_LIMIT >> 20} MiB; export it as XML")
        document = load(reading.read_bytes(path, _YAML_LIMIT), "line")
    except OSError as error:
        raise CoverageError(path, reading.reason(error)) from error
    except YamlError as error:
        reason = str(error).replace("line:", "line ", 1)
        raise CoverageError(path, f"cannot be read as plain YAML: {reason}; label the bins, or export XML") from error
    if not isinstance(document, dict) or not all(isinstance(point, dict) for point in document.values()):
        raise CoverageError(path, f"not a coverage report: it is not a list of coverage points; {_AGAIN}")
    if document and not any(_POINT_KEYS & point.keys() for point in document.values()):
        raise CoverageError(path, "not written by cocotb-coverage; export UCIS XML from other tools such as PyUCIS")
    for name, point in document.items():
        if "bins:_hits" in point:
            try:
                yield from _point(str(name), point)
            except UnfitError as unfit:
                raise CoverageError(path, f"{str(name)[:_NAME_LIMIT]}: {unfit}") from unfit


def _point(name: str, point: dict[Any, Any]) -> Iterator[CoverBin]:
    hits = point["bins:_hits"]
    if not isinstance(hits, dict):
        raise UnfitError(f"bins:_hits is {hits!r:.40}, not a list of bins; {_AGAIN}")
    return _bins(
        name,
        {str(label): _whole(count, f"the hits of {str(label)[:40]!r}") for label, count in hits.items()},
        goal=_whole(point.get("at_least", 1), "at_least"),
        weight=_whole(point.get("weight", 1), "weight"),
        size=_whole(point.get("size", 0), "size"),
    )


def _whole(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnfitError(f"{what} is {value!r:.40}, not a number; {_AGAIN}")
    return value


# XML


class _ReportReader:
    """Recognises the format by the first element, and passes all elements to the reader of that format."""

    def __init__(self) -> None:
        self.bins: list[CoverBin] = []
        self._format: _Cocotb | _Ucis | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if self._format is None:
            if tag == "UCIS":
                self._format = _Ucis(self.bins)
            elif "abs_name" in attributes:
                self._format = _Cocotb(self.bins)
            else:
                raise UnfitError(f"not a coverage report: its root is <{tag[:80]}>; {_AGAIN}")
        self._format.start(tag, attributes)
        if len(self.bins) > _BINS_LIMIT:
            raise UnfitError(f"more than {_BINS_LIMIT} bins; split it into several reports")

    def end(self, tag: str) -> None:
        if self._format is not None:
            self._format.end(tag.rpartition(":")[2])

    def characters(self, data: str) -> None:
        """Ignore text, because all data are in attributes."""


class _Cocotb:
    """Reader of cocotb-coverage XML: an element with `bin` and `hits` is a bin of its parent element."""

    def __init__(self, bins: list[CoverBin]) -> None:
        self._bins = bins
        self._open: list[tuple[dict[str, str], dict[str, int]]] = []
        """Open elements: the attributes of each, and the hits of its bins."""

    def start(self, _tag: str, attributes: dict[str, str]) -> None:
        if "bin" in attributes and "hits" in attributes and self._open:
            label = attributes["bin"]
            self._open[-1][1][label] = _number(attributes["hits"], f"the hits of {label[:40]!r}")
        self._open.append((attributes, {}))

    def end(self, tag: str) -> None:
        attributes, hits = self._open.pop()
        if hits:
            self._bins += _bins(
                attributes.get("abs_name", tag),
                hits,
                goal=_number(attributes.get("at_least"), "at_least", 1),
                weight=_number(attributes.get("weight"), "weight", 1),
                size=_number(attributes.get("size"), "size", 0),
            )


class _Ucis:
    """Reader of UCIS XML: covergroup instances with coverage points and crosses, each with its options and bins."""

    def __init__(self, bins: list[CoverBin]) -> None:
        self._bins = bins
        self._instances: dict[str, str] = {}
        self._scope = ""
        self._instance: dict[str, str] = {}
        self._type: dict[str, str] = {}
        self._options: dict[str, str] = {}
        self._point: dict[str, str] | None = None
        self._point_options: dict[str, str] = {}
        self._bin: dict[str, str] | None = None
        self._hits: int | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "instanceCoverages":
                self._enter(attributes)
            case "cgInstance":
                self._instance, self._type, self._options = attributes, {}, {}
            case "cgId":
                self._type = attributes
            case "options" if self._point is not None:
                self._point_options = attributes
            case "options":
                self._options = attributes
            case "coverpoint" | "cross":
                self._point, self._point_options = attributes, {}
            case "coverpointBin" | "crossBin":
                self._bin, self._hits = attributes, None
            case "contents" if self._bin is not None:
                # A bin with several ranges repeats its count at each range.
                self._hits = max(self._hits or 0, _number(attributes.get("coverageCount"), "coverageCount"))

    def end(self, tag: str) -> None:
        match tag:
            case "coverpoint" | "cross":
                self._point = None
            case "coverpointBin" | "crossBin":
                self._take()
                self._bin = None

    def _enter(self, attributes: dict[str, str]) -> None:
        """Record the path of a design instance."""
        parent = self._instances.get(attributes.get("parentInstanceId", ""), "")
        name = attributes.get("name", "")
        self._scope = f"{parent}.{name}" if parent else name
        if "instanceId" in attributes:
            self._instances[attributes["instanceId"]] = self._scope

    def _take(self) -> None:
        found, point = self._bin, self._point
        if found is None or point is None:
            return
        if self._hits is None:
            raise UnfitError(f"the bin {found.get('name', '')[:40]!r} has no coverageCount; {_AGAIN}")
        weights = [_number(options.get("weight"), "weight", 1) for options in (self._options, self._point_options)]
        excluded = any(element.get("excluded") == "true" for element in (found, point, self._instance))
        if found.get("type") in _LEFT_OUT or excluded or not all(weights):
            return
        self._bins.append(
            CoverBin(
                covergroup=_name(".".join(part for part in (self._covergroup(), point.get("name", "")) if part)),
                bin=_name(found.get("name", "")),
                hits=self._hits,
                goal=_number(self._point_options.get("at_least") or self._options.get("at_least"), "at_least", 1),
                weight=weights[1],
            )
        )

    def _covergroup(self) -> str:
        """Return the full name of the covergroup: by its instance if `per_instance` is set, otherwise by its type."""
        instance, kind = self._instance.get("name", ""), self._type.get("cgName", "")
        if kind in {"", instance} or self._options.get("per_instance") != "true":
            module = self._type.get("moduleName", "")
            return f"{module}.{kind}" if kind and module not in {"", kind} else kind or instance
        return f"{self._scope}.{instance}" if self._scope else instance
