"""The owners of a file, by the rules of GitHub and GitLab."""

from __future__ import annotations

import pytest

from pytest_dvwiki.capture.git.owners import CodeOwners

GITHUB = """\
# everything else
*                 @org/all
*.sv              @org/rtl   # all RTL
/tb/              tb@example.com
apps/             @apps
docs/*            @docs
rtl/**/fifo*.sv   @fifo @anna
**/logs           @logs
/rtl/legacy/
/spec\\ old/a?.md  @spec
no-owner-word     nobody
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ("@org/all",)),
        ("ip/uart.sv", ("@org/rtl",)),
        ("tb/env/driver.py", ("tb@example.com",)),
        ("ip/tb/driver.py", ("@org/all",)),
        ("apps/x.py", ("@apps",)),
        ("ip/apps/deep/x.py", ("@apps",)),
        ("docs/index.md", ("@docs",)),
        ("docs/deep/index.md", ("@org/all",)),
        ("ip/docs/index.md", ("@org/all",)),
        ("rtl/fifo.sv", ("@fifo", "@anna")),
        ("rtl/a/b/fifo_top.sv", ("@fifo", "@anna")),
        ("ip/rtl/fifo.sv", ("@org/rtl",)),
        ("build/logs", ("@logs",)),
        ("logs/run.log", ("@logs",)),
        ("rtl/legacy/fifo.sv", ()),
        ("spec old/a1.md", ("@spec",)),
        ("no-owner-word", ()),
    ],
)
def test_on_github_the_last_line_that_matches_wins(path: str, owners: tuple[str, ...]) -> None:
    assert CodeOwners(GITHUB).of(path) == owners


GITLAB = """\
* @all
[RTL][2] @rtl @anna
rtl/
rtl/fifo.sv @fifo
!rtl/generated.sv
^[Docs]
*.md @docs
/top.md
[rtl] @rtl2
late.v
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("x.py", ("@all",)),
        ("rtl/uart.sv", ("@all", "@rtl", "@anna")),
        ("ip/rtl/uart.sv", ("@all", "@rtl", "@anna")),
        ("rtl/fifo.sv", ("@all", "@fifo")),
        ("ip/rtl/fifo.sv", ("@all", "@fifo")),
        ("rtl/generated.sv", ("@all",)),
        ("rtl/a.md", ("@all", "@rtl", "@anna", "@docs")),
        ("top.md", ("@all",)),
        ("late.v", ("@all", "@rtl2")),
    ],
)
def test_on_gitlab_every_section_has_a_say(path: str, owners: tuple[str, ...]) -> None:
    assert CodeOwners(GITLAB).of(path) == owners


def test_without_sections_the_host_decides_what_a_slash_inside_means() -> None:
    rules = "rtl/fifo.sv @fifo\n"
    assert CodeOwners(rules).of("ip/rtl/fifo.sv") == ()
    assert CodeOwners(rules, gitlab=True).of("ip/rtl/fifo.sv") == ("@fifo",)


@pytest.mark.parametrize("text", ["", "\n#\n", "\x00", "[ @x", "\\", "[a", "a[b-] @x", "** @x", "/ @x", "((( @x", "!"])
def test_a_file_of_any_text_is_read(text: str) -> None:
    CodeOwners(text).of("rtl/fifo.sv")


def test_stars_alone_match_everything() -> None:
    for pattern in ("*", "**", "/**"):
        assert CodeOwners(f"{pattern} @x").of("a/b.c") == ("@x",)
    assert CodeOwners("/* @x").of("a/b.c") == ()
    assert CodeOwners("/* @x").of("b.c") == ("@x",)
