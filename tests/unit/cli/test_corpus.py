"""In the corpus of real logs, if it is next to the checkout, all failures are found and named, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"
LEAST = {"recall": 0.98, "class_accuracy": 0.95, "label_accuracy": 0.98, "precision": 0.97}


@pytest.mark.skipif(not (CORPUS / "score.py").is_file(), reason="the corpus is not there")
def test_the_corpus_comes_out_right() -> None:
    command = f"{sys.executable} -m pytest_dvwiki classify --jsonl -"
    scored = subprocess.run(
        [sys.executable, str(CORPUS / "score.py"), str(CORPUS / "logs.jsonl"), "--command", command, "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    values = json.loads(scored.stdout)
    assert values["false_alarms"] == 0
    assert {name: values[name] for name, least in LEAST.items() if values[name] < least} == {}
