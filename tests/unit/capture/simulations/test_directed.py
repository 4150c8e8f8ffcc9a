"""A simulation counts as directed only if all its files are known and none may draw random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.simulations.directed import _library_may_draw, draws_nothing
from pytest_dvwiki.model import MOST_READ

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BENCH = """
import os
from enum import Enum

import cocotb
import numpy as np
from cocotb.triggers import Timer

from model import expected  # no random stimulus here


@cocotb.test()
async def adds(dut):
    for operand in np.arange(int(os.getenv("COUNT", "4"))):
        dut.a.value = int(operand)
        await Timer(1, "ns")
        assert dut.y.value == expected(operand)
"""
FILES = {
    "tb/test_add.py": BENCH,
    "tb/model.py": "def expected(operand):\n    return operand + 1\n",
    "rtl/add.sv": "module add(input [7:0] a, output [7:0] y); // $random\n/* $urandom */ assign y = a + 1; endmodule\n",
    "Makefile": "# RANDOM_SEED = 3\nSIM ?= icarus\nVERILOG_SOURCES = rtl/add.sv\n",
}


def is_directed(root: Path, changes: Mapping[str, str] | None = None, **others: object) -> bool:
    files = {**FILES, **(changes or {})}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    given = {"reads": tuple(files), "sources": [str(root / "rtl/add.sv")], "modules": ["test_add"], **others}
    return draws_nothing(given["reads"], given["sources"], given["modules"], root, root / "sim")  # type: ignore[arg-type]


def test_fixed_values_are_directed(tmp_path: Path) -> None:
    assert is_directed(tmp_path)
    assert is_directed(tmp_path, {"Makefile": "SEED = 1\nexport RANDOM_SEED ?= 7\n%.asc: ; nextpnr --seed $(SEED)\n"})
    vhdl = {"rtl/add.vhd": "-- uniform random\nentity add is end;\n"}
    assert is_directed(tmp_path, vhdl, modules=["test_add", "tb.model"])


@pytest.mark.parametrize(
    "changes",
    [
        {"tb/model.py": "import random\nx = random.random()\n"},
        {"tb/model.py": "from numpy import random\n"},
        {"tb/model.py": "import numpy as np\nx = np.random.rand()\n"},
        {"tb/model.py": "from os import urandom\n"},
        {"tb/model.py": "from secrets import token_bytes\n"},
        {"tb/model.py": "import cocotb\nx = cocotb.RANDOM_SEED % 4\n"},
        {"tb/model.py": "import os\nx = int(os.environ['SEED'])\n"},
        {"tb/model.py": "x = open('vectors.txt').read()\n"},
        {"tb/model.py": "import importlib\nx = importlib.import_module('ran' + 'dom')\n"},
        {"tb/model.py": "import subprocess\n"},
        {"tb/model.py": "import hypothesis\n"},
        {"tb/model.py": "import cocotb\n@cocotb.external\ndef ask(): ...\n"},
        {"tb/model.py": "import a_library_that_is_not_here\n"},
        {"tb/model.py": "from . import a_file_that_is_not_here\n"},
        {"tb/model.py": "import cocotb_coverage.crv\n"},
        {"tb/model.py": "x = (\n"},
        {"rtl/add.sv": "module add; initial $display($urandom); endmodule"},
        {"rtl/add.sv": 'module add; initial $readmemh("a.hex", m); endmodule'},
        {"rtl/add.sv": "class item; rand bit a; endclass"},
        {"rtl/stimulus.inc": "initial a = $urandom;"},
        {"rtl/add.vp": "`pragma protect begin_protected"},
        {"Makefile": "test: ; vvp sim.vvp +verilator+rand+reset+2\n"},
        {"tb/model.py": "import time\nx = int(time.time()) % 4\n"},
        {"tb/model.py": "from time import monotonic_ns\nx = monotonic_ns() % 4\n"},
        {"tb/model.py": "import os, time as clock\nx = clock.monotonic_ns() % 4\n"},
        {"tb/model.py": "import numpy\nx = numpy.load('vectors.npy')\n"},
        {"tb/model.py": "from numpy import (\n    array,\n    load,\n)\nx = load('vectors.npy')\n"},
        {"tb/model.py": "x = hash('seven') % 4\n"},
        {"rtl/add.sv": 'import "DPI-C" function int draw();'},
        {"rtl/add.vhd": "use ieee.math_real.all; x := uniform(s1, s2, r);"},
        {"rtl/add.vhd": "library osvvm; use osvvm.RandomPkg.all;"},
        {"Makefile": "export RANDOM_SEED := $(shell date +%s)\n"},
        {"Makefile": "test: ; WIDTH=$$RANDOM vvp sim.vvp\n"},
        {"rtl/add.sv": 'module add; initial r = $value$plusargs("n=%d", n); endmodule'},
    ],
    ids=lambda changes: next(iter(changes.values())).strip()[:40],
)
def test_what_may_draw_is_not(tmp_path: Path, changes: Mapping[str, str]) -> None:
    assert not is_directed(tmp_path, changes)
    assert is_directed(tmp_path, dict.fromkeys(changes, "") | {key: FILES[key] for key in changes if key in FILES})


MADE = "import random\nrng = random.Random(7)\n"
SEEDED = "import random\nasync def random_writes(dut):\n    random.seed(1234)\n"
NUMPY = "import numpy as np\ndef made(dut):\n    np.random.seed(0)\n"


@pytest.mark.parametrize(
    "code",
    [
        f"{MADE}x = rng.randrange(4)\n",
        f"{MADE}def shuffled(rng: random.Random) -> random.Random:\n    rng.shuffle([1, rng.random()])\n",
        "import random\nclass Item:\n    def __init__(self):\n        self.rng = random.Random(x='a text')\n",
        '"""Random numbers."""\nimport random\nx = [random.Random(7).getrandbits(8)]  # random\n',
        f"{SEEDED}    for rand_value in range(random.randint(1, 4)):\n        x = [random.choice('a') for _ in 'b']\n",
        "import numpy as np\nrng = np.random.default_rng(3)\nx = rng.integers(0, 9, size=4)\n",
        "import numpy\nrng: numpy.random.RandomState = numpy.random.RandomState(3)\nx = rng.rand()\n",
        f"{NUMPY}    return np.random.randint(4)\n",
    ],
)
def test_numbers_from_a_literal_seed_are_the_same_in_every_run(tmp_path: Path, code: str) -> None:
    assert is_directed(tmp_path, {"tb/model.py": f"{code}{FILES['tb/model.py']}"})


@pytest.mark.parametrize(
    "code",
    [
        "import random\nrng = random.Random()\n",
        "import random\nrng = random.Random(None)\n",
        "import random\nimport os\nrng = random.Random(int(os.getenv('N', '3')))\n",
        "import random\nfor number in range(3):\n    rng = random.Random(number)\n",
        "import random\nrng = random.SystemRandom(7)\n",
        "import random\nclass Own(random.Random): ...\n",
        "import random\nmake = random.Random\n",
        "import random as numbers\nrng = numbers.Random(7)\n",
        "from random import Random\nrng = Random(7)\n",
        "import random\nimport model as random\nrng = random.Random(7)\n",
        "import random\ndef made(random):\n    return random.Random(7)\n",
        f"{MADE}rng.seed()\n",
        f"{MADE}x = random.randrange(4)\n",
        f"{MADE}draw = getattr(random, 'randrange')\n",
        # cocotb sets the seed again at the start of each test
        "import random\nrandom.seed(1234)\nasync def test(dut):\n    return random.random()\n",
        f"{SEEDED}async def other(dut):\n    return random.random()\n",
        "import random\nasync def test(dut):\n    x = random.random()\n    random.seed(1234)\n",
        "import random\nasync def test(dut):\n    if dut.on:\n        random.seed(1234)\n    x = random.random()\n",
        "import random\nasync def test(dut):\n    random.seed()\n    x = random.random()\n",
        "import random\nasync def test(dut):\n    random.seed(dut.x.value)\n    x = random.random()\n",
        f"{SEEDED}    def later():\n        return random.random()\n",
        f"{SEEDED}    later = lambda: random.random()\n",
        f"{SEEDED}    later = (random.random() for _ in range(4))\n",
        f"{SEEDED}    later = random.random\n",
        f"{SEEDED}    random.seed(dut.x.value)\n",
        f"{SEEDED}    random.setstate(state)\n",
        "import random\ndef items():\n    random.seed(1)\n    while True:\n        yield random.random()\n",
        "import numpy as np\nrng = np.random.default_rng()\n",
        "import numpy as np\nrng = np.random.default_rng(seed=None)\n",
        "import numpy as np\nnp.random.seed(0)\nx = np.random.rand()\n",
        f"{NUMPY}    return np.random.default_rng().integers(4)\n",
        f"{SEEDED}    return np.random.rand()\nimport numpy as np\n",
        f"{MADE}import numpy as np\nx = np.random.rand()\n",
        f"{MADE}import os\nx = os.urandom(4)\n",
        f"{MADE}import cocotb\nx = cocotb.RANDOM_SEED\n",
    ],
)
def test_other_numbers_are_not(tmp_path: Path, code: str) -> None:
    assert not is_directed(tmp_path, {"tb/model.py": f"{code}{FILES['tb/model.py']}"})


@pytest.mark.parametrize("use", ["model.random.random()", "model.random.Random(7)", "random.random()"])
def test_another_file_draws_by_what_a_file_imports(tmp_path: Path, use: str) -> None:
    changes = {
        "tb/model.py": f"{MADE}{FILES['tb/model.py']}",
        "tb/test_add.py": f"{BENCH}from model import *\nimport model\n",
    }
    assert is_directed(tmp_path, changes)
    assert not is_directed(tmp_path, changes | {"tb/test_add.py": f"{changes['tb/test_add.py']}x = {use}\n"})


def test_code_that_is_nested_too_deeply_may_draw(tmp_path: Path) -> None:
    deep = f"x = {'-' * 900}1\n"
    assert is_directed(tmp_path, {"tb/model.py": f"{deep}{FILES['tb/model.py']}"})
    assert not is_directed(tmp_path, {"tb/model.py": f"{MADE}{deep}{FILES['tb/model.py']}"})


def test_a_memory_is_read_from_a_known_file_with_a_literal_name(tmp_path: Path) -> None:
    reads = 'module add; initial $readmemh ( "../rtl/rom.hex", m); endmodule'
    known = {"rtl/add.sv": reads, "rtl/rom.hex": "00 // random\n"}
    assert is_directed(tmp_path, known)
    assert not is_directed(tmp_path, known, reads=(*FILES,))
    for other in ('"rom.hex"', "FILE", '{"../rtl/", "rom.hex"}', '"../rtl/rom.hex", m); initial $readmemb(FILE'):
        assert not is_directed(tmp_path, {**known, "rtl/add.sv": reads.replace('"../rtl/rom.hex"', other)})


def test_files_that_are_unknown_may_draw(tmp_path: Path) -> None:
    assert not is_directed(tmp_path, sources=[])
    assert not is_directed(tmp_path, sources=[str(tmp_path / "rtl/add.sv"), "/opt/pdk/cells.v"])
    assert not is_directed(tmp_path, modules=[])
    assert not is_directed(tmp_path, modules=["test_add", "test_other"])
    assert not is_directed(tmp_path, reads=tuple(name for name in FILES if name != "tb/model.py"))
    assert not is_directed(tmp_path, reads=(*FILES, "rtl/gone.sv"))
    assert not is_directed(tmp_path, reads=(*FILES, *(f"rtl/{number}.sv" for number in range(MOST_READ))))


def test_a_conftest_may_draw_what_a_test_takes_from_the_environment(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "tb"):
        folder.mkdir(exist_ok=True)
        (folder / "conftest.py").write_text("import os, random\nos.environ['A'] = str(random.randrange(9))\n")
        assert not is_directed(tmp_path)
        (folder / "conftest.py").write_text("import os\nos.environ['A'] = '4'\n")
        assert is_directed(tmp_path)


@pytest.mark.parametrize("name", ["COCOTB_RESOLVE_X", "COCOTB_RANDOM_TEST_ORDER"])
def test_cocotb_itself_may_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert not is_directed(tmp_path, {"Makefile": f"export {name} = RANDOM\n"})
    assert is_directed(tmp_path)
    monkeypatch.setenv(name, "RANDOM")
    assert not is_directed(tmp_path)


LIBRARY = {
    "vip/__init__.py": "",
    "vip/uart/__init__.py": "from .driver import Driver\n",
    "vip/uart/driver.py": "import cocotb\nfrom ..common import delay\n",
    "vip/common.py": "from vip import values\n",
    "vip/values.py": "delays = (1, 2)  # not random\n",
    "vip/unused.py": "import random\nx = random.random()\n",
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"vip/values.py": "import random\nx = random.random()\n"}, False),
        ({"vip/__init__.py": "from . import unused\n"}, False),
        ({"vip/values.py": "import another_library\n"}, False),
        ({"vip/values.py": "x = (\n"}, False),
    ],
    ids=["fixed", "random", "around it", "not here", "no Python"],
)
def test_a_library_is_searched_with_all_that_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, str], expected: bool
) -> None:
    packages = tmp_path / "packages"
    for name, text in {**LIBRARY, **changes}.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(packages))
    _library_may_draw.cache_clear()
    for line in ("from vip.uart import Driver\n", "import vip.uart\n", "from vip import uart\n"):
        assert is_directed(tmp_path / "project", {"tb/model.py": f"{line}{FILES['tb/model.py']}"}) is expected
    _library_may_draw.cache_clear()


def test_a_file_that_changes_is_searched_again(tmp_path: Path) -> None:
    assert is_directed(tmp_path)
    assert not is_directed(tmp_path, {"tb/model.py": "import random\nx = random.random()\n"})
    assert is_directed(tmp_path)
