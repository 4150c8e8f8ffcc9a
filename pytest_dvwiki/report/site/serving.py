"""Serves the report on this machine's loopback address, and rebuilds it when records, pages or waivers change.

Requests with another host name are refused, so that no foreign web page can read the report through the browser.
"""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.records import WikiError, store
from pytest_dvwiki.report.site import make_site
from pytest_dvwiki.wiki.page_files import list_pages, state_of
from pytest_dvwiki.wiki.page_summary import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.settings import Layout

HOST = "127.0.0.1"
_VERSION = "/assets/version.js"
_INTERVAL_S = 1.0


class Server(ThreadingHTTPServer):
    """Serves the report's folder; for port 0, a free port is taken."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__((HOST, port), partial(_SiteHandler, directory=os.fspath(folder)))
        self.version = 0
        """Incremented when the report changes; open pages poll it."""

    @property
    def url(self) -> str:
        """Return the address of the report."""
        return f"http://{HOST}:{self.server_port}/"


class _SiteHandler(SimpleHTTPRequestHandler):
    """Serves files of the site; each page carries the report's version, so that it can detect a newer version."""

    server: Server

    def parse_request(self) -> bool:
        """Refuse every request whose Host header does not name this server."""
        if not super().parse_request():
            return False
        if self.headers.get("Host", "") in {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}:
            return True
        self.send_error(403, f"open {self.server.url} instead")
        return False

    def do_GET(self) -> None:  # the name of the method that http.server calls
        path = self.path.partition("?")[0]
        if path == _VERSION:
            self._answer(f"window.dvwikiVersion = {self.server.version};\n".encode(), "text/javascript")
            return
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if file.suffix == ".html" and file.is_file():
            body = f'<body data-version="{self.server.version}" '.encode()
            self._answer(file.read_bytes().replace(b"<body ", body, 1), "text/html; charset=utf-8")
            return
        super().do_GET()

    def _answer(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Suppress the log of requests."""


def state(layout: Layout) -> tuple[object, ...]:
    """Return a key that changes when records, pages or waivers change."""
    pages = list_pages(layout.wiki, CATEGORIES).pages
    return store.folder_times(layout.tasks), pages, state_of(layout.waivers)


def serve(layout: Layout, folder: Path, port: int, ready: Callable[[Server], None]) -> None:
    """Make the report, serve it, and rebuild it after changes, until an interrupt or a shutdown of the server.

    Args:
        layout: The project.
        folder: The folder of the site.
        port: The port; 0 for a free one.
        ready: Called once, with the server, when it accepts requests.

    Raises:
        MissingError: A package of the extra `report` is not installed.
        OSError: The port cannot be used.
        WikiError: The folder contains other files, or cannot be written.
    """
    before = state(layout)
    make_site(layout, folder)
    with Server(folder, port) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        ready(server)
        while thread.is_alive():
            time.sleep(_INTERVAL_S)
            now = state(layout)
            if now != before:
                try:
                    changed = make_site(layout, folder).written
                except WikiError:
                    # Another process may be writing: try again in the next round.
                    continue
                before = now
                server.version += bool(changed)
