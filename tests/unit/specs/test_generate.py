"""Five rounds make a specification, a draft check and its tests; existing results are reused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml
from llm_server import ScriptedModel
from msgspec.structs import replace

from pytest_dvwiki.checks.evaluate import check
from pytest_dvwiki.checks.schema import load_outline
from pytest_dvwiki.llm.model import ModelError
from pytest_dvwiki.specs.generate import SpecGenerator, SpecResult
from pytest_dvwiki.specs.prompts import ROUNDS, SUMMARY, Texts, TextsError, extracted, summary
from pytest_dvwiki.specs.rounds import clean
from pytest_dvwiki.upkeep.accept import accept
from pytest_dvwiki.wiki.review import ReviewError, ReviewQueue

from ..samples import layout
from .samples import ANSWERS, ITEM, PATTERNS, SECTION2, SECTION3, SECTION4, replies

if TYPE_CHECKING:
    from pathlib import Path


class Bench:
    """A project with one item and a scripted model."""

    def __init__(self, root: Path) -> None:
        self.layout = layout(root)
        self.layout.wiki.mkdir(parents=True)
        self.folder = root / "checks"
        self.folder.mkdir()
        self.item = self.folder / "IMP-1.yaml"
        self.item.write_text(ITEM)
        self.told: list[str] = []
        self.model = ScriptedModel()

    def generate(self, *replies: object, name: str = "m", debug: Path | None = None) -> SpecResult:
        self.model = ScriptedModel(replies=[*replies])  # type: ignore[list-item]
        generator = SpecGenerator(self.layout, self.model, model_name=name, activity=self.told.append, debug=debug)
        return generator.generate(self.item)

    def made(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != "")

    def round(self, number: int, kind: str) -> Path:
        (path,) = self.folder.glob(f".resume_cache/*/round{number}_{kind}.md")
        return path

    def logs(self, *, spef: bool = True) -> None:
        (self.folder / "logs").mkdir(exist_ok=True)
        log = "Reading netlist top.v\n" + "Reading spef top.spef\n" * spef
        (self.folder / "logs/sta.log").write_text(log)
        (self.folder / "logs/top.v").write_text("// Generator: Genus 21.1\n")
        (self.folder / "logs/top.spef").write_text('*PROGRAM "StarRC 2023"\n')


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_what_comes_out(bench: Bench) -> None:
    result = bench.generate(*replies())
    assert (result.status, result.exit_status, result.errors) == ("success", 0, ())
    assert bench.made() == [
        "IMP-1.check.yaml.draft",
        "IMP-1.yaml",
        "IMP-1_ItemSpec.md",
        "IMP-1_base.yaml",
        "IMP-1_global_waiver.yaml",
        "IMP-1_selective_waiver.yaml",
    ]
    text = (bench.folder / "IMP-1_ItemSpec.md").read_text()
    assert text.startswith(
        "# ItemSpec: IMP-1\n\n> A language model wrote this from `IMP-1.yaml`: Confirm that the netlist/SPEF version"
    )
    assert [*re.findall("^## .*", text, re.MULTILINE)] == [
        "## 1. Parsing Logic", "## 2. Check Logic", "## 3. Waiver Logic", "## 4. Implementation Guide"
    ]  # fmt: skip
    draft = yaml.safe_load((bench.folder / "IMP-1.check.yaml.draft").read_text())
    assert [each["name"] for each in draft["items"]] == [
        "Netlist loading", "Netlist version", "SPEF loading", "SPEF version"
    ]  # fmt: skip
    assert draft["requirements"] == {"value": "N/A", "pattern_items": []}
    assert (bench.folder / ".resume_cache/.gitignore").read_text() == "*\n"
    assert result.metadata["models"] == ["scripted scripted"]
    assert result.artifacts["rounds"] == ANSWERS
    assert "IMP-1: round 1 of 5, analysis: asking the model" in bench.told[0]


def test_each_round_gets_its_own_parts(bench: Bench) -> None:
    bench.generate(*replies())
    prompts = [call["prompt"] for call in bench.model.calls]
    systems = [call["system"] for call in bench.model.calls]
    assert [call["step"] for call in bench.model.calls] == [f"spec.{name}" for name in ANSWERS]
    headings = [[*re.findall("^## (.*)", system, re.MULTILINE)] for system in systems]
    assert headings[:4] == [[*each.system] for each in ROUNDS[:4]]
    assert headings[4] == re.findall("^## (.*)", Texts.load().system, re.MULTILINE)
    tags = [[*re.findall("^<([a-z_0-9]+)>$", prompt, re.MULTILINE)] for prompt in prompts]
    same, end = ["guidance", "task", "configuration"], ["template_section", "instructions"]
    assert tags == [
        [*same, *end],
        [*same, "previous_analysis", *end],
        [*same, "section1_parsing_logic", "analysis_reference", *end],
        [*same, "previous_sections", "analysis_reference", *end],
        [*same, "previous_sections_summary", "section1", "section2", "section3", "items_of_section2", *end],
    ]
    for prompt in prompts:
        assert 'input_files: "2 configured"' in prompt
        assert "sta*.log" not in prompt
    assert [prompt.count("\n## ") for prompt in prompts[1:4]] == [2, 3, 4]  # guidance, template, earlier sections
    for number in (1, 2, 3, 4):
        assert f"## {number}." in prompts[number].partition("<template_section>")[2]
    assert len(re.findall(r"^2\.\d SPEF|^2\.\d Netlist", prompts[4], re.MULTILINE)) == 4
    for body in re.findall(r"<section\d>\n(.*?)\n</section\d>", prompts[4], re.DOTALL):
        assert len(body) <= SUMMARY


def test_a_summary_is_cut_at_a_line() -> None:
    assert summary("short") == "short"
    text = "\n".join(f"line {number} of them" for number in range(60))
    cut = summary(text)
    kept, _, note = cut.rpartition("\n")
    assert len(cut) <= SUMMARY
    assert text.startswith(kept + "\n")
    assert note == f"… ({len(text) - len(kept)} characters are left out)"
    assert len(summary("x" * 900)) <= SUMMARY


def test_a_missing_tag_and_several() -> None:
    assert extracted(" all of it ", "analysis") == (
        "all of it", "no tags <analysis> in the answer; all of it is used"
    )  # fmt: skip
    assert extracted("<a>1</a> <a>2</a>", "a") == ("1", "2 pairs of tags <a> in the answer; the first is used")
    assert extracted("<a>not closed", "a")[0] == "<a>not closed"


def test_warnings_of_tags_are_told(bench: Bench) -> None:
    result = bench.generate(replies()[0], ANSWERS["section1"], *replies()[2:])
    assert result.status == "success"
    assert result.metadata["warnings"] == ["round 2: no tags <section1> in the answer; all of it is used"]


def test_a_specification_that_fails_is_written_with_its_issues(bench: Bench) -> None:
    result = bench.generate(*replies(section3=SECTION3.replace("Items 2.3 and 2.4", "Item 2.9")))
    assert (result.status, result.exit_status) == ("needs_review", 1)
    text = (bench.folder / "IMP-1_ItemSpec_NEEDS_REVIEW.md").read_text()
    assert text.startswith(
        "<!-- NEEDS REVIEW\n  - the waiver '3.1 No parasitics yet' mentions 2.9, not defined in section 2"
    )
    assert bench.made() == ["IMP-1.yaml", "IMP-1_ItemSpec_NEEDS_REVIEW.md"]
    assert not ReviewQueue(bench.layout).pending()
    bench.round(4, "section3").write_text(SECTION3)  # a person corrects the round
    result = bench.generate(replies()[4])  # the last round sees a summary of it
    assert (result.status, result.metadata["resumed"]) == ("success", [1, 2, 3, 4])
    assert "IMP-1_ItemSpec_NEEDS_REVIEW.md" not in bench.made()


def test_a_killed_run_goes_on_with_the_next_round(bench: Bench) -> None:
    result = bench.generate(*replies()[:2], ModelError("no model answered: openai small: refused"))
    assert (result.status, result.exit_status) == ("failed", 3)
    assert result.errors == ("no model answered: openai small: refused",)
    result = bench.generate(*replies()[2:])
    assert (result.status, result.metadata["resumed"]) == ("success", [1, 2])
    assert [call["step"] for call in bench.model.calls] == ["spec.section2", "spec.section3", "spec.section4"]


def test_a_damaged_round_is_made_again_and_with_it_those_that_follow_from_it(bench: Bench) -> None:
    bench.generate(*replies())
    bench.round(3, "section2").write_text("x" * 99)
    result = bench.generate(*replies(section2=SECTION2 + "\n\nOnce more.")[2:])
    assert result.metadata["resumed"] == [1, 2]
    bench.round(4, "response").write_text("other")  # the result differs from the answer: a person edited it
    bench.round(3, "section2").unlink()
    result = bench.generate(*replies()[2:3], *replies()[4:])
    assert result.metadata["resumed"] == [1, 2, 4]


def test_an_edited_result_is_kept_and_used(bench: Bench) -> None:
    bench.generate(*replies())
    bench.round(1, "analysis").write_text(ANSWERS["analysis"] + "\nBoth files, always.")
    result = bench.generate(*replies()[1:])
    assert result.metadata["resumed"] == [1, 5]  # the last round does not see the analysis
    assert "Both files, always." in bench.model.calls[0]["prompt"]


@pytest.mark.parametrize("change", ["item", "template", "model"])
def test_another_item_template_or_model_starts_again(bench: Bench, change: str) -> None:
    bench.generate(*replies())
    if change == "item":
        bench.item.write_text(ITEM.replace("correct", "right"))
    if change == "template":
        (bench.layout.agent / "spec").mkdir()
        (bench.layout.agent / "spec/template.md").write_text(Texts.load().template.replace("Test data", "Data"))
    result = bench.generate(*replies(), name="other" if change == "model" else "m")
    assert (result.status, result.metadata["resumed"]) == ("success", [])
    assert bench.generate(name="other" if change == "model" else "m").metadata["resumed"] == [1, 2, 3, 4, 5]


def test_sections_of_a_template_count_by_their_headings(bench: Bench) -> None:
    texts = Texts.load()
    above, *sections = re.split(r"^(?=## [1-4]\.)", texts.template, flags=re.MULTILINE)
    turned = replace(texts, template="\n".join([above, *reversed(sections)]))
    item, results = load_outline(bench.item), dict.fromkeys(ANSWERS, "x")
    for each in ROUNDS:
        prompts = [" ".join(one.prompt_of(each, "a", item, results).split()) for one in (texts, turned)]
        assert prompts[0] == prompts[1]


@pytest.mark.parametrize(
    ("name", "heading"), [("template", "3. Waiver Logic"), ("system", "Check logic"), ("guidance", "Section 2")]
)
def test_a_text_file_without_a_part_is_refused(bench: Bench, name: str, heading: str) -> None:
    own = bench.layout.agent / "spec" / f"{name}.md"
    own.parent.mkdir()
    own.write_text(getattr(Texts.load(), name).replace(f"## {heading}", "## Something"))
    with pytest.raises(TextsError, match=re.escape(f"{own}: it lacks the heading `## {heading}`; add it")):
        Texts.load(own.parent)
    result = bench.generate(*replies())
    assert (result.exit_status, bench.model.calls) == (2, [])


def test_files_of_a_debug_folder(bench: Bench, tmp_path: Path) -> None:
    bench.generate(*replies(), debug=tmp_path / "seen")
    (folder,) = (tmp_path / "seen").iterdir()
    names = {path.name for path in folder.iterdir()}
    assert len(names) == 21
    assert {"config.yaml", "round1_system_prompt.md", "round1_prompt.md", "round1_response.md"} < names
    assert {"round1_analysis.md", "round2_section1.md", "round5_section4.md"} < names
    assert not (bench.folder / ".resume_cache").exists()
    assert clean(tmp_path / "seen", 1) == []
    (tmp_path / "seen" / "mine-0123456789ab").mkdir()
    assert clean(tmp_path / "seen", 0) == [folder]


def test_wrong_input(bench: Bench) -> None:
    for text, told in (
        ("", "the file is empty"),
        ("- a\n", "the file has a list"),
        ('description: "x\n', "YAML"),
        ("requirements: {value: N/A}\n", "the key description is needed"),
        (ITEM + "items: []\n", "there is no key 'items'"),
    ):
        bench.item.write_text(text)
        result = bench.generate()
        assert (result.status, result.exit_status) == ("failed", 2)
        assert told in result.errors[0]
    bench.item.write_bytes(b"description: \xe4\n")
    assert "not UTF-8" in bench.generate().errors[0]
    bench.item.unlink()
    assert "there is no such file" in bench.generate().errors[0]


def test_without_a_model_only_what_is_there_can_be_used(bench: Bench) -> None:
    result = SpecGenerator(bench.layout, None, model_name="m").generate(bench.item)
    assert (result.exit_status, result.errors[0].partition(";")[0]) == (3, "no model is set up")
    bench.generate(*replies())
    assert SpecGenerator(bench.layout, None, model_name="m").generate(bench.item).exit_status == 0


def test_files_that_people_edited_are_left_alone(bench: Bench) -> None:
    bench.generate(*replies())
    spec, test = bench.folder / "IMP-1_ItemSpec.md", bench.folder / "IMP-1_base.yaml"
    for path in (spec, test):
        path.write_text(path.read_text() + "ours\n")
    assert bench.generate().status == "success"  # nothing new was made
    result = bench.generate(*replies(section4=SECTION4.replace("Genera", "Made").replace("\\S+)'", "\\S*)'")), name="n")
    assert (result.status, result.exit_status) == ("needs_review", 1)
    assert [each.partition(": ")[0] for each in result.errors] == [str(spec), str(test)]
    assert result.result == "IMP-1: some files were not written"
    assert spec.read_text().endswith("ours\n")


def test_several_items_at_a_time(bench: Bench) -> None:
    items = []
    for name in ("a", "b", "c"):
        items.append(bench.folder / f"{name}.yaml")
        items[-1].write_text(ITEM.replace("Confirm", f"Confirm for {name}"))
    by_step = dict(zip(ANSWERS, replies(), strict=True))

    def answer(prompt: str) -> str:
        (tag,) = re.findall(r"between <(\w+)>", prompt)
        return str(by_step[tag])

    generator = SpecGenerator(bench.layout, ScriptedModel(replies=[answer]))
    results = generator.generate_all([*items, bench.folder / "no.yaml"], jobs=3)
    assert [(each.artifacts["item_id"], each.exit_status) for each in results] == [
        ("a", 0), ("b", 0), ("c", 0), ("no", 2)
    ]  # fmt: skip
    assert len(ReviewQueue(bench.layout).pending()) == 3
    twice = generator.generate_all([items[0], items[0]])
    assert [each.exit_status for each in twice] == [2, 2]
    again = generator.generate_all([items[0], bench.folder / ".." / bench.folder.name / "a.yaml"])
    assert [each.exit_status for each in again] == [2, 2]


def test_an_item_has_one_name_however_its_path_is_written(bench: Bench) -> None:
    bench.generate(*replies())
    generator = SpecGenerator(bench.layout, None, model_name="m")
    there = bench.folder / ".." / bench.folder.name
    result = generator.generate(there / bench.item.name, there)
    assert result.artifacts["itemspec_path"] == str(bench.folder / "IMP-1_ItemSpec.md")
    (proposal,) = ReviewQueue(bench.layout).pending()
    assert (proposal.id, proposal.target) == (result.artifacts["proposal"], "checks/IMP-1.check.yaml")


# The draft


def test_an_accepted_draft_is_a_check_and_is_not_proposed_again(bench: Bench) -> None:
    result = bench.generate(*replies())
    (proposal,) = ReviewQueue(bench.layout).pending()
    assert (proposal.id, proposal.kind, proposal.target) == (
        result.artifacts["proposal"], "check", "checks/IMP-1.check.yaml"
    )  # fmt: skip
    told = accept(bench.layout, proposal.id, by="ann")
    assert told == "checks/IMP-1.check.yaml is a check now; `pytest --dvwiki` runs it"
    assert "IMP-1.check.yaml.draft" not in bench.made()
    bench.logs()
    path = bench.folder / "IMP-1.check.yaml"
    assert check(path, root=bench.folder, environment={}).status == "PASS"
    bench.generate()
    assert "IMP-1.check.yaml.draft" not in bench.made()
    assert not ReviewQueue(bench.layout).pending()


def test_what_a_person_changes_in_the_draft_is_accepted(bench: Bench) -> None:
    result = bench.generate(*replies())
    draft = bench.folder / "IMP-1.check.yaml.draft"
    draft.write_text(draft.read_text().replace("Reading spef", "read_spef"))
    queue = ReviewQueue(bench.layout)
    queue.edit(result.artifacts["proposal"], "description: other\n", by="ben")
    with pytest.raises(ReviewError, match="were both edited"):
        accept(bench.layout, result.artifacts["proposal"], by="ann")
    queue.edit(result.artifacts["proposal"], draft.read_text(), by="ben")
    accept(bench.layout, result.artifacts["proposal"], by="ann")
    assert "read_spef" in (bench.folder / "IMP-1.check.yaml").read_text()


def test_a_draft_is_refused_that_is_no_check_or_is_out_of_date(bench: Bench) -> None:
    result = bench.generate(*replies())
    draft, path = bench.folder / "IMP-1.check.yaml.draft", bench.folder / "IMP-1.check.yaml"
    draft.write_text("descriptio: d\n")
    with pytest.raises(ReviewError, match="there is no key 'descriptio'"):
        accept(bench.layout, result.artifacts["proposal"], by="ann")
    path.write_text("description: by hand\n")
    with pytest.raises(ReviewError, match="changed since this was proposed"):
        accept(bench.layout, result.artifacts["proposal"], by="ann")
    assert path.read_text() == "description: by hand\n"


def test_a_newer_draft_takes_the_place_of_one_that_waits(bench: Bench) -> None:
    first = bench.generate(*replies()).artifacts["proposal"]
    second = bench.generate(*replies(section4=SECTION4.replace("Generator", "Made by")), name="n").artifacts["proposal"]
    queue = ReviewQueue(bench.layout)
    assert [each.id for each in queue.pending()] == [second]
    assert (queue.get(first).decision, queue.get(first).note) == ("rejected", f"replaced by {second}")


def test_what_has_no_expression_is_told(bench: Bench) -> None:
    without = SECTION4.partition("  - name: SPEF loading")[0] + "```"
    result = bench.generate(*replies(section4=without))
    told = "the specification has no expression for 2.3 SPEF loading; the draft does not check it"
    assert (result.status, told in result.metadata["warnings"]) == ("success", True)
    draft = (bench.folder / "IMP-1.check.yaml.draft").read_text()
    assert "# not checked, because no expression was given: 2.3 SPEF loading\n" in draft


def test_a_block_that_cannot_be_used_needs_review(bench: Bench) -> None:
    result = bench.generate(*replies(section4=SECTION4.replace("from: SPEF loading", "from: nothing")))
    assert result.exit_status == 1
    start = "no check can be made from the specification: 'nothing' is not an item above this one; "
    assert result.errors[0].startswith(start)


@pytest.mark.parametrize(
    ("item", "names"),
    [
        (ITEM, ["base", "global_waiver", "selective_waiver"]),
        (PATTERNS, ["pattern", "pattern_global_waiver", "pattern_selective_waiver"]),
    ],
)
@pytest.mark.parametrize("spef", [True, False])
def test_each_test_configuration_gives_one_of_its_results(
    bench: Bench, item: str, names: list[str], *, spef: bool
) -> None:
    bench.item.write_text(item)
    assert bench.generate(*replies()).status == "success"
    bench.logs(spef=spef)
    for name in names:
        result = check(bench.folder / f"IMP-1_{name}.yaml", root=bench.folder, environment={})
        assert result.expectation is not None, (name, result.as_json())
        waived = result.expectation.when == "'*SPEF*' waives what is missing"
        assert waived is not spef or name.endswith("global_waiver"), result.expectation.when
    assert not list(bench.folder.glob(f"IMP-1_{'pattern' if item is ITEM else 'base'}*"))


def test_the_waivers_of_a_test_are_what_section_3_accepts(bench: Bench) -> None:
    bench.generate(*replies())
    tried = yaml.safe_load((bench.folder / "IMP-1_selective_waiver.yaml").read_text())
    # "netlist" would also accept the item 2.1, which section 3 does not.
    assert tried["waivers"] == {"value": 2, "waive_items": ["*SPEF*", "Netlist version"]}
    assert [(case["when"], case["status"], case["waived"]) for case in tried["expected"]] == [
        ("every item is there", "PASS", []),
        ("'*SPEF*' waives what is missing", "PASS", ["SPEF loading", "SPEF version"]),
        ("'Netlist version' waives what is missing", "PASS", ["Netlist version"]),
    ]
