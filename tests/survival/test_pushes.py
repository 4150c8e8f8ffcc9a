"""Four CI jobs push at once while one is killed and another makes the pages; `make survive` runs 50 rounds.

The jobs are the recipes of `ci`; that for job arrays shares a folder instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.further_mode
def test_every_push_lands_and_no_record_is_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "survival.pushes", "--rounds", "3"],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none lost" in done.stdout
    assert "all counts right" in done.stdout


_SBATCH = """\
#!/bin/bash
# Runs jobs as Slurm does, those of an array at the same time; the job that depends on them comes after them anyway.
for word; do last=$word; done
case "$*" in
*--array*) export DVWIKI_ARCHIVE=record
    for n in 1 2 3 4; do SLURM_ARRAY_TASK_ID=$n sh -c "$last" >> "../array.log" 2>&1 & done; wait; echo 1 ;;
*) sh -c "$last" ;;
esac
"""


@pytest.mark.further_mode
def test_a_job_array_shares_one_folder(tmp_path: Path) -> None:
    sbatch, here = tmp_path / "bin" / "sbatch", tmp_path / "workspace"
    sbatch.parent.mkdir()
    sbatch.write_text(_SBATCH)
    sbatch.chmod(0o755)
    for number in range(1, 5):
        folder = here / "tests" / f"shard_{number}"
        folder.mkdir(parents=True)
        (folder / f"test_{number}.py").write_text("import word\ndef test_word(): word.check()\n")
    (here / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (here / "word.py").write_text("def check(): raise ValueError('wrong word')\n")
    path = f"{sbatch.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {"PATH": path, "DVWIKI_WIKI_DIR": str(tmp_path / "shared" / "wiki")}
    script = ["sh", str(TESTS.parent / "ci" / "examples" / "array.sh")]
    done = subprocess.run(
        script, cwd=here, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "shared" / "tasks").glob("2*/*/*.yaml"))) == 4
    (page,) = (tmp_path / "shared" / "wiki" / "bugs").glob("[!_]*.md")
    assert "hit_count: 4\n" in page.read_text("utf-8")
