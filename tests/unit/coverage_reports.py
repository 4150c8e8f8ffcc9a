"""Makes coverage reports with the real libraries, each in a new process, since their databases are global."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

EXPORT = """
coverage_db.export_to_xml("report.xml")
coverage_db.export_to_yaml("report.yml")
"""


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs {module}")


def run(folder: Path, script: str) -> None:
    """Run a script in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=folder, check=True, stdin=subprocess.DEVNULL)


def sampled(*samples: tuple[str, int], top: str = "fifo") -> str:
    """Return a script that samples a FIFO's operations with cocotb-coverage and exports them as XML and YAML.

    Args:
        samples: Operation and level of each sample.
        top: Prefix of all names.
    """
    return f"""
from cocotb_coverage.coverage import CoverCheck, CoverCross, CoverPoint, coverage_db

@CoverPoint("{top}.operation", vname="operation", bins=["push", "pop", "it's"])
@CoverPoint("{top}.level", vname="level", bins=[0, 1, 2], at_least=2, weight=3)
@CoverPoint("{top}.odd", vname="level", bins=[None, True, 1.5, (1, 2), "a b"])
@CoverCross("{top}.cross", items=["{top}.operation", "{top}.level"], ign_bins=[("pop", 0)])
@CoverCheck("{top}.legal", f_fail=lambda operation, level: level > 8, f_pass=lambda operation, level: level < 5)
def sample(operation, level):
    pass

for operation, level in {list(samples)!r}:
    sample(operation, level)
{EXPORT}"""


UCIS = """
from ucis import *
from ucis.mem.mem_factory import MemFactory
from ucis.source_info import SourceInfo
from ucis.xml.xml_factory import XmlFactory

db = MemFactory.create()
place = SourceInfo(db.createFileHandle("fifo.sv", "."), 3, 0)
unit = db.createScope("fifo_if", place, 1, UCIS_OTHER, UCIS_DU_MODULE, UCIS_INST_ONCE | UCIS_SCOPE_UNDER_DU)
top = db.createInstance("tb", place, 1, UCIS_OTHER, UCIS_INSTANCE, unit, UCIS_INST_ONCE)
inner = top.createInstance("u_fifo", place, 1, UCIS_OTHER, UCIS_INSTANCE, unit, UCIS_INST_ONCE)

group = inner.createCovergroup("cg", place, 1, UCIS_OTHER)
level = group.createCoverpoint("level", place, 2, UCIS_VLOG)
level.setAtLeast(2)
for name, count, kind in (("empty", 5, UCIS_CVGBIN), ("full", 1, UCIS_CVGBIN), ("over", 0, UCIS_IGNOREBIN),
                          ("bad", 0, UCIS_ILLEGALBIN)):
    level.createBin(name, place, 2, count, name, kind)
helper = group.createCoverpoint("helper", place, 0, UCIS_VLOG)
helper.setWeight(0)
helper.createBin("x", place, 1, 0, "x", UCIS_CVGBIN)
cross = group.createCross("cross", place, 1, UCIS_VLOG, [level, helper])
cross.createBin("<full,x>", place, 1, 0, "")

kind = inner.createCovergroup("per", place, 1, UCIS_OTHER)
for name, count in (("one", 1), ("two", 0)):
    instance = kind.createCoverInstance(name, place, 1, UCIS_OTHER)
    instance.setPerInstance(True)
    instance.createCoverpoint("p", place, 1, UCIS_VLOG).createBin("b", place, 1, count, "b", UCIS_CVGBIN)

XmlFactory.write(db, "report.xml")
"""
