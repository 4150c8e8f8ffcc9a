"""An agent's session over MCP, without a model: it finds a known bug, proposes a note, and is refused elsewhere.

python agent/mcp_session.py

The agent does what a model would choose to do with the same tools; every call and the start of every answer is printed.
"""

from __future__ import annotations

import asyncio
import sys
import textwrap
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "pytest_dvwiki", "mcp", "--role", "agent"])
LINES = 12


class Session:
    """The calls of an agent."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: str) -> Any:
        """Call a tool, print the call and the answer, and return the answer's data."""
        shown = ", ".join(f"{name}={value!r:.60}" for name, value in arguments.items())
        print(f"> {tool}({shown})")
        answer = await self._client.call_tool(tool, arguments)
        lines = answer.content[0].text.splitlines()
        more = [f"… {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        print(textwrap.indent("\n".join([*(line[:160] for line in lines[:LINES]), *more]), "  "), flush=True)
        return answer.structured_content


async def main() -> None:
    """Triage the newest run."""
    async with Client(stdio_client(SERVER)) as client:
        agent = Session(client)
        newest = await agent.call("dvwiki_match_failure")
        known = next(cause for cause in newest["causes"] if cause["page"] and cause["rerun"])
        page = known["page"].removesuffix(".md")
        read = await agent.call("dvwiki_get", page=page, section="Resolution")
        source = f"(source: tasks/{newest['run']['task_id']}.yaml)"
        note = f"Nobody has repaired it yet: it failed with seed {known['rerun']['seed']}. {source}"
        await agent.call("dvwiki_append", page=page, section="Resolution", text=note)
        # The counts of a page are the tool's, and its status is people's.
        closed = "---\nstatus: closed\n---\n"
        await agent.call("dvwiki_commit", page=page, content=closed, expected_version=read["version"])


if __name__ == "__main__":
    asyncio.run(main())
