"""The tools as clients see them: names, descriptions, and the schemas of their arguments and answers.

Every object of every schema refuses unknown keys. Names in answers are those of `--format json`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pytest_dvwiki.wiki.page_summary import CATEGORIES

VERSION = 1
"""Version of the answers."""
Schema = dict[str, Any]


class Tool(NamedTuple):
    """One tool."""

    description: str
    arguments: Schema
    required: tuple[str, ...]
    answer: Schema
    """The keys of its answer beside those of all answers."""
    writes: bool = False

    def input_schema(self, projects: list[str]) -> Schema:
        """Return the schema of the arguments; of several projects one has to be named."""
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


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_FLAG: Schema = {"type": "boolean"}
_CATEGORY: Schema = {"type": "string", "enum": list(CATEGORIES)}
_BUDGET: Schema = {"type": "integer", "minimum": 100, "description": "most tokens"}
_READER: Schema = {"type": "string", "description": "from an earlier answer"}
_EVERY: Schema = {
    "schema": {"const": VERSION},
    "status": {"enum": ["done", "draft", "conflict", "denied"]},
    "reason": _TEXT,
    "tokens": {"type": "integer"},
    "left_out": _list(_TEXT),
    "reader": _TEXT,
}
_ALWAYS = ("schema", "status", "tokens", "left_out")
_CAUSE = _object(
    {
        "word": {"enum": ["NEW", "REGRESSED", "KNOWN", "WAIVED"]},
        "cause": _TEXT,
        "label": _TEXT,
        "error_class": _TEXT,
        "failure_subtype": _TEXT,
        "fingerprint": _TEXT,
        "primary": _TEXT,
        "line": _or_null("integer"),
        "pattern": _or_null("string"),
        "origin": _object({"type": _TEXT, "confidence": _or_null("number"), "reasons": _list(_TEXT)}),
        "page": _or_null("string"),
        "tests": {"type": "integer"},
        "fix": _or_null("string"),
        "fixes": _list(
            _object({"text": _TEXT, "commits": _list(_TEXT), "by": _TEXT, "date": _TEXT, "standing": _TEXT})
        ),
        "statements": _list(_TEXT),
        "rerun": {
            "anyOf": [
                {"type": "null"},
                _object(
                    {
                        "test": _TEXT,
                        "seed": _or_null("string"),
                        "simulator": _or_null("string"),
                        "duration_s": _or_null("number"),
                        "line": _TEXT,
                        "folder": _or_null("string"),
                    }
                ),
            ]
        },
    }
)
_WRITTEN: Schema = {"address": _TEXT, "version": _TEXT, "content": _TEXT}

TOOLS: dict[str, Tool] = {
    "dvwiki_list": Tool(
        "List the wiki's pages: id, title, summary, status, version. Free; choose from it what to read.",
        {"category": _CATEGORY, "budget": _BUDGET},
        (),
        {
            "pages": _list(
                _object(
                    {
                        "address": _TEXT,
                        "category": _TEXT,
                        "title": _TEXT,
                        "status": _TEXT,
                        "age": _TEXT,
                    }
                )
            )
        },
    ),
    "dvwiki_search": Tool(
        "Find pages by words; identifiers are found as a whole and by their parts. Free.",
        {
            "query": _TEXT,
            "category": _CATEGORY,
            "status": _TEXT,
            "label": {**_TEXT, "description": "error class, failure subtype, or 'class / subtype'"},
            "limit": {"type": "integer", "minimum": 1},
            "budget": _BUDGET,
        },
        ("query",),
        {
            "results": _list(
                _object({"page_path": _TEXT, "score": _NUMBER, "title": _TEXT, "status": _TEXT, "snippet": _TEXT})
            )
        },
    ),
    "dvwiki_get": Tool(
        "Read a page, or one section of it, with the version that a commit needs. Content that was cut to the budget"
        " has no version. Reads are capped per turn; a write begins the next.",
        {
            "page": {**_TEXT, "description": "category/page, as listed"},
            "section": {**_TEXT, "description": "a heading of it"},
            "budget": _BUDGET,
            "reader": _READER,
        },
        ("page",),
        {
            "address": _TEXT,
            "content": _TEXT,
            "version": _TEXT,
            "leads_to": _TEXT,
            "sections": _list(_TEXT),
        },
    ),
    "dvwiki_match_failure": Tool(
        "Name the failure in a log (text, or the path of a file in the project): label, first cause, fingerprint, and"
        " what is known: page, fixes, command to run it again. Without text and path: the causes of the newest run,"
        " new and regressed ones first.",
        {"text": _TEXT, "path": _TEXT, "budget": _BUDGET},
        (),
        {
            "run": {
                "anyOf": [
                    {"type": "null"},
                    _object(
                        {
                            "task_id": _TEXT,
                            "finished": _TEXT,
                            "commit": _or_null("string"),
                            "passed": {"type": "integer"},
                            "failed": {"type": "integer"},
                        }
                    ),
                ]
            },
            "causes": _list(_CAUSE),
        },
    ),
    "dvwiki_lint": Tool(
        "Check the wiki: pages, links, sources, derived content.",
        {"depth": {"enum": ["quick", "full"]}, "budget": _BUDGET},
        (),
        {
            "human_review_required": _FLAG,
            "findings": _list(
                _object({"page": _TEXT, "line": {"type": "integer"}, "kind": _TEXT, "text": _TEXT, "remedy": _TEXT})
            ),
        },
    ),
}
