"""The benchmark of agents fits the sample testbench, and its scripted agent finds the changes of a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_agents.faults import FAULTS, bring, copy_of_the_sample
from bench_agents.policy import changed, taken_away

if TYPE_CHECKING:
    from pathlib import Path

PATCH = """\
1234567 fifo: full flag
diff --git a/rtl/a.v b/rtl/a.v
--- a/rtl/a.v
+++ b/rtl/a.v
@@ -3,3 +3,4 @@ module
 keep
-assign old;
+// remark
+assign new;
 keep
diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1 @@
-a
+b
"""


def test_each_fault_is_one_edit_that_can_be_taken_back(tmp_path: Path) -> None:
    copy_of_the_sample(tmp_path)
    assert len(FAULTS) == 12

    def texts() -> dict[str, str]:
        return {str(path): path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()}

    before = texts()
    assert not [name for name, text in before.items() if "fault_" in text or "faults." in text]
    for fault in FAULTS:
        brought = bring(fault, tmp_path)
        assert texts() != before
        assert brought.is_at(fault.file, brought.at + 1)
        assert not brought.is_at(fault.file, brought.at + 3)
        brought.repair()
        assert texts() == before


def test_what_a_commit_changed() -> None:
    assert [*changed(PATCH)] == [("rtl/a.v", 4), ("rtl/a.v", 5)]
    assert taken_away(PATCH, "rtl/a.v") == ["assign old;"]
