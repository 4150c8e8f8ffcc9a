"""Foreign texts stay quoted in prompts, MCP answers, pages, reports and the output of the skill's commands."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt

from pytest_dvwiki.agent.loader import QUESTIONS, PromptLoader
from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.cli import main
from pytest_dvwiki.mcp.server import READ_ONLY, WikiServer
from pytest_dvwiki.mcp.tools import Project
from pytest_dvwiki.model import FirstBad, Place
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive

from .hostile_texts import HOSTILE, PLAIN
from .samples import again, failed, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

_WORD = re.compile(r"OWNED\d\dX")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_BUDGET = 200_000


def name(number: int) -> str:
    return f"{number:012x}"


def project(root: Path, texts: tuple[str, ...]) -> Layout:
    """Return a project with a cause for each text: in log lines, names of tests and files, and commits."""
    place = layout(root)
    causes = [
        occurrence(
            name(number),
            primary=f"UVM_ERROR tb.sv(1) @ 1ns: [SB] {text}",
            excerpt=f"before\n{text}\nUVM_ERROR",
            tests=(failed(f"tests/test_{number}.py::{text}", seed=text),),
            place=Place(report="UVM_ERROR", words=text, file=f"tb/{text}.sv", line=1),
            unreproducible=text if number % 3 == 0 else "",
        )
        for number, text in enumerate(texts)
    ]
    archive(place, record(1, *causes))
    fixes = tuple(
        {
            "fingerprint": name(number),
            "text": text,
            "by": "git",
            "commits": ["1" * 40, "2" * 40],
            "log": [f"{'2' * 12} {text}"],
            "log_count": 1,
            "files": [f"rtl/{text}.sv"],
            "file_count": 1,
            "authors": [text],
            "owners": [text],
        }
        for number, text in enumerate(texts)
    )
    passed = (again(nodeid=f"tests/test_{n}.py::{text}", fingerprint=name(n)) for n, text in enumerate(texts))
    archive(place, record(2, passed_again=tuple(passed), fixes=fixes))
    came = tuple(
        FirstBad(
            fingerprint=name(number),
            nodeid=f"tests/test_{number}.py::{text}",
            good="1" * 40,
            bad="3" * 40,
            log=(f"{'3' * 12} {text}",),
            log_count=1,
            files=(f"rtl/{text}.sv",),
            file_count=1,
            owners=(text,),
        )
        for number, text in enumerate(texts)
    )
    archive(place, record(90, *causes, first_bad=came))
    (root / "sim.log").write_text("\n".join(f"UVM_ERROR tb.sv(1) @ 1ns: [SB] {text}" for text in texts), "utf-8")
    return place


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    return project(tmp_path_factory.mktemp("hostile"), HOSTILE)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Return the same project with the words alone."""
    return project(tmp_path_factory.mktemp("plain"), PLAIN)


def quoted_alone(text: str) -> None:
    """Check that the words are only in code, and that nothing in the code takes effect."""
    assert _CONTROL.search(text) is None
    assert not re.search(r"<\|\w+\|>|\{\{ ?[A-Z_]+ ?\}\}", text)
    assert set(_WORD.findall(text))
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        for each in token.children or [token]:
            if each.type not in {"code_inline", "fence"}:
                assert not _WORD.search(f"{each.content}{each.attrs}"), (each.type, each.content)


def test_prompts(hostile: Layout) -> None:
    config = WikiConfig(enabled=True, wiki_dir=hostile.wiki).with_budget(_BUDGET)
    texts = [PromptLoader(config).render("\n".join(f"{{{{{each}}}}}" for each in QUESTIONS))]
    texts += [gather(hostile, budget=_BUDGET).text, gather(hostile, query="tb UVM_ERROR SB", budget=_BUDGET).text]
    for text in texts:
        quoted_alone(text)


def mcp_texts(place: Layout) -> Iterator[str]:
    server = WikiServer({"fifo": Project(resolve(place.root))}, READ_ONLY, has_one_caller=True)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("dvwiki_match_failure", {}),
        ("dvwiki_match_failure", {"path": "sim.log"}),
        ("dvwiki_list", {}),
        ("dvwiki_search", {"query": "SB", "limit": 60}),
    ]
    for tool, arguments in calls:
        data, text = server.answer(tool, {**arguments, "budget": _BUDGET}, "process")
        assert data["status"] == "done"
        assert _CONTROL.search("\n".join(strings(data))) is None
        yield text
    for page in sorted((place.wiki / "bugs").glob("RTL*"))[:4]:
        yield server.answer("dvwiki_get", {"page": f"bugs/{page.stem}", "budget": _BUDGET}, page.stem)[1]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def test_answers_of_the_mcp_server(hostile: Layout) -> None:
    for text in mcp_texts(hostile):
        quoted_alone(text)


def test_commands_of_the_skill(
    hostile: Layout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.root)
    for words in (["--newest"], ["--log", "sim.log"], ["SB"], ["--test", "tests/test_1.py::" + HOSTILE[1]]):
        assert main(["context", *words, "--budget", str(_BUDGET)]) == 0
        quoted_alone(capsys.readouterr().out)


_SHOWN = {"text", "text_special", "softbreak", "code_inline", "fence"}
"""Tokens that show text unchanged."""


def structure(text: str) -> Counter[str]:
    """Return the Markdown tokens that take effect, and check that no word of a hostile text is in a link."""
    assert _CONTROL.search(text) is None
    found: Counter[str] = Counter()
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        for each in token.children or [token]:
            found[each.type] += each.type not in _SHOWN
            assert not _WORD.search(f"{each.attrs.get('href', '')}{each.attrs.get('src', '')}")
    return +found


def test_pages(hostile: Layout, plain: Layout) -> None:
    """Pages have the same structure, keys and regions as with harmless texts."""
    files = [*sorted((hostile.wiki / "bugs").glob("RTL*")), hostile.wiki / "index.md", hostile.wiki / "log.md"]
    assert len(files) == len(HOSTILE) + 2
    for file in files:
        data, other = file.read_bytes(), (plain.wiki / file.relative_to(hostile.wiki)).read_bytes()
        here, there = pages.read(data), pages.read(other)
        assert structure(here.body) == structure(there.body)
        assert here.metadata.keys() == there.metadata.keys()
        assert all(
            here.metadata.get(key) == there.metadata.get(key) for key in ("type", "status", "owner", "hit_count")
        )
        regions = pages.regions(data)
        assert isinstance(regions, dict)
        others = pages.regions(other)
        assert isinstance(others, dict)
        assert regions.keys() == others.keys()


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] += 1
        for key, value in attrs:
            if _WORD.search(value or "") and (key.startswith("on") or key in {"href", "src", "style", "action"}):
                self.acting.append(f"{tag} {key}={value}")


def test_reports(hostile: Layout, plain: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    root = hostile.root
    assert main(["report", "--html", str(root / "site"), "--root", str(root)]) == 0
    capsys.readouterr()
    for file in sorted((root / "site").rglob("*.html")):
        elements = _Elements()
        elements.feed(file.read_text("utf-8"))
        assert [each for each in elements.acting if not each.startswith("a href=")] == []
        assert _CONTROL.search(file.read_text("utf-8")) is None
    since = ["--since", "2026-11-01", "--root", str(root)]
    assert main(["report", "--summary", "--format", "html", *since]) == 0
    mail = _Elements()
    mail.feed(capsys.readouterr().out)
    assert mail.acting == []
    assert mail.found["script"] == mail.found["img"] == 0
    shown = []
    for place in (hostile, plain):
        assert main(["report", "--summary", "--since", "2026-11-01", "--root", str(place.root)]) == 0
        shown.append(structure(capsys.readouterr().out))
    assert shown[0] == shown[1]
    assert main(["status", *since]) == 0
    assert _CONTROL.search(capsys.readouterr().out) is None
