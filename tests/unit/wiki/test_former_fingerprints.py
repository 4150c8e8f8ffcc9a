"""Fingerprints of version 1 on record: a cause keeps its page, and causes that version 1 merged are separated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from msgspec.structs import replace

from pytest_dvwiki.version import FINGERPRINT_VERSION
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import files, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence, RunRecord

OLD, PORT_A, PORT_B = "0" * 12, "a" * 12, "b" * 12
OTHER = "7" * 12


def now(number: int, *fingerprints: str) -> RunRecord:
    return record(number, *map(heir, fingerprints), fingerprint_version=FINGERPRINT_VERSION, schema=2)


def heir(fingerprint: str) -> Occurrence:
    return replace(occurrence(fingerprint), fingerprint_v1=OLD)


def pages(root: Path) -> dict[str, tuple[str, list[str], int]]:
    """Return fingerprint, aliases and runs of the bug pages, by name."""
    found = {}
    for path in sorted((layout(root).wiki / "bugs").glob("[!_]*.md")):
        metadata = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        found[path.stem] = (metadata["fingerprint"], metadata["fingerprint_aliases"], metadata["hit_count"])
    return found


def archived(root: Path, *records: RunRecord) -> dict[str, tuple[str, list[str], int]]:
    for each in records:
        archive(layout(root), each)
    return pages(root)


BEFORE = [record(1, occurrence(OLD)), record(2, occurrence(OLD))]


def test_the_page_of_a_cause_goes_on_under_its_new_fingerprint(tmp_path: Path) -> None:
    (name,) = archived(tmp_path, *BEFORE)
    assert archived(tmp_path, now(3, PORT_A)) == {name: (PORT_A, [OLD], 3)}
    assert build(layout(tmp_path), check=True).changed == []
    with WikiHistory(layout(tmp_path)) as history:
        assert {known.history.runs for each in (OLD, PORT_A) if (known := history.cause(each)) and known.history} == {3}


def test_before_its_run_is_archived_a_cause_is_known_by_its_former_fingerprint(tmp_path: Path) -> None:
    archived(tmp_path, *BEFORE)
    with WikiHistory(layout(tmp_path)) as history:
        assert history.cause(PORT_A) is None
        history.register_formers({PORT_A: OLD})
        known = history.cause(PORT_A)
        assert known is not None
        assert known.history is not None
        assert known.history.runs == 2
        history.register_formers({PORT_A: OLD, PORT_B: OLD})
        assert history.cause(PORT_A) is None, "nobody can tell whose history it is"


def test_a_former_fingerprint_that_is_on_no_record_names_no_cause(tmp_path: Path) -> None:
    """Otherwise facts of the run itself would be looked up under it."""
    with WikiHistory(layout(tmp_path)) as history:
        history.register_formers({PORT_A: OLD})
        assert history.names(PORT_A, None) == ((PORT_A,), ())


@pytest.mark.parametrize("runs", [[(PORT_A,), (PORT_B,)], [(PORT_B,), (PORT_A,)], [(PORT_A, PORT_B), (PORT_A,)]])
def test_where_one_fingerprint_leads_to_several_its_history_stays_on_its_page(
    tmp_path: Path, runs: list[tuple[str, ...]]
) -> None:
    (name,) = archived(tmp_path, *BEFORE)
    found = archived(tmp_path, *(now(number, *causes) for number, causes in enumerate(runs, 3)))
    assert found.pop(name) == (OLD, [], 2)
    assert sorted((fingerprint, aliases) for fingerprint, aliases, _ in found.values()) == [(PORT_A, []), (PORT_B, [])]
    wiki = layout(tmp_path).wiki
    for other in found:
        assert f"[{name}]({name}.md)" in (wiki / "bugs" / f"{other}.md").read_text(encoding="utf-8")
        assert f"[{other}]({other}.md)" in (wiki / "bugs" / f"{name}.md").read_text(encoding="utf-8")
    assert build(layout(tmp_path), check=True).changed == []


def test_the_order_in_which_records_come_does_not_matter(tmp_path: Path) -> None:
    runs = [*BEFORE, now(3, PORT_A), now(4, PORT_B), now(5, PORT_A)]
    found = []
    for order in ((0, 1, 2, 3, 4), (0, 4, 3, 2, 1)):
        root = tmp_path / "".join(map(str, order))
        archived(root, *(runs[number] for number in order))
        build(layout(root))
        wiki = files(layout(root).wiki)
        found.append({path: data for path, data in wiki.items() if path.startswith(("bugs/", "patterns/"))})
    assert found[0] == found[1]


def test_a_merge_that_names_a_former_fingerprint_holds_for_all_that_it_held(tmp_path: Path) -> None:
    archived(tmp_path, *BEFORE, record(3, occurrence(OTHER)))
    by_print = {print_: name for name, (print_, _, _) in pages(tmp_path).items()}
    merge(layout(tmp_path), f"bugs/{by_print[OTHER]}.md", f"bugs/{by_print[OLD]}.md")
    found = archived(tmp_path, now(4, PORT_A), now(5, PORT_B))
    assert found[by_print[OTHER]] == (OTHER, [OLD, PORT_A, PORT_B], 5)
    assert len(found) == 2
    assert build(layout(tmp_path), check=True).changed == []


def test_a_waiver_may_name_a_former_fingerprint_or_its_page(tmp_path: Path) -> None:
    (name,) = archived(tmp_path, *BEFORE)
    found = archived(tmp_path, now(3, PORT_A, PORT_B))
    with WikiHistory(layout(tmp_path)) as history:
        for cause in (PORT_A, PORT_B):
            prints, names = history.names(cause, OLD)
            assert (prints[0], OLD in prints, name in names) == (cause, True, True)
    assert len(found) == 3


def test_a_cause_of_which_no_older_record_tells_has_no_alias(tmp_path: Path) -> None:
    found: dict[str, Any] = archived(tmp_path, now(1, PORT_A))
    assert list(found.values()) == [(PORT_A, [], 1)]
