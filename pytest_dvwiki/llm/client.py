"""Calls to models: each backend in order, up to three times, within the limits of the run."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from pytest_dvwiki.llm import backends
from pytest_dvwiki.llm.model import Event, LimitError, ModelError
from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import utc
from pytest_dvwiki.tokens import by_rule

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.llm.configuration import Backend, LibrarianSettings
    from pytest_dvwiki.llm.model import Activity, Answer, EventKind, Model

WAITS = (1.0, 2.0)
"""Seconds between the attempts at one backend."""
_MOST_LOG = 1 << 20
"""Size in bytes at which the log is rotated; one old log is kept."""


class Clock(Protocol):
    """The functions of the module `time` that the client needs."""

    def monotonic(self) -> float:
        """Return the time in seconds."""

    def sleep(self, seconds: float, /) -> None:
        """Wait for a number of seconds."""


def connect(settings: LibrarianSettings, activity: Activity | None = None) -> Model | None:
    """Return the model that a project has set up; nothing is loaded or called before the first prompt.

    Args:
        settings: The project's settings.
        activity: Called with each event, which is also written to the log file.

    Returns:
        The model; None if the first backend is `none`, or if no backend is listed.
    """
    return Client(settings, Reporter(settings.log, activity)) if settings.backends else None


def tell(model: Model | None, kind: EventKind, step: str, text: str) -> None:
    """Report an event of a step, if the model has a reporter."""
    if isinstance(model, Client):
        model.report(kind, step, text)


class Reporter(Struct, frozen=True):
    """Passes events on to a callback and to a log file."""

    _log: Path
    """The log file; it is written only if its folder exists."""
    _activity: Activity | None = None

    def __call__(self, kind: EventKind, step: str, text: str, **more: Any) -> None:
        """Report one event, with its secrets masked; see `Event`."""
        event = Event(kind, step, " ".join(redact(text).split()), **more)
        # A log that cannot be written must not stop the work.
        with suppress(OSError):
            if self._log.exists() and self._log.stat().st_size > _MOST_LOG:
                self._log.replace(self._log.with_name(f"{self._log.name}.1"))
            with self._log.open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"{utc(time.time())} {event.kind} {str(event).removeprefix('warning: ')}\n")
        if self._activity is not None:
            self._activity(event)


class Client:
    """A model with one or several backends; threads can share it.

    Args:
        settings: The settings; `backends` is not empty.
        report: Called with each event, such as an attempt or an answer.
        clock: The clock; by default the module `time`.
    """

    def __init__(self, settings: LibrarianSettings, report: Reporter, clock: Clock = time) -> None:
        self._settings = settings
        self.report = report
        self._clock = clock
        self._lock = threading.Lock()
        self._backends = list(settings.backends)
        """The backends in the order to try; a backend that fails moves to the end."""
        self._clients: dict[int, Any] = {}
        self._calls = 0
        self._tokens = 0
        self._next = clock.monotonic()
        """The earliest time of the next call that the rate limit allows."""

    def complete(self, prompt: str, *, system: str = "", step: str = "", max_tokens: int = 4096) -> Answer:
        """Ask the backends in order, and return the first answer.

        Raises:
            LimitError: The run has used up its calls or tokens.
            ModelError: No backend answered.
        """
        self.report("stage", step, f"a prompt of {len(system) + len(prompt)} characters")
        reasons = []
        for backend in tuple(self._backends):
            request = backends.Request(prompt, system, backend.model_for(step), max_tokens)
            name = f"{backend.kind} {request.model}".rstrip()
            try:
                return self._ask(backend, request, step, name)
            except backends.CallError as error:
                reasons.append(f"{name}: {error}")
                self.report("warning", step, f"gave no answer: {error}", backend=name)
                with self._lock:
                    self._backends = [*(each for each in self._backends if each is not backend), backend]
        raise ModelError(f"no model answered: {'; '.join(reasons)}", rules=self._settings.rules)

    def _ask(self, backend: Backend, request: backends.Request, step: str, name: str) -> Answer:
        """Ask one backend until it answers, three times at most.

        Raises:
            LimitError: The run has used up its calls or tokens.
            CallError: The backend gave no answer.
        """
        size = by_rule(f"{request.system}{request.prompt}")
        for number, wait in enumerate((*WAITS, None), start=1):
            self._take_turn(size, request.limit)
            self.report("attempt", step, f"attempt {number} of {len(WAITS) + 1}", backend=name, tokens_in=size)
            used = size
            try:
                answer = backends.call(backend, self._settings.layout, self._client(backend), request)
                used = answer.tokens_in + answer.tokens_out
            except backends.CallError as error:
                if wait is None or not error.retryable:
                    raise
                self.report("warning", step, f"{error}; next attempt in {wait:g} s", backend=name)
                self._clock.sleep(wait)
            else:
                sizes = {"tokens_in": answer.tokens_in, "tokens_out": answer.tokens_out}
                self.report("answer", step, "answered", backend=name, **sizes)
                return answer
            finally:
                self._count(size + request.limit, used)
        raise AssertionError("the last attempt answers or raises")

    def _client(self, backend: Backend) -> Any:
        with self._lock:
            if id(backend) not in self._clients:
                self._clients[id(backend)] = backends.client_of(backend)
            return self._clients[id(backend)]

    def _take_turn(self, size: int, limit: int) -> None:
        """Reserve a call and its tokens, and wait until the rate allows the call.

        Raises:
            LimitError: No call is left, or too few tokens.
        """
        limits = self._settings
        with self._lock:
            if self._calls >= limits.calls_per_run:
                raise LimitError(
                    f"the {limits.calls_per_run} calls of this run are used up; run again, or raise"
                    " librarian.calls_per_run"
                )
            if self._tokens + size + limit > limits.tokens_per_run:
                raise LimitError(
                    f"{self._tokens} of the {limits.tokens_per_run} tokens of this run are used, and the next call may "
                    f"take {size + limit}; run again, or raise librarian.tokens_per_run"
                )
            self._calls += 1
            self._tokens += size + limit
            now = self._clock.monotonic()
            turn = max(now, self._next)
            self._next = turn + (60.0 / limits.calls_per_minute if limits.calls_per_minute else 0.0)
        if turn > now:
            self._clock.sleep(turn - now)

    def _count(self, reserved: int, used: int) -> None:
        """Replace the tokens that were reserved for a call with the tokens that it used."""
        with self._lock:
            self._tokens += used - reserved
