"""Turn the raw lines of a log into messages of one line each.

Prefixes such as CI timestamps, quote marks of forums, Questa's `# ` and cocotb-test's logger are removed. The lines of
a multi-line message are joined.
"""

from __future__ import annotations

import functools
import re
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import simulators
from pytest_dvwiki.redact import clean, two_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_dvwiki.simulators.tool import Multiline

LONGEST = 4096
"""Maximum number of characters of a line; of a longer line, only the two ends are kept."""
MOST_JOINED = 12
"""Maximum number of lines of a message."""
_WORDS_BELOW = 3
"""Maximum number of text lines between the first line of a message and the line with its time."""

_CELL = r"[\w.:/<>-]{1,60}"
_COLUMNS = rf"[ ]*(?:\|[ ]*{_CELL}[ ]*){{1,6}}\|[ ](?=[ ]*\S)(?!.*\|$)"
"""Matches columns that CI runners put between the level and the message: job, step, index."""
_QUIET = "DEBUG|INFO|NOTICE|SUCCESS"
"""Levels that CI runners put before every message, whatever its severity."""
_PREFIXES = (
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?\]?[ \t]"  # CI, ISO time
    r"(?:\d\d[OE][ +])?"  # GitLab's stream
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?[ \t]+"  # Jenkins, GitLab
    r"|\[\d\d/\d\d[ ]\d\d:\d\d:\d\d[ ]+\d+s?\](?:[ ]|$)"  # Innovus, Tempus
    r"|#\d+[ ]\d+\.\d+[ ]"  # BuildKit
    r"|\x1b?_bk;t=\d{10,16}\x07?"  # Buildkite
    r"|[A-Z][a-z]{2}[ ][ \d]\d[ ]\d\d:\d\d:\d\d[ ][\w.-]{1,60}[ ][\w./-]{1,40}(?:\[\d+\])?:[ ]"  # syslog
    r"|[^\t]{1,80}\t[^\t]{1,80}\t(?=\d{4}-\d\d-\d\dT\d)"  # gh run view --log
    r"|-[ ](?:[\w.]{1,60}[ ]-[ ])?(?:DEBUG|INFO|WARNING)[ ]-[ ]"  # Python's logging, after the time
    r"|\[(?!error|fail|fatal|warn|info|note|debug|pass|ok)[a-z][\w-]{0,30}\][ ](?=\S)"  # Jenkins, a parallel branch
    rf"|(?:\|[ ])?(?:{_QUIET}){_COLUMNS}"  # SiliconCompiler
    rf"|(?:{_QUIET})[ ]*\|[ ]{_CELL}:\d+[ ]-[ ]"  # loguru
    rf"|(?:\[{_CELL}\][ ]?)*\[(?:{_QUIET})[ ]*\](?:[ ]?\[{_CELL}\])+[ ]"
    r"|\#\#\[error\]|::error[^:]{0,200}::"  # GitHub, Azure
    r"|[a-z][\w.]{0,30}[-_]\d{1,3}[ ]+\|[ ]"  # docker compose
    r"|\[gw\d+\](?:[ ]\[[ \d]+%\])?[ ]"  # xdist
    r"|(?:FAILED|ERROR)[ ]\S{1,300}\.py(?:::.{1,300}?)?[ ]-[ ]"  # pytest's summary
    r"(?=(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::[ ]\S|(?<=Error)$))"
    r"|(?:INFO|ERROR)[ ](?:[ ]*cocotb:simulator\.py:\d+|cocotb:)[ ]"  # cocotb-test
    r"|(?:>[ ]?)+(?=[ ]{0,5}\S|[ ]*$|[ \t]+\#[ ])"  # quotes in emails and forums, not pytest's mark for code
    r"|[ ]*\|[ ](?=[ ]*\S)(?![ ]*[~^])"  # exception groups, boxes
)
_LEVEL = r"(?:DEBUG|INFO|WARNING):(?:[\w.-]{1,60}:)?[ ]?|\[(?:DEBUG|INFO|WARNING|WARN)\][ ]"
"""Matches a level, perhaps with a logger's name, as wrappers in Python print it before each line of a simulator."""
_PASSED_ON = (
    r"[ ]{2,}\S|Traceback[ ]\(most|make(?:\[\d+\])?:[ ]\*\*\*"
    r"|\S{1,300}:\d+(?::\d+)?:[ ]?(?:(?:fatal|syntax)[ ])?error\b"
    r"|\S{1,300}:\d+:\d+:@\w+:\((?:assertion|report)[ ](?:error|failure)\)"
    r"|(?:\S{1,200}/)?(?:ld|collect2|gcc|g\+\+|cc1plus|clang(?:\+\+)?|slurmstepd|srun):[ ]"
)
"""Matches the start of a line of a simulator, make or compiler, before which a wrapper may print any level."""
_LOGGED_ERROR = r"-[ ](?:[\w.]{1,60}[ ]-[ ])?(?:ERROR|CRITICAL)[ ]-[ ]"
"""Matches an error's level in Python's logging, after the time.

The level is kept if nothing else on the line shows that it is an error.
"""
_RAISED = (
    rf"(?:(?:DEBUG|INFO):(?:[\w.-]{{1,60}}:)?[ ]?|\[(?:DEBUG|INFO)\][ ]|{_LOGGED_ERROR})"
    r"(?=(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure):[ ])"
)
"""Matches the level before an exception that a wrapper prints as information or error, but not as a warning."""
_BEFORE_HEADS = (
    r"[ ]*(?://+|/\*|--|[-*])[ ]*|[ ]*\d{1,6}[ ]?[:.|)]?[ ]+|[ ]*[`_*]{1,3}(?!ERROR:)"
    rf"|(?:\|[ ])?(?:WARN(?:ING)?|ERROR|CRITICAL|FATAL){_COLUMNS}"
    rf"|{_LEVEL}|(?:ERROR|CRITICAL):(?:[\w.-]{{1,60}}:)?[ ]?|\[ERROR\][ ]|{_LOGGED_ERROR}"
)
"""Matches what is removed before a tool's message: comment signs, bullets, line numbers, emphasis, columns, levels.

The stars of `**ERROR:` stay, because Innovus begins its messages with them.
"""
_OTHER_HEADS = r"UVM_[A-Z]+|\S{1,300}:\d+:[ ](?:error|sorry):"
"""Message prefixes that several tools share."""
_COCOTB_HEAD = re.compile(r"[ \t]*(?:-\.--|\d+\.\d+)[a-z]{1,4}[ ]+(?:TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")
_LEVELS = ("INFO ", "WARNING ", "ERROR ", "CRITICAL ", "DEBUG ")
"""How lines of cocotb and pyuvm begin if their time was cut off; a logger or `file(line)` follows."""
_DEEP = re.compile(r"[ ]{16,}\S")
_EXCEPTION = re.compile(
    r"(?!(?i:error|fatal|failure|warning|info|note|time|debug|critical)\b)(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:: |:?$)"
)
_TRACEBACK = re.compile(
    r"Traceback \(most|During handling of|The above exception|File \"|\s*$|_{3,}|={3,}|-{3,}|\*{2,}"
)
_EXPLANATION = re.compile(r"[ ]*\+ +(?:where|and) ")
_PYTEST = re.compile(r"E {1,}(?=\S)")
_UVM_HEAD = re.compile(r"(?:KERNEL: )?UVM_(?:ERROR|FATAL|WARNING|INFO)\b.*(?:@|\[)")
_UVM_WITHOUT_ID = re.compile(r"UVM_(?:ERROR|FATAL)\b[^\[]*$")
_UVM_ID = re.compile(r"\s*(?:(?:@ ?)?[\d.]+(?: ?[munpf]?s)?:? )?[\w.@:]{0,200} ?\[[\w/. #()-]{1,80}\]")
"""Matches the continuation, up to the id, of a UVM report that was broken before its id."""
_UVM_ANY = re.compile(r"(?:KERNEL: )?(?:UVM_[A-Z]+\b|-{3} UVM )")
_UVM_OPEN = re.compile(r"(?:KERNEL: )?UVM_(?:ERROR|FATAL)\b.*@ ?\d(?:[^\[]*:|.*\])$")
"""Matches the first line of a UVM report that has its text on the next line: the line ends with the time or the id."""
_TOOL_HEAD = r"UVM_(?:ERROR|FATAL)\b|\S{1,300}:\d+: (?:error|sorry): "
_NO_PART = r"\*\*[ ]|(?:KERNEL: )?UVM_|-{3}|(?:\w+ )?(?:ERROR|WARNING|INFO): |Time: |make(?:\[\d+\])?: "
"""Prefixes of lines that are not part of the message above; the tools define further prefixes."""
_FRESH = re.compile(r"--\s|-{3}|={3}|File \"|Traceback|[\w.]+Error\b|[$+] |\S{1,80}[>$] |\d{1,3}[.)]\s|```")
"""Matches other prefixes of lines that are not part of the message above, such as a prompt or a list item."""
_HANGS = r"[ (](?:at|in|to|of|the|for|with|from|and|or|not|is|by|an?|on|@)"
"""Words at the end of a line that continues on the next line."""
_COMMENT = re.compile(r"\s*(?://+|--|[#>*])?\s*")
_MOST_BROKEN = 3
_ENTITY = re.compile(r"&(?:gt|lt|amp|quot|apos|nbsp|#\d{1,4}|#x[0-9a-fA-F]{1,4});")
_ESCAPED = re.compile(r"\\([*_#\[\]<>`])")
"""Matches an escaped character in Markdown."""
_SHOWN = re.compile(r"^[ ]*(?:`([^`]+)`|\*\*(?=[^\s*]|\*\* )(.*\w.*)\*\*)$")
"""Matches a line that is code or bold in Markdown."""
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00a0", "''\"\" ")
"""Typographic quotes and spaces of web pages and emails."""
_TAGS = re.compile(r"^(?:<(?:p|pre|code|li|div)>)+|(?:<br ?/?>|</(?:p|pre|code|li|div)>)+$")
_TIME = re.compile(r"[ ]*Time: ")
_VUNIT_COMPILE = re.compile(r"Compiling into \S{1,80}: +\S+$")


class Message(Struct, frozen=True):
    """One message of a tool, as one line."""

    first: int
    """Index of the message's first line among the lines given to `assemble`."""
    last: int
    """Index of the message's last line."""
    text: str
    head: str = ""
    """The log line above, if the message is indented, such as a traceback in cocotb's log; otherwise empty."""


def strip_line(line: str) -> str:
    """Return a line without escape codes, markup, and prefixes of CI and transcripts, shortened to `LONGEST`."""
    line = clean(two_ends(line, LONGEST)).rstrip()
    if "&" in line and _ENTITY.search(line):
        # Imported here: few logs come from a web page.
        import html  # noqa: PLC0415

        line = html.unescape(line)
    if line.endswith(">") or line.startswith("<"):
        line = _TAGS.sub("", line)
    if "\\" in line:
        line = _ESCAPED.sub(r"\1", line)
    if line.endswith(("`", "**")):
        line = _SHOWN.sub(r"\1\2", line)
    if not line.isascii():
        line = line.translate(_QUOTES)
    # Prefixes nest (a CI's time before a forum's quote before Questa's `# `), but not deeply.
    for _ in range(4):
        found = _prefix().match(line)
        if found is None:
            break
        line = line[found.end() :]
    for mend in _repairs(line[:2]):
        line = mend(line)
    return line


def assemble(lines: Sequence[str]) -> list[Message]:
    """Join consecutive lines, as `strip_line` returns them, into messages."""
    messages: list[Message] = []
    head = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        deep = _DEEP.match(line) is not None
        if not deep:
            head = line.strip() if _COCOTB_HEAD.match(line) or line.lstrip().startswith(_LEVELS) else ""
        last, text = _joined(lines, at, in_block=deep and bool(head))
        if text:
            messages.append(Message(at, last, text, head if deep else ""))
        at = last + 1
    return messages


def begins_message(line: str) -> bool:
    """Return whether a stripped line begins a message."""
    text = line.strip()
    return any(head.match(text) for head in (_no_part(), _tool_head(), _COCOTB_HEAD, _FRESH))


def is_indented(line: str) -> bool:
    """Return whether a raw line is indented enough to be part of a log line above."""
    return _DEEP.match(strip_line(line)) is not None


def is_logged(line: str) -> bool:
    """Return whether a line begins like a line of cocotb's log, with the simulation time and a level."""
    return _COCOTB_HEAD.match(line) is not None


def _joined(lines: Sequence[str], at: int, *, in_block: bool) -> tuple[int, str]:
    """Return the index of the last line of the message that starts at `at`, and the message's text.

    `in_block` means that the line is indented below a log line: then an exception continues on lines with the same
    indentation.
    """
    line = lines[at]
    text = line.strip()
    if not text:
        return at, ""
    if _PYTEST.match(line):
        return _pytest_error(lines, at)
    if (below := _text_below(lines, at)) is not None:
        return below
    if _tool_head().match(text) and (further := _broken_off(lines, at)):
        return at + len(further), " ".join((*text.split(), *further))[:LONGEST]
    for head, belongs, most in _multiline_forms():
        if head.match(text):
            return _join_while(lines[: at + most], at, belongs)
    return _exception(lines, at, in_block=in_block) if _EXCEPTION.match(text) else (at, text)


def _broken_off(lines: Sequence[str], at: int) -> list[str]:
    """Return the continuation lines of a message that was broken within a sentence."""
    rest: list[str] = []
    line = lines[at].rstrip()
    for following in lines[at + 1 : at + 1 + _MOST_BROKEN]:
        text = _COMMENT.sub("", following, count=1).rstrip()
        if not text or _no_part().match(text) or not _belongs(line, text, first=not rest):
            break
        rest.append(text)
        line = text
    after = at + 1 + len(rest)
    details = takewhile(_is_detail, lines[after : after + MOST_JOINED]) if rest else ()
    return [*rest, *(" ".join(detail.split()) for detail in details)]


def _belongs(line: str, following: str, *, first: bool) -> bool:
    """Return whether a message continues in the next line; `first` means that `line` is its first line."""
    if first and _UVM_WITHOUT_ID.match(line.strip()):
        return _UVM_ID.match(following) is not None
    return _unfinished().search(line) is not None


def _join_while(lines: Sequence[str], at: int, belongs: Callable[[str], bool]) -> tuple[int, str]:
    """Return the index of a message's last line, and the message's text.

    `belongs` gets each line without the indentation of the first line.
    """
    depth = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < min(len(lines), at + MOST_JOINED) and belongs(lines[end].removeprefix(lines[at][:depth])):
        end += 1
    return end - 1, " ".join(" ".join(line.split()) for line in lines[at:end])[:LONGEST]


def _is_wrapped(line: str) -> bool:
    text = line.strip()
    return line[:2] == "  " and bool(text) and not _COCOTB_HEAD.match(line) and not _no_part().match(text)


def _text_below(lines: Sequence[str], at: int) -> tuple[int, str] | None:
    """Return the index of the last line, and the text, of a report whose text goes on below its first line.

    Return None for any other line.
    """
    text = lines[at].strip()
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if _UVM_OPEN.match(text) and any(map(str.isalnum, below)) and not _UVM_ANY.match(below.strip()):
        end, rest = _join_while(lines[: at + MOST_JOINED], at + 1, _is_wrapped)
        return end, f"{' '.join(text.split())} {rest}"
    if _until_time().match(text) and (time := _time_below(lines, at)) is not None:
        return _join_while(lines[: time + 1], at, _is_wrapped_detail)
    return None


def _time_below(lines: Sequence[str], at: int) -> int | None:
    """Return the index of the line with a message's time; None if there is no such line, or no text above it."""
    for end in range(at + 1, min(len(lines), at + 2 + _WORDS_BELOW)):
        if _TIME.match(lines[end]):
            return end if end > at + 1 else None
        if not _is_wrapped(lines[end]):
            return None
    return None


def _is_detail(line: str) -> bool:
    return _TIME.match(line) is not None or _detail().match(line) is not None


def _is_verdict(line: str) -> bool:
    return line.strip() in {"failed", "passed"}


def _is_wrapped_detail(line: str) -> bool:
    return _is_detail(line) or (line[:2] == "  " and bool(line.strip()))


def _is_text(line: str) -> bool:
    return bool(line.strip()) and not _UVM_ANY.match(line.strip())


_BELOW: Mapping[str, Callable[[str], bool]] = {
    "text": _is_text,
    "indented": _is_wrapped,
    "details": _is_detail,
    "indented or details": _is_wrapped_detail,
}


@functools.cache
def _multiline_forms() -> tuple[tuple[re.Pattern[str], Callable[[str], bool], int], ...]:
    """Return the forms of multi-line messages.

    Each form has an expression for the first line, a test for further lines, and the maximum number of lines.
    """
    of_tools = (
        (re.compile(one.head), _line_test(one), one.most) for tool in simulators.tools() for one in tool.multiline
    )
    return ((_UVM_HEAD, _is_wrapped, MOST_JOINED), *of_tools, (_VUNIT_COMPILE, _is_verdict, 2))


def _line_test(form: Multiline) -> Callable[[str], bool]:
    """Return a function that checks whether a line continues the message above it."""
    is_below, only, end = _BELOW[form.below], re.compile(form.only), re.compile(form.ends_at or r"(?!)")
    return lambda line: is_below(line) and only.match(line) is not None and not end.match(line)


@functools.cache
def _until_time() -> re.Pattern[str]:
    heads = (one.head for tool in simulators.tools() for one in tool.multiline if one.text_until_time)
    return re.compile("|".join(heads))


@functools.cache
def _prefix() -> re.Pattern[str]:
    before_heads = simulators.either(lambda tool: "|".join(filter(None, (tool.prefix, tool.head))), _OTHER_HEADS)
    wrappers = rf"(?:{_LEVEL}|{_LOGGED_ERROR})(?={_PASSED_ON})|{_RAISED}"
    return re.compile(
        simulators.either(lambda tool: tool.prefix, _PREFIXES, wrappers, rf"(?:{_BEFORE_HEADS})(?={before_heads})")
    )


_no_part = simulators.expression(lambda tool: "|".join(filter(None, (tool.head, tool.summary))), _NO_PART)
_tool_head = simulators.expression(lambda tool: tool.error, _TOOL_HEAD, flags=re.ASCII)
_unfinished = simulators.expression(lambda tool: tool.continued, _HANGS, form="{}$")
_detail = simulators.expression(lambda tool: tool.place_line, form=r"\s*{}")


@functools.lru_cache(maxsize=1024)
def _repairs(beginning: str) -> tuple[Callable[[str], str], ...]:
    """Return the functions that may repair a line that begins with these two characters."""
    return tuple(
        functools.partial(re.compile(repair.expression).sub, repair.replacement)
        for tool in simulators.tools()
        for repair in tool.repairs
        if any(start.startswith(beginning) for start in repair.starts)
    )


def _pytest_error(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Return the index of the last line of a message that pytest marks with `E`, and the message's text.

    A bare `assert …` is prefixed with `AssertionError:`. The message ends before the second message of a tool, if an
    exception shows several.
    """
    end = at
    parts: list[str] = []
    is_of_tool = False
    while end < len(lines) and (found := _PYTEST.match(lines[end])):
        part = lines[end][found.end() :].strip()
        if _tool_head().match(part):
            if is_of_tool:
                break
            is_of_tool = True
        if len(parts) < MOST_JOINED and not _EXPLANATION.match(part):
            parts.append(part)
        end += 1
    if not parts:  # the text begins in the middle of an explanation
        return end - 1, ""
    if parts[0].startswith('File "'):
        # A SyntaxError prints its place and source line before its name.
        parts = [parts[-1], *parts[:-1]]
    if parts[0].startswith("assert "):
        parts[0] = f"AssertionError: {parts[0]}"
    return end - 1, " ".join(parts)[:LONGEST]


def _exception(lines: Sequence[str], at: int, *, in_block: bool) -> tuple[int, str]:
    """Return the index of the last line of an exception's message (`Type: message`), and the message's text.

    The message ends before a blank line, a traceback, a line of a log, or a line that is not indented enough.
    """
    indent = len(lines[at]) - len(lines[at].lstrip())
    parts = [lines[at].strip()]
    end = at + 1
    while end < min(len(lines), at + MOST_JOINED):
        line = lines[end]
        depth = len(line) - len(line.lstrip())
        if _TRACEBACK.match(line.lstrip()) or depth < indent or not (in_block or depth > indent):
            break
        if is_logged(line):
            break
        if not _EXPLANATION.match(line):
            parts.append(line.strip())
        end += 1
    return end - 1, " ".join(parts)[:LONGEST]
