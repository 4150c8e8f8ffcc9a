"""The backends: a command, a server with OpenAI's interface, and Anthropic's server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from pytest_dvwiki.llm.model import Answer
from pytest_dvwiki.redact import redact
from pytest_dvwiki.tokens import by_rule

if TYPE_CHECKING:
    from pytest_dvwiki.llm.configuration import Backend
    from pytest_dvwiki.settings import Layout

_LONGEST_REASON = 200
_PLACE = re.compile(r"\{(?:root|model)\}")
_RETRYABLE = frozenset({408, 409, 425, 429, *range(500, 600)})
"""HTTP statuses of errors that a retry can fix."""


class CallError(Exception):
    """Raised if a call of a backend fails; `retryable` is true if another call may succeed."""

    def __init__(self, reason: str, *, retryable: bool) -> None:
        super().__init__(reason)
        self.retryable = retryable


class Request(Struct, frozen=True):
    """A prompt, with the model and the maximum length of the answer."""

    prompt: str
    system: str
    model: str
    limit: int
    """Maximum number of tokens of the answer."""


def call(backend: Backend, layout: Layout, client: Any, request: Request) -> Answer:
    """Ask a backend once, and return its answer.

    Args:
        backend: The backend.
        layout: The project.
        client: The backend's client, from `client_of`.
        request: The prompt, with the model and the maximum length of the answer.

    Raises:
        CallError: The backend gave no complete answer.
    """
    if backend.kind == "command":
        return _run(backend, layout, request)
    ask = _openai if backend.kind == "openai" else _anthropic
    try:
        text, is_whole, used = ask(client, backend, request)
    except Exception as error:  # the libraries also raise errors of the libraries that they use
        raise _explained(error) from error
    if not is_whole:
        raise CallError(f"the answer was cut off after {request.limit} tokens", retryable=False)
    if not isinstance(text, str) or not text.strip():
        raise CallError("the answer is empty", retryable=True)
    tokens_in, tokens_out = used
    return Answer(
        text,
        backend.kind,
        request.model,
        tokens_in or by_rule(f"{request.system}{request.prompt}"),
        tokens_out or by_rule(text),
    )


def client_of(backend: Backend) -> Any:
    """Return the client object of a backend's library; None for a command, which has no library.

    Raises:
        CallError: The library or the key is missing.
    """
    if backend.kind == "command":
        return None
    try:
        # Importing one of these libraries takes a second, so it is imported only for a call.
        if backend.kind == "openai":
            from openai import OpenAI as Client  # noqa: PLC0415
        else:
            from anthropic import Anthropic as Client  # type: ignore[assignment]  # noqa: PLC0415
    except ImportError:
        raise CallError(
            f"the package {backend.kind} is not installed: pip install 'pytest-dvwiki[llm]'", retryable=False
        ) from None
    given: dict[str, Any] = {"base_url": backend.url} if backend.url else {}
    if backend.key:
        given["api_key"] = os.environ.get(backend.key)
        if not given["api_key"]:
            raise CallError(
                f"the environment variable {backend.key} for the API key is not set; set it", retryable=False
            )
    elif backend.url:
        # The library's default key is for its vendor's server: another server gets only the key that the entry names.
        given["api_key"] = "none"
    try:
        return Client(max_retries=0, timeout=backend.timeout, **given)
    except Exception as error:
        raise CallError(_short(error), retryable=False) from error


def _openai(client: Any, backend: Backend, request: Request) -> tuple[Any, bool, tuple[int, int]]:
    system = [{"role": "system", "content": request.system}] if request.system else []
    # OpenAI's own server no longer takes `max_tokens`; most other servers take nothing else.
    limit = {"max_tokens" if backend.url else "max_completion_tokens": request.limit}
    messages = [*system, {"role": "user", "content": request.prompt}]
    done = client.chat.completions.create(model=request.model, messages=messages, **limit)
    (choice,) = done.choices
    used = (done.usage.prompt_tokens, done.usage.completion_tokens) if done.usage else (0, 0)
    return choice.message.content, choice.finish_reason != "length", used


def _anthropic(client: Any, _: Backend, request: Request) -> tuple[Any, bool, tuple[int, int]]:
    system = {"system": request.system} if request.system else {}
    messages = [{"role": "user", "content": request.prompt}]
    done = client.messages.create(model=request.model, messages=messages, max_tokens=request.limit, **system)
    text = "".join(part.text for part in done.content if part.type == "text")
    return text, done.stop_reason != "max_tokens", (done.usage.input_tokens, done.usage.output_tokens)


def _explained(error: Exception) -> CallError:
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return CallError(f"status {status}: {_short(error)}", retryable=status in _RETRYABLE)
    if "APIError" in {each.__name__ for each in type(error).__mro__}:
        cause = error.__cause__
        return CallError(f"{_short(error)}{f' ({_short(cause)})' if cause else ''}", retryable=True)
    return CallError(f"the answer cannot be read: {type(error).__name__}: {_short(error)}", retryable=True)


def _short(error: BaseException) -> str:
    return " ".join(redact(str(error)).split())[:_LONGEST_REASON]


def _run(backend: Backend, layout: Layout, request: Request) -> Answer:
    """Run a command with the prompt on stdin, in an empty folder, so that an agent finds no files to change.

    Raises:
        CallError: The command cannot be run, failed, took too long or printed nothing.
    """
    text = f"{request.system}\n\n{request.prompt}" if request.system else request.prompt
    places = {"{root}": str(layout.root), "{model}": request.model}
    words = [_PLACE.sub(lambda found: places[found[0]], word) for word in backend.words()]
    if "/" in words[0]:
        words[0] = str(layout.root / words[0])
    with tempfile.TemporaryDirectory(prefix="dvwiki-model-") as folder:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise CallError(f"{words[0]} cannot be run: {error.strerror}", retryable=False) from error
        try:
            out, problems = process.communicate(text.encode("utf-8", "replace"), timeout=backend.timeout)
        except subprocess.TimeoutExpired:
            raise CallError(f"{words[0]} gave no answer within {backend.timeout:g} s", retryable=True) from None
        finally:
            _end(process)
    if process.returncode:
        last = (redact(problems.decode("utf-8", "replace")).strip().splitlines() or ["it printed no reason"])[-1]
        raise CallError(f"{words[0]} ended with status {process.returncode}: {last[:_LONGEST_REASON]}", retryable=True)
    answer = out.decode("utf-8", "replace").strip()
    if not answer:
        raise CallError(f"{words[0]} printed nothing", retryable=True)
    return Answer(answer, backend.kind, request.model, by_rule(text), by_rule(answer))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and everything that it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
