"""Files of earlier runs are found wherever they are, and each results file gets its own log."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tarfile
import time
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.files.archives import ArchiveError, Budget, unpack
from pytest_dvwiki.capture.files.artefacts import FoundArtefacts, find_artefacts, sha256_of
from pytest_dvwiki.capture.leftovers.reader import read_leftovers
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

if TYPE_CHECKING:
    from pytest_dvwiki.capture.leftovers.totals import Leftovers

PAD = " " * 56


def results(seed: int = 7, *, test: str = "bad", attachment: str = "") -> str:
    attached = f'<property name="attachment" value="{attachment}"/>' if attachment else ""
    return f"""<testsuites name="cocotb tests"><testsuite name="bench" timestamp="2026-10-01T10:00:00+00:00">
<testcase classname="bench" name="{test}" time="0.5"><failure message="expected 4 got 3" type="AssertionError">
Traceback (most recent call last):
  File "/repo/bench.py", line 12, in {test}
    assert dut.q.value == 4
AssertionError: expected 4 got 3
</failure><properties><property name="random_seed" value="{seed}"/>{attached}</properties></testcase>
<testcase classname="bench" name="good"><properties><property name="random_seed" value="{seed}"/></properties>
</testcase></testsuite></testsuites>"""


def log(seed: int = 7, *, test: str = "bad") -> str:
    return f"""     0.00ns INFO     gpi                                GPI: VPI support registered
     0.00ns INFO     cocotb.initialize                  Seeding Python random module with {seed}
     0.00ns INFO     cocotb.initialize                  Running on Icarus Verilog version 11.0 (stable)
     0.00ns INFO     cocotb.regression                  running bench.{test} (1/2)
    10.00ns WARNING  cocotb.regression                  bench.{test} failed
{PAD}Traceback (most recent call last):
{PAD}  File "/repo/bench.py", line 12, in {test}
{PAD}    assert dut.q.value == 4
{PAD}AssertionError: expected 4 got 3
    10.00ns INFO     cocotb.regression                  running bench.good (2/2)
    20.00ns INFO     cocotb.regression                  bench.good passed
    20.00ns INFO     cocotb.regression                  ****************************
"""


ENDED = "cocotb.regression.SimFailure: cocotb expected it would shut down the simulation, but it ended prematurely."
UVM = "UVM_INFO @ 0: reporter [RNTST] Running test t...\n{}--- UVM Report Summary ---\nUVM_ERROR :    {}\n"
UVM_BAD = UVM.format("UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.sb [SB] expected 0x12 got 0x13\n", 1)
UVM_GOOD = UVM.format("", 0)
UNNAMED_BAD, UNNAMED_GOOD = (
    text.replace("[RNTST] Running test t...", "[TB] reset done") for text in (UVM_BAD, UVM_GOOD)
)
"""Logs that name no test."""


def find(root: Path, *paths: str) -> FoundArtefacts:
    scratch = root / ".scratch"
    return find_artefacts([str(root / path) for path in paths], root=root, scratch=scratch)


def names(found: FoundArtefacts) -> list[str]:
    return [artefact.shown for artefact in found.artefacts]


def write(root: Path, files: dict[str, str]) -> None:
    for age, (name, text) in enumerate(files.items()):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
        os.utime(root / name, (1_000_000 + age, 1_000_000 + age))


def read(root: Path, *paths: str, given: str = "") -> Leftovers:
    found = find(root, *paths)
    assert not found.problems
    registry = load_registry()
    classifier = TextClassifier(registry)
    return read_leftovers(
        found.artefacts,
        logs=find(root, given).artefacts if given else (),
        root=root,
        interest=Matcher(registry),
        class_of=lambda text: verdict.error_class if (verdict := classifier.classify_text(text)) else None,
    )


def sources(run: Leftovers) -> list[str]:
    return [source.shown for source in run.sources]


def outcomes(run: Leftovers) -> dict[str, str]:
    return {result.nodeid: result.outcome for result in run.results}


# Where files are


def test_a_folder_gives_what_looks_like_an_artefact_and_nothing_else(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "out/a/results.xml": results(),
            "out/a/sim.log": log(),
            "out/transcript": UVM_GOOD,
            "out/coverage.xml": "<coverage/>",
            "out/notes.txt": "UVM_ERROR",
            "out/.cache/old.log": UVM_BAD,
            "out/wave.vcd": "$date",
        },
    )
    assert names(find(tmp_path, "out")) == ["out/a/results.xml", "out/a/sim.log", "out/transcript"]


def test_globs_and_repeated_names_give_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/results.xml": results(), "b/results.xml": results(), "b/x.log": UVM_BAD})
    assert names(find(tmp_path, "*/results.xml", "b/results.xml", "**/x.log")) == [
        "a/results.xml",
        "b/results.xml",
        "b/x.log",
    ]


def packed(folder: Path, name: str) -> None:
    files = {"run/results.xml": results(), "run/sim.log": log(), "run/wave.fst": "x"}
    if name.endswith(".zip"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member, text in files.items():
                archive.writestr(member, text)
        return
    with tarfile.open(folder / name, "w:gz" if name.endswith("gz") else "w") as tar:
        for member, text in files.items():
            info = tarfile.TarInfo(member)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))


@pytest.mark.parametrize("name", ["all.zip", "all.tar", "all.tar.gz", "all.tgz"])
def test_an_archive_is_read_like_a_folder(tmp_path: Path, name: str) -> None:
    packed(tmp_path, name)
    assert names(find(tmp_path, name)) == [f"{name}/run/results.xml", f"{name}/run/sim.log"]
    run = read(tmp_path, name)
    assert outcomes(run) == {f"{name}/run::bad": "failed", f"{name}/run::good": "passed"}
    assert run.failures[0].log is None  # no path may point into an archive
    assert [excerpt.source for excerpt in run.failures[0].excerpts] == ["results", "log"]


def test_archives_in_archives_are_read_too(tmp_path: Path) -> None:
    packed(tmp_path, "inner.tar.gz")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(tmp_path / "inner.tar.gz", "ci/inner.tar.gz")
        outer.writestr("ci/uvm.log.gz", gzip.compress(UVM_BAD.encode()))
    inner = "outer.zip/ci/inner.tar.gz/run"
    assert names(find(tmp_path, "outer.zip")) == [f"{inner}/results.xml", f"{inner}/sim.log", "outer.zip/ci/uvm.log"]


def ignored(name: str, error: ArchiveError) -> None:
    """Ignore a file that is broken."""


def test_an_archive_and_those_inside_it_share_one_limit(tmp_path: Path) -> None:
    packed(tmp_path, "inner.zip")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(tmp_path / "inner.zip", "inner.zip")
    budget = Budget(files=2)
    (_, inner), *_ = unpack(tmp_path / "outer.zip", lambda name: True, tmp_path / "a", budget, ignored)
    with pytest.raises(ArchiveError, match="files"):
        list(unpack(inner, lambda name: True, tmp_path / "b", budget, ignored))


def test_a_broken_archive_inside_another_is_told_of_the_outer_one(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.writestr("cut.tar.gz", b"\x1f\x8b\x08")
    (problem,) = find(tmp_path, "outer.zip").problems
    assert problem.startswith("outer.zip: cannot be unpacked")


def test_a_compressed_log_is_called_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "sim.log.gz").write_bytes(gzip.compress(b"%Error: tb.sv:3: Verilog $stop\n"))
    assert outcomes(read(tmp_path, "sim.log.gz")) == {"sim.log": "failed"}


def test_a_member_that_leads_out_of_its_archive_is_passed_over(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as tar:
        for name in ("../../out.log", "/abs.log", "ok.log"):
            info = tarfile.TarInfo(name)
            info.size = len(UVM_BAD)
            tar.addfile(info, io.BytesIO(UVM_BAD.encode()))
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    target = tmp_path / "deep" / "target"
    assert [name for name, _ in unpack(tmp_path / "evil.tar", lambda name: True, target, Budget(), ignored)] == [
        "ok.log"
    ]
    assert [path.name for path in tmp_path.rglob("*.log")] == ["ok.log"]
    assert names(find(tmp_path, "evil.tar")) == ["evil.tar/ok.log"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("nothing", None, "no such file"),
        ("*.none", None, "no file matches"),
        ("sim.vpd", b"\x7fELF\0\0", "it holds binary data; if it is a coverage database, export it as UCIS XML"),
        ("cut.zip", b"PK\x03\x04", "cannot be unpacked"),
        ("cut.tar.gz", b"\x1f\x8b\x08", "cannot be unpacked"),
        ("cut.log.gz", gzip.compress(UVM_BAD.encode())[:-9], "cannot be unpacked"),
    ],
)
def test_what_cannot_be_used_is_named_with_the_reason(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (problem,) = find(tmp_path, name).problems
    assert name in problem
    assert reason in problem


def test_a_folder_and_an_archive_with_nothing_in_them_say_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    found = find(tmp_path, "empty", "empty.zip")
    assert ["no results file, log or coverage report" in problem for problem in found.problems] == [True, True]


# Which log belongs to which results file


def test_a_url_with_nothing_in_it_says_so(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    write(tmp_path, {"notes/readme.txt": "hello", "run/results.xml": results(), "run/sim.log": log()})
    (tmp_path / "notes" / "waves.bin").write_bytes(bytes(range(256)) * 8)
    given = [f"file://{tmp_path}/{name}" for name in ("notes", "notes/waves.bin", "run", "run/..")]
    found = find_artefacts(given, root=tmp_path, scratch=tmp_path / ".scratch")
    nothing = "no results file, log or coverage report at this URL; pass another URL"
    assert found.problems[:2] == [f"{url}: {nothing}" for url in given[:2]]
    assert {PurePosixPath(name).name for name in names(found)} == {"results.xml", "sim.log"}


def test_a_log_that_shows_a_line_of_a_results_file_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "all.log").write_text("of the night before\n")
    log = tmp_path / "mux.log"
    log.write_text(f"! grep '<failure' results.xml\n{results()}\nmake: *** [Makefile:4: test_mux] Error 1\n")
    for head in ("", "\n", '\ufeff<?xml version="1.0"?>\n<!-- one -->\n'):
        (tmp_path / "other.txt").write_text(f"{head}{results()}")
        found = find_artefacts([str(log), str(tmp_path / "other.txt")], root=tmp_path, scratch=tmp_path / ".scratch")
        assert {each.path.name: each.kind for each in found.artefacts}.items() >= {
            "mux.log": "log",
            "other.txt": "results",
        }.items()
    found = find_artefacts([str(log)], root=tmp_path, scratch=tmp_path / ".scratch")
    assert [each.path.name for each in found.artefacts] == ["mux.log"]


def test_a_named_results_file_takes_the_newest_log_beside_it(tmp_path: Path) -> None:
    write(tmp_path, {"old.log": log(6), "results.xml": results(), "new.log": log()})
    run = read(tmp_path, "results.xml")
    assert sources(run) == ["new.log", "results.xml"]
    assert run.failures[0].simulator == "icarus"
    assert outcomes(run) == {"results.xml::bad": "failed", "results.xml::good": "passed"}


def test_a_log_of_another_seed_is_another_run_s(tmp_path: Path) -> None:
    write(tmp_path, {"results.xml": results(7), "sim.log": log(8)})
    assert sources(read(tmp_path, "results.xml")) == ["results.xml"]


def test_the_log_that_a_results_file_names_goes_before_the_newest(tmp_path: Path) -> None:
    attached = tmp_path / "logs" / "mine.log"
    write(tmp_path, {"logs/mine.log": log(), "results.xml": results(attachment=str(attached)), "new.log": log()})
    assert sources(read(tmp_path, "results.xml")) == ["logs/mine.log", "results.xml"]


def test_a_results_file_cannot_make_us_read_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, {"secret.log": log(), "project/results.xml": results(attachment=str(tmp_path / "secret.log"))})
    assert sources(read(tmp_path / "project", "results.xml")) == ["results.xml"]


def test_in_a_folder_of_many_each_takes_the_log_of_its_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.result.xml": results(1), "a.log": log(1), "b.result.xml": results(2), "b.log": log(2)},
    )
    run = read(tmp_path, ".")
    assert outcomes(run) == {"a::bad": "failed", "a::good": "passed", "b::bad": "failed", "b::good": "passed"}
    assert [failure.log.path for failure in run.failures if failure.log] == ["a.log", "b.log"]


def test_the_log_that_was_given_serves_all(tmp_path: Path) -> None:
    write(tmp_path, {"r/results.xml": results(), "elsewhere/sim.log": log()})
    run = read(tmp_path, "r", given="elsewhere/sim.log")
    assert sources(run) == ["elsewhere/sim.log", "r/results.xml"]
    assert [excerpt.source for excerpt in run.failures[0].excerpts] == ["results", "log"]


def test_the_random_names_of_cocotb_test_are_told_apart_by_number_only(tmp_path: Path) -> None:
    write(tmp_path, {"b/k3j2h1g0_results.xml": results(1), "b/zz__aa11_results.xml": results(2)})
    assert [f.nodeid for f in read(tmp_path, "b").failures] == ["b::bad", "b#2::bad"]


def test_a_results_file_that_was_never_written_is_told_by_its_log(tmp_path: Path) -> None:
    preamble = "".join(log().splitlines(keepends=True)[:3])
    trace = 'Traceback (most recent call last):\n  File "/repo/bench.py", line 1, in <module>\n    import nope\n'
    text = f"{preamble}{trace}ModuleNotFoundError: No module named 'nope'\n"
    write(tmp_path, {"results.xml": "", "sim.log": text})
    run = read(tmp_path, ".")
    assert [failure.exception for failure in run.failures] == ["ModuleNotFoundError"]
    assert outcomes(run) == {"results.xml": "failed"}


def test_a_results_file_that_was_never_written_needs_a_log(tmp_path: Path) -> None:
    write(tmp_path, {"results.xml": ""})
    assert read(tmp_path, "results.xml").problems == ["results.xml: the file is empty; pass the log with --log"]
    write(tmp_path, {"other_results.xml": results()})
    run = read(tmp_path, ".")
    assert (run.problems, len(run.notes), len(run.failures)) == ([], 1, 1)


# Logs without a results file


def test_a_log_of_any_tool_is_a_test_that_passed_or_failed(tmp_path: Path) -> None:
    write(tmp_path, {"good.log": UVM_GOOD, "bad.log": UVM_BAD})
    assert outcomes(read(tmp_path, ".")) == {"bad::t": "failed", "good::t": "passed"}


def test_an_import_that_failed_under_cocotb_1_9_is_named_by_its_exception(tmp_path: Path) -> None:
    text = (
        "     -.--ns INFO     gpi                                VPI registered\n"
        "     0.00ns INFO     cocotb                             Running tests with cocotb v1.9.2 from /site/cocotb\n"
        "     0.00ns CRITICAL cocotb.regression                  Failed to import module t: No module named 'model'\n"
        "     0.00ns INFO     cocotb.regression                  Traceback (most recent call last):\n"
        f'{PAD}  File "/repo/t.py", line 3, in <module>\n{PAD}    import model\n'
        f"{PAD}ModuleNotFoundError: No module named 'model'\n"
        "     0.00ns ERROR    cocotb                             No module named 'model'\n"
        "ERROR: results.xml was not written by the simulation!\n"
    )
    write(tmp_path, {"sim.log": text})
    (failure,) = read(tmp_path, "sim.log").failures
    verdict = TextClassifier(load_registry()).classify(failure)
    assert (verdict.failure_subtype, verdict.primary) == (
        "import_error",
        "ModuleNotFoundError: No module named 'model'",
    )


def made(folder: Path, text: str) -> str:
    """Return the log of a make in a folder that calls itself there."""
    entering, leaving = (
        "".join(f"make[{level}]: {word} directory '{folder}'\n" for level in levels)
        for word, levels in (("Entering", (1, 2)), ("Leaving", (2, 1)))
    )
    inner, outer = leaving.splitlines(keepends=True)
    stop = "make[1]: *** [Makefile:9: sim] Error 2\n" if "***" in text else ""
    return f"{entering}{text}{inner}{stop}{outer}"


@pytest.mark.parametrize("given", ["make.log", ""])
def test_the_log_of_a_regression_tells_which_of_its_folders_did_not_build(tmp_path: Path, given: str) -> None:
    broken = "{}/rtl/dut.sv:6: syntax error\nmake[2]: *** [Makefile:54: sim.vvp] Error 2\n"
    failed = f"{log()}make[2]: *** [Makefile:60: results.xml] Error 1\n"
    parts = {"sim": failed, "a": broken.format(tmp_path), "b": "nothing to be done\n", "c": broken.format(tmp_path)}
    text = "".join(made(tmp_path / folder, part) for folder, part in parts.items())
    write(tmp_path, {"sim/results.xml": results(), "make.log": text})
    run = read(tmp_path, "sim/results.xml" if given else ".", given=given)
    assert outcomes(run) == {"sim::bad": "failed", "sim::good": "passed", "a": "failed", "c": "failed"}
    found = {one.nodeid: TextClassifier(load_registry()).classify(one).failure_subtype for one in run.failures}
    assert found == {"sim::bad": "scoreboard_fail", "a": "syntax_error", "c": "syntax_error"}
    entered, *_, left = made(tmp_path / "a", "").splitlines(keepends=True)
    mixed = f"{entered}{entered.replace('/a', '/c')}{parts['a']}{left}{left.replace('/a', '/c')}"
    write(tmp_path, {"make.log": mixed})
    assert [one.nodeid for one in read(tmp_path, "make.log").failures] == ["."]
    write(tmp_path, {"make.log": made(tmp_path / "a", parts["a"]) + made(tmp_path / "c", parts["c"])})
    assert [one.nodeid for one in read(tmp_path, "make.log").failures] == ["a", "c"]


def test_a_build_that_failed_is_called_by_the_folder_that_keeps_its_log_and_results(tmp_path: Path) -> None:
    broken = made(
        tmp_path / "tb", f"{tmp_path}/rtl/dut.sv:6: syntax error\nmake[2]: *** [Makefile:54: sim.vvp] Error 2\n"
    )
    write(tmp_path, {"tb/Makefile": "all:\n", "nightly/a/make.log": broken, "nightly/b/make.log": broken})
    run = read(tmp_path, "nightly")  # a passing run writes its results there, too
    assert outcomes(run) == {"nightly/a": "failed", "nightly/b": "failed"}
    assert all(one.command is not None and one.command.folder == "tb" for one in run.failures)
    assert outcomes(read(tmp_path, ".")) == outcomes(read(tmp_path, "nightly/a/make.log")) == {"tb": "failed"}


def of_make(folder: Path, name: str, text: str) -> str:
    """Return what cocotb's Makefile logs of a simulation with a results file of this name."""
    return (
        f"rm -f results/{name}.xml\n"
        f'"make" -f Makefile results/{name}.xml\n'
        f"make[1]: Entering directory '{folder}'\n"
        f"ghdl -m --workdir=build --work=work {name} && \\\nghdl -r --workdir=build --work=work {name}\n{text}"
    )


UNDECLARED = (
    '/repo/regs.vhd:7:3: no declaration for "addres"\n'
    "make[1]: *** [/opt/cocotb/makefiles/Makefile.ghdl:98: analyse] Error 1\nmake[1]: Leaving directory '{folder}'\n"
    "make: *** [/opt/cocotb/makefiles/Makefile.inc:40: sim] Error 2\n"
)
KILLED = (
    log().partition("    10.00ns")[0]
    + "make[1]: *** [/opt/cocotb/makefiles/Makefile.ghdl:105: results/t.xml] Terminated\n"
)


@pytest.mark.parametrize("others", [True, False], ids=["beside_others", "alone"])
def test_a_simulation_has_the_same_name_whether_it_left_a_results_file_or_not(tmp_path: Path, *, others: bool) -> None:
    tb = tmp_path / "tb"
    write(tmp_path, {"tb/Makefile": "include $(shell cocotb-config --makefiles)/Makefile.sim\n"})
    if others:
        write(tmp_path, {"out/fifo.log": log().replace("bad", "fills"), "out/fifo.xml": results(test="fills")})
    write(tmp_path, {"out/regs.log": of_make(tb, "t_regs", log()), "out/regs.xml": results()})
    ended = outcomes(read(tmp_path, "out"))
    (tmp_path / "out/regs.xml").unlink()
    write(tmp_path, {"out/regs.log": of_make(tb, "t_regs", KILLED)})
    killed = outcomes(read(tmp_path, "out"))
    write(tmp_path, {"out/regs.log": of_make(tb, "t_regs", UNDECLARED.format(folder=tb))})
    unbuilt = outcomes(read(tmp_path, "out"))
    rest = {name: each for name, each in ended.items() if name.startswith("out/fifo.xml::")}
    assert bool(rest) is others
    assert ended == {"out/regs.xml::bad": "failed", "out/regs.xml::good": "passed", **rest}
    assert killed == {"out/regs.xml::bad": "failed", **rest}
    assert unbuilt == {"out/regs.xml": "failed", **rest}


def test_a_build_that_fails_in_each_of_several_folders_is_called_alike_in_each(tmp_path: Path) -> None:
    tb = tmp_path / "tb"
    broken = of_make(tb, "t_regs", UNDECLARED.format(folder=tb))
    names = ("one", "two")
    write(tmp_path, {"tb/Makefile": "include $(shell cocotb-config --makefiles)/Makefile.sim\n"})
    for name in names:
        write(tmp_path, {f"out/{name}/regs.log": broken, f"out/{name}/x.log": log(), f"out/{name}/x.xml": results()})
    run = read(tmp_path, "out")
    assert [one.nodeid for one in run.failures if "::" not in one.nodeid] == [f"out/{name}/regs.xml" for name in names]
    assert all(each.startswith(("out/one/", "out/two/")) for each in outcomes(run))


def test_a_simulation_that_was_killed_where_it_ran_is_called_by_the_results_file_that_make_names(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"tb/make.log": of_make(tmp_path / "tb", "t_regs", KILLED)})
    assert outcomes(read(tmp_path, "tb")) == {"tb/results/t_regs.xml::bad": "failed"}
    write(tmp_path, {"tb/make.log": of_make(tmp_path / "tb", "t_regs", UNDECLARED.format(folder=tmp_path / "tb"))})
    assert outcomes(read(tmp_path, "tb")) == {"tb/results/t_regs.xml": "failed"}


def test_the_tests_of_all_simulations_count_whose_results_the_last_one_wrote_over(tmp_path: Path) -> None:
    banner = "     0.00ns INFO     gpi                                GPI: VPI support registered\n"
    ran = "COCOTB_TEST_MODULES={0} vvp -m lib sim.vvp\n"
    parts = [log(test=name).replace("bench.", f"{name}.").replace("good", f"{name}_good") for name in ("one", "two")]
    text = "".join(ran.format(name) + part for name, part in zip(("one", "two"), parts, strict=True))
    write(
        tmp_path, {"tb/results.xml": results(), "make.log": made(tmp_path / "tb", text + ran.format("bench") + log())}
    )
    expected = {"tb::bad": "failed", "tb::good": "passed"}
    for name in ("one", "two"):
        expected |= {f"tb::{name}": "failed", f"tb::{name}_good": "passed"}
    assert banner in text
    assert outcomes(read(tmp_path, "tb/results.xml", given="make.log")) == expected
    write(tmp_path, {"make.log": made(tmp_path / "tb", text + text + log())})  # perhaps appended every night
    assert outcomes(read(tmp_path, "tb/results.xml", given="make.log")) == {"tb::bad": "failed", "tb::good": "passed"}


IMPORT_ERROR = """COCOTB_TEST_MODULES={0} vvp -m lib sim.vvp
     0.00ns INFO     gpi                                GPI: VPI support registered
     0.00ns INFO     cocotb.initialize                  Seeding Python random module with 7
     0.00ns INFO     cocotb.initialize                  Running on Icarus Verilog version 11.0 (stable)
Traceback (most recent call last):
  File "/repo/{0}.py", line 1, in <module>
    import absent
ModuleNotFoundError: No module named 'absent'
"""


@pytest.mark.parametrize("module", ["other", "bench"])
@pytest.mark.parametrize("failed", [True, False])
def test_an_import_error_is_not_hidden_by_the_results_file_of_an_earlier_run(
    tmp_path: Path, module: str, *, failed: bool
) -> None:
    before = results() if failed else re.sub("<failure.*</failure>", "", results(), flags=re.DOTALL)
    write(tmp_path, {"results.xml": before, "now.log": IMPORT_ERROR.format(module)})
    run = read(tmp_path, "results.xml", given="now.log")
    assert [one.message for one in run.failures if one.nodeid == "."] == ["No module named 'absent'"]
    assert outcomes(run)["."] == "failed"
    assert run.notes == ["results.xml: from an earlier run; the run that wrote now.log ran no tests"]


@pytest.mark.parametrize("where", ["first", "last"])
def test_an_import_error_of_one_of_several_simulations_in_a_log_is_seen(tmp_path: Path, where: str) -> None:
    lost, ran = IMPORT_ERROR.format("other"), f"COCOTB_TEST_MODULES=bench vvp -m lib sim.vvp\n{log()}"
    write(tmp_path, {"results.xml": results(), "now.log": lost + ran if where == "first" else ran + lost})
    run = read(tmp_path, "results.xml", given="now.log")
    assert outcomes(run) == {"results.xml::bad": "failed", "results.xml::good": "passed", ".": "failed"}
    again = IMPORT_ERROR.format("bench")
    write(tmp_path, {"now.log": again + ran})  # the module may have been fixed before it ran
    run = read(tmp_path, "results.xml", given="now.log")
    assert outcomes(run) == {"results.xml::bad": "failed", "results.xml::good": "passed"}


@pytest.mark.parametrize(
    ("broken", "later", "fails"),
    [
        ('ghdl -a rtl/low.vhdl\nrtl/low.vhdl:3:1: missing ";" at end of statement\n', "ghdl -a rtl/dut.vhdl\n", True),
        ('ghdl -a rtl/low.vhdl\nrtl/low.vhdl:3:1: missing ";" at end of statement\n', "ghdl -a rtl/low.vhdl\n", False),
        (
            'ghdl -a rtl/low.vhdl\nrtl/low.vhdl:3:1: missing ";" at end of statement\n',
            "ghdl -a rtl/dut.vhdl ../rtl/low.vhdl\n",
            False,
        ),
        ("make: *** No rule to make target '/r/low.sv', needed by 'x'.  Stop.\n", "iverilog dut.sv\n", True),
        ("make: *** No rule to make target '/r/low.sv', needed by 'x'.  Stop.\n", "iverilog low.sv\n", False),
        ("make: *** No rule to make target 'lint'.  Stop.\n", "iverilog low.sv\n", False),
    ],
)
def test_a_build_without_a_known_top_has_failed_where_no_later_one_read_its_files(
    tmp_path: Path, broken: str, later: str, fails: bool
) -> None:
    stop = "" if "***" in broken else "make: *** [Makefile:4: low] Error 1\n"
    others = log(test="other").replace("bench.", "second.").replace("good", "fine")
    write(tmp_path, {"results.xml": results(), "make.log": broken + stop + later + others + later + log()})
    run = read(tmp_path, ".")
    found = [one for one in run.failures if one.nodeid == "."]
    assert len(found) == fails
    assert (outcomes(run).get(".") == "failed") == fails


@pytest.mark.parametrize(("later", "fails"), [("a", False), ("b", True)])
def test_a_build_without_a_known_top_has_failed_where_only_another_folder_read_its_files(
    tmp_path: Path, later: str, *, fails: bool
) -> None:
    low = "ghdl -a ../rtl/low.vhdl\n"
    broken = f'{low}../rtl/low.vhdl:3:1: missing ";" at end of statement\nmake[2]: *** [Makefile:4: low] Error 1\n'
    parts = {name: log(seed) for seed, name in enumerate("ab")}
    parts[later] = low + parts[later]
    text = "".join(made(tmp_path / name, part) for name, part in {"a": broken + parts["a"], "b": parts["b"]}.items())
    write(tmp_path, {f"{name}/results.xml": results(seed) for seed, name in enumerate("ab")} | {"make.log": text})
    run = read(tmp_path, "a", "b", given="make.log")
    assert (outcomes(run).get("a") == "failed") == fails
    assert [one.nodeid for one in run.failures] == ["a::bad", "b::bad", *["a"] * fails]


@pytest.mark.parametrize("given", ["make.log", ""])
def test_a_folder_that_failed_to_build_does_not_hide_what_failed_to_build_beside_a_simulation(
    tmp_path: Path, given: str
) -> None:
    low = "ghdl -a ../rtl/low.vhdl\n"
    broken = f'{low}../rtl/low.vhdl:3:1: missing ";" at end of statement\nmake[2]: *** [Makefile:4: low] Error 1\n'
    ran = f"ghdl -a ../rtl/dut.vhdl\n{log()}"
    text = made(tmp_path / "a", broken + ran) + made(tmp_path / "c", broken)
    write(tmp_path, {"make.log": text, **({"a/results.xml": results()} if given else {})})
    run = read(tmp_path, "a/results.xml" if given else "make.log", given=given)
    assert sorted(one.nodeid for one in run.failures) == ["a", "a::bad", "c"]
    assert sorted(one.nodeid for one in run.results if one.outcome == "failed") == ["a", "a::bad", "c"]


MISSED = "make[2]: *** wait: No child processes.  Stop.\nmake[2]: *** Waiting for unfinished jobs....\n"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("make[2]: *** [Makefile:60: results.xml] Terminated\n", "the simulator was killed by signal 15 (SIGTERM)"),
        (MISSED, "run was killed"),
        (f"{MISSED}make[1]: *** [Makefile:60: results.xml] Terminated\n", "the simulator was killed by signal 15"),
    ],
)
@pytest.mark.parametrize("reported", [True, False])
def test_whatever_make_says_of_a_signal_the_run_was_cut_short(
    tmp_path: Path, said: str, message: str, *, reported: bool
) -> None:
    """A simulator that handles the signal exits normally; cocotb then reports an unexpected end."""
    running, _, _ = log().partition("    10.00ns WARNING")
    early = f"    10.00ns WARNING  cocotb.regression                  bench.bad failed\n{PAD}{ENDED}\n"
    end = "    10.00ns INFO     cocotb.regression                  ****************************\n"
    write(tmp_path, {"make.log": running + (early + end if reported else "") + said})
    (failure,) = read(tmp_path, "make.log").failures
    verdict = TextClassifier(load_registry()).classify(failure)
    assert (verdict.error_class, verdict.failure_subtype) == ("tool_error", "cut_short")
    assert verdict.primary.startswith(f"{message}")
    assert " while running bad, last logged time " in verdict.primary
    assert failure.command is None


def test_a_killed_simulation_is_called_as_its_results_would_be(tmp_path: Path) -> None:
    killed = log().partition("    10.00ns WARNING")[0] + "make[2]: *** [Makefile:60: results.xml] Terminated\n"
    write(tmp_path, {"nightly/a/make.log": made(tmp_path / "tb", killed)})
    assert outcomes(read(tmp_path, "nightly")) == {"nightly/a::bad": "failed"}


def test_an_empty_log_is_no_test_that_passed(tmp_path: Path) -> None:
    write(tmp_path, {"empty.log": "", "good.log": UVM_GOOD})
    run = read(tmp_path, ".")
    assert outcomes(run) == {"good::t": "passed"}
    assert run.notes == ["empty.log: the log is empty, so nothing is known about its run"]


def test_what_only_the_log_can_tell_is_asked_for(tmp_path: Path) -> None:
    ended = results().replace('message="expected 4 got 3" type="AssertionError"', 'message="ended" type="SimFailure"')
    write(tmp_path, {"results.xml": ended})
    (note,) = read(tmp_path, "results.xml").notes
    assert note == "results.xml: the file does not show what ended the simulation; pass the log with --log"


def test_each_simulation_in_a_log_counts(tmp_path: Path) -> None:
    write(tmp_path, {"all.log": log(1) + log(2)})
    expected = {"::bad": "failed", "::good": "passed", "#2::bad": "failed", "#2::good": "passed"}
    assert outcomes(read(tmp_path, "all.log")) == {f"results.xml{name}": ended for name, ended in expected.items()}
    write(tmp_path, {"other.log": "a word\n"})
    assert outcomes(read(tmp_path, "all.log")) == {f"all.log{name}": ended for name, ended in expected.items()}


def simulations(*tests: str) -> str:
    """Return the log of a Makefile that runs one test for each design, without messages about folders."""
    return "".join(
        f"iverilog -s {test}\n{log(test=test)}".replace("bench.", f"{test}_bench.").replace("good", f"{test}_good")
        for test in tests
    )


@pytest.mark.parametrize("others", [{}, {"other.log": "a word\n"}], ids=["alone", "beside_another_log"])
def test_a_test_has_the_same_name_wherever_it_is_in_a_log(tmp_path: Path, others: dict[str, str]) -> None:
    last = results(test="three").replace("bench", "three_bench").replace("good", "three_good")
    write(tmp_path, {"sim/results.xml": last, **{f"sim/{name}": text for name, text in others.items()}})
    for tests in (("one", "two", "three"), ("two", "three"), ("two", "one", "three")):
        write(tmp_path, {"sim/all.log": simulations(*tests)})
        expected = {f"sim::{test}": "failed" for test in tests} | {f"sim::{test}_good": "passed" for test in tests}
        assert outcomes(read(tmp_path, "sim/results.xml", given="sim/all.log")) == expected
        if not others:
            assert outcomes(read(tmp_path, "sim/all.log")) == expected


@pytest.mark.parametrize(
    "command", ["cd two && vvp sim.vvp", "(cd two; make)", "make -C two", "make[1]: Entering directory '/elsewhere'"]
)
def test_a_simulation_in_an_unknown_folder_is_not_named_after_the_folder_of_another(
    tmp_path: Path, command: str
) -> None:
    last = results(test="three").replace("bench", "three_bench").replace("good", "three_good")
    write(tmp_path, {"sim/results.xml": last, "all.log": f"{command}\n{simulations('two', 'three')}"})
    expected = {"sim::three": "failed", "sim::three_good": "passed", "all.log::two": "failed"}
    assert outcomes(read(tmp_path, "sim/results.xml", given="all.log")) == {**expected, "all.log::two_good": "passed"}


def test_a_results_file_with_a_name_of_its_own_names_no_other_simulation(tmp_path: Path) -> None:
    last = results(test="three").replace("bench", "three_bench").replace("good", "three_good")
    write(tmp_path, {"three.xml": last, "all.log": simulations("two", "three"), "other.log": "a word\n"})
    assert set(outcomes(read(tmp_path, "three.xml", given="all.log"))) == {
        *("three.xml::three", "three.xml::three_good"),
        *("all.log::two", "all.log::two_good"),
    }


def test_tests_of_one_name_in_several_modules_are_told_apart_by_the_module(tmp_path: Path) -> None:
    parts = {name: log().replace("bench.", f"{name}.") for name in ("bench", "one", "two")}
    write(tmp_path, {"results.xml": results(), "other.log": "a word\n"})
    for order in (("one", "two", "bench"), ("two", "one", "bench"), ("two", "bench")):
        write(tmp_path, {"all.log": "".join(parts[name] for name in order)})
        names = {"results.xml", *(f"results.xml::{name}" for name in order[:-1])}
        expected = {
            f"{name}::{test}": ended for name in names for test, ended in (("bad", "failed"), ("good", "passed"))
        }
        assert outcomes(read(tmp_path, "results.xml", given="all.log")) == expected


MODULE = "import cocotb\n\n\n@cocotb.test(timeout_time=1)\nasync def {}(dut):\n    pass\n"
IN_RECIPES = "first:\n\t$(MAKE) sim COCOTB_TEST_MODULES=one\nlast:\n\t$(MAKE) sim COCOTB_TEST_MODULES=bench\n"
IN_A_LOOP = "all:\n\tfor m in one bench; do $(MAKE) sim MODULE=$$m; done\n"
IN_A_LIST = "BENCHES = one bench\n$(BENCHES):\n\t$(MAKE) sim MODULE=$@\n"
ONLY_ONE = "# one is not run\nMODULE = bench\n"


@pytest.mark.parametrize(
    ("makefile", "other", "module"),
    [
        (IN_RECIPES, "bad", "bench::"),
        (IN_A_LOOP, "bad", "bench::"),
        (IN_A_LIST, "bad", "bench::"),
        (IN_A_LIST, "bad(:", "bench::"),
        (IN_RECIPES, "ugly", ""),
        (ONLY_ONE, "bad", ""),
    ],
    ids=["recipes", "loop", "list", "syntax_error", "other_tests", "single_module"],
)
@pytest.mark.parametrize("file", ["results.xml", "k3j2h1g0_results.xml", "own.xml", ""])
def test_the_name_of_a_test_does_not_depend_on_which_simulations_of_its_makefile_ran(
    tmp_path: Path, makefile: str, other: str, module: str, file: str
) -> None:
    ran = {name: f"COCOTB_TEST_MODULES={name} vvp -m lib sim.vvp\n{log()}" for name in ("one", "bench")}
    ran["one"] = ran["one"].replace("bench.", "one.").replace("with 7", "with 8")
    beside = {"tb::one::bad", "tb::one::good"}
    if not module:
        ran["one"] = ran["one"].replace("bad", "ugly").replace("good", "fine")
        beside = {"tb::ugly", "tb::fine"}
    write(
        tmp_path,
        {
            "tb/Makefile": f"{makefile}include $(shell cocotb-config --makefiles)/Makefile.sim\n",
            "tb/one.py": MODULE.format(other),
            "tb/bench.py": MODULE.format("bad"),
            **({f"tb/{file}": results()} if file else {}),
        },
    )
    name = "tb/own.xml::" if file == "own.xml" else f"tb::{module}"
    for order in (("bench",), ("one", "bench")):
        write(tmp_path, {"tb/make.log": made(tmp_path / "tb", "".join(ran[each] for each in order))})
        found = outcomes(read(tmp_path, "tb"))
        assert (found.pop(f"{name}bad"), found.pop(f"{name}good")) == ("failed", "passed")
        assert set(found) == (beside if "one" in order else set())
    if file and file != "own.xml":
        (tmp_path / "tb/make.log").unlink()
        assert set(outcomes(read(tmp_path, "tb"))) == {f"{name}bad", f"{name}good"}


def test_a_second_copy_of_the_log_beside_a_results_file_counts_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"console.log": log(), "results.xml": results(), "sim.log": log(), "build.log": "all good\n"})
    run = read(tmp_path, ".")
    assert (len(run.failures), len(run.results)) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new"), [("bench.", "other."), ("with 7\n", "with 8\n")], ids=["another_module", "another_seed"]
)
def test_a_killed_run_counts_beside_results_of_tests_with_its_names(tmp_path: Path, old: str, new: str) -> None:
    killed = "".join(log().splitlines(keepends=True)[:4])
    assert old in killed
    write(tmp_path, {"one/results.xml": results(), "one/sim.log": log(), "two/sim.log": killed.replace(old, new)})
    run = read(tmp_path, ".")
    assert outcomes(run)["two::bad"] == "failed"
    assert len(run.failures) == 2


def test_a_log_that_ends_in_the_middle_of_a_test_names_it(tmp_path: Path) -> None:
    write(tmp_path, {"cut.log": "".join(log().splitlines(keepends=True)[:4])})
    (failure,) = read(tmp_path, "cut.log").failures
    assert failure.excerpts[0].text.startswith("simulation ended before bad was done")


# JUnit XML


JUNIT = """<testsuites><testsuite name="any" timestamp="2026-10-01T10:00:00">
<testcase classname="lib.tb" name="bad" time="1.5"><failure message="Failed" type="fail">tb.vhd:4: ERROR: x</failure>
</testcase><testcase classname="lib.tb" name="skip"><skipped/></testcase>
<testcase classname="tests.test_x" name="test_item"><failure message="SystemExit: 1">E SystemExit: 1</failure>
</testcase></testsuite></testsuites>"""


def test_a_log_beside_the_results_of_another_tool_tells_of_its_own_run(tmp_path: Path) -> None:
    write(tmp_path, {"junit.xml": JUNIT, "sim.log": UVM_BAD})
    assert outcomes(read(tmp_path, "."))["t"] == "failed"


def test_the_results_of_any_tool_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"junit.xml": JUNIT})
    run = read(tmp_path, "junit.xml")
    assert outcomes(run) == {"lib.tb::bad": "failed", "lib.tb::skip": "skipped", "tests.test_x::test_item": "failed"}
    bad = run.failures[0]
    assert (bad.exception, bad.message, bad.in_simulator, bad.duration_s) == (None, "Failed", False, 1.5)


def test_a_time_without_a_zone_is_the_same_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"junit.xml": JUNIT})
    for zone in ("UTC", "Asia/Tokyo"):
        with monkeypatch.context() as patch:
            patch.setenv("TZ", zone)
            time.tzset()
            assert read(tmp_path, "junit.xml").times == [1790848800.0]
    time.tzset()


def test_a_pytest_item_that_stands_for_cocotb_tests_is_none_itself(tmp_path: Path) -> None:
    write(tmp_path, {"junit.xml": JUNIT, "sim/results.xml": results()})
    assert "tests.test_x::test_item" not in outcomes(read(tmp_path, "."))


def test_a_makefile_beside_the_results_runs_the_test_again(tmp_path: Path) -> None:
    write(tmp_path, {"tb/results.xml": results(), "tb/sim.log": log()})
    for text in ("all:\n", "MODULE = other\ninclude $(shell cocotb-config --makefiles)/Makefile.sim\n"):
        assert read(tmp_path, "tb").failures[0].command is None
        write(tmp_path, {"tb/Makefile": text})  # nothing shows that this one ran it
    assert read(tmp_path, "tb").failures[0].command is None
    write(tmp_path, {"tb/Makefile": "MODULE = bench\n"})
    command = read(tmp_path, "tb").failures[0].command
    assert command is not None
    assert (command.folder, command.arguments) == ("tb", ("make",))
    assert command.variables == {"COCOTB_RANDOM_SEED": "7", "COCOTB_TEST_FILTER": "[.]bad$$"}


def test_a_makefile_in_the_folder_that_the_log_names_runs_the_test_again(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"tb/Makefile": "all:\n", "logs/results.xml": results(), "logs/make.log": made(tmp_path / "tb", log())},
    )
    command = read(tmp_path, "logs").failures[0].command
    assert command is not None
    assert (command.folder, command.arguments) == ("tb", ("make",))
    elsewhere = made(tmp_path / "tb", log()) + made(tmp_path / "b", "")  # which of them failed is unknown
    write(tmp_path, {"logs/make.log": elsewhere, "b/Makefile": "all:\n"})
    assert read(tmp_path, "logs").failures[0].command is None


SIM = "include $(shell cocotb-config --makefiles)/Makefile.sim\n"
RUNS_BENCH = f"COCOTB_TOPLEVEL = dut\nCOCOTB_TEST_MODULES = bench\n{SIM}"
RUN = "COCOTB_TEST_MODULES=bench COCOTB_TOPLEVEL=dut vvp -m lib sim.vvp\n"


@pytest.mark.parametrize(
    ("makefiles", "folder"),
    [
        ({"tb/Makefile": RUNS_BENCH}, "tb"),
        ({"tb/Makefile": RUNS_BENCH, "Makefile": "all: ; echo\n"}, "tb"),
        ({"tb/Makefile": RUNS_BENCH, "Makefile": f"MODULE = other\n{SIM}"}, "tb"),
        ({"tb/Makefile": RUNS_BENCH, "Makefile": SIM}, "tb"),
        ({"tb/Makefile": RUNS_BENCH, "b/Makefile": RUNS_BENCH.replace("dut", "ram")}, "tb"),
        ({"tb/Makefile": RUNS_BENCH, "b/Makefile": RUNS_BENCH}, None),
        ({"Makefile": RUNS_BENCH, "b/Makefile": RUNS_BENCH}, "."),
        ({"Makefile": "all: ; echo\n"}, None),
        ({"Makefile": SIM}, "."),
    ],
)
def test_a_log_gets_the_command_of_the_makefile_that_ran_it(
    tmp_path: Path, makefiles: dict[str, str], folder: str | None
) -> None:
    write(tmp_path, {**makefiles, "x.log": RUN + log()})
    command = read(tmp_path, "x.log").failures[0].command
    assert (command.folder if command else None) == folder


def test_of_two_makefiles_that_name_the_test_the_one_ran_whose_folder_is_in_the_log(tmp_path: Path) -> None:
    write(tmp_path, {"a/Makefile": RUNS_BENCH, "b/Makefile": RUNS_BENCH})
    write(tmp_path, {"x.log": RUN + log().replace("/repo", f"{tmp_path}/b")})
    command = read(tmp_path, "x.log").failures[0].command
    assert command is not None
    assert command.folder == "b"


def test_make_in_a_folder_for_generated_files_was_called_from_above(tmp_path: Path) -> None:
    text = RUN.replace("vvp", "make -C sim_build -f Vtop.mk; vvp") + made(tmp_path / "tb/sim_build", log())
    write(tmp_path, {"tb/Makefile": RUNS_BENCH, "tb/sim_build/Vtop.mk": "", "x.log": text})
    command = read(tmp_path, "x.log").failures[0].command
    assert command is not None
    assert command.folder == "tb"


def test_what_is_no_plain_file_has_no_content_to_be_known_by(tmp_path: Path) -> None:
    (tmp_path / "results.xml").write_bytes(b"")
    assert sha256_of(tmp_path / "results.xml", since=0) == hashlib.sha256().hexdigest()
    assert sha256_of(Path(os.devnull), since=0) is None  # like a pipe, whose reader would wait forever


def test_each_simulation_of_a_folder_has_the_values_of_its_own_log(tmp_path: Path) -> None:
    texts = {"sim/Makefile": "MODULE = bench\nWIDTH ?= 4\nCOMPILE_ARGS += -Pdut.WIDTH=$(WIDTH)\n"}
    for width in ("8", "16"):
        build = f"iverilog -o sim.vvp -s dut -Pdut.WIDTH={width} dut.sv\n"
        texts[f"sim/w{width}.xml"] = results(test=f"bad{width}")
        texts[f"sim/w{width}.log"] = build + log(test=f"bad{width}")
    write(tmp_path, texts)
    run = read(tmp_path, "sim")
    commands = {failure.nodeid.rpartition("::")[2]: failure.command for failure in run.failures}
    assert {name: command and command.variables["WIDTH"] for name, command in commands.items()} == {
        "bad8": "8",
        "bad16": "16",
    }
