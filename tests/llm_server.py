"""Models that answer from a script: a server on loopback (interfaces of OpenAI and Anthropic), and one in memory."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.llm.model import Answer

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Reply:
    """The server's response to one request."""

    text: str = ""
    """The answer."""
    status: int = 200
    delay: float = 0.0
    """Delay of the answer in seconds; it ends early if the test ends."""
    finish: str = "stop"
    """Reason why the answer ends: `length` if it was cut off at the limit."""
    body: bytes | None = None
    """Bytes to send instead of a valid response."""
    cut: bool = False
    """Close the connection in the middle of the response."""


Script = str | Reply | Exception | Callable[[str], str]
"""A reply. A function gets the prompt and returns the text of the answer; the model in memory raises an exception."""


@dataclass
class _Scripted:
    replies: list[Script] = field(default_factory=list)
    """The replies, in order; the last one is repeated."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, *replies: Script) -> None:
        """Set the next replies."""
        with self._lock:
            self.replies = list(replies)

    def _next(self) -> Script:
        with self._lock:
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@dataclass
class ScriptedModel(_Scripted):
    """A model in memory."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    """The requests so far: `prompt`, `system`, `step`."""

    def complete(self, prompt: str, *, system: str = "", step: str = "", max_tokens: int = 4096) -> Answer:
        self.calls.append({"prompt": prompt, "system": system, "step": step})
        reply = self._next()
        if isinstance(reply, Exception):
            raise reply
        text = reply if isinstance(reply, str) else reply.text if isinstance(reply, Reply) else reply(prompt)
        return Answer(text, "scripted", "scripted", len(prompt) // 4, len(text) // 4)


@dataclass
class LlmServer(_Scripted):
    """A server on loopback."""

    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The documents that clients sent, each with the client's key as `authorization`."""
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def entry(self, **keys: object) -> object:
        """Return an entry of `backends:` for this server."""
        return {"openai": {"model": "small", "url": self.url, "timeout": 5} | keys}

    def set_up(self, root: Path, *backends: object, **keys: object) -> None:
        """Write a project.yaml with the block `librarian:`; without `backends`, the backend is this server."""
        path = root / ".agent" / "project.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"librarian": {"backends": backends or [self.entry()], **keys}}), encoding="utf-8")

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        asked = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.requests.append(asked | {"authorization": handler.headers.get("authorization", "")})
        prompt = asked["messages"][-1]["content"]
        script = self._next()
        assert not isinstance(script, Exception)
        reply = script if isinstance(script, Reply) else Reply(script if isinstance(script, str) else script(prompt))
        if reply.delay:
            self.ended.wait(reply.delay)
        made = _message if handler.path.endswith("/messages") else _completion
        body = reply.body if reply.body is not None else json.dumps(made(asked, prompt, reply)).encode()
        handler.send_response(reply.status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2] if reply.cut else body)
        handler.close_connection = reply.cut


_ERROR = {"error": {"message": "scripted"}}


def _completion(asked: dict[str, Any], prompt: str, reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    document = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
        "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(reply.text) // 4, "total_tokens": 0},
    }
    return document if reply.status == 200 else _ERROR


def _message(asked: dict[str, Any], prompt: str, reply: Reply) -> dict[str, Any]:
    document = {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": [{"type": "text", "text": reply.text}],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[reply.finish],
        "usage": {"input_tokens": len(prompt) // 4, "output_tokens": len(reply.text) // 4},
    }
    return document if reply.status == 200 else _ERROR


@contextmanager
def serving() -> Iterator[LlmServer]:
    """Run a server that has no replies yet."""
    server = LlmServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.respond(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the signature of the base class)
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.port = http.server_port
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            http.shutdown()
            thread.join()


@dataclass
class FakeClock:
    """A clock that advances only when someone sleeps."""

    now: float = field(default_factory=time.monotonic)
    slept: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        self.now += seconds
