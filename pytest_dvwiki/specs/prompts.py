"""The prompts of the five rounds, built from text files that a project can replace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import reading, yamlio
from pytest_dvwiki.llm.model import quoted
from pytest_dvwiki.redact import redact
from pytest_dvwiki.specs import document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_dvwiki.checks.schema import Outline

FOLDER = "spec"
"""Folder, next to the wiki, with the project's versions of the text files."""
SUMMARY = 500
"""Maximum length of the summary of an earlier section, in characters."""
_NOTE = 60
"""Maximum length of the note in a summary on what was left out, in characters."""
_TEXTS = Path(__file__).parent / "texts"
_PART = re.compile(r"^## (.+?)[ \t]*\n", re.MULTILINE)
_SECTION = re.compile(r"^(?=## [1-4]\.)", re.MULTILINE)


class TextsError(Exception):
    """Raised if a text file lacks a part; the message gives the file, the part and the remedy."""


class Round(Struct, frozen=True):
    """One of the five rounds of writing a specification with a model."""

    number: int
    name: str
    """Name of the round and of the tags around the model's answer."""
    title: str
    task: str
    system: tuple[str, ...]
    """The parts of the system prompt for the round; empty for the whole prompt."""
    guidance: tuple[str, ...]

    @property
    def step(self) -> str:
        """Return the round's name in the settings, where a model can be chosen for it."""
        return f"spec.{self.name}"


_FORM = "Form of the answer"
ROUNDS = (
    Round(
        1,
        "analysis",
        "analysis",
        "Analyse what the description demands. Nothing is specified yet.",
        ("Role", "Types", _FORM),
        ("Analysis",),
    ),
    Round(
        2,
        "section1",
        "parsing logic",
        "Write section 1: what is read.",
        ("Role", "Parsing logic", _FORM),
        ("Section 1",),
    ),
    Round(
        3,
        "section2",
        "check logic",
        "Write section 2: what is judged.",
        ("Role", "Types", "Check logic", _FORM),
        ("Section 2",),
    ),
    Round(
        4,
        "section3",
        "waiver logic",
        "Write section 3: which failures are acceptable.",
        ("Role", "Types", "Waiver logic", _FORM),
        ("Section 3",),
    ),
    Round(
        5,
        "section4",
        "implementation guide",
        "Write section 4: how the check is made.",
        (),
        ("Section 4", "Quality criteria", "Example of reasoning"),
    ),
)


class Texts(Struct, frozen=True):
    """The text files for building prompts."""

    system: str
    guidance: str
    template: str

    @classmethod
    def load(cls, folder: Path | None = None) -> Texts:
        """Read the text files. The project's version of a file takes precedence over the package's.

        Args:
            folder: The folder with the project's text files; None to read the package's.

        Raises:
            TextsError: A file lacks a required part.
            OSError: A file cannot be read.
        """
        found, paths = {}, {}
        for name in ("system", "guidance", "template"):
            own = folder / f"{name}.md" if folder else None
            paths[name] = own if own and own.exists() else _TEXTS / f"{name}.md"
            found[name] = reading.read_text(paths[name])
        texts = cls(**found)
        needed = {
            "system": {part for each in ROUNDS for part in each.system},
            "guidance": {part for each in ROUNDS for part in each.guidance},
            "template": set(document.HEADINGS),
        }
        for name, parts in needed.items():
            lacking = sorted(parts - _parts(found[name]).keys())
            if lacking:
                raise TextsError(f"{paths[name]}: it lacks the heading `## {lacking[0]}`; add it, with its text below")
        return texts

    def system_of(self, round_: Round) -> str:
        """Return the system prompt of a round."""
        return _chosen(self.system, round_.system) if round_.system else self.system.strip()

    def prompt_of(self, round_: Round, name: str, outline: Outline, results: Mapping[str, str]) -> str:
        """Return the prompt of a round.

        Args:
            round_: The round.
            name: Name of the item.
            outline: The parsed content of the item.
            results: Maps the name of each earlier round to its result.
        """
        above, *sections = _SECTION.split(self.template)
        starts = f"## {round_.number - 1}."
        template = next((text for text in sections if text.startswith(starts)), above)
        parts = [
            quoted("guidance", _chosen(self.guidance, round_.guidance)),
            quoted("task", round_.task),
            quoted("configuration", f"```yaml\n{configuration(outline)}```"),
            *_earlier(round_, results),
            quoted("template_section", filled(template.strip(), name, outline)),
            quoted("instructions", f"Write the answer between <{round_.name}> and </{round_.name}>."),
        ]
        return "\n\n".join(parts) + "\n"


def _parts(text: str) -> dict[str, str]:
    """Map headings to the text of each part; only the first of equal headings is used."""
    return document.by_heading(_PART.split(text))


def _chosen(text: str, names: Iterable[str]) -> str:
    parts = _parts(text)
    return "\n\n".join(f"## {name}\n\n{parts[name].strip()}" for name in names)


def configuration(outline: Outline) -> str:
    """Return the item for use in prompts, with the number of input files in place of their paths."""
    patterns, waivers = (
        None if given is None else [each.text for each in given] for given in (outline.patterns, outline.waivers)
    )
    return redact(
        yamlio.dump(
            {
                "description": outline.description,
                "requirements": counted(patterns, "pattern_items"),
                "input_files": f"{len(outline.input_files)} configured",
                "waivers": counted(waivers, "waive_items", is_global=outline.is_global),
            }
        )
    )


def counted(listed: list[str] | None, key: str, *, is_global: bool = False) -> dict[str, object]:
    """Return the block `requirements` or `waivers` of a check, for a list of patterns or waivers."""
    return {"value": "N/A" if listed is None else 0 if is_global else len(listed), key: listed or []}


def filled(text: str, name: str, outline: Outline) -> str:
    """Return a text with its placeholders filled in."""
    return text.replace("{ITEM_ID}", name).replace("{DESCRIPTION}", redact(outline.description))


def _earlier(round_: Round, results: Mapping[str, str]) -> list[str]:
    """Return the results of earlier rounds that a round needs, enclosed in tags."""
    if round_.name == "analysis":
        return []
    if round_.name == "section1":
        return [quoted("previous_analysis", results["analysis"])]
    sections = [results[before.name] for before in ROUNDS[1 : round_.number - 1]]
    if round_.name == "section4":
        shortened = "\n\n".join(quoted(f"section{at}", summary(text)) for at, text in enumerate(sections, start=1))
        # A summary rarely reaches the last item, but the block `items` has to name all items.
        items = "\n".join(f"{item.number} {item.title}" for item in document.items_of(sections[1]))
        return [quoted("previous_sections_summary", shortened), quoted("items_of_section2", items)]
    tag = "section1_parsing_logic" if round_.name == "section2" else "previous_sections"
    return [quoted(tag, "\n\n".join(sections)), quoted("analysis_reference", results["analysis"])]


def summary(text: str) -> str:
    """Return a section or, if it is too long, its first lines with a note on how much is left out."""
    if len(text) <= SUMMARY:
        return text
    kept = text[: SUMMARY - _NOTE].rpartition("\n")[0] or text[: SUMMARY - _NOTE]
    return f"{kept}\n… ({len(text) - len(kept)} characters are left out)"


def extracted(text: str, tag: str) -> tuple[str, str]:
    """Return the text between the first pair of the given tags, and a warning.

    Returns:
        The text, or the whole answer if there are no such tags; and the warning, which is empty if there is exactly one
        pair of tags.
    """
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    if not found:
        return text.strip(), f"no tags <{tag}> in the answer; all of it is used"
    several = f"{len(found)} pairs of tags <{tag}> in the answer; the first is used" if len(found) > 1 else ""
    return found[0].strip(), several
