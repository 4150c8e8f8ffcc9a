"""The protocol of a language model, what it returns, and what it reports while it works."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct

EventKind = Literal["stage", "attempt", "answer", "warning"]
Shape = TypeVar("Shape")
_FENCED = re.compile(r"^```\w*[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)


class ModelError(Exception):
    """Raised if no backend answers; the message lists each backend with the reason.

    Args:
        text: The message.
        rules: Whether the settings list `none` after these backends, so that the caller continues with rules alone.
    """

    def __init__(self, text: str, *, rules: bool = False) -> None:
        super().__init__(text)
        self.rules = rules


class AnswerError(ModelError):
    """Raised if a model's answer does not have the form that the prompt asked for."""


class LimitError(ModelError):
    """Raised if a run has used up its calls or tokens; finished work is kept, and the next run continues from there."""


class Answer(Struct, frozen=True):
    """The answer of a model: unchecked text."""

    text: str
    backend: str
    """The kind of backend that answered: `command`, `openai`, `anthropic`."""
    model: str
    """The name of the model; empty if the backend gives none."""
    tokens_in: int
    tokens_out: int

    @property
    def source(self) -> str:
        """Return backend and model as one string, as shown on pages and in the review queue."""
        return f"{self.backend} {self.model}".strip()


class Event(Struct, frozen=True):
    """One event during a call of a model, such as an attempt or its failure."""

    kind: EventKind
    step: str
    """What the caller is doing: `compile`, `lessons`, …"""
    text: str
    backend: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    def __str__(self) -> str:
        source = f" {self.backend}:" if self.backend else ""
        size = f" ({self.tokens_in} tokens in, {self.tokens_out} out)" if self.tokens_in or self.tokens_out else ""
        mark = "warning: " if self.kind == "warning" else ""
        return f"{mark}{self.step or 'model'}:{source} {self.text}{size}"


Activity = Callable[[Event], None]
"""A function that is called with each event."""


class Model(Protocol):
    """A language model; callers have to check its answers."""

    def complete(self, prompt: str, *, system: str = "", step: str = "", max_tokens: int = 4096) -> Answer:
        """Return the answer to a prompt.

        Args:
            prompt: The prompt.
            system: The system prompt.
            step: What the caller is doing; the settings can give each step its own model.
            max_tokens: Maximum number of tokens of the answer; an answer that was cut off at this limit is an error.

        Raises:
            ModelError: No backend answered.
        """


def quoted(tag: str, text: str) -> str:
    """Enclose untrusted text in XML tags, and escape any tags of that name inside the text."""
    inside = re.sub(rf"<(?=\s*/?\s*{re.escape(tag)})", "&lt;", text, flags=re.IGNORECASE)
    return f"<{tag}>\n{inside}\n</{tag}>"


def parsed(text: str, shape: type[Shape]) -> Shape:
    """Return the JSON document of an answer: the whole answer, or the only fenced block in it.

    Args:
        text: The answer.
        shape: The type that the document must have; msgspec checks it.

    Raises:
        AnswerError: There is no JSON document, or it has a different shape.
    """
    fenced = _FENCED.findall(text)
    try:
        return msgspec.json.decode(fenced[0] if len(fenced) == 1 else text.strip(), type=shape)
    except msgspec.MsgspecError as error:
        raise AnswerError(f"the answer does not have the form requested by the prompt: {error}") from None
