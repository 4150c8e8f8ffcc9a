"""The two ways to reach the server: the standard streams of a process, and HTTP, on this machine only."""

from __future__ import annotations

import hmac
import socket
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.lowlevel.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
PATH = "/mcp"


def serve_streams(server: Server[Any]) -> None:
    """Serve one client on standard input and output until it closes them."""

    async def serve() -> None:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(serve)


def serve_http(server: Server[Any], port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve clients on this machine that have the token, until the process is interrupted.

    Args:
        server: The server.
        port: The port; 0 for any free port.
        token: The bearer token that each request must have.
        ready: Called with the URL when requests are accepted.
    """
    with socket.create_server((HOST, port)) as listening:
        bound = listening.getsockname()[1]
        config = uvicorn.Config(http_app(server, bound, token), log_level="warning", lifespan="on")
        ready(f"http://{HOST}:{bound}{PATH}")
        uvicorn.Server(config).run(sockets=[listening])


def http_app(server: Server[Any], port: int, token: str) -> ASGIApp:
    """Return an application that checks Host, Origin and token, in that order, before it answers a request."""
    hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = server.streamable_http_app(streamable_http_path=PATH, json_response=True, transport_security=security)
    return _CheckedApplication(app, security, token)


class _CheckedApplication:
    """An application that checks Host, Origin and token first, for every path and method."""

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings, token: str) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] == "http":
            request = Request(scope, receive)
            refusal = await self._security.validate_request(request)
            given = request.headers.get("authorization", "").encode("utf-8", "surrogateescape")
            if refusal is None and not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse("Invalid or missing token", 401, {"WWW-Authenticate": "Bearer"})
        await (self._app if refusal is None else refusal)(scope, receive, send)
