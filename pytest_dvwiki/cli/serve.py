"""`dvwiki serve`: shows the report in a browser on this machine, and keeps it up to date."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli.place import add_place, layout_of, require_content

if TYPE_CHECKING:
    import argparse

_PORT = 8765


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--port",
        type=int,
        default=_PORT,
        metavar="N",
        help="port on 127.0.0.1, which only this machine can reach; 0 takes a free one (default %(default)s)",
    )
    parser.add_argument(
        "--html", type=Path, metavar="DIR", help="keep the report in this folder (default: a temporary one)"
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from pytest_dvwiki.report.templating import environment  # noqa: PLC0415

    layout = require_content(layout_of(args))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))
        folder = args.html or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dvwiki-report-")))
        environment()
        from pytest_dvwiki.report.site.serving import serve  # noqa: PLC0415

        serve(
            layout,
            folder,
            args.port,
            lambda server: print(f"{server.url} follows the wiki; Ctrl-C ends it", flush=True),
        )
    return 0
