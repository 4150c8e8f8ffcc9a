"""A model is tried three times, then the next one; incomplete answers do not count; a run has limits."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest
from llm_server import FakeClock, LlmServer, Reply

from pytest_dvwiki.llm.client import Client, Reporter, connect
from pytest_dvwiki.llm.configuration import LibrarianSettings
from pytest_dvwiki.llm.model import AnswerError, Event, LimitError, ModelError, parsed, quoted
from pytest_dvwiki.settings import Layout, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

ECHO = "import sys; sys.stdout.write('heard ' + sys.stdin.read())"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path, tmp_path / ".agent" / "wiki")
    (layout.wiki / ".cache").mkdir(parents=True)
    return layout


class Asking:
    """A client of a project, its clock, and what it reported."""

    def __init__(self, layout: Layout) -> None:
        self.clock = FakeClock()
        self.events: list[Event] = []
        self.settings = LibrarianSettings.of(layout)
        self.client = Client(self.settings, Reporter(self.settings.log, self.events.append), self.clock)

    def __call__(self, prompt: str = "why?", **more: str) -> str:
        return self.client.complete(prompt, **{"step": "compile", **more}, max_tokens=100).text

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


def test_a_server_answers_and_the_answer_names_it(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root)
    llm_server.say("because")
    ask = Asking(layout)
    answer = ask.client.complete("why?", system="be brief", step="compile", max_tokens=7)
    assert (answer.text, answer.backend, answer.model, answer.tokens_in) == ("because", "openai", "small", 1)
    (request,) = llm_server.requests
    assert request["messages"] == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "why?"}]
    assert request["max_tokens"] == 7
    assert ask.kinds() == ["stage", "attempt", "answer"]
    assert ask.settings.log.read_text(encoding="utf-8").count("compile: openai small:") == 2


@pytest.mark.parametrize(
    "bad",
    [
        Reply(status=500),
        Reply(status=429),
        Reply("half of it", cut=True),
        Reply(body=b'{"choices": [{'),
        Reply(body=b'{"choices": 3}'),
        Reply(body=b'{"choices": []}'),
        Reply(body=b"<html>log in</html>"),
        Reply(""),
    ],
    ids=["500", "429", "cut off", "broken JSON", "no list", "empty list", "no JSON", "empty"],
)
def test_what_may_pass_is_tried_three_times_with_waits_of_1_and_2_seconds(
    layout: Layout, llm_server: LlmServer, bad: Reply
) -> None:
    llm_server.set_up(layout.root, calls_per_minute=0)
    llm_server.say(bad, bad, "at last")
    ask = Asking(layout)
    assert ask() == "at last"
    assert ask.clock.slept == [1.0, 2.0]
    assert ask.kinds() == ["stage", "attempt", "warning", "attempt", "warning", "attempt", "answer"]


def test_anthropics_interface_is_spoken(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, {"anthropic": {"model": "small", "url": llm_server.url.removesuffix("/v1")}})
    llm_server.say(Reply(status=529), "because")
    ask = Asking(layout)
    answer = ask.client.complete("why?", system="be brief", max_tokens=7)
    assert (answer.text, answer.backend, answer.model, answer.tokens_in) == ("because", "anthropic", "small", 1)
    assert [(each["system"], each["max_tokens"]) for each in llm_server.requests] == [("be brief", 7)] * 2
    llm_server.say(Reply("half", finish="length"))
    with pytest.raises(ModelError, match="cut off after 100 tokens"):
        ask()


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_cannot_pass_is_tried_once(layout: Layout, llm_server: LlmServer, status: int) -> None:
    llm_server.set_up(layout.root)
    llm_server.say(Reply(status=status))
    ask = Asking(layout)
    with pytest.raises(ModelError, match=f"openai small: status {status}"):
        ask()
    assert len(llm_server.requests) == 1


def test_a_server_that_is_too_slow_gave_no_answer(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, llm_server.entry(timeout=0.05))
    llm_server.say(Reply("late", delay=30))
    with pytest.raises(ModelError, match="timed out"):
        Asking(layout)()
    assert len(llm_server.requests) == 3


def test_an_answer_that_was_cut_off_at_the_limit_is_none(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root)
    llm_server.say(Reply("the first half", finish="length"))
    with pytest.raises(ModelError, match="cut off after 100 tokens"):
        Asking(layout)()


def test_the_next_backend_answers_and_the_failed_one_is_asked_last_from_then_on(
    layout: Layout, llm_server: LlmServer
) -> None:
    echo = {"command": {"run": [sys.executable, "-c", ECHO]}}
    llm_server.set_up(layout.root, llm_server.entry(), echo, calls_per_minute=0)
    llm_server.say(Reply(status=500))
    ask = Asking(layout)
    assert ask() == "heard why?"
    assert ask("again?") == "heard again?"
    assert len(llm_server.requests) == 3


def test_every_backend_is_named_where_none_answers(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, llm_server.entry(), {"command": "no-such-agent"}, "none")
    llm_server.say(Reply(status=404))
    with pytest.raises(ModelError, match=r"openai small: status 404.*; command: no-such-agent cannot be run") as error:
        Asking(layout)()
    assert error.value.rules, "`none` is listed behind them"


def test_a_command_reads_the_prompt_and_its_output_is_the_answer(layout: Layout, llm_server: LlmServer) -> None:
    code = "import os, sys; print(sys.argv[1:], os.listdir(), sys.stdin.read())"
    run = [sys.executable, "-c", code, "{model}", "{root}"]
    command = {"run": run, "model": {"default": "small", "compile": "large"}}
    llm_server.set_up(layout.root, {"command": command})
    assert Asking(layout)(system="be brief") == f"['large', '{layout.root}'] [] be brief\n\nwhy?"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('no key')", "ended with status 1: no key"),
        ("", "printed nothing"),
    ],
)
def test_a_command_that_fails_says_why(layout: Layout, llm_server: LlmServer, code: str, reason: str) -> None:
    llm_server.set_up(layout.root, {"command": {"run": [sys.executable, "-I", "-S", "-c", code]}})
    ask = Asking(layout)
    with pytest.raises(ModelError, match=reason):
        ask()
    assert ask.clock.slept[-1] == 2.0


def test_what_a_command_started_ends_with_it(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, {"command": {"run": "sh -c 'sleep 60 & echo early; sleep 60'", "timeout": 0.2}})
    with pytest.raises(ModelError, match="gave no answer within"):
        Asking(layout)()


def test_calls_are_spaced(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, calls_per_minute=20)
    llm_server.say("yes")
    ask = Asking(layout)
    for _ in range(3):
        ask()
    assert ask.clock.slept == [3.0, 3.0]


def test_a_run_has_so_many_calls_attempts_included(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, calls_per_run=2)
    llm_server.say(Reply(status=500))
    with pytest.raises(LimitError, match="2 calls"):
        Asking(layout)()
    assert len(llm_server.requests) == 2


def test_a_run_has_so_many_tokens(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, tokens_per_run=250)
    llm_server.say("x" * 320)
    ask = Asking(layout)
    ask()
    ask()
    with pytest.raises(LimitError, match="162 of the 250 tokens"):
        ask()
    assert len(llm_server.requests) == 2


def test_threads_share_one_budget(layout: Layout, llm_server: LlmServer) -> None:
    llm_server.set_up(layout.root, calls_per_run=3)
    llm_server.say("yes")
    ask = Asking(layout)
    refused = []

    def work() -> None:
        try:
            ask()
        except LimitError:
            refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(llm_server.requests), len(refused)) == (3, 5)


def test_the_librarys_own_key_stays_with_its_own_server(
    layout: Layout, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-another-server")
    monkeypatch.setenv("OUR_KEY", "ours")
    llm_server.say("yes")
    llm_server.set_up(layout.root)
    Asking(layout)()
    llm_server.set_up(layout.root, llm_server.entry(key="OUR_KEY"))
    Asking(layout)()
    assert [each["authorization"] for each in llm_server.requests] == ["Bearer none", "Bearer ours"]
    monkeypatch.delenv("OUR_KEY")
    with pytest.raises(ModelError, match="OUR_KEY for the API key is not set"):
        Asking(layout)()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_missing_library_names_the_extra(
    layout: Layout, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    llm_server.set_up(layout.root, {kind: {"model": "small"}})
    with pytest.raises(ModelError, match=rf"the package {kind} is not installed: pip install 'pytest-dvwiki\[llm\]'"):
        Asking(layout)()


def test_without_a_backend_there_is_no_model(layout: Layout, llm_server: LlmServer) -> None:
    assert connect(LibrarianSettings.of(layout)) is None
    llm_server.set_up(layout.root, "none", {"command": "true"})
    assert connect(LibrarianSettings.of(layout)) is None
    llm_server.set_up(layout.root)
    assert connect(LibrarianSettings.of(layout)) is not None
    assert not llm_server.requests


@pytest.mark.parametrize(
    ("backend", "problem"),
    [
        ("gpt", r"backends\[0\]: expected one of command, openai"),
        ("openai", r"backends\[0\]\.openai: it lacks the key `model`"),
        ({"openai": {"model": "a", "urls": "b"}}, "urls"),
        ({"openai": {"model": {"compile": "b"}}}, "it lacks the key `default`"),
        ({"command": {"run": "a", "timeout": 0}}, "above 0"),
        ({"command": 'a "b'}, "No closing quotation"),
    ],
)
def test_a_backend_that_cannot_be_used_is_refused(
    layout: Layout, llm_server: LlmServer, backend: object, problem: str
) -> None:
    llm_server.set_up(layout.root, backend)
    with pytest.raises(SettingsError, match=problem):
        LibrarianSettings.of(layout)


def test_a_secret_of_a_message_is_not_in_the_log(layout: Layout) -> None:
    log = layout.wiki / ".cache" / "librarian.log"
    Reporter(log)("warning", "compile", "password=hunter2hunter2\n\x1b[31mred")
    assert log.read_text(encoding="utf-8").endswith("Z warning compile: password=[redacted] red\n")


def test_quoted_text_cannot_end_its_quotation() -> None:
    text = quoted("source", "a </source> <SOURCE> < /source> <sources>")
    assert text == "<source>\na &lt;/source> &lt;SOURCE> &lt; /source> &lt;sources>\n</source>"


def test_an_answer_is_parsed_as_its_type_or_refused() -> None:
    assert parsed(' ["a"]\n', list[str]) == ["a"]
    assert parsed('Here it is:\n```json\n["a"]\n```\nDone.', list[str]) == ["a"]
    for text in ("[1]", "yes", '["a"', "", 'Here: ["a"]', '```\n["a"]\n```\n```\n["b"]\n```', '```json\n["a"'):
        with pytest.raises(AnswerError, match="does not have the form"):
            parsed(text, list[str])
