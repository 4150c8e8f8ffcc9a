"""Fuzz targets for every reader of files from people or git: it reads any bytes, or reports file and remedy.

A target writes the bytes to a project and calls the real reader. Its message must name the file, say what to do, and
contain no text of Python or the system.
"""

from __future__ import annotations

import atexit
import functools
import gzip
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.capture.files.artefacts import find_artefacts
from pytest_dvwiki.capture.files.coverage import read_reports
from pytest_dvwiki.capture.files.results import ResultsError, read_results
from pytest_dvwiki.capture.files.sources import SourceError, find_sources, read_source
from pytest_dvwiki.capture.interrupted.journal import Begin, Journal
from pytest_dvwiki.capture.interrupted.orphans import find_orphans
from pytest_dvwiki.capture.interrupted.places import JournalFolder
from pytest_dvwiki.capture.simulations.reproduce import Call
from pytest_dvwiki.capture.simulations.unfinished import UnfinishedTest
from pytest_dvwiki.checks.evaluate import check
from pytest_dvwiki.checks.schema import CheckError
from pytest_dvwiki.checks.text import lines
from pytest_dvwiki.logtext.logs import LogStream, LogText
from pytest_dvwiki.model import (
    Command,
    Excerpt,
    FailedTest,
    Failure,
    Frame,
    LogReference,
    Occurrence,
    Origin,
    RunRecord,
)
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.verdicts import read as read_verdicts
from pytest_dvwiki.settings import Layout, SettingsError, is_switched_on_by_project, resolve
from pytest_dvwiki.triage.waivers import load_waivers
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.schema import SchemaError, load_schema
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build
from pytest_dvwiki.wiki.writing.scaffold import SCHEMA_YAML

if TYPE_CHECKING:
    from collections.abc import Callable


_RAW = re.compile(
    r"Traceback|\[Errno|<[A-Za-z]+Info\b|object at 0x|\$\.|`(?:array|object|null|str|int)`|codec can't|"
    r"Error\(|\b[A-Z]\w+Error: "
)
"""Texts of Python, the system or a library, which a message must not contain."""
_REMEDY = re.compile(r"; \S|: expected |: give |: say |: write |; .*|: take ")
PIECES = (
    *(
        b"\0",
        b"\xff",
        b"---\n",
        b"[",
        b"[[[[",
        b"{",
        b"}",
        b"&a ",
        b"*a",
        b"!!bool ",
        b"!!timestamp ",
        b"!!int ",
        b": ",
    ),
    *(b"- ", b"\n", b"\r", b"2026-99-99", b"9999-12-31T23:59:59Z", b"0000-00-00", b"9" * 60, b"9" * 5000, b"null"),
    *(b"[]", b"{}", b"''", b"\xed\xa0\x80", b"| ", b"> ", b"#", b"'", b'"', b"<", b"&x;", b"]]>", b"-1", b"1e999"),
    *(b".nan", b".inf", b"true", b"(?=x)", b"(a+)+$", b"(", b"../../x", b"\xe2\x80\xa8", b"<<<<<<< x\n", b"=======\n"),
    *(b">>>>>>> y\n", b"0x", b"1:1:1:1", b"? ", b"<!-- dvwiki:begin evidence\n", b"-->", b"<<: *a", b"\xc3\xa9"),
)
"""Pieces on which such files often break."""
_PRIMARY = "UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] expected 0x12 got 0x13"


def check_message(text: str, name: str) -> None:
    """Check that a message names the file and says what to do."""
    assert name in text, (name, text)
    assert not _RAW.search(text), text
    assert _REMEDY.search(text), text


@functools.cache
def project() -> Layout:
    """Return a project with a wiki of two runs."""
    folder = Path(tempfile.mkdtemp(prefix="dvwiki-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = Layout(root=folder, wiki=folder / ".agent" / "wiki")
    archive(place, _run(1))
    archive(place, _run(2))
    (place.wiki / "specs").mkdir(exist_ok=True)
    return place


def _run(number: int) -> RunRecord:
    cause = Occurrence(
        fingerprint="9b1f03c2a7d4",
        error_class="uvm_error",
        failure_subtype="scoreboard_fail",
        pattern=None,
        origin=Origin(type="RTL_BUG", confidence=0.8),
        primary=_PRIMARY,
        tests=(FailedTest(nodeid="t::a", seed=str(number)),),
        excerpt=_PRIMARY,
    )
    moment = f"2026-11-21T{number:02d}:00:00Z"
    return RunRecord(
        task_id=f"regression_20261121T{number:02d}0000Z_{number:06x}",
        tool="pytest-dvwiki 0.1.0",
        registry="9f2c",
        fingerprint_version=1,
        started=moment,
        finished=moment,
        duration_s=600.0,
        occurrences=(cause,),
    )


def _page() -> Path:
    (page,) = project().wiki.glob("bugs/RTL_*.md")
    return page


@functools.cache
def _original(path: Path) -> bytes:
    return path.read_bytes()


def _put(path: Path, data: bytes) -> None:
    """Overwrite a file, with a new time: readers recognise a file by its time and size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def _put_back(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    if data:
        path.write_bytes(data)


def page(data: bytes) -> None:
    """Read, check, show and write a page; if it cannot be read, expect a reason."""
    path = _page()
    before = _original(path)
    try:
        _put(path, data)
        edited = pages.edit(data, {"hit_count": 2}, {"evidence": "- x"})
        if isinstance(edited, pages.Refused):
            assert not _RAW.search(edited.reason), edited.reason
        for finding in lint(project(), "full"):
            assert not _RAW.search(finding.text), finding
            assert finding.remedy
        gather(project(), query="expected")
        for name, why in build(project()).refused:
            assert name, why
            assert not _RAW.search(why), why
    finally:
        _put_back(path, before)


def _records(data: bytes, path: Path) -> None:
    place = project()
    try:
        _put(path, data)
        with Archive(place.tasks, None) as found:
            found.refresh()
            problems = list(found.problems())
        for problem in problems:
            check_message(str(problem), path.name)
    finally:
        path.unlink()


def record_file(data: bytes) -> None:
    """Read a record; if it does not count, expect a message unless it belongs to another project."""
    _records(data, project().tasks / "2026" / "11" / "regression_20261121T030000Z_000003.yaml")


def month(data: bytes) -> None:
    """Read the file of a month as a record."""
    _records(data, project().tasks / "2026" / "10.yaml")


def verdict(data: bytes) -> None:
    """Read a file of verdicts, or expect a message."""
    path = project().tasks / "verdicts" / "20261121T030000Z_abcdef.yaml"
    try:
        _put(path, data)
        found = read_verdicts(project().tasks)
        for _, problem in found.problems:
            check_message(problem, path.name)
        with Archive(project().tasks, None) as known:
            known.refresh()
    finally:
        path.unlink()


def pattern(data: bytes) -> None:
    """Read patterns and search with them; expect a message for each invalid one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "own.yaml"
        path.write_bytes(data)
        registry = load_registry([path], problem=lambda error: check_message(str(error), "own.yaml"))
        if len(registry) != len(load_registry()):
            text = f"odd {'a' * 4000}!"
            Matcher(registry).hits(f"{_PRIMARY}\n{text}\n")
            for each in registry:
                if "own.yaml" in registry.source(each.id):
                    registry.advice(each.id, each.failure_subtype, text)


def waiver(data: bytes) -> None:
    """Read and apply waivers; expect a message for each invalid one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "waivers.yaml"
        path.write_bytes(data)
        waivers = load_waivers(path)
        for problem in waivers.problems:
            check_message(problem, "waivers.yaml")
        for each in waivers.waivers:
            each.matches({"message": "a" * 4000 + "!", "test": "t[0x12]", "pattern": "uvm.x", "fingerprint": "9b1f"})


def check_file(data: bytes) -> None:
    """Run a check with its inputs, or expect a message."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.check.yaml"
        path.write_bytes(data)
        (Path(folder) / "sim.log").write_bytes(b"tool vcs 1\n" + data)
        try:
            result = check(path, root=Path(folder), environment={"RUN": folder})
        except CheckError as error:
            check_message(str(error), "a.check.yaml")
        else:
            json.dumps(result.as_json())
            assert "\x1b" not in "\n".join(lines(result))


def project_file(data: bytes) -> None:
    """Read settings, or expect a message."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".agent").mkdir()
        (root / ".agent" / "project.yaml").write_bytes(data)
        for ask in (lambda: resolve(root, environ={}), lambda: is_switched_on_by_project(root)):
            try:
                ask()
            except SettingsError as error:
                if "project.yaml" in str(error):
                    check_message(str(error), "project.yaml")


def schema(data: bytes) -> None:
    """Read a schema.yaml, or expect a message."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "schema.yaml").write_bytes(data)
        try:
            load_schema(Path(folder))
        except SchemaError as error:
            check_message(str(error), "schema.yaml")


def proposal(data: bytes) -> None:
    """Read a proposal of the review queue, or expect a message; a decision changes nothing else in it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Layout(root=Path(folder), wiki=Path(folder))
        (place.wiki / "review").mkdir()
        (place.wiki / "review" / "p.md").write_bytes(data)
        queue = ReviewQueue(place)
        for each in queue.pending():
            decided = queue.decide(each.id, "rejected", by="somebody")
            undecided = replace(decided, decision=None, decided_by="", decided_on="", note="")
            assert undecided == replace(each, decided_by="", decided_on="", note="")
            assert queue.get(each.id) == decided
        for problem in queue.problems():
            check_message(problem, "review/p.md")


def results(data: bytes) -> None:
    """Read a results file of cocotb or JUnit, or expect a message."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.xml"
        path.write_bytes(data)
        try:
            read_results(path)
        except ResultsError as error:
            check_message(str(error), "results.xml")


def _coverage(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        for problem in read_reports([(name, path)]).problems:
            check_message(problem, name)


def coverage(data: bytes) -> None:
    """Read a coverage report, or expect a message."""
    _coverage(data, "coverage.xml" if data.lstrip().startswith(b"<") else "coverage.yml")


def journal(data: bytes) -> None:
    """Archive the readable part of a killed run's journal."""
    with tempfile.TemporaryDirectory() as folder:
        settings = resolve(Path(folder), environ={})
        place = JournalFolder(settings.layout.journal, is_inside=True)
        path = place.folder / "regression_20261121T030000Z_abcdef" / "main.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        os.utime(path, (_LONG_AGO, _LONG_AGO))  # otherwise it counts as a run in progress on another machine
        for orphan in find_orphans(place, except_for="none", note=lambda text: check_message(text, path.parent.name)):
            run = pipeline.killed_run(orphan, settings, _matcher())
            with Services(settings, note=lambda text: check_message(text, folder)) as services:
                archived = pipeline.process(run, services)
            assert archived.problem is None, archived.problem
            assert archived.written or not run.failures
        with Archive(settings.layout.tasks, None) as known:
            known.refresh()
            assert not list(known.problems())


_LONG_AGO = 1_790_000_000


@functools.cache
def _matcher() -> Matcher:
    return Matcher(load_registry())


_SUFFIXES = (".zip", ".tar", ".tar.gz", ".log.gz", ".log.bz2", ".log.xz", ".log.zst", ".tar.zst")


def archived(data: bytes) -> None:
    """Read an archive, or expect a message; the first bytes select its kind, or else the last byte."""
    kinds = {b"PK": ".zip", b"\x1f\x8b": ".tar.gz", b"BZ": ".log.bz2", b"\xfd7": ".log.xz", b"\x28\xb5": ".log.zst"}
    suffix = kinds.get(data[:2], _SUFFIXES[data[-1] % len(_SUFFIXES)] if data else ".zip")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"run{suffix}"
        path.write_bytes(data)
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        for problem in find_artefacts([str(path)], root=Path(folder), scratch=scratch).problems:
            check_message(problem, path.name)
        for source in find_sources([str(path)]).files:
            try:
                for _, pieces in read_source(source, lambda _: None):
                    for _ in pieces:
                        pass
            except SourceError as error:
                check_message(f"{path.name}: {error}", path.name)


def log(data: bytes) -> None:
    """Read a log to its end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sim.log"
        path.write_bytes(data)
        text = "".join(chunk.text for chunk in LogStream(LogText(source="log", path=path)))
        _matcher().hits(text)


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("sim.log", f"{_PRIMARY}\n")
        made.writestr("results.xml", "<testsuites></testsuites>")
    return out.getvalue()


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        info = tarfile.TarInfo("sim.log")
        info.size = 4
        made.addfile(info, io.BytesIO(b"log\n"))
    return out.getvalue()


_PATTERN = rb"""
- id: own.odd
  error_class: sim_error
  failure_subtype: hang
  tier: cause
  match: ["odd (?P<n>a+)+$", "odd .*!"]
  unless: ["never"]
  together_with: ["x.*y"]
  description: D.
  fix: F {n}.
  examples: ["odd aaa"]
"""
_RESULTS = b"""<?xml version="1.0"?>
<testsuites name="results"><testsuite name="all"><property name="random_seed" value="42"/>
<testcase name="test_a" classname="t" file="tb.py" lineno="3" time="0.1" sim_time_ns="10"><failure type="E"
message="assert 1 == 2"><![CDATA[Traceback]]></failure></testcase></testsuite></testsuites>
"""
_JUNIT = b"""<testsuites><testsuite name="pytest" tests="1" timestamp="2026-11-21T20:27:30" hostname="h">
<testcase classname="tests.test_a" name="test_b[1]" time="0.01"><error message="x">E</error>
<system-out>o</system-out></testcase></testsuite></testsuites>
"""
_PROPOSAL = b"""---
id: "3f0c1a9be24d"
kind: page
target: specs/burst
by: agent
made_on: "2026-11-22T12:00:00Z"
reason: "seen: twice"
base: ""
sources: [tasks/a.yaml]
---

---
type: spec
---

# Bursts
"""
_VERDICT = b"""schema: 1
number: 1
tool: "t"
registry: "9f"
fingerprint_version: 2
newest: "2026-11-21T20:27:30Z a b"
verdicts:
- {fingerprint: "9b1f03c2a7d4", becomes: "0a66a656159d", error_class: uvm_error, failure_subtype: x, pattern: null}
"""
_WAIVER = b"""mode: selective
waivers:
- id: W-1
  match: {message: "regex:(a+)+$", test: "t*"}
  reason: r
  owner: o
  expires: "2026-12-31"
"""
_CHECK = b"""description: d
input_files: ["${RUN}/*.log", no.log]
items:
- {name: tool, match: 'tool (?P<value>(?P<name>\\w+).*)', required: [name]}
- {name: next, match: '(?P<path>\\S+)', from: tool, pattern: false}
requirements: {value: 1, pattern_items: ["vcs*|regex:^(a+)+$"]}
waivers: {value: 2, waive_items: ["*no*", "regex:t.*"]}
"""
_PROJECT = b"""wiki:
  enabled: true
  lock_timeout: 3.5
  max_context_tokens: 900
  search_backend: keyword
"""
_COVERAGE = b"""t.p:
  cover_percentage: 1
  bins:_hits: {a: 1, b: 0}
  at_least: 1
  weight: 1
  size: 2
"""
_COVERAGE_XML = b"""<?xml version="1.0"?>
<top abs_name="top" size="2" coverage="1"><p abs_name="top.p" at_least="1" weight="1" size="2">
<bin0 bin="a" hits="1" abs_name="top.p.a"/></p></top>
"""


def _journal() -> bytes:
    """Return a journal with one event of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        written = Journal(Path(folder) / "run_1")
        written.begin(
            Begin(
                nodeid="t.py::b",
                spool=("main.out", "main.err"),
                folder=folder,
                environment={"COCOTB_TEST_MODULES": "t", "COCOTB_RANDOM_SEED": "7"},
                program="vvp",
                time=1.5,
                opened=("sim.log", "../x"),
                simulator="icarus",
                config="40112aee0000",
                call=Call(arguments=("pytest", "-x"), variables={"SIM": "icarus"}),
            )
        )
        written.failure(
            Failure(
                nodeid="t.py::a",
                exception="AssertionError",
                message="assert 1 == 2",
                frame=Frame(file="t.py", line=3, function="a"),
                excerpts=(Excerpt(source="log", lines=((7, _PRIMARY),), path="sim.log"),),
                log=LogReference(path="sim.log", line=7),
                command=Command(arguments=("pytest", "t.py::a")),
                seed="42",
                sim_time="1250.00ns",
                reads=("rtl/a.v",),
            )
        )
        written.begin_test(
            UnfinishedTest(nodeid="t.py::c::d", runner="t.py::b", seed="1", sim_time="2ns", first_line=3)
        )
        written.end_test("t.py::e")
        written.end("t.py::f")
        written.close()
        return (written.folder / "main.jsonl").read_bytes()


def seeds(target: str) -> list[bytes]:
    """Return the initial inputs."""
    place = project()
    first = next(place.tasks.glob("2026/11/*.yaml")).read_bytes().replace(b"T010000Z_000001", b"T030000Z_000003")
    given = {
        "page": lambda: [_original(_page()), b"---\na: &a [1]\nb: [*a, *a]\n---\n# T\n"],
        "record": lambda: [first],
        "month": lambda: [first + b"---\n" + first],
        "verdict": lambda: [_VERDICT],
        "pattern": lambda: [_PATTERN],
        "waiver": lambda: [_WAIVER],
        "check": lambda: [_CHECK],
        "project": lambda: [_PROJECT],
        "schema": lambda: [SCHEMA_YAML.encode()],
        "proposal": lambda: [_PROPOSAL],
        "results": lambda: [_RESULTS],
        "junit": lambda: [_JUNIT],
        "coverage": lambda: [_COVERAGE, _COVERAGE_XML],
        "journal": lambda: [_journal()],
        "archive": lambda: [_zip(), _tar(), gzip.compress(_tar(), mtime=0), gzip.compress(b"log\n" * 40, mtime=0)],
        "log": lambda: [f"{_PRIMARY}\n".encode()],
    }
    return given[target]()


READERS: dict[str, Callable[[bytes], None]] = {
    "page": page,
    "record": record_file,
    "verdict": verdict,
    "month": month,
    "pattern": pattern,
    "waiver": waiver,
    "check": check_file,
    "project": project_file,
    "schema": schema,
    "proposal": proposal,
    "results": results,
    "junit": results,
    "coverage": coverage,
    "journal": journal,
    "archive": archived,
    "log": log,
}
