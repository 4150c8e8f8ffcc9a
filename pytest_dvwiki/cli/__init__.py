"""The `dvwiki` command. Each sub-command has a module, which is imported only when that sub-command is called.

Each module has `add_arguments(parser)` and `run(args)`; `run` returns the exit status. A `UserError` or
`OSError` ends the command; the error's message is printed as one line.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

from pytest_dvwiki.reading import UserError, described
from pytest_dvwiki.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "append": "add text to a section of a page, or a line to the log",
    "build": "regenerate all derived content of the wiki from records and pages",
    "check": "run log checks (*.check.yaml)",
    "classify": "identify the failure in a log",
    "commit": "replace a page or part of a page, or create a page",
    "compact": "roll old records up into one file per month",
    "compile": "shorten topics: merge lessons that say the same thing, and retire lessons that no longer hold",
    "context": "print wiki knowledge for a prompt",
    "export": "export the wiki: Open Knowledge Format, llms.txt, a static site",
    "drift": "report where pages and the code they cite differ",
    "fix": "record how a cause was fixed",
    "gate": "combine the gate's decisions on several shards",
    "get": "print a page or part of a page, with its version",
    "handoff": "pass work on to the next role, with a summary",
    "import": "import a wiki in the layout of the specification",
    "ingest": "archive the output of earlier runs: results files, logs, coverage reports, folders, archives",
    "init": "create the wiki's folders and files, and install the skill for agents",
    "link": "put the URL of a ticket on a bug page",
    "lint": "check the wiki: pages, links, sources, history, derived content",
    "list": "list the pages of the wiki, without their text",
    "maintain": "run all maintenance of the wiki, as one commit on a separate branch; for cron",
    "mcp": "serve the wiki to agents over the Model Context Protocol",
    "merge": "merge two bug pages that describe the same cause",
    "patterns": "list, explain, check and propose the patterns that name failures",
    "report": "make a report: a static site, or the morning summary",
    "rerun": "print the commands that rerun the shortest failing test of each cause",
    "review": "list the entries that wait for review; accept, edit or reject them",
    "scan": "scan logs of any size and report what failed in them",
    "search": "search the pages of the wiki",
    "sections": "list the sections that each role may write, and propose a section",
    "serve": "show the report in a browser on this machine, and keep it up to date",
    "status": "show open causes, new causes and expiring waivers on one screen, and who should look at them",
    "spec": "have a model write specifications of checks, and record clarifications",
    "waive": "accept the failures of a cause for a while",
    "waivers": "list the waivers, with their last matches and their expiry dates",
}
EXIT_USAGE = 2
_GARBAGE = 50_000


class UsageError(UserError):
    """A user error. The message says what is wrong, where, and how to correct it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command.

    Returns:
        The sub-command's exit status; 2 for a usage error.
    """
    if argv is not None:
        return _run([*argv])  # not `list(argv)`: once `dvwiki list` has run, `list` is its module here
    # A process that runs one command spends most of its time on imports. Garbage collection during the imports takes
    # a tenth of that time, and the collection at exit another tenth.
    gc.set_threshold(_GARBAGE)
    for stream in (sys.stdout, sys.stderr):
        # Output must not fail on a terminal that is limited to ASCII, or for a file name that is not UTF-8.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(sys.argv[1:])
    finally:
        # Frozen objects are never collected, and pyslang's bindings report each of theirs at exit as a leak.
        if "pyslang" not in sys.modules:
            gc.freeze()


def module_of(command: str) -> str:
    """Return the name of a command's module. `import` is a Python keyword, so its module is `import_wiki`."""
    return f"{__name__}.{'import_wiki' if command == 'import' else command}"


def _run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="dvwiki", description="Failure memory for hardware regressions.")
    parser.add_argument("--version", action="version", version=f"dvwiki {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = arguments[0] if arguments else ""
    # The parsers of the other commands are made only for the general help.
    for name in [asked] if asked in COMMANDS else COMMANDS:
        summary = COMMANDS[name]
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == asked:
            module = importlib.import_module(module_of(name))
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    args = parser.parse_args(arguments)
    from pytest_dvwiki.cli.output import cleaned  # noqa: PLC0415  # `--help` needs no cleaning

    with cleaned():
        return _run_command(args)


def _run_command(args: argparse.Namespace) -> int:
    try:
        return int(args.run(args))
    except UserError as error:
        print(f"dvwiki {args.command}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader is gone (`dvwiki … | head`). Without this, Python would fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"dvwiki {args.command}: {described(error)}", file=sys.stderr)
        return EXIT_USAGE
