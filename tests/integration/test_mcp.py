"""Tests the MCP server as a process: both transports, the checks of requests, and parallel clients."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from unit.samples import PRIMARY, layout, occurrence, record

from pytest_dvwiki.cli import main
from pytest_dvwiki.mcp import serving
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki.writing.build import archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODES = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
CLIENTS = {"@modelcontextprotocol/sdk": "^1.32", "@modelcontextprotocol/client": "^2.4"}
"""Clients from npm: the first uses protocol 2025-11-25, the second is configured for 2026-07-28."""
TOKEN = "a token of this test"  # noqa: S105


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fifo")
    archive(layout(root), record(1, occurrence()))
    return root


@pytest.fixture(scope="module")
def url(root: Path) -> Iterator[str]:
    """Start a server over HTTP."""
    command = [sys.executable, "-m", "pytest_dvwiki", "mcp", "--root", str(root), "--role", "agent", "--http", "0"]
    environment = os.environ | {"DVWIKI_MCP_TOKEN": TOKEN}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        yield process.stderr.readline().strip()
        process.terminate()
        process.communicate()


async def newest(client: Client) -> Any:
    return (await client.call_tool("dvwiki_match_failure", {})).structured_content["causes"][0]["primary"]


def headers(token: str = TOKEN) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("mode", MODES)
def test_a_client_on_the_standard_streams_is_answered_in_both_protocols(root: Path, mode: str) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "pytest_dvwiki", "mcp", "--root", str(root), "--role", "agent"]
    )

    async def ask() -> tuple[str, str]:
        async with Client(stdio_client(command), mode=mode) as client:
            return client.protocol_version, await newest(client)

    assert anyio.run(ask) == (MODES[mode], PRIMARY)


def test_eight_clients_at_once_get_their_answers_in_both_protocols_and_no_note_is_lost(url: str, root: Path) -> None:
    found = []
    (page,) = (root / ".agent" / "wiki" / "bugs").glob("RTL*")

    async def ask(mode: str, number: int) -> None:
        async with (
            httpx2.AsyncClient(headers=headers()) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            found.append((client.protocol_version, await newest(client)))
            note = {"page": f"bugs/{page.stem}", "section": "Resolution", "text": f"Client {number} was here."}
            assert not (await client.call_tool("dvwiki_append", note)).is_error

    async def ask_all() -> None:
        async with anyio.create_task_group() as group:
            for number, mode in enumerate([*MODES] * 4):
                group.start_soon(ask, mode, number)

    anyio.run(ask_all)
    assert sorted(found) == sorted((version, PRIMARY) for version in [*MODES.values()] * 4)
    text = page.read_text("utf-8")
    assert [f"by agent on {today()}: Client {number} was here.\n" in text for number in range(8)] == [True] * 8


@pytest.mark.parametrize("version", MODES.values())
@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Host": "wiki.example.com"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "https://example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Authorization": "Bearer another"}, 401),
        ({"Authorization": ""}, 401),
        ({}, 200),
    ],
)
def test_a_request_needs_host_origin_and_token(url: str, version: str, changed: dict[str, str], status: int) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    is_newest = version == MODES["2026-07-28"]
    params = (
        {"_meta": meta}
        if is_newest
        else {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    )
    method = "tools/list" if is_newest else "initialize"
    sent = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": method,
        **headers(),
        **changed,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = httpx2.post(url, json=body, headers=sent)
    assert answer.status_code == status
    assert PRIMARY not in answer.text
    if status == 200:
        assert "result" in answer.json()


@pytest.fixture(scope="module")
def node_modules() -> Path:
    """Return the clients from npm in a cache folder; only the first run downloads them."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("needs node and npm")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pytest-dvwiki" / "mcp-clients"
    if not all((folder / "node_modules" / name).is_dir() for name in CLIENTS):
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
        got = subprocess.run([*command, *(f"{name}@{version}" for name, version in CLIENTS.items())], check=False)
        if got.returncode:
            pytest.skip("npm has no connection")
    return folder


@pytest.mark.further_mode
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("name", CLIENTS)
def test_an_independent_client_sees_the_same(
    root: Path, url: str, node_modules: Path, name: str, transport: str
) -> None:
    server = [sys.executable, "-m", "pytest_dvwiki", "mcp", "--root", str(root)]
    target = server if transport == "stdio" else [url, TOKEN]
    script = str(Path(__file__).with_name("mcp_client.mjs"))
    command = ["node", script, str(node_modules), name.rpartition("/")[2], transport, *target]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    reading = {"dvwiki_list", "dvwiki_search", "dvwiki_get", "dvwiki_match_failure", "dvwiki_lint"}
    assert reading <= set(seen["tools"])
    assert seen["newest"] == PRIMARY
    assert PRIMARY in seen["page"]["content"]
    assert seen["refused"]["isError"] is True
    assert "has no parameter 'deep'" in seen["refused"]["structuredContent"]["reason"]
    assert PRIMARY in seen["resource"]
    assert seen["resource"] in seen["prompt"]


def test_without_a_token_in_the_environment_one_is_made_and_printed(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DVWIKI_MCP_TOKEN", raising=False)
    used = []

    def serve(_: object, port: int, token: str, ready: Callable[[str], None]) -> None:
        used.append(token)
        ready(f"http://127.0.0.1:{port}/mcp")

    monkeypatch.setattr(serving, "serve_http", serve)
    assert main(["mcp", "--root", str(root), "--http", "8765"]) == 0
    assert main(["mcp", "--root", str(root), "--http", "8765"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"http://127.0.0.1:8765/mcp, DVWIKI_MCP_TOKEN={token}" for token in used
    ]
    assert len({token for token in used if len(token) >= 32}) == 2


def test_the_printed_configuration_starts_the_server(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--root", str(root), "--role", "agent", "--print-config"]) == 0
    given = json.loads(capsys.readouterr().out)["mcpServers"]["dvwiki"]
    assert given == {
        "command": sys.executable,
        "args": ["-m", "pytest_dvwiki", "mcp", "--root", str(root), "--role", "agent"],
    }
    assert main(["mcp", "--root", str(root), "--http", "8765", "--print-config"]) == 0
    assert json.loads(capsys.readouterr().out)["mcpServers"]["dvwiki"] == {
        "type": "http",
        "url": "http://127.0.0.1:8765/mcp",
        "headers": {"Authorization": "Bearer ${DVWIKI_MCP_TOKEN}"},
    }


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--role", "root"), "--role root: there is no such role; choose from read-only, "),
        (("--root", "/nowhere/at/all"), "--root /nowhere/at/all: no such folder"),
        (("--role", "root", "--print-config"), "--role root: there is no such role; choose from read-only, "),
        (("--allow", "/nowhere/at/all"), "--allow /nowhere/at/all: no such folder"),
        (("--http", "0", "--print-config"), "give a port"),
        (("--http", "99999"), "--http 99999: "),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    options: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *options]) == 2
    assert reason in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["mcp", "--root", str(root), "--http", port]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"dvwiki mcp: --http {port}: ")
    assert said.endswith("; give another port, or 0 for a free one\n")


def test_without_the_extra_the_command_names_it(root: Path, tmp_path: Path) -> None:
    """The environment has links to all packages of this one except `mcp`."""
    (site,) = {Path(path) for path in sys.path if (Path(path) / "mcp").is_dir() and Path(path).name == "site-packages"}
    for each in site.iterdir():
        if not each.name.startswith("mcp"):
            (tmp_path / each.name).symlink_to(each)
    package = Path(__file__).parents[2]
    code = (
        f"import sys; sys.path[:0] = [{str(package)!r}, {str(tmp_path)!r}]\n"
        f"from pytest_dvwiki.cli import main; sys.exit(main(['mcp', '--root', {str(root)!r}]))"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode == 2
    assert ended.stderr == "dvwiki mcp: the package mcp is missing: pip install 'pytest-dvwiki[mcp]'\n"
    assert ended.stdout == ""
