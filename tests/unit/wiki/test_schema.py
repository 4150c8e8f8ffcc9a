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
        ("bugs/fifo/RTL_3", "bugs/*"),
        ("bugs/axi/RTL_3", "bugs/axi/*"),
        ("bugs/RTL_2#Symptom", "bugs/RTL_2"),
        ("patterns/timeout", None),
    ],
)
def test_of_several_sections_the_one_that_names_most_decides(tmp_path: Path, place: str, section: str | None) -> None:
    names = ("bugs/*#Resolution", "bugs/RTL_2#Resolution", "bugs/*", "bugs", "bugs/RTL_2", "bugs/axi/*")
    text = "sections:\n" + "".join(f'  "{name}": {{writable_by: [human]}}\n' for name in names)
    found = load_schema(written(tmp_path, text)).section_of(address(place))
    assert (found and str(found.address)) == section


@pytest.mark.parametrize(
    "text", ["", "../bugs", "bugs/a//b", "nothing/a", "index", "review", "bugs#Resolution", "bugs/", "/bugs", "BUGS"]
)
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
            "writable_by must be a list of known roles, not 'robot'; write one or more of ingest, agent",
        ),
        ("sections: {bugs: {writable_by: human}}", "writable_by must be a list of known roles, not 'human'"),
        ("sections:\n  bugs:\n    read_cap: 0", ":3: section 'bugs': read_cap 0 is not a number of reads"),
        ("sections: {bug: {}}", "section 'bug': unknown section; write one of bugs"),
        ("sections: {bugs: 4}", "section 'bugs': it has no keys"),
        ("schema: 7\nsections: {}", "schema 7 is unknown to this version of dvwiki"),
        ("sections: {bugs: {}, bugs: {}}", "appears twice"),
        ("sections: {vision: {mode: log}}", "section 'vision': unknown section; write one of bugs"),
        ("sections: {index: {title: Index}}", "section 'index': unknown section"),
        ("sections: {bugs: {title: [1]}}", "section 'bugs': title [1] is not a single line of text"),
        ("roles: [planner]\nsections: {}", ":1: the role 'planner' has no effect"),
        ("roles: [human]\nsections: {}", "'human' has no effect: every wiki has it"),
        ("roles: [Big One]\nsections: {}", "roles 'Big One' is not valid"),
        (
            "sections: {}\npipeline: [agent, robot]",
            ":2: pipeline 'robot' is not valid; write a list in which each item is one of ingest",
        ),
        ("sections: {}\npipeline: agent", "pipeline 'agent' is not valid; write a list"),
        ("sections: {}\npipeline: [agent, agent]", "pipeline lists 'agent' twice"),
        ("sections: {}\nmax_steps: 4", ":2: max_steps has no effect without a pipeline"),
        ("sections: {}\npipeline: [agent, human]", "the role agent of the pipeline cannot hand on its work"),
        (
            "sections: {handoffs: {mode: log, writable_by: [agent, human]}}\npipeline: [agent, human]\nmax_steps: 0",
            "max_steps 0 is not a number of handoffs",
        ),
    ],
)
def test_a_mistake_names_file_place_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load_schema(written(tmp_path, text))
    assert message in str(caught.value)
    assert str(tmp_path / "schema.yaml") in str(caught.value)


def test_a_project_names_its_own_roles_sections_and_their_order(tmp_path: Path) -> None:
    text = """\
roles: [planner, engineer]
sections:
  vision: {title: Vision, description: Where to, writable_by: [planner]}
  handoffs: {mode: log, writable_by: [planner, engineer]}
pipeline: [planner, engineer]
"""
    schema = load_schema(written(tmp_path, text))
    assert schema.writable("planner") == ["vision", "handoffs"]
    assert [(section.address.path, section.title) for section in schema.files()] == [
        ("vision.md", "Vision"),
        ("handoffs.md", ""),
    ]
    assert (schema.pipeline, schema.max_steps) == (("planner", "engineer"), 4)
    assert load_schema(written(tmp_path, "sections: {}\npipeline: null\nmax_steps: null")).pipeline == ()
