"""The sample's agents ask the wiki after a real failure, archive their findings, and never wait or fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from .harness import Archive, environment, missing

SAMPLE = Path(__file__).parents[2] / "sample_tb"
SIMULATOR = next((name for name in ("icarus", "verilator") if not missing(name)), None)
FAILURE = ("error_class: sim_error", "failure_subtype: timeout", "primary: no answer on bvalid after 2 us")
"""The input that a log analyser would pass on."""

pytestmark = [
    pytest.mark.sim,
    pytest.mark.timeout(300),
    pytest.mark.skipif(SIMULATOR is None, reason="needs Icarus Verilog or Verilator"),
]


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment(str(SIMULATOR), {"SAMPLE_FAULTS": "fifo_drop", "DVWIKI_ENABLED": "1"} | variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample after a run in which the FIFO lost a word."""
    folder = tmp_path_factory.mktemp("agents") / "sample_tb"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("sim_build*", "__pycache__", ".agent"))
    (folder / ".agent").mkdir()
    failed = run(folder, "-m", "pytest", "--dvwiki", "tests/test_fifo.py::test_random[1]")
    assert failed.returncode == 1, failed.stdout
    return folder


@pytest.fixture
def sample(filled: Path, tmp_path: Path) -> Path:
    """Return a new copy of the sample."""
    shutil.copytree(filled, tmp_path / "sample_tb", ignore=shutil.ignore_patterns("sim_build*"))
    return tmp_path / "sample_tb"


def test_agents_of_three_roles_change_nothing_but_the_wiki(sample: Path) -> None:
    wiki = sample / ".agent" / "wiki"
    before = {path: path.read_bytes() for path in wiki.rglob("*.md")}
    done = run(sample, "agent/pipeline.py", "the scoreboard expected another word")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = (wiki / "handoffs.md").read_text("utf-8").splitlines()[2:]
    assert [line.partition(" | ")[2].partition(": ")[0].rpartition(" | ")[2] for line in lines] == [
        "agent -> reviewer",
        "reviewer -> human",
    ]
    changed = {path.parent.name for path, data in before.items() if path.read_bytes() != data}
    assert changed == {"bugs", "wiki"}
    (bug,) = (path for path in (wiki / "bugs").glob("*.md") if path.name != "_index.md")
    written = bug.read_text("utf-8")
    assert [f"{role}: Read " in written for role in ("agent", "reviewer", "human")] == [True] * 3


def test_an_agent_that_runs_as_a_test_gets_its_prompt_from_the_fixtures(sample: Path) -> None:
    done = run(sample, "-m", "pytest", "agent", "-s", "-rs")
    assert "1 passed" in done.stdout, done.stdout
    assert "**scoreboard_fail** (hit_count: 1, fix_rate: n/a)" in done.stdout


def test_it_is_skipped_by_name_where_nothing_is_known(sample: Path) -> None:
    shutil.rmtree(sample / ".agent" / "wiki")
    shutil.rmtree(sample / ".agent" / "tasks")
    done = run(sample, "-m", "pytest", "agent", "-rs")
    assert "1 skipped" in done.stdout, done.stdout
    assert "the wiki knows nothing yet" in done.stdout


def test_the_classifier_is_told_of_similar_bugs(sample: Path) -> None:
    (bug,) = (path.stem for path in (sample / ".agent" / "wiki" / "bugs").glob("[A-Z]*.md"))
    prompt = run(sample, "agent/classifier.py", "scoreboard: expected a word and got another").stdout
    assert "**scoreboard_fail** (hit_count: 1" in prompt
    assert f"## Similar bugs on record\n- {bug} (open), quoted from its page:\n  > " in prompt


def test_the_classifier_does_without_a_wiki_that_is_off(sample: Path) -> None:
    prompt = run(sample, "agent/classifier.py", "scoreboard: expected a word", DVWIKI_ENABLED="0").stdout
    assert "scoreboard_fail" not in prompt
    assert "Similar bugs" not in prompt
    assert "## The failure\nscoreboard: expected a word" in prompt


def test_the_reporter_archives_the_session_once(sample: Path) -> None:
    for _ in range(2):
        done = run(sample, "agent/reporter.py", "nightly_17", *FAILURE)
        assert done.returncode == 0
    assert "| nightly_17_session_" in done.stdout
    records = [yaml.safe_load(record.text) for record in Archive(sample / ".agent").records]
    assert [record["caller_task"] for record in records].count("nightly_17") == 1
    page = (sample / ".agent" / "wiki" / "patterns" / "timeout.md").read_text(encoding="utf-8")
    assert "hit_count: 1" in page


def test_the_orchestrator_leads_a_session_and_warns_of_a_wiki_that_was_tampered_with(sample: Path) -> None:
    index = sample / ".agent" / "wiki" / "index.md"
    good = run(sample, "agent/orchestrator.py", "nightly_18", *FAILURE)
    assert good.returncode == 0
    assert not good.stderr
    assert "[timeout](patterns/timeout.md)" in index.read_text(encoding="utf-8")
    index.write_text(index.read_text(encoding="utf-8").replace("timeout.md", "gone.md"), encoding="utf-8")
    warned = run(sample, "agent/orchestrator.py", "nightly_19", *FAILURE)
    assert warned.returncode == 0
    assert "finding in the wiki" in warned.stderr
    assert "finding in the wiki: patterns/timeout.md: " in warned.stderr


@pytest.mark.skipif(os.name != "posix", reason="a file in the place of a folder")
def test_a_wiki_that_cannot_be_written_costs_the_session_nothing_but_its_archive(sample: Path) -> None:
    shutil.rmtree(sample / ".agent" / "wiki")
    (sample / ".agent" / "wiki").write_text("in the way\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "agent/orchestrator.py", "nightly_20", *FAILURE],
        cwd=sample,
        env=environment(str(SIMULATOR), {"DVWIKI_ENABLED": "1"}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Write the report of session nightly_20" in done.stdout
    assert "nothing was archived" in done.stderr
