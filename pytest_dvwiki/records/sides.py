"""Decide whether a file is part of the design or the testbench, and which of them a fix touched."""

from __future__ import annotations

import functools
import math
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import simulators
from pytest_dvwiki.model import MOST_READ, Origin
from pytest_dvwiki.model.sentences import few

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Fix, Occurrence, OriginType

HELD = 1.0
"""Weight, in log-odds, of a fix that held and touched one side only. An estimate, not measured."""
SIDES: dict[OriginType, str] = {"RTL_BUG": "the design", "TB_BUG": "the testbench"}
MAYBE_LATER = "or a later commit, since its first passes may be chance"
"""Suffix of the note on a fix if a later commit may have been the fix."""
WOULD_DECIDE = "what would decide: "
"""Prefix of the last reason for an unknown origin."""
BY_TYPE = "a person changed the type on its page"
"""Prefix of the reason for an origin that a person set on the page."""
BY_STATUS = "its page is "
"""Prefix of the reason for an origin that a person confirmed by the page's status."""
_PROSE = re.compile(
    r"(?:^|/)(?:LICENSE|COPYING|NOTICE|README|CHANGELOG|CHANGES|AUTHORS|CONTRIBUTING|CODEOWNERS)[^/]*$|\.(?:md|rst|adoc)$"
)
FOR_PEOPLE = re.compile(
    r"\.(?:dot|drawio|gv|odt|pdf|png|puml|svg|vsdx)$|(?:^|/)(?:\.editorconfig|\.idea/.*|\.vscode/.*|[^/]*\.code-workspace)$",
    re.IGNORECASE,
)
"""Drawings, documents and settings of editors, which a simulation reads only if code names them.

Other pictures, such as `.bmp` and `.ppm`, are common stimulus of image processing.
"""
BEFORE_SIMULATOR = frozenset({"import_error", "python_syntax_error"})
"""Subtypes of failures that HDL can neither cause nor repair."""
HDL = re.compile(r"\.(?:sv|svh|v|vh|vhd|vhdl)$", re.IGNORECASE)
NO_HDL = "(no HDL)"
"""Entry in the list of files read, for a failure before any HDL could be read, or without a simulation."""
AT_RUN_TIME = (
    r"import_module|__import__|spec_from|pkgutil|runpy|entry_points|exec\(|eval\(|subprocess|popen|system\(|python.* -m"
)
"""Matches code in Python files and Makefiles that may import or run modules without spelling out their names."""
FROM_FILES = r"\$readmem|\$fopen|file_open|(^|[^a-z_])open *\(|read_(text|bytes|csv)|(load|from)(txt|file)? *\("
"""Matches code that may read data from a file, without regard to case."""
_BENCH_WORDS = (
    r"tb|tbs|tests?|testbench(?:es)?|bench|uvm|verif(?:ication)?|dv|sim|agents?|env|envs|seq|seqs|sequences?"
    r"|scoreboards?|sb|scb|monitors?|drivers?|model|bfm|vip|checkers?|cov|coverage"
)
TESTBENCH = re.compile(rf"(?:^|[\\/_.-])(?:{_BENCH_WORDS})(?=[\\/_.-]|\d*\.)", re.IGNORECASE)
_WRAPPER = re.compile(
    r"(?:^|[\\/_.-])(?:tbs?|testbench(?:es)?|bench)(?=[\\/_.-]|\d*\.)|(?:^|[\\/])test_[^\\/]*$", re.IGNORECASE
)
"""HDL files of a Python testbench. Folders named `tests` are not included, because they may hold designs."""
_LANGUAGES = tuple(re.compile(suffix, re.IGNORECASE) for suffix in (r"\.py$", r"\.s?vh?$", r"\.vhdl?$"))
MAKEFILE = re.compile(r"(?:^|/)(?:GNUm|[Mm])akefile$")
_LOADED = re.compile(r"(?:^|/)(?:conftest|__init__)\.py$")
"""Python files that are loaded without an import statement."""
_LIBRARY = re.compile(r"[\\/](?:site-packages|dist-packages|uvm-?1\.\d\w?|uvm_1_\d|uvm-core)[\\/]", re.IGNORECASE)


def side_of(file: str, sources: Collection[str] = (), *, python_bench: bool = False) -> OriginType | None:
    """Return whether a source file is part of the design or the testbench; None for any other file.

    Args:
        file: Path of the file.
        sources: Files of the build. An HDL file among them is part of the design in any folder, unless it is a wrapper
            such as `tb.sv`.
        python_bench: Whether the testbench is in Python; then all HDL files except wrappers are part of the design.
    """
    if _not_design().search(file):
        return None
    if file.endswith(".py"):
        return "TB_BUG"
    if not HDL.search(file):
        return None
    if _LIBRARY.search(file):
        return "TB_BUG"
    bench = _WRAPPER if python_bench or is_among(file, sources) else TESTBENCH
    return "TB_BUG" if bench.search(own_name(file)) else "RTL_BUG"


def concerns(file: str, sources: Collection[str]) -> bool:
    """Return whether a simulation may have read a file: it is a known source, or no source in its language is known."""
    if file.endswith("conftest.py"):
        return True
    if NO_HDL in sources and HDL.search(file):
        return False
    is_python = file.endswith(".py")
    like = _of_kind(tuple(sources), is_python=is_python)
    return not like or is_among(file, like)


def reads_of(failure_subtype: str, reads: Sequence[str]) -> tuple[str, ...]:
    """Return the files that matter to a failure, of those that its simulation read.

    If Python could not import a module, no HDL matters, even if a simulator had read it before. In this case, the
    result is empty if no Python file is on record.
    """
    if failure_subtype not in BEFORE_SIMULATOR or NO_HDL in reads:
        return tuple(reads)
    others = [name for name in reads if not HDL.search(name)]
    return (NO_HDL, *others) if any(name.endswith(".py") for name in others) else ()


def is_unread(file: str, reads: Collection[str]) -> bool:
    """Return whether a simulation did not read a source, judging by the files of the same language that it did read.

    If a Makefile was read, another one was not, unless the folder of one contains the folder of the other. If make
    built HDL and no Python file is on record, the build ended before any Python file was read. Other kinds of files,
    such as data and scripts, may always have been read. So may Python files that pytest loads automatically, or whose
    names do not show that they belong to a testbench.

    Args:
        file: Name in git.
        reads: Files that the simulation read, as named in git.
    """
    # A truncated list says nothing about other files.
    if file in reads or len(reads) >= MOST_READ:
        return False
    if NO_HDL in reads and HDL.search(file):
        return True
    if MAKEFILE.search(file):
        folders = {PurePosixPath(each).parent for each in reads if MAKEFILE.search(each)}
        own = PurePosixPath(file).parent
        return bool(folders) and not any(own.is_relative_to(each) or each.is_relative_to(own) for each in folders)
    language = next((each for each in _LANGUAGES if each.search(file)), None)
    in_make = file.endswith(".py") and any(map(MAKEFILE.search, reads)) and any(map(HDL.search, reads))
    if language is None or not (in_make or any(map(language.search, reads))):
        return False
    return not file.endswith(".py") or bool(TESTBENCH.search(own_name(file)) and not _LOADED.search(file))


@functools.lru_cache(maxsize=16)
def _of_kind(sources: tuple[str, ...], *, is_python: bool) -> tuple[str, ...]:
    return tuple(each for each in sources if (each.endswith(".py") if is_python else HDL.search(each)))


def is_among(file: str, sources: Collection[str]) -> bool:
    """Return whether a file is among the sources, which may be relative to other folders."""
    names, ends = _names(tuple(sources))
    return file in ends or any(end in names for end in _ends(file))


@functools.lru_cache(maxsize=16)
def _names(files: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the paths of files, and the same paths without leading folders."""
    return frozenset(files), frozenset(end for file in files for end in _ends(file))


def _ends(file: str) -> Iterator[str]:
    """Yield a path, then the path without its first folder, without its first two folders and so on."""
    while file:
        yield file
        file = file.partition("/")[2]


def own_name(file: str) -> str:
    """Return the last folder and name of a file: folders above say little about it (`tests/designs/fifo.sv`)."""
    return "/".join(re.split(r"[\\/]", file)[-2:])


def is_prose(name: str, reads: Iterable[str]) -> bool:
    """Return whether a file is documentation that can neither break nor repair a test.

    Args:
        name: Name in git.
        reads: Files that the failing simulation read.
    """
    return bool(_PROSE.search(name)) and not any(read == name or read.endswith(f"/{name}") for read in reads)


def side_of_fix(fix: Fix, reads: Collection[str]) -> OriginType | None:
    """Return the only side that a fix touched, or else the only side that it restored; None if there is no such side.

    None is also returned if the fix touched files on neither side, or may have touched unlisted files.

    Args:
        fix: The fix.
        reads: Files that the failing simulation read; other sources in the same languages are ignored. If no file of a
            language is known, any source in it may matter, but proves nothing.
    """
    if fix.file_count > len(fix.files) or fix.maybe_later:
        return None
    counted = _counted(fix, reads)
    return _side(counted, reads) or _side(_restored(fix, counted), reads)


def _side(files: Sequence[str], reads: Collection[str]) -> OriginType | None:
    in_python = any(read.endswith(".py") for read in reads)
    # If the files read are unknown, a file counts only if its side does not depend on the testbench's language.
    ways = (in_python,) if reads else (True, False)
    if reads and not all(is_among(file, reads) for file in files):
        return None  # such as a Python file, if only the HDL files are on record
    sides = {side_of(file, reads if way else (), python_bench=way) for file in files for way in ways}
    return sides.pop() if len(sides) == 1 else None


def _counted(fix: Fix, reads: Collection[str]) -> list[str]:
    mattering = (file for file in fix.files if not is_prose(file, reads))
    return [file for file in mattering if concerns(file, reads) or is_among(file, reads)]


def _restored(fix: Fix, files: Sequence[str]) -> list[str]:
    return [file for file in files if file in fix.restored]


def with_restored_only(fix: Fix, reads: Collection[str]) -> Fix:
    """Return a fix with only the files that it restored and that the failing simulation read; unchanged if none are.

    The commits of a fix may touch other files that have nothing to do with the repair.
    """
    files = tuple(file for file in fix.restored if is_among(file, reads))
    return replace(fix, files=files, file_count=len(files)) if files else fix


def of_held_fix(fix: Fix, side: OriginType, reads: Collection[str]) -> str:
    """Return the reason for an origin given by a fix that held and touched, or restored, only one side."""
    counted = _counted(fix, reads)
    if _side(counted, reads) is None:
        files = few(_restored(fix, counted), 1)
        restored = "a successful fix returned files to their state before the cause appeared"
        return f"{restored}; the relevant ones are all in {SIDES[side]}: {files}"
    beside = any(file not in counted and not is_prose(file, reads) for file in fix.files)
    unread = "; its simulation reads no other file of the fix" if beside else ""
    return f"a fix that held for this cause touched only {SIDES[side]}: {few(counted, 1)}{unread}"


def with_held_fix(occurrence: Occurrence, fix: Fix) -> Origin:
    """Return the origin of a cause's last failure, taking a fix that held into account."""
    side = side_of_fix(fix, occurrence.reads)
    if side is None or occurrence.origin.type != "UNKNOWN" or occurrence.error_class == "tool_error":
        return occurrence.origin
    reasons = (each for each in occurrence.origin.reasons if not each.startswith(WOULD_DECIDE))
    confidence = round(1 / (1 + math.exp(-HELD)), 2)
    return Origin(type=side, confidence=confidence, reasons=(of_held_fix(fix, side, occurrence.reads), *reasons))


def of_both_sides(origin: Origin, earlier: Iterable[tuple[str, OriginType]]) -> Origin:
    """Return the origin of a cause: unknown if its failures point to both sides, as those of two faults may.

    A person's decision takes precedence.

    Args:
        origin: The origin of the last failure.
        earlier: The sides to which earlier failures pointed; the text says which, as in `before the fix of 2026-11-21`.
    """
    if origin.type not in SIDES or any(reason.startswith((BY_TYPE, BY_STATUS)) for reason in origin.reasons):
        return origin
    other = next((each for each in earlier if each[1] in SIDES and each[1] != origin.type), None)
    if other is None:
        return origin
    text = f"its failures {other[0]} pointed to {SIDES[other[1]]}, its last ones to {SIDES[origin.type]}"
    return Origin(type="UNKNOWN", confidence=0.0, reasons=(f"{text}: maybe two faults", *origin.reasons))


@functools.cache
def _not_design() -> re.Pattern[str]:
    """Return the expression that matches folders of generated files."""
    names = ("sim_build", "__pycache__", *(name for tool in simulators.tools() for name in tool.folders))
    return re.compile(rf"(?:^|[\\/])(?:{'|'.join(map(re.escape, names))})[\\/]")
