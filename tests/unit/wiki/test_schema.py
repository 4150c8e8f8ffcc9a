from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.wiki.schema import Address, SchemaError, load_schema

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, text: str) -> Path:
    (folder / "schema.yaml").write_text(text, "utf-8")
    return folder


def address(text: str) -> Address:
    found = Address.of(text)
    assert found is not None, text
    return found


def test_a_wiki_without_a_schema_has_that_of_a_new_wiki(tmp_path: Path) -> None:
    assert "bugs/*#Resolution" in load_schema(tmp_path).writable("agent")


@pytest.mark.parametrize(
    ("place", "section"),
    [
        ("bugs", "bugs"),
        ("bugs/RTL_1", "bugs/*"),
        ("bugs/RTL_2", "bugs/RTL_2"),
        ("bugs/RTL_1.md#Resolution", "bugs/*#Resolution"),
        ("bugs/RTL_2#Resolution", "bugs/RTL_2#Resolution"),
        ("bugs/RTL_2#Symptom", "bugs/RTL_2"),
        ("patterns/timeout", None),
    ],
)
def test_of_several_sections_the_one_that_names_most_decides(tmp_path: Path, place: str, section: str | None) -> None:
    names = ("bugs/*#Resolution", "bugs/RTL_2#Resolution", "bugs/*", "bugs", "bugs/RTL_2")
    text = "sections:\n" + "".join(f'  "{name}": {{writable_by: [human]}}\n' for name in names)
    found = load_schema(written(tmp_path, text)).section_of(address(place))
    assert (found and str(found.address)) == section


@pytest.mark.parametrize("text", ["", "../bugs", "bugs/a/b", "nothing", "bugs#Resolution", "bugs/", "/bugs", "BUGS"])
def test_what_is_no_place_of_a_wiki_is_no_address(text: str) -> None:
    assert Address.of(text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "no mapping `sections`"),
        ("sections: {bugs: {mod: log}}", ":1: section 'bugs': unknown key 'mod'; the nearest is 'mode'"),
        ("schema: 1\nsections: {}\nsectoins: {}", ":3: unknown key 'sectoins'; the nearest is 'sections'"),
        ("sections:\n  bugs: {}\n  specs:\n    on: 4", ":3: section 'specs': unknown key True"),
        ("sections: {bugs: {mode: diary}}", "mode 'diary' is unknown; write one of snapshot, log"),
        (
            "sections: {bugs: {writable_by: [robot]}}",
            "writable_by 'robot' is unknown; write one of ingest, agent, reviewer, human",
        ),
        ("sections: {bugs: {writable_by: human}}", "writable_by 'human' is unknown"),
        ("sections:\n  bugs:\n    read_cap: 0", ":3: section 'bugs': read_cap 0 is not a number of reads"),
        ("sections: {bug: {}}", "section 'bug': there is no such section; write one of bugs"),
        ("sections: {bugs: 4}", "section 'bugs': it has no keys"),
        ("schema: 7\nsections: {}", "schema 7 is not one that this version reads"),
        ("sections: {bugs: {}, bugs: {}}", "appears twice"),
    ],
)
def test_a_mistake_names_file_place_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load_schema(written(tmp_path, text))
    assert message in str(caught.value)
    assert str(tmp_path / "schema.yaml") in str(caught.value)
