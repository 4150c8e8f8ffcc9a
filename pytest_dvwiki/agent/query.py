"""Answers queries about the wiki with text for prompts, within token budgets."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from pytest_dvwiki.agent.budget import fit, fit_table
from pytest_dvwiki.agent.knowledge import OPEN, Knowledge, is_open_hole, usefulness
from pytest_dvwiki.agent.untrusted import quoted
from pytest_dvwiki.tokens import counting
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.age import tag
from pytest_dvwiki.wiki.index import percent
from pytest_dvwiki.wiki.kinds.bug import effective_type
from pytest_dvwiki.wiki.page_summary import check_category
from pytest_dvwiki.wiki.text.markdown import escape, one_line, table, table_row
from pytest_dvwiki.wiki.text.names import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_dvwiki.agent.followed import FollowedWiki
    from pytest_dvwiki.wiki.config import WikiConfig
    from pytest_dvwiki.wiki.finding.search import Filters, SearchResult
    from pytest_dvwiki.wiki.page_summary import PageSummary

_COLUMNS = ("Pattern", "error_class", "hit_count", "failing tests", "fix_rate", "last_seen", "known")
_CELL = 80
_logger = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class WikiQueryService:
    """Answers queries from the wiki.

    A wiki that is missing, unreadable or not `enabled` gives empty answers; an unreadable page is skipped. Tokens are
    counted by `tokens.counting`.

    Args:
        wiki_config: The wiki and the token budgets.
        followed: The same wiki, kept open between queries; if None, each query opens the wiki.
    """

    def __init__(self, wiki_config: WikiConfig, followed: FollowedWiki | None = None) -> None:
        self.config = wiki_config
        self._followed = followed

    def get_known_error_patterns(
        self, error_class: str | None = None, failure_subtype: str | None = None, top_k: int = 5
    ) -> str:
        """Return known patterns, sorted by `hit_count`, for `{{KNOWN_ERROR_PATTERNS}}`.

        Args:
            error_class: Only patterns that were seen mostly with this class.
            failure_subtype: Only the pattern of this subtype.
            top_k: Maximum number of patterns.
        """
        wanted = {"error_class": error_class, "failure_subtype": failure_subtype}
        return self._answer("patterns", wanted, lambda _: True, top_k=top_k, budget=self.config.pattern_budget)

    def get_known_rtl_bugs(self, ip_type: str | None = None, status: str = "open", top_k: int = 5) -> str:
        """Return known RTL bugs, sorted by confidence, then bugs of unknown origin, for `{{KNOWN_RTL_BUGS}}`.

        Args:
            ip_type: Only bugs in this design type.
            status: Only bugs with this status; `open` includes confirmed bugs, and closed bugs that came back.
            top_k: Maximum number of RTL bugs, and of bugs of unknown origin.
        """
        stati = OPEN if status == "open" else {status}
        return self._answer(
            "bugs",
            {"ip_type": ip_type},
            lambda page: (page.status or "open") in stati and effective_type(page) in {"RTL_BUG", "UNKNOWN"},
            top_k=top_k,
            budget=self.config.bug_budget,
            comes_last=lambda page: effective_type(page) == "UNKNOWN",
        )

    def get_coverage_history(self, covergroup: str | None = None, top_k: int = 5) -> str:
        """Return coverage holes, sorted by priority, for `{{COVERAGE_HOLE_HISTORY}}`.

        Args:
            covergroup: Return all recorded bins of this covergroup, unfilled bins first. If None, return those bins of
                any covergroup that are not filled and that people did not exclude.
            top_k: Maximum number of bins.
        """
        return self._answer(
            "coverage",
            {"covergroup": covergroup},
            lambda page: covergroup is not None or is_open_hole(page),
            top_k=top_k,
            budget=self.config.coverage_budget,
        )

    def get_pattern_summary(self) -> str:
        """Return the statistics of all patterns as a table, sorted by `hit_count`, for `{{WIKI_PATTERN_SUMMARY}}`."""
        return self._ask(self._summary, "")

    def search(
        self, query: str, category: str | None = None, top_k: int = 5, filters: Filters | None = None
    ) -> list[SearchResult]:
        """Return the best pages for a query; each contains at least one of its words.

        Args:
            query: Words to search for; an identifier matches as a whole and by its parts.
            category: Only pages of this category: `bugs`, `patterns`, `coverage`, `specs` or `topics`.
            top_k: Maximum number of results.
            filters: Only pages that pass these filters.

        Raises:
            ValueError: The category does not exist.
        """
        check_category(category)
        return self._ask(lambda known: known.index.search(query, top_k, category=category, filters=filters), [])

    def get_pattern_page(self, failure_subtype: str) -> str | None:
        """Return the complete page of a subtype; None if there is none."""
        layout = self.config.layout
        path = f"patterns/{file_name(failure_subtype)}.md"
        return self._ask(
            lambda _: (
                outside.read(layout.wiki, path).decode("utf-8", "replace") if (layout.wiki / path).exists() else None
            ),
            None,
        )

    def _ask(self, question: Callable[[Knowledge], _Answer], otherwise: _Answer) -> _Answer:
        """Ask the wiki; on an error, log it and return the answer of an empty wiki."""
        layout, backend = self.config.layout, self.config.search_backend
        if not (self.config.enabled and layout.wiki.is_dir()):
            return otherwise
        try:
            with self._followed.knowledge() if self._followed else Knowledge(layout, backend) as knowledge:
                return question(knowledge)
        except Exception:
            _logger.warning("the wiki gave no answer", exc_info=True)
            return otherwise

    def _answer(
        self,
        category: str,
        wanted: dict[str, str | None],
        is_wanted: Callable[[PageSummary], bool],
        *,
        top_k: int,
        budget: int,
        comes_last: Callable[[PageSummary], bool] = lambda _: False,
    ) -> str:
        """Return text about the best pages of a category that match `wanted` and pass `is_wanted`.

        Pages that pass `comes_last` follow the other pages; `top_k` applies to each of the two groups.
        """

        def found(knowledge: Knowledge) -> str:
            listed = [page for page in _with(knowledge.all(category), wanted) if is_wanted(page)]
            listed.sort(key=lambda page: (page.metadata.get("filled") is True, usefulness(page)))
            kinds = ([page for page in listed if comes_last(page) is last] for last in (False, True))
            blocks = knowledge.blocks(page for kind in kinds for page in kind[: max(0, top_k)])
            return fit(blocks, budget, count=counting(self.config.tokenizer), share=self._share(category))

        return self._ask(found, "")

    def _summary(self, knowledge: Knowledge) -> str:
        rows = [
            table_row(
                (
                    quoted(page.text("pattern_id", page.name), _CELL),
                    quoted(page.text("error_class"), _CELL),
                    escape(one_line(page.text("hit_count", "0"), _CELL)),
                    escape(one_line(page.text("occurrence_count", "0"), _CELL)),
                    percent(page.metadata.get("fix_success_rate")),
                    escape(one_line(page.text("last_seen"), _CELL)),
                    tag(page, knowledge.today),
                )
            )
            for page in sorted(knowledge.all("patterns"), key=usefulness)
        ]
        count = counting(self.config.tokenizer)
        return fit_table(
            table(_COLUMNS, ()), rows, self.config.summary_budget, count, share=self._share("the table of patterns")
        )

    def _share(self, purpose: str) -> str:
        """Return a note that the budget is a share of the total budget."""
        return f"the share of {purpose} in {self.config.max_context_tokens}"


def _with(listed: Iterable[PageSummary], wanted: dict[str, str | None]) -> list[PageSummary]:
    """Return the pages that have the wanted values; None means any value."""
    return [page for page in listed if all(value is None or page.text(key) == value for key, value in wanted.items())]
