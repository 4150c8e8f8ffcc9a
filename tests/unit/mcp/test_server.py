"""Tests the answers of the MCP server, through the SDK's client in this process, and directly."""

from __future__ import annotations

import json
import os
import re
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.cli import main
from pytest_dvwiki.mcp.schemas import TOOLS
from pytest_dvwiki.mcp.server import READ_ONLY, WITHOUT_READER, WikiServer
from pytest_dvwiki.mcp.tools import MOST_OF_A_TEXT, Project
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.tokens import by_rule
from pytest_dvwiki.triage.texts.reading import TextClassifier
from pytest_dvwiki.wiki import page_files
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, PRIMARY, TEST, failed, fixed, git, occurrence, passing, record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

    Make = Callable[..., WikiServer]


MODES = ("legacy", "2026-07-28")
"""Protocol versions: the handshake of 2025-11-25, and the newest."""


def asked(server: WikiServer, questions: Callable[[Client], Awaitable[Any]], mode: str = MODES[0]) -> Any:
    async def ask() -> Any:
        async with Client(server.sdk_server(), mode=mode) as client:
            return await questions(client)

    return anyio.run(ask)


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def bug(place: Layout) -> str:
    return f"bugs/{next((place.wiki / 'bugs').glob('RTL*')).stem}"


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers_by_its_schema_in_both_protocols(server: Make, place: Layout, mode: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("dvwiki_list", {}),
        ("dvwiki_list", {"folder": "bugs"}),
        ("dvwiki_search", {"query": "scoreboard mismatch", "limit": 1}),
        ("dvwiki_get", {"page": bug(place)}),
        ("dvwiki_get", {"page": bug(place), "section": "Resolution"}),
        ("dvwiki_get", {"page": "bugs/none"}),
        ("dvwiki_match_failure", {}),
        ("dvwiki_match_failure", {"text": f"{PRIMARY}\n"}),
        ("dvwiki_match_failure", {"text": "all is well"}),
        ("dvwiki_lint", {"depth": "full"}),
    ]

    async def questions(client: Client) -> list[Any]:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {name for name, tool in TOOLS.items() if not tool.writes}
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    for (name, _), answer in zip(calls, asked(server(), questions, mode), strict=True):
        data = answer.structured_content
        Draft202012Validator(TOOLS[name].output_schema).validate(data)
        assert data["schema"] == 1
        assert data["tokens"] == by_rule(answer.content[0].text)
        assert answer.is_error is (data["status"] == "denied")


def test_no_object_of_a_schema_takes_further_keys_and_the_tools_are_few_and_short() -> None:
    assert len(TOOLS) <= 8
    shown = []
    for name, tool in TOOLS.items():
        for schema in (tool.input_schema(["a", "b"]), tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert [each for each in objects(schema) if each.get("additionalProperties") is not False] == []
        shown.append({"name": name, "description": tool.description, "inputSchema": tool.input_schema([])})
    assert by_rule(json.dumps(shown, separators=(",", ":"))) < 1500


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("dvwiki_lint", {"deep": True}, "dvwiki_lint has no parameter 'deep'; it has depth, budget"),
        ("dvwiki_lint", {"role": "human"}, "dvwiki_lint has no parameter 'role'; it has depth, budget"),
        ("dvwiki_search", {"query": "x", "category": "secrets"}, "category: 'secrets' is not one of"),
        ("dvwiki_get", {"page": 1}, "page: 1 is not of type 'string'"),
        ("dvwiki_get", {}, "'page' is a required property"),
        ("dvwiki_list", {"budget": 1}, "budget: 1 is less than the minimum of 100"),
        ("dvwiki_match_failure", {"text": "a", "path": "b"}, "give text or path, not both"),
        ("dvwiki_match_failure", {"text": "x" * (MOST_OF_A_TEXT + 1)}, "give the path of the log"),
    ],
)
def test_a_call_that_the_schema_does_not_allow_is_refused_with_the_reason(
    server: Make, name: str, arguments: dict[str, Any], reason: str
) -> None:
    data, text = server().answer(name, arguments, "process")
    assert data["status"] == "denied"
    assert reason in data["reason"]
    assert text == f"denied: {data['reason']}"


def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(server: Make) -> None:
    async def question(client: Client) -> None:
        with pytest.raises(MCPError, match="there is no tool 'dvwiki_shell'; choose from dvwiki_list, "):
            await client.call_tool("dvwiki_shell", {})

    asked(server(), question)


def test_a_page_comes_with_its_version_and_a_cut_one_without(server: Make, place: Layout) -> None:
    data, text = server().answer("dvwiki_get", {"page": bug(place)}, "process")
    assert data["content"] == (place.wiki / f"{bug(place)}.md").read_text()
    assert re.fullmatch(r"[0-9a-f]{16}", data["version"])
    assert text.startswith(f"Quoted page {bug(place)}, version {data['version']}, no instructions:\n```")
    short, text = server().answer("dvwiki_get", {"page": bug(place), "budget": 300}, "process")
    assert data["content"].startswith(short["content"])
    assert short["version"] == ""
    assert short["tokens"] <= 300
    assert re.search(r"\(left out: \d+ lines left out, about \d+ tokens; its parts: .*`Resolution`", text)


def test_an_answer_keeps_its_budget_and_says_what_it_leaves_out(server: Make, place: Layout) -> None:
    archive(place, record(2, *(occurrence(f"{number:012x}", failure_subtype=f"kind_{number}") for number in range(30))))
    for name in ("dvwiki_list", "dvwiki_match_failure"):
        data, text = server().answer(name, {"budget": 400}, "process")
        assert data["tokens"] == by_rule(text) <= 400
        assert re.fullmatch(r"\d+ of (30|61|62) (pages|causes), .+", data["left_out"][0])
        assert data["left_out"][0] in text


def test_the_newest_run_has_new_and_regressed_causes_first(server: Make, place: Layout) -> None:
    archive(place, passing(2))
    for number in range(3, 6):
        archive(place, passing(number, fixes=()))
    archive(place, record(6, occurrence("a" * 12, primary="A known one"), commit="6" * 40))
    newest = (occurrence("a" * 12, primary="A known one"), occurrence("b" * 12, primary="A new one"), occurrence())
    archive(place, record(7, *newest, commit="7" * 40, regressed=(CAUSE,)))
    data, text = server().answer("dvwiki_match_failure", {}, "process")
    assert [(each["word"], each["primary"]) for each in data["causes"]] == [
        ("NEW", "A new one"),
        ("REGRESSED", PRIMARY),
        ("KNOWN", "A known one"),
    ]
    back = data["causes"][1]
    assert back["page"] == f"{bug_of(place, CAUSE)}"
    assert (back["test"], back["seed"]) == (TEST, "42")
    assert f"Test: `{TEST}`, seed 42" in text
    assert back["rerun"]["test"] == TEST
    assert back["rerun"]["seed"] == "42"
    assert "COCOTB_RANDOM_SEED=42" in back["rerun"]["line"]
    assert back["fixes"][0]["text"] == "fifo: reset the read pointer"
    assert text.index("NEW") < text.index("REGRESSED") < text.index("KNOWN")


def test_a_command_of_an_earlier_failure_is_called_the_shortest_run(server: Make, place: Layout) -> None:
    _, text = server().answer("dvwiki_match_failure", {}, "process")
    assert "Run again: `" in text
    quick, slow = (replace(failed(TEST, seed), duration_s=duration) for seed, duration in (("5", 1.0), ("6", 9.0)))
    for number, test in enumerate((quick, slow), 2):
        archive(place, record(number, occurrence(tests=(test,)), commit=f"{number}" * 40))
    data, text = server().answer("dvwiki_match_failure", {}, "process")
    assert (data["causes"][0]["seed"], data["causes"][0]["rerun"]["seed"]) == ("6", "5")
    assert "Run again, the shortest failing run: `" in text


def bug_of(place: Layout, fingerprint: str) -> str:
    found = [page for page in (place.wiki / "bugs").glob("RTL*") if f'"{fingerprint}"' in page.read_text()]
    return f"bugs/{found[0].name}"


def test_what_people_state_is_no_run(server: Make, place: Layout) -> None:
    archive(place, record(9, fixes=({"fingerprint": CAUSE, "text": "done", "by": "person"},)))
    data, _ = server().answer("dvwiki_match_failure", {}, "process")
    assert data["run"]["task_id"].endswith("_000001")


def test_a_log_is_named_with_the_page_of_its_cause(server: Make, place: Layout) -> None:
    log = place.root / "sim.log"
    log.write_text(f"INFO start\n{PRIMARY}\n")

    verdict = TextClassifier(load_registry()).classify_text(log.read_text())
    assert verdict is not None
    archive(place, record(2, occurrence(verdict.fingerprint, tests=(failed("tests/test_log.py::test_it"),))))
    data, _ = server().answer("dvwiki_match_failure", {"path": "sim.log"}, "process")
    (cause,) = data["causes"]
    assert (cause["word"], cause["line"], cause["fingerprint"]) == ("KNOWN", 2, verdict.fingerprint)
    assert cause["page"] is not None
    assert cause["label"] == "uvm_error / scoreboard_fail"


def test_only_regular_files_of_the_project_and_allowed_folders_are_read(
    server: Make, place: Layout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "sim.log").write_text(PRIMARY)
    root = place.root
    (root / "logs").mkdir()
    (root / "logs" / "sim.log").write_text(PRIMARY)
    (root / "to_file").symlink_to(root / "logs" / "sim.log")
    (root / "to_folder").symlink_to(root / "logs")
    (root / "away").symlink_to(outside)
    os.mkfifo(root / "fifo")
    with (root / "huge.log").open("wb") as file:
        file.truncate(1 << 30)

    def reason(path: str, *allow: Path) -> str:
        data, _ = server(allow=allow).answer("dvwiki_match_failure", {"path": path}, "process")
        assert data["status"] == "done" or not data.get("causes")
        return str(data.get("reason", ""))

    assert reason("logs/sim.log") == reason("logs/../logs/sim.log") == reason(str(root / "logs" / "sim.log")) == ""
    assert "is outside the project" in reason(str(outside / "sim.log"))
    assert "is outside the project" in reason("../outside/sim.log")
    assert "is outside the project" in reason("logs/sim.log\0")
    assert reason(str(outside / "sim.log"), outside) == ""
    assert "is a symlink" in reason("to_file")
    assert "is reached through a link" in reason("to_folder/sim.log")
    assert "is reached through a link" in reason("away/sim.log")
    assert "is reached through a link" in reason("away/sim.log", outside)
    assert "is a FIFO" in reason("fifo")
    assert "is a folder" in reason("logs")
    assert "is larger than 256 MiB" in reason("huge.log")
    assert "cannot be read" in reason("none.log")


def test_a_project_without_a_wiki_says_so(tmp_path: Path) -> None:

    git(tmp_path, "init", "-q")
    server = WikiServer({"fifo": Project(resolve(tmp_path))}, READ_ONLY, has_one_caller=True)
    data, _ = server.answer("dvwiki_list", {}, "process")
    assert "has no wiki yet" in data["reason"]
    assert not (tmp_path / ".agent").exists()


def test_of_several_projects_one_is_named(place: Layout, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("uart")
    (other / ".agent" / "wiki").mkdir(parents=True)
    projects = {name: Project(resolve(root)) for name, root in (("fifo", place.root), ("uart", other))}
    server = WikiServer(projects, READ_ONLY, has_one_caller=True)
    assert server.answer("dvwiki_list", {}, "process")[0]["reason"] == "'project' is a required property"
    assert server.answer("dvwiki_list", {"project": "uart"}, "process")[0]["pages"] == []
    assert server.answer("dvwiki_list", {"project": "fifo"}, "process")[0]["pages"]

    async def questions(client: Client) -> Any:
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        return uris, await client.read_resource(f"dvwiki://fifo/{bug(place)}")

    async def prompts(client: Client) -> Any:
        listed = (await client.list_prompts()).prompts
        with pytest.raises(MCPError, match="takes the argument page and project, one of fifo, uart, and no other"):
            await client.get_prompt("review_bug", {"page": bug(place)})
        given = await client.get_prompt("review_bug", {"page": bug(place), "project": "fifo"})
        return [each.name for each in listed[-1].arguments or ()], given.model_dump()["messages"][0]["content"]["text"]

    names, text = asked(server, prompts)
    assert names == ["page", "project"]
    assert PRIMARY in text
    uris, read = asked(server, questions)
    assert {"dvwiki://fifo/index", "dvwiki://uart/runs/latest", f"dvwiki://fifo/{bug(place)}"} <= set(uris)
    assert PRIMARY in read.contents[0].text


@pytest.mark.parametrize("mode", MODES)
def test_resources_and_prompts_say_what_the_tools_say(server: Make, place: Layout, mode: str) -> None:
    (place.root / "sim.log").write_text(PRIMARY)

    async def questions(client: Client) -> list[str]:
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["triage_failure", "write_pattern", "review_bug"]
        read = [
            (await client.read_resource(f"dvwiki://{name}")).model_dump()["contents"][0]["text"]
            for name in ("index", "log", "runs/latest", bug(place))
        ]
        given: tuple[tuple[str, dict[str, str]], ...] = (
            ("triage_failure", {}),
            ("write_pattern", {"path": "sim.log"}),
            ("review_bug", {"page": bug(place)}),
        )
        messages = [(await client.get_prompt(*each)).messages[0].content for each in given]
        return [*read, *(message.text for message in messages if message.type == "text")]

    index, log, newest, page, triage, pattern, review = asked(server(), questions, mode)
    assert bug(place).removeprefix("bugs/") in index
    assert "Operation Log" in log
    assert newest in triage
    assert "pattern uvm.scoreboard_mismatch" in pattern
    assert page in review


def test_no_query_looks_at_all_pages_and_each_finds_what_the_server_wrote(
    server: Make, place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    scan = page_files.page_files

    def look(*arguments: Any) -> Any:
        looks.append(threading.current_thread().name)
        return scan(*arguments)

    monkeypatch.setattr(page_files, "page_files", look)
    writing = server("agent")
    found = [write(writing, "dvwiki_search", query="mismatch")["results"] for _ in range(3)]
    listed = write(writing, "dvwiki_list")["pages"]
    for _ in range(2):
        write(writing, "dvwiki_get", bug(place))
        assert writing.answer("dvwiki_match_failure", {"text": PRIMARY}, "process")[0]["causes"]
        assert writing.answer("dvwiki_match_failure", {}, "process")[0]["causes"]
        assert write(writing, "dvwiki_list")["pages"] == listed
    assert set(looks) == {"dvwiki-pages"}
    assert found[0] == found[2]
    assert found[0][0]["title"]
    assert not any(each["unreviewed"] for each in found[0])
    write(writing, "dvwiki_append", bug(place), section="Resolution", text="heliotrope")
    data, text = writing.answer("dvwiki_search", {"query": "heliotrope"}, "process")
    assert data["results"][0]["unreviewed"] is True
    assert "(open, contains unreviewed text)" in text
    versions = {each["address"]: each["version"] for each in write(writing, "dvwiki_list")["pages"]}
    assert versions[bug(place)] == write(writing, "dvwiki_get", bug(place))["version"] != listed[0]["version"]


def test_many_resources_are_listed_in_several_answers(
    server: Make, place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_dvwiki.mcp.server._MOST_LISTED", 2)

    async def questions(client: Client) -> list[list[str]]:
        answers = [await client.list_resources()]
        while answers[-1].next_cursor:
            answers.append(await client.list_resources(cursor=answers[-1].next_cursor))
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="-1")
        return [[resource.name for resource in answer.resources] for answer in answers]

    page = bug(place)
    assert asked(server(), questions) == [["index", "log"], ["runs/latest", page], ["patterns/scoreboard_fail"]]


def test_a_resource_or_prompt_that_does_not_exist_is_an_error(server: Make) -> None:
    async def questions(client: Client) -> None:
        for uri in ("dvwiki://bugs/none", "dvwiki://../project.yaml", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="takes the argument page and no other"):
            await client.get_prompt("review_bug", {"page": "bugs/x", "role": "human"})

    asked(server(), questions)


def test_a_client_without_a_session_is_known_by_its_token(
    server: Make, place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = server(has_one_caller=False)
    first, _ = shared.answer("dvwiki_get", {"page": bug(place), "budget": 5000}, None)
    assert first["tokens"] <= WITHOUT_READER
    token = first["reader"]
    for _ in range(3):
        again, _ = shared.answer("dvwiki_get", {"page": bug(place), "budget": 5000, "reader": token}, None)
        assert (again["status"], again["reader"]) == ("done", token)
    refused, _ = shared.answer("dvwiki_get", {"page": bug(place), "reader": token}, None)
    assert "read_cap" in refused["reason"]
    other, _ = shared.answer("dvwiki_get", {"page": bug(place), "reader": "made-up"}, None)
    assert other["reader"] not in {token, "made-up"}
    assert shared.answer("dvwiki_get", {"page": bug(place)}, "some session")[0]["status"] == "done"
    monkeypatch.setattr("pytest_dvwiki.mcp.server.WITHOUT_READER", 100)
    newest, _ = shared.answer("dvwiki_match_failure", {}, None)
    assert newest["tokens"] > 100  # asking costs nothing
    known, _ = shared.answer("dvwiki_get", {"page": bug(place), "reader": newest["reader"]}, None)
    assert known["reader"] == newest["reader"]


# Writing


def write(server: WikiServer, tool: str, page: str = "", **arguments: Any) -> dict[str, Any]:
    given = {"page": page, **arguments} if page else arguments
    data, text = server.answer(tool, given, "process")
    Draft202012Validator(TOOLS[tool].output_schema).validate(data)
    assert data["status"] in text or data["status"] == "done"
    return data


def test_a_server_that_only_reads_offers_no_writing_and_refuses_it(server: Make, place: Layout) -> None:
    reading = server()

    async def names(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert {"dvwiki_commit", "dvwiki_append", "dvwiki_handoff"} == asked(server("agent"), names) - asked(reading, names)
    data, _ = reading.answer("dvwiki_append", {"page": "log", "text": "x"}, "process")
    assert data["reason"].startswith("this server only reads: it was started with the role read-only")


def test_a_note_of_an_agent_is_marked_and_stays_out_of_prompts_until_confirmed(server: Make, place: Layout) -> None:
    page = bug(place)
    done = write(server("agent"), "dvwiki_append", page, section="Resolution", text="Ready is\na cycle late.")
    assert done["status"] == "done"
    file = place.wiki / f"{page}.md"
    assert "- unreviewed, by agent on 2026-11-22:\n  Ready is\n  a cycle late.\n" in file.read_text()
    assert "unreviewed" in server().answer("dvwiki_get", {"page": page, "section": "Resolution"}, "process")[1]
    assert "cycle late" not in gather(place).text
    file.write_text(file.read_text().replace("- unreviewed, by agent on 2026-11-22:", "-"))
    assert "Resolution: - Ready is a cycle late." in gather(place).text


def test_a_proposed_fix_is_confirmed_by_runs_that_pass_with_its_commit(server: Make, place: Layout) -> None:
    git(place.root, "init", "-q")
    git(place.root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "fix")
    commit = git(place.root, "rev-parse", "HEAD").stdout.strip()
    page = bug(place)
    fix = {"section": "Resolution", "text": "Reset the read pointer."}
    unknown = write(server("agent"), "dvwiki_append", page, **fix, commit="1234567")
    assert "no such commit in the repository" in unknown["reason"]
    assert write(server("agent"), "dvwiki_append", page, **fix, commit=commit[:8])["status"] == "done"
    assert (
        f"fix proposed with commit `{commit[:12]}`: Reset the read pointer." in (place.wiki / f"{page}.md").read_text()
    )
    assert "Reset the read pointer" not in gather(place).text
    archive(place, passing(2, fixes=(fixed(2, commits=[f"{1:040x}", commit], log=[f"{commit[:12]} fix"]),)))
    assert "Reset the read pointer" in gather(place).text
    archive(place, record(3, occurrence(), commit="3" * 40))
    assert "Reset the read pointer" not in gather(place).text


def test_a_conflict_comes_with_the_present_content(server: Make, place: Layout) -> None:
    reviewer = server("reviewer")
    page = "patterns/scoreboard_fail"
    found, _ = reviewer.answer("dvwiki_get", {"page": page, "section": "Fix Template"}, "process")
    change = {"section": "Fix Template", "expected_version": found["version"]}
    assert write(reviewer, "dvwiki_commit", page, content="Mine", **change)["status"] == "done"
    conflict = write(reviewer, "dvwiki_commit", page, content="Theirs", **change)
    assert (conflict["status"], conflict["content"]) == ("conflict", "Mine")
    again = write(
        reviewer, "dvwiki_commit", page, content="Both", **{**change, "expected_version": conflict["version"]}
    )
    assert again["status"] == "done"
    assert "Both" in (place.wiki / f"{page}.md").read_text()


def test_what_an_agent_writes_over_is_in_no_prompt_until_a_person_accepts_it(
    server: Make, place: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    (place.wiki / "specs" / "burst.md").write_text("---\ntype: spec\n---\n# Burst\n\nEight beats.\n")
    agent = server("agent")
    for page, section in (("patterns/scoreboard_fail", "Fix Template"), ("specs/burst", None)):
        where = {"section": section} if section else {}
        read, _ = agent.answer("dvwiki_get", {"page": page, **where}, "process")
        content = read["content"].replace("Eight", "Nine") if section is None else "Always add a waiver."
        done = write(agent, "dvwiki_commit", page, content=content, expected_version=read["version"], **where)
        assert done["status"] == "done"
    assert "unreviewed, by agent" in agent.answer("dvwiki_get", {"page": "specs/burst"}, "process")[1]

    def shown() -> tuple[bool, bool]:
        text = gather(place).text + gather(place, query="burst beats scoreboard").text
        return "Always add a waiver" in text, "Nine beats" in text

    assert shown() == (False, False)
    root = ["--root", str(place.root)]
    listed, _ = agent.answer("dvwiki_list", {"folder": "specs"}, "process")
    hits, text = agent.answer("dvwiki_search", {"query": "nine beats"}, "process")
    assert listed["pages"][0]["unreviewed"] is hits["results"][0]["unreviewed"] is True
    assert "(contains unreviewed text)" in text
    assert main(["review", *root]) == 0
    assert "specs/burst  by agent" in capsys.readouterr().out
    assert main(["search", "waiver", *root]) == 0
    assert ", contains unreviewed text\n" in capsys.readouterr().out
    assert main(["review", "accept", "specs/burst", "patterns/scoreboard_fail#Fix Template", "--by", "Ann", *root]) == 0
    assert shown() == (True, True)
    assert "unreviewed" not in agent.answer("dvwiki_get", {"page": "specs/burst"}, "other")[1]


def test_a_new_page_of_an_agent_waits_for_a_person(server: Make, place: Layout) -> None:
    new = {
        "content": "---\ntype: spec\nfeature: burst\n---\n# Burst\n\nA burst has eight beats.\n",
        "expected_version": "",
    }
    proposed = write(server("agent"), "dvwiki_commit", "specs/burst", **new)
    assert proposed["status"] == "proposed"
    assert ReviewQueue(place).get(proposed["proposal"]).target == "specs/burst"
    assert not (place.wiki / "specs" / "burst.md").exists()
    assert "eight beats" not in gather(place).text
    (found,) = write(server("agent"), "dvwiki_search", query="beats")["results"]
    data, text = server("agent").answer("dvwiki_get", {"page": found["page_path"]}, "process")
    assert text.startswith(f"Quoted page review/{proposed['proposal']}, a proposal, no instructions:")
    assert "by: agent" in data["content"]
    assert "A burst has eight beats." in data["content"]
    part = write(server(), "dvwiki_get", f"review/{proposed['proposal']}", section="Burst")
    assert part["content"].strip() == "A burst has eight beats."
    assert "no proposal 'none'" in write(server(), "dvwiki_get", "review/none")["reason"]
    assert "'review/none' is not an address" in write(server("agent"), "dvwiki_commit", "review/none", **new)["reason"]
    refused = write(server("agent"), "dvwiki_commit", "bugs/RTL_1", **new)
    assert "bugs is for ingest, reviewer, human" in refused["reason"]


def test_work_is_handed_on_and_a_write_begins_the_next_turn(server: Make, place: Layout) -> None:
    agent = server("agent")
    for _ in range(4):
        assert agent.answer("dvwiki_get", {"page": bug(place)}, "process")[0]["status"] == "done"
    assert "read_cap" in agent.answer("dvwiki_get", {"page": bug(place)}, "process")[0]["reason"]
    assert write(agent, "dvwiki_handoff", target="reviewer", summary="")["status"] == "denied"
    handed = write(agent, "dvwiki_handoff", target="human", summary="the pointer wraps early", task="fifo")
    assert (handed["by"], handed["to"], handed["step"]) == ("agent", "human", 1)
    assert agent.answer("dvwiki_get", {"page": bug(place)}, "process")[0]["status"] == "done"
