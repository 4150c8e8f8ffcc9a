"""What a Makefile's variables are is what GNU make says they are, or unknown."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.make.evaluation import Evaluation
from pytest_dvwiki.capture.make.makefiles import statements, text_of

from ...effort import takes_seconds_at_most

if TYPE_CHECKING:
    from pathlib import Path

MAKEFILE = """\
DUT ?= low
SIM ?= ghdl
ifeq (${DUT}, bus)
  TOP := bus_slave
  KIND = slave
else ifeq "$(DUT)" "core"
  TOP := core_$(SIM)
else
  TOP := ${DUT}
  ifneq ($(SIM),ghdl)
    OTHER = yes
  endif
endif
MODULE := tb_${DUT}
RESULTS = results/$(MODULE).xml
MODULE += more
ifdef WAVES
ARGS = --wave=$(DUT).ghw
endif
ARGS += -v
ifndef KIND
KIND = plain
endif
PRICE = 5$$
LATE := $(UNSET)x
all:
\t@TOP=recipe true
"""
NAMES = ("DUT", "TOP", "KIND", "OTHER", "MODULE", "RESULTS", "ARGS", "SIM", "PRICE", "LATE")


@pytest.mark.parametrize("line", [{}, {"MODULE": "mine"}, {"TOP": "other"}])
@pytest.mark.parametrize(
    "environment", [{}, {"DUT": "bus"}, {"DUT": "core", "SIM": "nvc"}, {"SIM": "nvc", "WAVES": "1"}, {"TOP": "env"}]
)
def test_the_values_are_those_of_make(tmp_path: Path, environment: dict[str, str], line: dict[str, str]) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text(MAKEFILE)
    (tmp_path / "ask.mk").write_text(f"include Makefile\n$(info {'|'.join(f'$({name})' for name in NAMES)})\n")
    words = ["make", "-s", "-f", "ask.mk", *(f"{name}={value}" for name, value in line.items())]
    done = subprocess.run(
        words, cwd=tmp_path, env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True, check=True
    )
    found = Evaluation(statements(text_of(makefile)), environment, line)
    assert [found.value(name) or "" for name in NAMES] == [each.strip() for each in done.stdout.strip("\n").split("|")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A := $(shell echo x)\nB = $(A)\n", None),
        ("ifeq ($(shell echo x),x)\nB = 1\nelse\nB = 2\nendif\n", None),
        ("B = 1\nifeq ($(X),x)\nC = 2\nendif\n", "1"),
        ("ifeq ($(X),x)\nB = 1\nelse ifeq (1,1)\nB = 2\nelse\nB = 3\nendif\n", None),
        ("ifeq (1,1)\nB = 2\nelse ifeq ($(X),x)\nB = 1\nendif\n", "2"),
        ("ifdef X\nB = 1\nendif\n", None),
        ("X ?= 1\nB = $(X)\n", None),
        ("X = 1\nB = $(X)\n", "1"),
        ("B := $(C)\nC = 1\n", None),
        ("B = $(B)\n", None),
        ("B = $(CURDIR)\n", None),
        ("B = $@\n", None),
        ("B != date\n", None),
    ],
)
def test_what_functions_or_unknown_values_decide_is_unknown(tmp_path: Path, text: str, value: str | None) -> None:
    (tmp_path / "Makefile").write_text(text)
    assert Evaluation(statements(text_of(tmp_path / "Makefile")), {}, {}, {"X"}).value("B") == value


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"A{number} = $(A{number + 1})$(A{number + 1})\n" for number in range(40)) + "A40 = x\n",
        f"A0 = {'$(B)' * 30_000}\n",
        f"ifeq ({'(' * 30_000},\nendif\n",
        f"ifeq {chr(34)}{'x' * 30_000}\nendif\n",
        "ifdef A\n" * 10_000,
        "A0 += $(A0)x\n" * 5_000,
    ],
    ids=["doubling", "many references", "open brackets", "open quotes", "open conditions", "growing"],
)
def test_a_hostile_makefile_takes_no_more_than_linear_time(text: str) -> None:
    assert takes_seconds_at_most(20, lambda: Evaluation(statements(text), {}, {}).value("A0"))
