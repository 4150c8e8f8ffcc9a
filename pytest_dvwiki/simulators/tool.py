"""The facts about one HDL tool: its programs, their command lines and its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["define", "parameter", "top", "list", "list_beside", "source", "include", "artefact", "folder", "word"]
"""The kind of an option's argument; `list_beside` is a file list with paths relative to the list itself."""
Does = Literal["build", "run", "both"]


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The syntax of a program's command line."""

    does: Does | None = None
    """What the program does; None if only an option of `decided_by` or a subcommand decides that."""
    separate: Mapping[str, Kind] = {}
    """Options with their argument in the next word."""
    joined: Mapping[str, Kind] = {}
    """Options with their argument attached, as in `-Ifolder`."""
    decided_by: Mapping[str, Does] = {}
    """Options that decide what the program does; of several on a command line, the first in this mapping counts."""
    subcommands: Mapping[str, Does] = {}
    """First words that decide what the program does; without one of them it neither builds nor runs."""
    only_checks: frozenset[str] = frozenset()
    """Options with which the program only checks or preprocesses sources, and makes nothing that can run."""
    two_dashes: bool = False
    """Whether an option may begin with two dashes as well as with one."""
    names_top: bool = False
    """Whether a word that is neither option nor source names the top."""
    no_top_with: str = ""
    """An option; if the command line has it, no plain word names the top."""
    architecture_follows: bool = False
    """Whether the word after a top can name the architecture of the top."""
    takes_script: bool = False
    """Whether `-do FILE` gives the program a script of commands."""
    makes: str = ""
    """Name of the file that the program makes if no option names one; `{top}` is its first top."""
    makes_in: str = ""
    """Folder of the file that `makes` names, if no option names a folder."""
    runs_first_word: bool = False
    """Whether the first plain word is the file that the program runs."""
    has_library: bool = True
    """Whether a build and its runs share a library in a folder, so that the folder also shows which belong together."""


def options(**kinds: str) -> dict[str, Kind]:
    """Return a mapping from option to kind, from one text of options for each kind."""
    return {option: cast("Kind", kind) for kind, options in kinds.items() for option in options.split()}


class Multiline(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a tool writes on several lines."""

    head: str
    """Expression for the first line of the message."""
    below: Literal["text", "indented", "details", "indented or details"] = "text"
    """Which lines below belong to the message: any with text, indented lines, or lines with time and place."""
    only: str = ""
    """Expression that each line below must also match."""
    ends_at: str = ""
    """Expression for a line that no longer belongs to the message."""
    most: int = 12
    """Maximum number of lines of the message."""
    text_until_time: bool = False
    """Whether more lines of text may come before the line with the time."""


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
    """The programs of the tool; None for a program whose command line is not read."""
    binaries: tuple[str, ...] = ()
    """Names of the programs that the tool makes."""
    called_by_make: tuple[str, ...] = ()
    """Programs whose call in the log of cocotb's Makefile shows that this tool was chosen."""
    plus_options: str = ""
    """Expression for words after a plus that are options of the tool and not plusargs."""
    banners: tuple[str, ...] = ()
    """Lower-case parts of the product name by which the tool is recognised in a log."""

    prefix: str = ""
    """Expression for the prefix of each line of the tool's transcript."""
    begins_with_file: bool = False
    """Whether messages are plain `file:line: text` and could be any tool's; then other tools' patterns go first."""
    head: str = ""
    """Expression for the beginning of a message, narrow enough to find a message inside a line."""
    summary: str = ""
    """Expression for the beginning of a line that ends a build or a run, and belongs to no message above it."""
    error: str = ""
    """Expression for the beginning of an error that the tool may break in the middle of a sentence."""
    continued: str = ""
    """Expression for the end of a line that the next one continues."""
    place_line: str = ""
    """Expression for a line with the place of the message above it."""
    multiline: tuple[Multiline, ...] = ()
    repairs: tuple[Repair, ...] = ()

    report: str = ""
    """Expression that splits a message into its parts.

    Its groups are `class` and `text`, and `file`, `line` and `id` if the message has them; `{source}` stands for the
    group of a file.
    """
    report_literal: str = ""
    """A text that every message that matches `report` contains."""
    missing: Mapping[Literal["module", "include", "port", "name"], str] = {}
    """Maps a kind of missing thing to an expression for the error's text; the group `name` matches the thing's name."""
    warning: str = ""
    """Expression for the beginning of a warning."""
    run_head: str = ""
    """Expression for the beginning of a run-time message, which no compiler writes."""
    elaboration_head: str = ""
    """Expression for the beginning of a message from elaboration or from loading a design."""
    run_error: str = ""
    """Expression for the beginning of a run-time error, after which the test may still pass."""
    run_error_words: tuple[str, ...] = ()
    """Words; each line that matches `run_error` contains one of these or a common word for errors."""
    timed_error: str = ""
    """Expression for the beginning of a run-time message that is an error only if a line below it gives its time."""
    fatal: str = ""
    """Expression for a line with which the design ends the simulation."""
    unbound: str = ""
    """Expression for the warning that a component has no entity, with groups `place` and `name`."""
    success: str = ""
    """Expression for a line that reports the end of a run without errors."""
    success_words: tuple[str, ...] = ()
    """Lower-case words; each line that matches `success` contains one of these or a common word for success."""
    mention: str = ""
    """Expression for a word in a log that shows that this tool ran the simulation."""
    time: str = ""
    """Expression for the time in a run-time message, with one group for the value and one for the unit."""
    version: str = ""
    """Expression for the line of a log that names the version that ran, with the group `version`."""
    seed_options: tuple[str, ...] = ()
    """Options for a run's seed; the value directly follows an option that ends with `=`, else it is the next word."""
    seed_line: str = ""
    """Expression for a line of a log with the seed that the tool chose, with the group `seed`."""
    run_ends: tuple[str, ...] = ()
    """Texts in the last lines of a run that was not cut off, besides `$finish`."""
    start_time: str = ""
    """Expression for a line of a log with the start time of the run."""
    scan_words: tuple[str, ...] = ()
    """Lower-case words of the tool's messages that every log is searched for; patterns can use them at no cost."""
    folders: tuple[str, ...] = ()
    """Names of the folders in which the tool puts the files that it makes."""
    log_names: tuple[str, ...] = ()
    """Names of the logs that the tool writes by default; a name with a leading dot is a suffix."""
    dependencies: str = ""
    """Suffix of the dependency file (rules for make) beside the tool's output, which lists the files that it read."""
