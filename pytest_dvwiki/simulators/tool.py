"""What the project knows about one HDL tool: its programs, their command lines and its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["define", "parameter", "top", "list", "list_beside", "source", "include", "artefact", "folder", "word"]
"""What the word of an option is; `list_beside` is a file list whose paths are relative to the list itself."""
Does = Literal["build", "run", "both"]


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """How the command line of a program is read."""

    does: Does | None = None
    """None where only a word of `decided_by` or a subcommand says what it does."""
    separate: Mapping[str, Kind] = {}
    """Options whose word follows."""
    joined: Mapping[str, Kind] = {}
    """Options whose word is joined to them."""
    decided_by: Mapping[str, Does] = {}
    """Options that say what it does, the first one that is there counts."""
    subcommands: Mapping[str, Does] = {}
    """First words that say what it does; without one of them it does neither."""
    only_checks: frozenset[str] = frozenset()
    """Options with which it makes nothing that could run."""
    two_dashes: bool = False
    """Whether an option may begin with two dashes as well as with one."""
    names_top: bool = False
    """Whether a word that is neither option nor source names the top."""
    no_top_with: str = ""
    """An option with which such a word does not."""
    architecture_follows: bool = False
    """Whether an architecture may follow a top."""
    takes_script: bool = False
    """Whether `-do FILE` gives it a script of commands."""
    makes: str = ""
    """Name of the file that it makes where no option names one; `{top}` is its first top."""
    makes_in: str = ""
    """Folder for that file where no option names one."""
    runs_first_word: bool = False
    """Whether its first plain word is the file that it runs."""
    has_library: bool = True
    """Whether a build and its runs are also known by their folder, since they share a library there."""


def options(**kinds: str) -> dict[str, Kind]:
    """Return options by kind, given as one text for each kind."""
    return {option: cast("Kind", kind) for kind, options in kinds.items() for option in options.split()}


class Multiline(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a tool writes in several lines."""

    head: str
    """Expression for its first line."""
    below: Literal["text", "indented", "details", "indented or details"] = "text"
    """Which lines below belong to it: any with text, indented ones, or those that tell time and place."""
    only: str = ""
    """Expression that such a line has to fit besides."""
    ends_at: str = ""
    """Expression for a line that does not belong to it."""
    most: int = 12
    """Lines that it has at most."""
    text_until_time: bool = False
    """Whether further lines of its text may stand before the one with the time."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A replacement in lines that lost characters on a web page or in a mail."""

    starts: tuple[str, ...]
    """How such a line begins."""
    expression: str
    replacement: str


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One simulator, compiler or linter.

    All fields but name and title may be left out. Expressions see a line or message without the prefixes of transcripts
    and of CI. They are compiled where they are first used, those of all tools as one.
    """

    name: str
    """The short name, as in records and in cocotb's `SIM`; the module and the file of its patterns have it too."""
    title: str
    """The name for people."""

    programs: Mapping[str, Program | None] = {}
    """Its programs; None for one whose command line is not read."""
    binaries: tuple[str, ...] = ()
    """Names of the programs that it makes."""
    called_by_make: tuple[str, ...] = ()
    """Programs whose call in the log of cocotb's Makefile shows that this tool was chosen."""
    plus_options: str = ""
    """Expression for words behind a plus that are its own options and no plusargs."""
    banners: tuple[str, ...] = ()
    """What its product name holds, in lower case."""

    prefix: str = ""
    """Expression for what its transcript puts in front of each line."""
    begins_with_file: bool = False
    """Whether its messages have no mark of its own: they are `file:line: text`, so that patterns of others go first."""
    head: str = ""
    """Expression for the beginning of a message, narrow enough to find one inside a line."""
    summary: str = ""
    """Expression for the beginning of a line that closes a build or a run, and is part of no message before it."""
    error: str = ""
    """Expression for the beginning of an error that may be broken off within its sentence."""
    continued: str = ""
    """Expression for the end of a line that the next one continues."""
    place_line: str = ""
    """Expression for a line that tells the place of the message above it."""
    multiline: tuple[Multiline, ...] = ()
    repairs: tuple[Repair, ...] = ()

    report: str = ""
    """Expression that takes a message apart.

    Its groups are `class` and `text`, and `file`, `line` and `id` where the message has them; `{source}` stands for the
    group of a file.
    """
    report_literal: str = ""
    """What such a message holds in any case."""
    missing: Mapping[Literal["module", "include", "port", "name"], str] = {}
    """By kind the expression for the text of an error about something that is not there, with the group `name`."""
    warning: str = ""
    """Expression for the beginning of a warning."""
    run_head: str = ""
    """Expression for the beginning of a message of its run, which no compiler wrote."""
    elaboration_head: str = ""
    """Expression for the beginning of a message of its elaboration, or of loading a design."""
    run_error: str = ""
    """Expression for the beginning of an error while a test runs, which the test may survive."""
    run_error_words: tuple[str, ...] = ()
    """What such a line holds in any case, beside the common words for errors."""
    timed_error: str = ""
    """Expression for such a beginning that is an error only where its time stands below it."""
    fatal: str = ""
    """Expression for a line by which the design says that it ended the simulation."""
    unbound: str = ""
    """Expression for the warning of a component without an entity, with groups `place` and `name`."""
    success: str = ""
    """Expression for a line which says that a run ended without errors."""
    success_words: tuple[str, ...] = ()
    """What such a line holds in any case, in lower case."""
    mention: str = ""
    """Expression for a word in a log that shows that this tool simulated."""
    time: str = ""
    """Expression for the time in a message of its run, with one group for the value and one for the unit."""
    start_time: str = ""
    """Expression for a line of a log that tells when the run was started."""
    scan_words: tuple[str, ...] = ()
    """What its messages hold, in lower case: patterns that nothing else would find are found by it."""
    folders: tuple[str, ...] = ()
    """Names of the folders for the files that it makes."""
    log_names: tuple[str, ...] = ()
    """Names of logs that it writes without being told; one with a dot in front is a suffix."""
    dependencies: str = ""
    """How the names of the make rules end that it writes beside what it builds, and which name the files it read."""
