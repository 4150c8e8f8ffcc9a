"""From the raw lines of a log to messages of one line each.

Takes off what transports put in front of a line (escape codes, timestamps of CI, quotes of a forum, Questa's `# `,
cocotb-test's logger) and joins what a tool spread over several lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST = 4096
"""Characters of a line that are looked at: half of them from its head, half from its tail."""
MOST_JOINED = 12
"""Lines that one message may have."""
_WORDS_BELOW = 3
"""Lines below a message without words that may hold them."""

_PREFIX = re.compile(
    r"(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?\]?[ \t]"  # CI, ISO time
    r"(?:\d\d[OE][ +])?"  # GitLab's stream
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?[ \t]+"  # Jenkins, GitLab
    r"|\[\d\d/\d\d[ ]\d\d:\d\d:\d\d[ ]+\d+s?\](?:[ ]|$)"  # Innovus, Tempus
    r"|#\d+[ ]\d+\.\d+[ ]"  # BuildKit
    r"|SBY[ ]+(?:\d{1,2}:\d\d:\d\d[ ])?\[[^\]]{1,80}\][ ]"  # SymbiYosys
    r"(?:(?:base|prep|smt2|nomem|aig|btor|model|summary|engine_\d)[\w.]{0,40}:[ ])?"
    r"|\x1b?_bk;t=\d{10,16}\x07?"  # Buildkite
    r"|[A-Z][a-z]{2}[ ][ \d]\d[ ]\d\d:\d\d:\d\d[ ][\w.-]{1,60}[ ][\w./-]{1,40}(?:\[\d+\])?:[ ]"  # syslog
    r"|[^\t]{1,80}\t[^\t]{1,80}\t(?=\d{4}-\d\d-\d\dT\d)"  # gh run view --log
    r"|-[ ](?:[\w.]{1,60}[ ]-[ ])?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[ ]-[ ]"  # what follows a time in Python's logs
    r"|\[(?!error|fail|fatal|warn|info|note|debug|pass|ok)[a-z][\w-]{0,30}\][ ](?=\S)"  # Jenkins, a parallel branch
    r"|\#\#\[error\]|::error[^:]{0,200}::"  # GitHub, Azure
    r"|[a-z][\w.]{0,30}[-_]\d{1,3}[ ]+\|[ ]"  # docker compose
    r"|\[gw\d+\](?:[ ]\[[ \d]+%\])?[ ]"  # xdist
    r"|(?:INFO|ERROR)[ ](?:[ ]*cocotb:simulator\.py:\d+|cocotb:)[ ]"  # cocotb-test
    r"|\#(?:[ ]|$|(?=\*\*[ ]))(?:COUT:(?:[ ]|$))?"  # Questa, Riviera
    r"|[ \t]+(?=\#[ ]?(?:\*\*[ ]|[A-Z]{3,}\w*:[ ]|[ ]{2,}\S))"  # a transcript of theirs that someone indented
    r"|(?:>[ ]?)+(?=[ ]{0,5}\S|[ ]*$|[ \t]+\#[ ])"  # quotes in mails and forums; pytest marks code with > and seven
    # comments, lists and line numbers, where the mark of a tool follows
    r"|(?:[ ]*(?://+|/\*|--|[-*])[ ]*|[ ]*\d{1,6}[ ]?[:.|)]?[ ]+)"
    r"(?=\#(?:[ ]|\*\*[ ])|\*\*[ ](?:Error|Fatal|Failure|Warning|Note|at|while)|(?:Error|Warning)-\[|UVM_[A-Z]+"
    r"|(?:xm|nc)\w+:[ ]\*|(?:FATAL_)?ERROR:[ ]|WARNING:[ ]\[|(?:RUNTIME|KERNEL|ELAB\w?|COMP96|ASSERT):?[ ]"
    r"|\S{1,300}:\d+:[ ](?:error|sorry):|Error[ ]loading[ ]design)"
    # emphasis of Markdown
    r"|[ ]*[`_*]{1,3}(?=UVM_(?:ERROR|FATAL)\b|\*\*[ ]?(?:Error|Fatal)|(?:Error|Fatal)-\[|(?:xm|nc)\w+:[ ]\*)"
    r"|[ ]*\|[ ](?=[ ]*\S)(?![ ]*[~^])"  # exception groups, boxes
    r")"
)
_COCOTB_HEAD = re.compile(r"[ ]*(?:-\.--|\d+\.\d+)[a-z]{1,4}[ ]+(?:TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")
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
"""Where a report goes on that ends before its id: with the rest of its time and its component, or with the id."""
_UVM_ANY = re.compile(r"(?:KERNEL: )?(?:UVM_[A-Z]+\b|-{3} UVM )")
_UVM_OPEN = re.compile(r"(?:KERNEL: )?UVM_(?:ERROR|FATAL)\b.*@ ?\d(?:[^\[]*:|.*\])$")
"""A report whose text begins in the next line: it ends with its time or with its id."""
_VCS_HEAD = re.compile(r"(?:Error|Warning|Lint|Info|Note|Fatal)-\[[\w-]+\]")
_VCS_REPORT = re.compile(r'(?:Error|Fatal): "[^"]{1,300}", \d+: .{1,300}: at time \d+(?: [munpf]?s)?$')
"""The head of a $error or $fatal; its text stands in the next line."""
_CADENCE_VHDL = re.compile(r"(?:ASSERT|Report)/(?:NOTE|WARNING|ERROR|FAILURE) \(time ", re.IGNORECASE)
"""The head of an assertion or report of VHDL in Xcelium or Incisive; its text stands in the next line."""
_DSIM_HEAD = re.compile(r"=[EFW]:\[[^\]]{1,60}\]")
_DSIM_OPEN = re.compile(r"=[EFW]:\[(?:\$\w+ call\] \S+$|\w+\]:?$)")
"""A message whose text stands in the next line."""
_QUESTA_HEAD = re.compile(r"\*\* (?:at |Error|Warning|Fatal|Failure|Note|Info)|(?:Error|Fatal|Failure): ")
_HDL_HEAD = re.compile(r"(?:FATAL|ERROR|WARNING|INFO): \S")
_QUESTA_OPEN = re.compile(rf"(?:{_QUESTA_HEAD.pattern}|{_HDL_HEAD.pattern}).*:$")
"""A message whose text begins in the next line."""
_QUESTA_INCLUDED = re.compile(r".{0,200}\*\* while parsing (?:file included|macro)")
_QUESTA_PLACE = re.compile(r"[ ]*\*\* (?:while parsing|at )")
_CADENCE_WORDLESS = re.compile(
    r"(?:.{0,400} )?\w+: \*S?[EF],\w+:?(?: ?\([^()]{1,300}\))?:?(?: ?\(time [^()]{1,40}\))?\.?$", re.ASCII
)
"""A message of Xcelium or Incisive that consists of code and place: its words stand in the lines below."""
_CADENCE_HEAD = re.compile(r"\w+: \*\S*,\w+|TOOL:|(?:xcelium|ncsim)> |Simulation |\S{1,300}:\d+\s|\s*\|\s*$", re.ASCII)
_TOOL_HEAD = re.compile(
    r"(?:\*\* ?)?(?:Error|Fatal)(?: \(suppressible\))?:|\w+: \*S?[EF],\w|(?:FATAL_)?ERROR: \[|%Error"
    r"|UVM_(?:ERROR|FATAL)\b|(?:RUNTIME|KERNEL|ELAB\w?|ELBREAD|VSIM): (?:Fatal )?Error: "
    r"|\S{1,300}:\d+: (?:error|sorry): ",
    re.ASCII,
)
_OTHER_HEAD = re.compile(
    r"\*\*[ ]|(?:KERNEL: )?UVM_|-{3}|(?:xm|nc)\w+: \*|(?:Error|Warning|Fatal)-\[|(?:\w+ )?(?:ERROR|WARNING|INFO): "
    r"|%(?:Error|Warning)|Time: |make(?:\[\d+\])?: |Error loading|Optimization failed|End time|Errors: "
)
"""How a line begins that does not belong to the message before it."""
_FRESH = re.compile(r"--\s|-{3}|={3}|File \"|Traceback|[\w.]+Error\b|[$+] |\S{1,80}[>$] |\d{1,3}[.)]\s|```")
"""Further beginnings, such as a prompt or an item of a list."""
_HANGS = re.compile(
    r"(?:(?:Error|Fatal)(?: \(suppressible\))?:|\((?:vlog|vcom|vopt|vsim)-[\w-]+\):?"
    r"|[ (](?:at|in|to|of|the|for|with|from|and|or|not|is|by|an?|on|@))$"
)
"""A line that cannot be the end of a message: what it announces stands in the next one."""
_COMMENT = re.compile(r"\s*(?://+|--|[#>*])?\s*")
_MOST_BROKEN = 3
_ENTITY = re.compile(r"&(?:gt|lt|amp|quot|apos|nbsp|#\d{1,4}|#x[0-9a-fA-F]{1,4});")
_ESCAPED = re.compile(r"\\([*_#\[\]<>`])")
"""A character that Markdown was told to leave alone."""
_SHOWN = re.compile(r"^[ ]*(?:`([^`]+)`|\*\*(?=[^\s*]|\*\* )(.*\w.*)\*\*)$")
"""A line that Markdown shows as code or in bold."""
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00a0", "''\"\" ")
"""What pages and mails make of quotes and spaces."""
_STARLESS = re.compile(
    r"(?:Error|Fatal)(?: \(suppressible\))?: (?:\S{1,300}\(\d+\): |\((?:v\w{3}-[\w-]+|SIGSEGV)\) "
    r"|\S{1,200}/(?:vlog|vcom|vsim|vopt)\S* failed)"
)
"""A message of Questa whose stars Markdown took for emphasis."""
_CADENCE = ("xm", "nc", "xrun", "irun")
_STARLESS_CADENCE = re.compile(r"^(\w{4,10}): (S?[EFW]),(?=[A-Z]{4,})", re.ASCII)
_TAGS = re.compile(r"^(?:<(?:p|pre|code|li|div)>)+|(?:<br ?/?>|</(?:p|pre|code|li|div)>)+$")
_TIME = re.compile(r"[ ]*Time: ")
_NVC_PLACE = re.compile(r"\s*(?:> \S{1,300}:\d+$|File \S{1,300}, Line \d+$)")
"""Where NVC puts the place of a message: into the next line."""
_VUNIT_COMPILE = re.compile(r"Compiling into \S{1,80}: +\S+$")


@dataclass(frozen=True, slots=True)
class Message:
    """What a tool said at once, as one line."""

    first: int
    """Index of its first line."""
    last: int
    """Index of its last line."""
    text: str
    head: str = ""
    """The log line under which this one stands indented, where it does (a traceback in cocotb's log)."""


def strip_line(line: str) -> str:
    """A line without escape codes and without what a transport put in front of it; at most `LONGEST` characters."""
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    line = clean(line).rstrip()
    if "&" in line and _ENTITY.search(line):
        # Imported here: few logs were taken from a web page.
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
    # Transports nest (a CI's time before a forum's quote before Questa's `# `), though not deeply.
    for _ in range(4):
        found = _PREFIX.match(line)
        if found is None:
            break
        line = line[found.end() :]
    if line.startswith(("Error", "Fatal")) and _STARLESS.match(line):
        return f"** {line}"
    return _STARLESS_CADENCE.sub(r"\1: *\2,", line) if line.startswith(_CADENCE) else line


def assemble(lines: Sequence[str]) -> list[Message]:
    """Joins lines to messages.

    Args:
        lines: Lines as `strip_line` gives them, without a gap.
    """
    messages: list[Message] = []
    head = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        deep = _DEEP.match(line) is not None
        if not deep:
            head = line.strip() if _COCOTB_HEAD.match(line) or _is_python_log(line) else ""
        last, text = _joined(lines, at, in_block=deep and bool(head))
        if text:
            messages.append(Message(at, last, text, head if deep else ""))
        at = last + 1
    return messages


def begins_message(line: str) -> bool:
    """Whether a line, as `strip_line` gives it, begins something of its own."""
    text = line.strip()
    return any(head.match(text) for head in (_OTHER_HEAD, _TOOL_HEAD, _COCOTB_HEAD, _FRESH))


def is_indented(line: str) -> bool:
    """Whether a raw line may belong to a log line far above it."""
    return _DEEP.match(strip_line(line)) is not None


def is_logged(line: str) -> bool:
    """Whether a line is one that Python's logging wrote in a simulator: time, level, logger."""
    return _COCOTB_HEAD.match(line) is not None


def _is_python_log(line: str) -> bool:
    # cocotb and pyuvm lines whose time was cut off: level, then a logger or file(line).
    return line.lstrip().startswith(("INFO ", "WARNING ", "ERROR ", "CRITICAL ", "DEBUG "))


def _joined(lines: Sequence[str], at: int, *, in_block: bool) -> tuple[int, str]:
    """The index of the last line of the message that starts at `at`, and its text."""
    line = lines[at]
    text = line.strip()
    if _PYTEST.match(line):
        return _pytest_error(lines, at)
    if (told := _told_below(lines, at)) is not None:
        return told
    if _TOOL_HEAD.match(text) and (further := _broken_off(lines, at)):
        return at + len(further), " ".join((*text.split(), *further))[:LONGEST]
    for head, belongs, most in _SPREAD:
        if head.match(text):
            return _while(lines[: at + most], at, belongs)
    return _exception(lines, at, in_block=in_block) if _EXCEPTION.match(text) else (at, text)


def _broken_off(lines: Sequence[str], at: int) -> list[str]:
    """The further lines of a message that was broken within its sentence."""
    rest: list[str] = []
    line = lines[at].rstrip()
    for following in lines[at + 1 : at + 1 + _MOST_BROKEN]:
        text = _COMMENT.sub("", following, count=1).rstrip()
        if not text or _OTHER_HEAD.match(text) or not _belongs(line, text, first=not rest):
            break
        rest.append(text)
        line = text
    after = at + 1 + len(rest)
    details = takewhile(_is_detail, lines[after : after + MOST_JOINED]) if rest else ()
    return [*rest, *(" ".join(detail.split()) for detail in details)]


def _belongs(line: str, following: str, *, first: bool) -> bool:
    """Whether a line goes on in the following one; `first` where it is the head of its message."""
    if first and _UVM_WITHOUT_ID.match(line.strip()):
        return _UVM_ID.match(following) is not None
    return _HANGS.search(line) is not None


def _while(lines: Sequence[str], at: int, belongs: Callable[[str], bool]) -> tuple[int, str]:
    """The index of the last line that belongs to the message, as seen from the depth of its first, and its text."""
    depth = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < min(len(lines), at + MOST_JOINED) and belongs(lines[end].removeprefix(lines[at][:depth])):
        end += 1
    return end - 1, " ".join(" ".join(line.split()) for line in lines[at:end])[:LONGEST]


def _is_wrapped(line: str) -> bool:
    text = line.strip()
    return line[:2] == "  " and bool(text) and not _COCOTB_HEAD.match(line) and not _OTHER_HEAD.match(text)


def _is_uvm_text(line: str) -> bool:
    return any(map(str.isalnum, line)) and not _UVM_ANY.match(line.strip())


def _is_vcs_text(line: str) -> bool:
    return bool(line.strip()) and not _VCS_HEAD.match(line.strip()) and not _UVM_ANY.match(line.strip())


def _is_vcs_report_text(line: str) -> bool:
    return _is_vcs_text(line) and not _VCS_REPORT.match(line.strip())


def _is_cadence_report_text(line: str) -> bool:
    return bool(line.strip()) and not _CADENCE_VHDL.match(line.strip()) and not _CADENCE_HEAD.match(line)


def _is_dsim_text(line: str) -> bool:
    return bool(line.strip()) and not _DSIM_HEAD.match(line.strip())


def _is_cadence_text(line: str) -> bool:
    return bool(line.strip()) and not _CADENCE_HEAD.match(line) and not _UVM_HEAD.match(line.strip())


def _is_place(line: str) -> bool:
    return _QUESTA_PLACE.match(line) is not None


def _told_below(lines: Sequence[str], at: int) -> tuple[int, str] | None:
    """A report of UVM or Questa whose words stand in the lines below: its last line and text; None for another."""
    text = lines[at].strip()
    if _UVM_OPEN.match(text) and at + 1 < len(lines) and _is_uvm_text(lines[at + 1]):
        end, rest = _while(lines[: at + MOST_JOINED], at + 1, _is_wrapped)
        return end, f"{' '.join(text.split())} {rest}"
    if _QUESTA_HEAD.match(text) and (time := _time_below(lines, at)) is not None:
        return _while(lines[: time + 1], at, _is_wrapped_detail)
    return None


def _time_below(lines: Sequence[str], at: int) -> int | None:
    """The line in which Questa tells the time of the message at `at`, where further lines of its text stand between."""
    for end in range(at + 1, min(len(lines), at + 2 + _WORDS_BELOW)):
        if _TIME.match(lines[end]):
            return end if end > at + 1 else None
        if not _is_wrapped(lines[end]):
            return None
    return None


def _is_detail(line: str) -> bool:
    return _TIME.match(line) is not None or _NVC_PLACE.match(line) is not None


def _is_verdict(line: str) -> bool:
    return line.strip() in {"failed", "passed"}


def _is_wrapped_detail(line: str) -> bool:
    return _is_detail(line) or (line[:2] == "  " and bool(line.strip()))


_SPREAD: tuple[tuple[re.Pattern[str], Callable[[str], bool], int], ...] = (
    (_VCS_HEAD, _is_vcs_text, MOST_JOINED),
    (_VCS_REPORT, _is_vcs_report_text, 2),
    (_CADENCE_VHDL, _is_cadence_report_text, 2),
    (_DSIM_OPEN, _is_dsim_text, 3),
    (_DSIM_HEAD, _is_wrapped, MOST_JOINED),
    (_UVM_HEAD, _is_wrapped, MOST_JOINED),
    (_CADENCE_WORDLESS, _is_cadence_text, 1 + _WORDS_BELOW),
    (_QUESTA_INCLUDED, _is_place, MOST_JOINED),
    (_QUESTA_OPEN, _is_wrapped_detail, MOST_JOINED),
    (_QUESTA_HEAD, _is_detail, MOST_JOINED),
    (_HDL_HEAD, _is_detail, MOST_JOINED),
    (_VUNIT_COMPILE, _is_verdict, 2),
)
"""Messages that a tool spreads over lines: how one begins, which lines belong to it, and how many there may be."""


def _pytest_error(lines: Sequence[str], at: int) -> tuple[int, str]:
    """The `E   …` lines of pytest's report: a rewritten assert has lost its exception's name there."""
    end = at
    parts: list[str] = []
    while end < len(lines) and (found := _PYTEST.match(lines[end])):
        part = lines[end][found.end() :].strip()
        if len(parts) < MOST_JOINED and not _EXPLANATION.match(part):
            parts.append(part)
        end += 1
    if not parts:  # a text that begins in the middle of an explanation
        return end - 1, ""
    if parts[0].startswith('File "'):
        # A SyntaxError names its place and shows the line before it names itself.
        parts = [parts[-1], *parts[:-1]]
    if parts[0].startswith("assert "):
        parts[0] = f"AssertionError: {parts[0]}"
    return end - 1, " ".join(parts)[:LONGEST]


def _exception(lines: Sequence[str], at: int, *, in_block: bool) -> tuple[int, str]:
    """`Type: message` with the further lines of the message, which end at a blank line or a traceback."""
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
