"""`dvwiki mcp`: serves the wiki to agents over the Model Context Protocol."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.settings import Settings

TOKEN = "DVWIKI_MCP_TOKEN"  # noqa: S105  # the name of the variable
_READ_ONLY = "read-only"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--root",
        type=Path,
        action="append",
        metavar="DIR",
        help="folder of a project; may be repeated (default: the project of the current folder)",
    )
    parser.add_argument(
        "--wiki-dir",
        type=Path,
        metavar="DIR",
        help="folder of the wiki, if there is only one project (default: wiki_dir of its project.yaml)",
    )
    parser.add_argument(
        "--role",
        default=_READ_ONLY,
        help="role in schema.yaml that sets what clients may write, such as agent, or read-only (default); clients"
        " cannot change it",
    )
    parser.add_argument(
        "--allow",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="another folder from which clients may read logs; may be repeated",
    )
    parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="serve HTTP on this port of 127.0.0.1 (0: a free one) instead of standard input and output; requests need"
        f" the bearer token in the variable {TOKEN}, which is generated and printed if it is not set",
    )
    parser.add_argument(
        "--print-config", action="store_true", help="print the block that a client's configuration needs, and exit"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the client disconnects or the process is interrupted."""
    if args.http is not None and not 0 <= args.http < 1 << 16:
        raise UsageError(f"--http {args.http}: no such port; give one from 0 to 65535")
    if args.wiki_dir is not None and len(args.root or ()) > 1:
        raise UsageError(
            f"--wiki-dir {args.wiki_dir}: only for a single project; with several, set wiki_dir in each project.yaml"
        )
    found = [settings_of(argparse.Namespace(root=root, wiki_dir=args.wiki_dir)) for root in args.root or [None]]
    allowed = [_folder(folder) for folder in args.allow]
    for settings in found:
        _check_role(args.role, settings)
    if args.print_config:
        print(json.dumps({"mcpServers": {"dvwiki": _configuration(args, found, allowed)}}, indent=2))
        return 0

    try:
        from pytest_dvwiki.mcp.server import WikiServer  # noqa: PLC0415
        from pytest_dvwiki.mcp.serving import serve_http, serve_streams  # noqa: PLC0415  # an extra, which takes 1 s
        from pytest_dvwiki.mcp.tools import Project  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pytest_dvwiki"):
            raise
        raise UsageError("the package mcp is missing: pip install 'pytest-dvwiki[mcp]'") from error
    projects = {name: Project(settings, allowed) for name, settings in _named(found)}
    server = WikiServer(projects, args.role, has_one_caller=args.http is None).sdk_server()
    with contextlib.ExitStack() as opened, contextlib.suppress(KeyboardInterrupt):
        for project in projects.values():
            opened.callback(project.close)
        if args.http is None:
            serve_streams(server)
        else:
            token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
            shown = "" if os.environ.get(TOKEN) else f", {TOKEN}={token}"
            try:
                serve_http(server, args.http, token, lambda url: print(f"{url}{shown}", file=sys.stderr, flush=True))
            except OSError as error:
                raise UsageError(f"--http {args.http}: {error}; give another port, or 0 for a free one") from error
    return 0


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise UsageError(f"--allow {folder}: no such folder; check the name")
    return folder.resolve()


def _named(projects: Iterable[Settings]) -> Iterable[tuple[str, Settings]]:
    """Yield each project with a unique name for clients: its folder's name, with a number if another one has it."""
    taken: set[str] = set()
    for settings in projects:
        name = base = settings.layout.root.name or "project"
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        yield name, settings


def _check_role(role: str, settings: Settings) -> None:
    from pytest_dvwiki.wiki.schema import load_schema  # noqa: PLC0415

    roles = (_READ_ONLY, *load_schema(settings.layout.wiki).roles)
    if role not in roles:
        raise UsageError(f"--role {role}: there is no such role; choose from {', '.join(roles)}")


def _configuration(args: argparse.Namespace, found: Sequence[Settings], allowed: Iterable[Path]) -> dict[str, object]:
    if args.http is not None:
        if not args.http:
            raise UsageError("--print-config: with --http 0 the port is unknown before the server starts; give a port")
        headers = {"Authorization": f"Bearer ${{{TOKEN}}}"}
        return {"type": "http", "url": f"http://127.0.0.1:{args.http}/mcp", "headers": headers}
    words = [("--root", str(settings.layout.root)) for settings in found]
    words += [("--wiki-dir", str(found[0].layout.wiki))] if args.wiki_dir is not None else []
    words += [("--allow", str(folder)) for folder in allowed]
    words += [("--role", args.role)] if args.role != _READ_ONLY else []
    return {
        "command": sys.executable,
        "args": ["-m", "pytest_dvwiki", "mcp", *(word for pair in words for word in pair)],
    }
