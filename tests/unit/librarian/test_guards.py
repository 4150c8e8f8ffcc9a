"""Each guard of the librarian is needed: without it, its test fails.

A guard is taken out of the source of its module; what is left runs in its place.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.agent import page_blocks
from pytest_dvwiki.librarian import compile as compiling
from pytest_dvwiki.librarian import condense, lessons, semantic
from pytest_dvwiki.llm import backends, client, model
from pytest_dvwiki.upkeep import accept as accepting
from pytest_dvwiki.upkeep import compiled

from ..llm import test_client
from . import test_compile, test_lessons, test_semantic
from .test_compile import project as project_of_compile
from .test_lessons import wiki as wiki_of_lessons
from .test_semantic import project as project_of_semantic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from llm_server import LlmServer

    from pytest_dvwiki.settings import Layout

pytestmark = pytest.mark.further_mode
compile_project, lessons_wiki, semantic_project = project_of_compile, wiki_of_lessons, project_of_semantic


@dataclass(frozen=True)
class Guard:
    """A guard, and the test that fails without it."""

    module: ModuleType
    text: str
    instead: str
    test: Callable[..., None]
    arguments: dict[str, Any] = field(default_factory=dict)

    def remove(self, monkeypatch: pytest.MonkeyPatch) -> None:
        source = inspect.getsource(self.module)
        assert source.count(self.text) == 1, f"{self.module.__name__} has the guard once"
        left: dict[str, Any] = {"__name__": self.module.__name__, "__file__": self.module.__file__}
        exec(compile(source.replace(self.text, self.instead), str(self.module.__file__), "exec"), left)  # noqa: S102
        for name, value in left.items():
            if inspect.isfunction(value) or (inspect.isclass(value) and name in {"_Page", "_Answers", "Client"}):
                monkeypatch.setattr(self.module, name, value)
        if self.module is compiled:
            monkeypatch.setitem(accepting._WAYS, "compiled", compiled.accept)


def claim(name: str) -> dict[str, Any]:
    return {"claim": test_compile.GUARDED[name]}


STAY = test_compile.test_lessons_without_an_acceptable_text_stay_and_are_listed
OTHERWISE = test_semantic.test_anything_else_is_unknown
COMPILE = {
    "a text names something of the project": Guard(
        condense, "elif not known(layout, names):", "elif False:", STAY, claim("names what is not there")
    ),
    "its lessons name it, too": Guard(
        condense,
        'names_in(f"{claim.title} {claim.text}") & theirs',
        'names_in(f"{claim.title} {claim.text}")',
        STAY,
        claim("names what its lessons do not"),
    ),
    "one of its sources is on record": Guard(
        condense,
        "elif not any(resolves(task) for each in parts for task in each.tasks):",
        "elif False:",
        test_compile.test_a_text_needs_a_source_on_record,
    ),
    "it states what its lessons do": Guard(
        condense, "if _states(made, each)]", "]", STAY, claim("stands for none of them")
    ),
    "sources are joined by code": Guard(
        condense,
        "made, sources=sources,",
        "made,",
        test_compile.test_sources_that_a_model_writes_do_not_count,
    ),
    "lessons that no text stands for are listed": Guard(
        condense,
        "result.kept += sorted(ids - stands_for)",
        "pass",
        test_compile.test_a_lesson_that_no_text_stands_for_is_listed_for_review,
    ),
    "a lesson that ended ends no other": Guard(
        condense,
        "for lesson in result.lessons if lesson.is_active}\n        keep",
        "for lesson in result.lessons}\n        keep",
        test_compile.test_two_lessons_do_not_end_each_other,
    ),
    "a contradiction has a reason": Guard(
        condense,
        " or not each.reason.strip()",
        "",
        test_compile.test_a_contradiction_needs_two_lessons_and_a_reason,
        {"contradiction": {"keep": test_compile.DRAIN.id, "drop": test_compile.NO_DRAIN.id, "reason": " "}},
    ),
    "rules merge nothing unreviewed into what is reviewed": Guard(
        condense,
        "and bool(one.unreviewed) == bool(other.unreviewed)",
        "",
        test_compile.test_rules_do_not_merge_what_a_model_wrote_into_what_a_person_accepted,
    ),
    "nothing is asked where nothing changed": Guard(
        compiling,
        "if self._version in known.versions and not can_do_more:",
        "if False:",
        test_compile.test_an_answer_that_changes_nothing_is_not_asked_for_again,
    ),
    "a proposal is made once": Guard(
        compiling,
        'if (each.kind, each.target, each.base) == ("compiled", self._address, self._version):',
        "if False:",
        test_compile.test_nothing_is_asked_or_written_where_nothing_changed,
    ),
    "a run that was ended goes on": Guard(
        compiling,
        "kept = json.loads(reading.read_text(self._folder / name))",
        "raise ValueError",
        test_compile.test_a_run_that_was_ended_goes_on_at_its_step,
    ),
    "only a fix that held ends a workaround": Guard(
        compiling,
        'state.fix.result == "held" and not state.returned and lesson.seen < state.fix.date[:10]',
        "False",
        test_compile.test_a_workaround_ends_with_a_fix_that_held,
    ),
    "few lessons are left alone": Guard(
        compiling,
        "if len(self._active) < fewest:",
        "if False:",
        test_compile.test_fewer_lessons_than_the_threshold_are_left_alone,
    ),
    "a page that changed is not overwritten": Guard(
        compiled,
        "if topic.version(data) != proposal.base:",
        "if False:",
        test_compile.test_a_page_that_changed_meanwhile_is_not_overwritten,
    ),
}
LESSONS = {
    "a lesson is of its session": Guard(
        lessons,
        'if _is_of(transcript, f"{each.title} {each.text}")\n',
        "\n",
        test_lessons.test_what_is_not_of_the_session_is_left_out,
    ),
    "an unknown id is none": Guard(
        lessons,
        "for _, _, place, each in near if each.id == same)",
        "for _, _, place, each in near)",
        test_lessons.test_an_unsure_or_unknown_answer_keeps_them_apart,
        {"answer": '"ffffffff"'},
    ),
    "five are compared": Guard(lessons, "[:_CANDIDATES]", "", test_lessons.test_the_model_sees_five_candidates_at_most),
    "a transcript counts once": Guard(
        lessons,
        'return f" lessons | {task_id} | " in reading.text_or_empty(layout.wiki / "log.md")',
        "return False",
        test_lessons.test_the_same_transcript_counts_once_and_is_not_read_again,
    ),
}
SEMANTIC = {
    "a contradiction is shown by the source": Guard(
        semantic,
        '"contradicted" and shows)',
        '"contradicted")',
        OTHERWISE,
        {"model": test_semantic.saying(quote="x y z")},
    ),
    "only old pages": Guard(
        semantic,
        "if not _is_old(page, text, settings.minimum_age):",
        "if False:",
        test_semantic.test_only_old_pages_with_a_source_are_compared_and_so_many_at_most,
    ),
    "no link out of the project": Guard(
        semantic,
        "if outside.leads_out(root, file):",
        "if False:",
        test_semantic.test_only_old_pages_with_a_source_are_compared_and_so_many_at_most,
    ),
    "so many pages at most": Guard(
        semantic,
        "if number >= settings.drift_pages:",
        "if False:",
        test_semantic.test_only_old_pages_with_a_source_are_compared_and_so_many_at_most,
    ),
    "what did not change is not asked again": Guard(
        semantic,
        "and work.key not in known",
        "",
        test_semantic.test_what_did_not_change_is_not_asked_again_so_that_others_get_their_turn,
    ),
    "secrets are masked": Guard(
        semantic,
        'text = redact(reading.read_bytes(file).decode("utf-8", "replace"))',
        'text = reading.read_bytes(file).decode("utf-8", "replace")',
        test_semantic.test_source_text_cannot_leave_its_quotation_and_secrets_are_masked,
    ),
}
CLIENT = {
    "an answer is whole": Guard(
        backends, "if not is_whole:", "if False:", test_client.test_an_answer_that_was_cut_off_at_the_limit_is_none
    ),
    "a key stays with its server": Guard(
        backends,
        'given["api_key"] = "none"',
        "pass",
        test_client.test_the_librarys_own_key_stays_with_its_own_server,
    ),
    "a run has so many calls": Guard(
        client,
        "if self._calls >= limits.calls_per_run:",
        "if False:",
        test_client.test_a_run_has_so_many_calls_attempts_included,
    ),
    "a run has so many tokens": Guard(
        client,
        "if self._tokens + size + limit > limits.tokens_per_run:",
        "if False:",
        test_client.test_a_run_has_so_many_tokens,
    ),
    "what cannot pass is not repeated": Guard(
        client,
        "if wait is None or not error.retryable:",
        "if wait is None:",
        test_client.test_what_cannot_pass_is_tried_once,
        {"status": 401},
    ),
}


@pytest.mark.parametrize("guard", COMPILE.values(), ids=COMPILE)
def test_a_compile_needs_it(compile_project: Layout, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    guard.remove(monkeypatch)
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        guard.test(compile_project, **guard.arguments)


@pytest.mark.parametrize("guard", LESSONS.values(), ids=LESSONS)
def test_lessons_need_it(lessons_wiki: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    guard.remove(monkeypatch)
    with pytest.raises((AssertionError, FileNotFoundError)):
        guard.test(lessons_wiki, **guard.arguments)


@pytest.mark.parametrize("guard", SEMANTIC.values(), ids=SEMANTIC)
def test_semantic_drift_needs_it(semantic_project: Layout, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    guard.remove(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        guard.test(semantic_project, **guard.arguments)


@pytest.mark.parametrize("guard", CLIENT.values(), ids=CLIENT)
def test_the_client_needs_it(
    tmp_path: Path, llm_server: LlmServer, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard.remove(monkeypatch)
    if guard.module is client:
        monkeypatch.setattr(test_client, "Client", client.Client)
    layout = test_client.layout.__wrapped__(tmp_path)  # type: ignore[attr-defined]
    more = {"monkeypatch": monkeypatch} if "monkeypatch" in inspect.signature(guard.test).parameters else {}
    with pytest.raises((AssertionError, pytest.fail.Exception, model.ModelError)):
        guard.test(layout, llm_server, **more, **guard.arguments)


@pytest.mark.parametrize(
    ("test", "fixture"),
    [
        (test_compile.test_injected_text_in_lessons_stays_data, "compile_project"),
        (test_semantic.test_source_text_cannot_leave_its_quotation_and_secrets_are_masked, "semantic_project"),
    ],
)
def test_text_in_prompts_needs_its_quotation(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, test: Callable[..., None], fixture: str
) -> None:
    given = request.getfixturevalue(fixture)
    for module in (condense, semantic):
        monkeypatch.setattr(module, "quoted", lambda tag, text: f"<{tag}>\n{text}\n</{tag}>")
    assert model.quoted("a", "</a>").count("</a>") == 1
    with pytest.raises(AssertionError):
        test(given)


def test_prompts_need_the_mark_of_what_nobody_accepted(
    lessons_wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = Guard(page_blocks, "if each.is_active and not each.unreviewed]", "if each.is_active]", test_compile.put)
    source = inspect.getsource(page_blocks)
    assert source.count(guard.text) == 1
    left: dict[str, Any] = {"__name__": page_blocks.__name__}
    exec(compile(source.replace(guard.text, guard.instead), "page_blocks", "exec"), left)  # noqa: S102
    monkeypatch.setattr(page_blocks.PageBlocks, "_lessons", left["PageBlocks"]._lessons)
    with pytest.raises(AssertionError):
        test_lessons.test_a_lesson_of_a_model_is_in_no_prompt_until_a_person_accepts_it(lessons_wiki, tmp_path)
