"""Draw the pictures in the README: `terminal.svg` from the demo's output, `report.png` from its report.

python docs/picture.py    plays the demo, which takes about two minutes, and needs Chromium
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
REPORT = ROOT / "docs" / "report.png"
WIDTH = 80
_PAGE = re.compile(r"Open its report in a browser: (\S+)")
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
    """Return the demo's output on a terminal."""
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
    """Return the shortest section of a run that shows a regression."""
    found = [each for each in _SECTION.findall(text) if "REGRESSED" in _ESCAPES.sub("", each)]
    return min(found, key=len)


def drawn(text: str) -> str:
    """Return terminal output as SVG, with the fonts of the reader's machine."""
    console = Console(width=WIDTH, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    console.print(Text.from_ansi(text.rstrip()))
    return console.export_svg(code_format=_FORMAT, unique_id="terminal")


def photograph(page: Path) -> None:
    """Photograph the report's overview."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        tab = browser.new_page(viewport={"width": 1100, "height": 760})
        tab.goto(page.as_uri())
        tab.screenshot(path=REPORT)
        browser.close()


if __name__ == "__main__":
    printed = played()
    PICTURE.write_text(drawn(section(printed)), encoding="utf-8")
    photograph(Path(_PAGE.findall(printed)[-1]))
