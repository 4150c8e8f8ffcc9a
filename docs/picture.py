"""Draw `terminal.svg`, the picture in the README, from what the demo prints.

python docs/picture.py    plays the demo, which takes about two minutes
"""

from __future__ import annotations

import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
WIDTH = 80
_SECTION = re.compile(r"^[^\n]*=+ dvwiki =+[^\n]*\n.*?^archived as [^\n]*\n", re.MULTILINE | re.DOTALL)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#292929" width="100%" height="100%" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def played() -> str:
    """Return what the demo prints on a terminal."""
    text = b""

    def read(terminal: int) -> bytes:
        nonlocal text
        data = os.read(terminal, 1 << 16)
        text += data
        return data

    os.environ |= {"COLUMNS": str(WIDTH), "TERM": "xterm"}
    pty.spawn([sys.executable, str(ROOT / "sample_tb" / "demo.py")], read)
    return text.decode("utf-8", "replace").replace("\r\n", "\n")


def section(text: str) -> str:
    """Return the section of the run that shows a regression, the shortest of those."""
    found = [each for each in _SECTION.findall(text) if "REGRESSED" in _ESCAPES.sub("", each)]
    return min(found, key=len)


def drawn(text: str) -> str:
    """Return a text of a terminal as SVG, in the fonts of the reader's machine."""
    console = Console(width=WIDTH, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    console.print(Text.from_ansi(text.rstrip()))
    return console.export_svg(code_format=_FORMAT, unique_id="terminal")


if __name__ == "__main__":
    PICTURE.write_text(drawn(section(played())), encoding="utf-8")
