"""An agent that runs as a test, and gets the knowledge of the wiki from fixtures. No model is called.

pytest agent -s    shows the prompt
"""

from __future__ import annotations

import pytest

TEMPLATE = """\
You repair a FIFO and its testbench. Failures seen here before:
{{KNOWN_ERROR_PATTERNS}}

Bugs of the design that are open:
{{KNOWN_RTL_BUGS}}
"""


@pytest.fixture(autouse=True)
def _something_is_known(dvwiki) -> None:
    if not dvwiki.get_pattern_summary():
        pytest.skip("the wiki knows nothing yet: run pytest --dvwiki with a fault switched on")


def test_the_prompt_names_the_failures_of_the_fifo(dvwiki_prompt, dvwiki_context) -> None:
    prompt = dvwiki_prompt(TEMPLATE) + dvwiki_context("fifo scoreboard", budget=600)
    print(prompt)
    assert "**scoreboard_fail** (hit_count: " in prompt
    assert "expected 0x" in prompt
    assert "{{" not in prompt
