"""Outputs of a session for other tools, rendered by the modules of `report/`.

pytest-html, JUnit XML and Allure show tests before the run is archived. So a failed test gets its label and fingerprint
with its report; whatever needs the results of the whole run is added at the end.
"""

from __future__ import annotations

import importlib
import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from pytest_dvwiki import reading
from pytest_dvwiki.records import disk
from pytest_dvwiki.records.command import workspace
from pytest_dvwiki.records.name_parts import check_of
from pytest_dvwiki.report import OUTPUT_FILES, junit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.model import Failure
    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.pipeline.services import Services
    from pytest_dvwiki.report.brief import Brief
    from pytest_dvwiki.roles import ProcessContext


class Outputs:
    """Writes the outputs of a session, in the main process.

    Args:
        context: The objects shared by the roles of this process.
        finish: Archives the session, if not yet done, and returns the result.
        shows_tests: Whether pytest or another plugin writes a report file with an entry for each test.
        is_github: Whether this is a GitHub Actions job.
    """

    def __init__(
        self,
        context: ProcessContext,
        *,
        finish: Callable[[pytest.Session], Archived | None],
        shows_tests: bool,
        is_github: bool,
    ) -> None:
        self._context = context
        self._config = context.config
        self._settings = context.settings
        self._guard = context.guard
        self._finish = finish
        self._archived: Archived | None = None
        self._named: dict[str, dict[str, str]] = {}
        """For each test, maps the fingerprints in its reports to their labels."""
        self._tests: dict[str, set[str]] = {}
        """Maps each fingerprint in the reports to its tests."""
        self._shows_tests = shows_tests
        self._github = is_github

    # Reports

    def name(self, report: pytest.TestReport, failures: Sequence[Failure]) -> None:
        """Add the labels of a test's failures to this report and the test's later ones: JUnit XML uses the last one."""
        if not self._shows_tests or not (failures or report.nodeid in self._named):
            return
        if report.when == "setup":
            self._named.pop(report.nodeid, None)
        labels = self._named.setdefault(report.nodeid, {})
        added = {}
        for failure in failures:
            label, fingerprint = named(failure, self._context.services)
            added[fingerprint] = label
            self._tests.setdefault(fingerprint, set()).add(report.nodeid)
            self._tests[fingerprint].add(failure.nodeid)
        labels |= added
        for fingerprint, label in labels.items():
            report.user_properties += [(junit.LABEL, label), (junit.FINGERPRINT, fingerprint)]
        if added and self._config.getoption("htmlpath", None):
            report.extras = [*getattr(report, "extras", ()), *map(_link, added.values(), added)]  # type: ignore[attr-defined]  # read by pytest-html

    # The end

    @cached_property
    def _briefs(self) -> list[Brief]:
        from pytest_dvwiki.report.brief import briefs_of  # noqa: PLC0415  # a session without failures needs none

        return briefs_of(self._archived, self._settings.layout.root) if self._archived is not None else []

    @cached_property
    def _folder(self) -> str:
        """Return the project's folder in its repository, with a trailing `/`; empty for the top."""
        root = self._settings.layout.root
        inside = root.relative_to(workspace(root)[0]).as_posix()
        return "" if inside == "." else f"{inside}/"

    def _causes_of(self, fingerprint: str) -> Sequence[Brief]:
        """Return the archived causes of the tests whose reports have this fingerprint.

        The report of a runner of cocotb's own plugin may have a fingerprint that no cause has: the fingerprints of its
        tests have replaced it. If several causes have this fingerprint, the result is empty, because it does not tell
        which of them made a test fail.
        """
        exact = self._briefs_of_check(fingerprint)
        if len(exact) > 1:
            return []
        tests = self._tests.get(fingerprint, set())
        return exact or [
            brief
            for brief in self._briefs
            if any(name == test or name.startswith(f"{test}::") for name in brief.tests for test in tests)
        ]

    def _briefs_of_check(self, fingerprint: str) -> list[Brief]:
        return [brief for brief in self._briefs if check_of(brief.fingerprint) == fingerprint]

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str], session: pytest.Session) -> None:
        """Add the causes above the table of tests.

        The session is archived here, because pytest-html writes its file before the plugin would archive the session.
        """
        with self._guard("writing the causes for pytest-html"):
            from pytest_dvwiki.report import html  # noqa: PLC0415

            self._archived = self._finish(session)
            path = path_of(self._config, "htmlpath")
            folder = path.parent if path is not None else Path()
            root = self._settings.layout.root

            def link(page: str) -> str:
                return quote(Path(os.path.relpath(root / page, folder)).as_posix())

            def anchors(brief: Brief) -> list[str]:
                # If several causes have one fingerprint, the links of its tests lead to the first of them.
                linked = (
                    each for each in self._tests if brief in (self._causes_of(each) or self._briefs_of_check(each)[:1])
                )
                return sorted({brief.fingerprint, *linked})

            prefix.append(html.summary(self._briefs, anchors, link))

    def write(self, archived: Archived | None, started: float) -> None:
        """Write the files after the session is archived.

        Args:
            archived: The result; None if nothing was archived.
            started: Start of the session, in seconds since the epoch.
        """
        self._archived = archived
        root = self._settings.layout.root
        for name in OUTPUT_FILES:
            if file := getattr(self._settings, name):
                with self._guard(f"writing {file}"):
                    output = importlib.import_module(f"pytest_dvwiki.report.{name}")
                    disk.replace(root / file, output.render(self._briefs, self._folder).encode())
        if self._tests:
            with self._guard("adding pages to the JUnit XML"):
                self._complete_junit()
            with self._guard("adding causes to the results of Allure"):
                self._complete_allure(started)
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if self._github and path and self._briefs:
            with self._guard("writing the job summary for GitHub Actions"):
                from pytest_dvwiki.report import github  # noqa: PLC0415

                with Path(path).open("ab") as file:
                    file.write(github.summary(self._briefs, github.SUMMARY_LIMIT - file.tell()).encode())

    def _complete_junit(self) -> None:
        path = path_of(self._config, "xmlpath")
        if path is None or not path.is_file():  # a pipe, for example, cannot be written again
            return
        text = reading.read_bytes(path).decode()
        complete = junit.completed(text, self._causes_of)
        if complete != text:
            disk.replace(path, complete.encode())

    def _complete_allure(self, started: float) -> None:
        from pytest_dvwiki.report import allure  # noqa: PLC0415

        folder = self._config.getoption("allure_report_dir", None)
        for path in sorted(Path(folder).glob("*-result.json")) if folder else ():
            if path.stat().st_mtime < started - 1:
                continue
            text = path.read_text("utf-8")
            complete = allure.completed(text, self._causes_of)
            if complete != text:
                disk.replace(path, complete.encode())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the annotations, which GitHub reads from the output."""
        if self._github:
            with self._guard("annotating the causes"):
                from pytest_dvwiki.report import github  # noqa: PLC0415

                for line in github.workflow_commands(self._briefs, self._folder):
                    terminalreporter.write_line(line)


class AllureLabels:
    """Labels failed tests for Allure, in the process that runs them."""

    def __init__(self, context: ProcessContext) -> None:
        self._context = context
        self._naming = context.guard("labelling a test for Allure")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the labels to a failed test's result while Allure has it open; xdist's main process has no results."""
        if report.outcome != "failed":
            return
        with self._naming:
            import allure_commons  # noqa: PLC0415  # only where allure-pytest is there

            from pytest_dvwiki.roles.reports import attached  # noqa: PLC0415

            evidence = attached(report)
            for failure in evidence.failures if evidence is not None else ():
                for name, value in zip(
                    (junit.LABEL, junit.FINGERPRINT), named(failure, self._context.services), strict=True
                ):
                    allure_commons.plugin_manager.hook.add_label(label_type=name, labels=[value])


def named(failure: Failure, services: Services) -> tuple[str, str]:
    """Return label and fingerprint of a failure that is not archived yet."""
    from pytest_dvwiki.pipeline import with_ip_type  # noqa: PLC0415  # a session without failures needs none

    verdict = services.classifier.classify(with_ip_type(failure, services.settings), keep=True)
    return f"{verdict.error_class} / {verdict.failure_subtype}", verdict.fingerprint


def path_of(config: pytest.Config, option: str) -> Path | None:
    """Return the file given by an option of pytest or a plugin; None if the option is not set."""
    given = config.getoption(option, None)
    return Path(os.path.expanduser(os.path.expandvars(given))).absolute() if given else None  # noqa: PTH111  # as pytest does


def _link(label: str, fingerprint: str) -> dict[str, Any]:
    """Return the link from a failed test to its cause, in pytest-html's format."""
    from pytest_dvwiki.report.html import anchor  # noqa: PLC0415

    about = {"name": escape(label), "format_type": "url", "content": f"#{anchor(fingerprint)}"}
    return about | {"mime_type": None, "extension": None}
