"""The names of runs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pytest_dvwiki.runs import epoch, new_task_id


def test_runs_of_one_second_are_sorted_in_the_order_of_their_starts() -> None:
    starts = [1_800_000_000 + fraction / 1000 for fraction in range(0, 2000, 7)]
    names = [new_task_id("nightly", started) for started in starts]
    assert names == sorted(names)
    assert len(set(names)) == len(names)


def test_the_name_of_a_run_is_part_of_a_file_s_name() -> None:
    assert new_task_id("../a b/ç", 0).startswith("a-b_19700101T000000Z_")
    assert new_task_id("...", 0).startswith("regression_19700101T000000Z_")


@pytest.mark.parametrize("moment", ["2026-11-25T21:00:00Z", "1970-01-01T00:00:00Z", "2026-1-2T3:4:5Z"])
def test_a_time_of_a_record_is_in_utc(moment: str) -> None:
    assert epoch(moment) == datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize("moment", ["", "2026-13-01T00:00:00Z", "2026-11-25T24:00:00Z", "2026-11-25T21:00:00"])
def test_another_text_is_no_time(moment: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        epoch(moment)
