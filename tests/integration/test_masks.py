"""The plugin writes no text that a project's hook masks; if a hook fails, the text is lost, not the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.cli import main

from .conftest import install

if TYPE_CHECKING:
    from .conftest import Project

HIDDEN = "k3y0f0urs"
MASKS = f"""
def pytest_dvwiki_redact(text):
    return text.replace("{HIDDEN}", "<key>") if "{HIDDEN}" in text else None
"""
FAILING = f"""
import logging, pathlib
import pytest

@pytest.fixture
def device(): raise OSError("no licence for {HIDDEN}")

def test_message(): raise ValueError("sent {HIDDEN} to the link")
def test_source(): assert len("{HIDDEN}") == 3
def test_output():
    print("error: link says {HIDDEN}")
    logging.getLogger("tb").error("and {HIDDEN} again")
    raise LookupError("no answer")
def test_setup(device): pass
"""
READS_JOURNAL = f"""
import pathlib

def test_first(): raise ValueError("sent {HIDDEN} to the link")
def test_journal():
    journal = "".join(path.read_text() for path in pathlib.Path(".agent/journal").glob("*/*.jsonl"))
    assert "sent <key> to the link" in journal
    assert {HIDDEN[:4]!r} + {HIDDEN[4:]!r} not in journal
"""
BROKEN_MODULE = f'raise RuntimeError("cannot load {HIDDEN}")'


def written(project: Project) -> str:
    """Return the content of all files of the plugin in the project."""
    files = [path for path in (project.path / ".agent").rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.mark.parametrize("arguments", [(), ("-n", "1"), ("-s",)], ids=["plain", "xdist", "no_capture"])
def test_a_masked_text_is_written_nowhere(project: Project, arguments: tuple[str, ...]) -> None:
    project.pytester.makeconftest(MASKS)
    project.pytester.makepyfile(FAILING, test_broken=BROKEN_MODULE)
    assert project.run("--continue-on-collection-errors", *arguments, in_process=True).ret == 1
    assert len(project.records()[0]["occurrences"]) == 5
    everything = written(project)
    assert HIDDEN not in everything
    assert "sent <key> to the link" in everything
    assert 'len("<key>")' in everything
    assert "no licence for <key>" in everything
    assert "cannot load <key>" in everything


def test_a_masked_text_is_not_in_the_journal(project: Project) -> None:
    project.pytester.makeconftest(MASKS)
    project.pytester.makepyfile(READS_JOURNAL)
    assert project.run(in_process=True).parseoutcomes() == {"failed": 1, "passed": 1}


def test_hooks_are_called_one_after_the_other(project: Project) -> None:
    project.pytester.makeconftest(MASKS + "\npytest_plugins = ['more']")
    project.pytester.makepyfile(FAILING, more="def pytest_dvwiki_redact(text): return text.replace('link', '<line>')\n")
    project.run(in_process=True)
    assert "sent <key> to the <line>" in written(project)
    assert HIDDEN not in written(project)


RAISED = "pytest_dvwiki_redact of *conftest.py raised ValueError: the affected strings were dropped"


@pytest.mark.parametrize(
    ("arguments", "body", "told"),
    [
        (
            (),
            "return 7",
            "pytest_dvwiki_redact of *conftest.py returned int instead of str: the affected strings were dropped",
        ),
        ((), "raise ValueError(text)", RAISED),
        (("-n", "1"), "raise ValueError(text)", RAISED),
    ],
    ids=["no_text", "raises", "raises_in_a_worker"],
)
def test_a_hook_that_fails_breaks_nothing_and_leaks_nothing(
    project: Project, arguments: tuple[str, ...], body: str, told: str
) -> None:
    project.pytester.makeconftest(f"def pytest_dvwiki_redact(text): {body}")
    project.pytester.makepyfile(FAILING)
    result = project.run(*arguments, in_process=True)
    assert result.ret == 1
    result.assert_outcomes(failed=3, errors=1)
    result.stdout.fnmatch_lines([f"dvwiki: {told}"])
    assert len(project.records()) == 1
    assert HIDDEN not in written(project)


def test_ingest_asks_packages(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = project.path / "packages"
    install(packages, "vip = vip_masks", vip_masks=MASKS)
    project.path.joinpath("sim.log").write_text(f"dut.sv:3: syntax error near {HIDDEN}\nI give up.\n", encoding="utf-8")
    monkeypatch.syspath_prepend(packages)
    assert main(["ingest", "--root", str(project.path), str(project.path / "sim.log")]) == 0
    assert HIDDEN not in written(project)
    assert "syntax error near <key>" in written(project)
