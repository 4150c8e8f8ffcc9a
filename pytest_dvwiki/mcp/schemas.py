"""The tools as clients see them: names, descriptions, and the schemas of their arguments and answers.

Every object of every schema refuses unknown keys. The keys of answers have the same names as in `--format json`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pytest_dvwiki.wiki.page_summary import CATEGORIES

VERSION = 1
"""Version of the answer format, sent as `schema` in every answer."""
Schema = dict[str, Any]


class McpTool(NamedTuple):
    """A tool as clients see it."""

    description: str
    arguments: Schema
    required: tuple[str, ...]
    answer: Schema
    """The keys of the tool's answer, apart from the keys common to all answers."""
    writes: bool = False

    def input_schema(self, projects: list[str]) -> Schema:
        """Return the schema of the arguments; if there are several projects, the argument `project` is required."""
        choice = {"project": {"type": "string", "enum": projects}} if len(projects) > 1 else {}
        return _object({**self.arguments, **choice}, (*self.required, *choice))

    @property
    def output_schema(self) -> Schema:
        """Return the schema of the answer."""
        return _object({**_EVERY, **self.answer}, _ALWAYS)


def _object(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _or_null(name: str) -> Schema:
    return {"type": [name, "null"]}


def _texts(*names: str) -> Schema:
    return dict.fromkeys(names, _TEXT)


def _optional_texts(*names: str) -> Schema:
    return dict.fromkeys(names, _or_null("string"))


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_CATEGORY: Schema = {"type": "string", "enum": list(CATEGORIES)}
_BUDGET: Schema = {"type": "integer", "minimum": 100}
_EVERY: Schema = {
    "schema": {"const": VERSION},
    "status": {"enum": ["done", "proposed", "conflict", "denied"]},
    "reason": _TEXT,
    "tokens": _INTEGER,
    "left_out": _list(_TEXT),
    "reader": _TEXT,
}
_ALWAYS = ("schema", "status", "tokens", "left_out")
_CAUSE = _object(
    {
        "word": {"enum": ["NEW", "REGRESSED", "KNOWN", "WAIVED"]},
        **_texts("cause", "label", "error_class", "failure_subtype", "fingerprint", "primary"),
        "line": _or_null("integer"),
        "origin": _object({"type": _TEXT, "confidence": _or_null("number"), "reasons": _list(_TEXT)}),
        **_optional_texts("pattern", "page", "test", "seed", "fix"),
        "tests": _INTEGER,
        "fixes": _list(_object({**_texts("text", "by", "date", "standing"), "commits": _list(_TEXT)})),
        "statements": _list(_TEXT),
        "rerun": {
            "anyOf": [
                {"type": "null"},
                _object(
                    {
                        **_texts("test", "line"),
                        **_optional_texts("seed", "simulator", "folder"),
                        "duration_s": _or_null("number"),
                    }
                ),
            ]
        },
    }
)
_WRITTEN = _texts("address", "version", "content", "proposal")

TOOLS: dict[str, McpTool] = {
    "dvwiki_list": McpTool(
        "List the pages (category/page) with summary, status and version. Not counted as a read.",
        {"folder": {**_TEXT, "description": "a category or sub-folder"}, "budget": _BUDGET},
        (),
        {
            "pages": _list(
                _object(
                    {
                        **_texts("address", "category", "title", "summary", "version", "last_author", "status", "age"),
                        **dict.fromkeys(("words", "pages"), _INTEGER),
                        "unreviewed": _FLAG,
                    }
                )
            )
        },
    ),
    "dvwiki_search": McpTool(
        "Find pages by words and parts of identifiers. Not counted as a read.",
        {
            **_texts("query", "status"),
            "category": _CATEGORY,
            "label": {**_TEXT, "description": "error class or failure subtype"},
            "limit": {"type": "integer", "minimum": 1},
            "budget": _BUDGET,
        },
        ("query",),
        {
            "results": _list(
                _object({**_texts("page_path", "title", "status", "snippet"), "score": _NUMBER, "unreviewed": _FLAG})
            )
        },
    ),
    "dvwiki_get": McpTool(
        "Read a page, or the section under one of its headings, with the version to pass to dvwiki_commit; content cut"
        " to the budget has no version. Reads per turn are limited; a write ends the turn.",
        {**_texts("page", "section", "reader"), "budget": _BUDGET},
        ("page",),
        _texts("address", "content", "version", "leads_to"),
    ),
    "dvwiki_match_failure": McpTool(
        "Classify the failure in a log (text, or the path of a file in the project): label, first cause, fingerprint,"
        " and what is known: page, fixes, command to run it again. Without text and path: the causes of the newest run,"
        " new and regressed ones first.",
        {"text": _TEXT, "path": _TEXT, "budget": _BUDGET},
        (),
        {
            "run": {
                "anyOf": [
                    {"type": "null"},
                    _object(
                        {
                            **_texts("task_id", "finished"),
                            **_optional_texts("commit"),
                            **dict.fromkeys(("passed", "failed"), _INTEGER),
                        }
                    ),
                ]
            },
            "causes": _list(_CAUSE),
        },
    ),
    "dvwiki_commit": McpTool(
        "Replace a page or section; pass the version that was read, or an empty version to propose a new page, which a"
        " person reviews. A conflict returns the current content.",
        _texts("page", "section", "content", "expected_version", "reader"),
        ("page", "content", "expected_version"),
        _WRITTEN,
        writes=True,
    ),
    "dvwiki_append": McpTool(
        "Add a note to a section, such as Resolution of a bug page, or a line to the page `log`. A note stays"
        " unreviewed until a person confirms it or, if `commit` is a fix, until runs with that commit pass.",
        _texts("page", "section", "text", "commit", "reader"),
        ("page", "text"),
        _WRITTEN,
        writes=True,
    ),
    "dvwiki_handoff": McpTool(
        "Pass the work to a later role of the pipeline.",
        _texts("target", "summary", "task", "reader"),
        ("target", "summary"),
        {**_texts("by", "to", "asked_for", "task"), "step": _INTEGER, "max_steps": _INTEGER},
        writes=True,
    ),
    "dvwiki_lint": McpTool(
        "Check the wiki's pages, links and sources.",
        {"depth": {"enum": ["quick", "full"]}, "budget": _BUDGET},
        (),
        {
            "human_review_required": _FLAG,
            "findings": _list(_object({**_texts("page", "kind", "text", "remedy"), "line": _INTEGER})),
        },
    ),
}
