"""The description of one HDL tool: its programs, their command lines and its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal[
    "define", "parameter", "top", "list", "list_beside", "source", "include", "library", "artefact", "folder", "work",
    "library_name", "searched", "word",
]  # fmt: skip
"""The kind of an option's argument.

`list_beside` is a file list with paths relative to the list itself, `library` a folder with one file for each module,
`work` a library that is made in its parent folder, `library_name` a library's name without its folder, and `searched` a
folder of libraries that other calls made.
"""
Does = Literal["build", "run", "both"]


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The syntax of a program's command line."""

    does: Does | None = None
    """What the program does; None if that depends only on `decided_by` or `subcommands`."""
    separate: Mapping[str, Kind] = {}
    """Options with their argument in the next word."""
    joined: Mapping[str, Kind] = {}
    """Options with their argument attached, as in `-Ifolder`."""
    decided_by: Mapping[str, Does] = {}
    """Options that decide what the program does; of several options, the first in this mapping applies."""
    subcommands: Mapping[str, Does] = {}
    """First words that decide what the program does; with any other first word, it neither builds nor runs."""
    imports: frozenset[str] = frozenset()
    """Subcommands that only note which units the sources have; the tool analyses them when it needs them."""
    analyses_imported: frozenset[str] = frozenset()
    """Subcommands that analyse the units below the top, of those that were imported."""
    only_checks: frozenset[str] = frozenset()
    """Options that make the program only check or preprocess sources, without building anything to run."""
    two_dashes: bool = False
    """Whether an option may begin with two dashes as well as with one."""
    names_top: bool = False
    """Whether a word that is neither an option nor a source is the top."""
    no_top_with: str = ""
    """Option that turns off `names_top`."""
    architecture_follows: bool = False
    """Whether the word after a top can name the architecture of the top."""
    takes_script: bool = False
    """Whether the program takes a script of commands with `-do FILE`."""
    makes: str = ""
    """Default name of the file that the program makes; `{top}` is the first top."""
    makes_in: str = ""
    """Default folder of the file that the program makes."""
    runs_first_word: bool = False
    """Whether the first word that is neither an option nor a source is the file that the program runs."""
    has_library: bool = True
    """Whether a build and its runs share a library folder, which identifies the build."""


def options(**kinds: str) -> dict[str, Kind]:
    """Return a mapping from option to kind, given a string of options for each kind."""
    return {option: cast("Kind", kind) for kind, options in kinds.items() for option in options.split()}


class Multiline(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a tool writes on several lines."""

    head: str
    """Expression for the first line of the message."""
    below: Literal["text", "indented", "details", "indented or details"] = "text"
    """Which lines continue the message.

    `text` means lines that are not blank and do not begin a UVM report, `details` lines with a time or a source
    location.
    """
    only: str = ""
    """Expression that each continuation line must match, too."""
    ends_at: str = ""
    """Expression for the first line after the message."""
    most: int = 12
    """Maximum number of lines of the message."""
    text_until_time: bool = False
    """Whether lines of text may come before the line with the time."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A replacement in lines that lost characters on a web page or in an email."""

    starts: tuple[str, ...]
    """Prefixes of the lines to repair."""
    expression: str
    replacement: str


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One simulator, compiler or linter.

    All fields but name and title are optional. Expressions are matched against lines or messages without the prefixes
    of transcripts and CI. They are compiled at first use, and the expressions of all tools are joined.
    """

    name: str
    """The short name, as in records and in cocotb's `SIM`; also the name of the module and of its pattern file."""
    title: str
    """The product name, for people."""

    programs: Mapping[str, Program | None] = {}
    """The programs of the tool; None for a program with an unknown command line."""
    binaries: tuple[str, ...] = ()
    """Names of the executables that the tool generates."""
    called_by_make: tuple[str, ...] = ()
    """Programs whose calls in a log of cocotb's Makefile identify the tool."""
    plus_options: str = ""
    """Expression for the tool's own options that begin with `+`, without the plus; they are not plusargs."""
    banners: tuple[str, ...] = ()
    """Lower-case parts of the product name by which the tool is recognised in a log."""

    prefix: str = ""
    """Expression for the prefix of each line of the tool's transcript."""
    begins_with_file: bool = False
    """Whether messages have the common form `file:line: text`; patterns of other tools are then tried first."""
    head: str = ""
    """Expression for the start of a message, narrow enough to find a message inside a line."""
    summary: str = ""
    """Expression for the start of a line that ends a build or run, and is not part of the message above it."""
    error: str = ""
    """Expression for the start of an error that the tool may break in the middle of a sentence."""
    continued: str = ""
    """Expression for the end of a line that continues on the next line."""
    place_line: str = ""
    """Expression for a line with the source location of the message above it."""
    multiline: tuple[Multiline, ...] = ()
    repairs: tuple[Repair, ...] = ()

    report: str = ""
    """Expression that splits a message into its parts.

    Its groups are `class` and `text`, and `file`, `line` and `id` if the message has them; `{source}` is replaced by
    the group for a file.
    """
    report_literal: str = ""
    """String that every message matching `report` contains."""
    missing: Mapping[Literal["module", "include", "port", "name"], str] = {}
    """Maps what is missing to an expression for the error's text; the group `name` matches the missing name."""
    warning: str = ""
    """Expression for the start of a warning."""
    run_head: str = ""
    """Expression for the start of a message that only a running simulation writes."""
    elaboration_head: str = ""
    """Expression for the start of a message from elaboration or from loading a design."""
    run_error: str = ""
    """Expression for the start of a run-time error, after which the test may still pass."""
    run_error_words: tuple[str, ...] = ()
    """A line that matches `run_error` has at least one of these words, or a common word for errors."""
    timed_error: str = ""
    """Expression for the start of a run-time message that is an error only if a line below it gives its time."""
    fatal: str = ""
    """Expression for a message by which the design ends the simulation."""
    unbound: str = ""
    """Expression for the warning that a component has no entity, with groups `place` and `name`."""
    success: str = ""
    """Expression for a line that reports the end of a run without errors."""
    success_words: tuple[str, ...] = ()
    """A line that matches `success` has at least one of these lower-case words, or a common word for success."""
    mention: str = ""
    """Expression for a word in a log that identifies the tool as the simulator."""
    time: str = ""
    """Expression for the time in a run-time message, with one group for the value and one for the unit."""
    version: str = ""
    """Expression for a log line with the simulator's version, in the group `version`."""
    seed_options: tuple[str, ...] = ()
    """Options for a run's seed. The value directly follows an option that ends with `=`, or else is the next word."""
    seed_line: str = ""
    """Expression for a log line with the seed that the tool chose, in the group `seed`."""
    run_ends: tuple[str, ...] = ()
    """Strings in the last lines of a complete log, in addition to `$finish`."""
    start_time: str = ""
    """Expression for a log line with the start time of the run."""
    scan_words: tuple[str, ...] = ()
    """Lower-case words of the tool's messages that every log is searched for; patterns can use them at no cost."""
    folders: tuple[str, ...] = ()
    """Names of the tool's output folders."""
    log_names: tuple[str, ...] = ()
    """Names of the logs that the tool writes by default; a name with a leading dot is a suffix."""
    dependencies: str = ""
    """Suffix of the tool's dependency files: rules for make that list the files that a build read."""
