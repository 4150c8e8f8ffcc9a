"""`dvwiki ingest`: archives results of runs outside pytest, and of runs from before the plugin was installed."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import os
import shutil
import sys
import tempfile
from collections import Counter
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.farm import add_farm, check_farm, farm_of
from pytest_dvwiki.cli.known_files import KnownFiles
from pytest_dvwiki.cli.output import LINE_START
from pytest_dvwiki.cli.place import add_place, layout_of
from pytest_dvwiki.model import Run, SourceRow, Vcs
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import new_task_id, today, utc
from pytest_dvwiki.settings import PROJECT_FILE, read_project_file, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.groups import Group
    from pytest_dvwiki.capture.leftovers.lone_logs import ReadLog
    from pytest_dvwiki.capture.leftovers.totals import Leftovers
    from pytest_dvwiki.capture.simulations.named_runs import PathTemplate
    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.cli.session_reports import SessionReports
    from pytest_dvwiki.model import RunRecord, Waived
    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.pipeline.services import Services
    from pytest_dvwiki.settings import Settings


_NAMED = 3
"""Maximum number of runs listed in a message."""
_OUTCOMES = ("archived", "archived before", "not archived")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="results files of cocotb, JUnit XML, output of regression runners (dvsim, VUnit, SVUnit, FuseSoC, "
        "riscv-dv), simulator logs, coverage reports (cocotb-coverage, UCIS XML), records and journals from other"
        " machines, reports of a session (Markdown, JSON), folders, archives (.tar, .tar.gz, .zip, .gz), "
        "globs, URLs",
    )
    parser.add_argument(
        "--log",
        action="append",
        default=[],
        metavar="FILE",
        help="log for results files without a log of their own; may be repeated",
    )
    parser.add_argument(
        "--task",
        metavar="NAME",
        help="name of the regression; archives all files as one run instead of one run per folder",
    )
    parser.add_argument(
        "--commit",
        metavar="COMMIT",
        help="commit that the files come from (default: none is recorded, because the files may be of any age)",
    )
    parser.add_argument(
        "--revision",
        metavar="TEXT",
        help="source revision that the files come from, such as a changelist, if the sources are not in git",
    )
    parser.add_argument(
        "--revision-log",
        metavar="FILE",
        help="the changes between revisions, one per line, the newest first, as `p4 changes` prints them",
    )
    parser.add_argument(
        "--run-id",
        metavar="ID",
        help="id of the run, for files without a start time; the same files with another id are archived as another"
        " run (default: the run number of the CI system, else the job id of LSF or Slurm, else --commit)",
    )
    parser.add_argument(
        "--summary",
        action="store_true",
        help="print the causes of all runs in Markdown, for a comment on a pull request; progress goes to "
        "standard error",
    )
    parser.add_argument(
        "--transcript",
        metavar="FILE",
        help="an agent's full session, as text or as one JSON object per line (- reads standard input); the model"
        " set in the block `librarian:` extracts lessons; without a model, only lessons that the session itself"
        " lists are taken",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="with --transcript: print the number of tokens and the cost; call no model and write nothing",
    )
    add_farm(parser)
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Archive one run per folder, or a single one for all files.

    Returns:
        1 if a file could not be read, or if the wiki could not be written.
    """
    if args.transcript:
        from pytest_dvwiki.cli.transcript import ingest_transcript  # noqa: PLC0415

        return ingest_transcript(args)
    if args.dry_run:
        raise UsageError("--dry-run needs --transcript")
    if not (args.paths or args.log):
        raise UsageError("give files, folders, archives or globs, or a log with --log")
    check_farm(args)
    return _ingest(args)


def _ingest(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="dvwiki-") as scratch:
        ingest = _Ingest(args, Path(scratch))
        if not args.summary:
            return ingest.run()
        with contextlib.redirect_stdout(sys.stderr):
            status = ingest.run()
    print(ingest.summary(), end="")
    return status


class _Ingest:
    """One call of `dvwiki ingest`.

    The class is long because each kind of artefact is archived by its own method, and all methods share the counts,
    causes and problems.
    """

    def __init__(self, args: argparse.Namespace, scratch: Path) -> None:
        from pytest_dvwiki.capture.run_ids import run_id  # noqa: PLC0415
        from pytest_dvwiki.extensions import further_masks, further_patterns  # noqa: PLC0415
        from pytest_dvwiki.masks import Masks  # noqa: PLC0415
        from pytest_dvwiki.pipeline.services import Services  # noqa: PLC0415  # registry and wiki load with it

        self._args = args
        self._scratch = scratch
        self._settings = _settings(args)
        self._templates = _templates(self._settings)
        self._problems = 0
        self._several = False
        """Whether the call reads several runs. A cause that occurs in several of them is then shown once."""
        self._shown: set[str] = set()
        """Fingerprints of the causes that this call has shown."""
        self._causes: dict[str, Cause] = {}
        """The causes of all runs read by this call, by name, for the summary."""
        self._outcomes: Counter[str] = Counter()
        """Number of runs by outcome, one of `_OUTCOMES`."""
        self._waived: list[Sequence[Waived]] = []
        """The waived failures of each run and record."""
        self._services: Services = Services(
            self._settings, extra_patterns=lambda: further_patterns(self._settings, self._complain), note=self._complain
        )
        self._masks = Masks(further_masks(self._complain), self._complain)
        self._vcs = _vcs(self._settings, args.commit)
        self._run_id = run_id(os.environ, args.run_id)
        self._known_files = KnownFiles(self._settings, self._run_id, self._vcs.commit)

    def run(self) -> int:
        from pytest_dvwiki.capture.files.artefacts import find_artefacts  # noqa: PLC0415
        from pytest_dvwiki.capture.files.groups import groups_of  # noqa: PLC0415
        from pytest_dvwiki.capture.leftovers.logs_elsewhere import with_logs_elsewhere  # noqa: PLC0415

        root = self._settings.layout.root
        logs = find_artefacts(self._args.log, root=root, scratch=self._scratch / "logs")
        found = find_artefacts(self._args.paths, root=root, scratch=self._scratch / "paths")
        for problem in (*logs.problems, *found.problems):
            self._complain(problem)
        paths = {log.path for log in logs.artefacts}
        artefacts = [artefact for artefact in found.artefacts if artefact.path not in paths]
        given: Sequence[Artefact] = logs.artefacts
        if not any(artefact.kind == "results" for artefact in artefacts):
            # The run never wrote a results file; its log says why.
            artefacts += given
            given = ()
        groups, given = with_logs_elsewhere(groups_of(artefacts, self._args.task), given)
        self._several = len(groups) > 1
        for number, group in enumerate(groups, start=1):
            _progress(f"{number} of {len(groups)}: {group.name}")
            match group.kind:
                case "records":
                    self._take_records(group)
                case "journal":
                    self._take_journal(group)
                case "coverage":
                    self._take_coverage(group)
                case "report":
                    self._take_report(group)
                case _:
                    self._ingest_run(group, (*given, *group.logs))
        if self._several:
            _say(
                f"{count(self._outcomes.total(), 'run')}: {_counted(self._outcomes)}; "
                f"{count(len(self._shown), 'cause')}"
            )
        self._report_unused_waivers()
        _progress("")
        return 1 if self._problems else 0

    def summary(self) -> str:
        """Return the causes of all runs of this call in Markdown."""
        from pytest_dvwiki.pipeline import Archived  # noqa: PLC0415
        from pytest_dvwiki.report.brief import briefs_of  # noqa: PLC0415
        from pytest_dvwiki.report.github import summary  # noqa: PLC0415

        text = summary(briefs_of(Archived(causes=tuple(self._causes.values())), self._settings.layout.root))
        if not self._problems:
            return text
        text = text if self._causes else "### dvwiki: no failure in what could be read\n"
        problems = count(self._problems, "problem")
        return f"{text}\n**Incomplete**: {problems} while reading; there may be more causes.\n"

    def _collect(self, causes: Iterable[Cause]) -> None:
        """Collect causes for the summary, with the tests of each cause merged across runs."""
        for cause in causes:
            first = self._causes.setdefault(cause.name, cause)
            if first is not cause:
                tests = (*first.occurrence.tests, *cause.occurrence.tests)
                self._causes[cause.name] = replace(first, occurrence=replace(first.occurrence, tests=tests))

    def _report_unused_waivers(self) -> None:
        """Report the waivers that matched no failure in any run of the call."""
        if self._waived and self._services.waivers is not None:
            used = [each.id for run in self._waived for each in run]
            for note in self._services.waivers.unused(used, today().isoformat(), count(len(self._waived), "run")):
                _say(f"dvwiki: {note}")

    def _complain(self, text: str) -> None:
        self._problems += 1
        _progress("")
        print(redact(f"dvwiki ingest: {text}"), file=sys.stderr)

    def _ingest_run(self, group: Group, logs: Sequence[Artefact]) -> None:
        """Archive one run.

        A run with an unreadable file is skipped: archived in part, it would be counted twice once it is complete.
        """
        # Empty files are all equal, so they cannot identify a run. Logs that were only found beside results identify
        # a run only if there is nothing else.
        filled = [artefact for artefact in (*group.artefacts, *logs) if artefact.path.stat().st_size]
        telling = [artefact for artefact in filled if not artefact.only_beside] or filled
        known = self._known_files.runs_of(telling)
        leftovers = self._read(group, logs, known)
        if known and not any(source.path.stat().st_size for source in leftovers.sources):
            self._report_known(group, known.values(), self._run_of(self._read(group, logs)))
            return
        for problem in leftovers.problems:
            self._complain(problem)
        for note in leftovers.notes:
            print(redact(f"dvwiki ingest: {note}"), file=sys.stderr)
        if leftovers.problems:
            self._outcomes["not archived"] += 1
            _say(f"{group.name}: not archived, because parts of it cannot be read")
            return
        if not (leftovers.results or leftovers.failures):
            self._outcomes["not archived"] += 1
            _say(f"{group.name}: not archived, because it reports no test")
            return
        if known:
            _say(f"{group.name}: {count(len(known), 'file')} skipped, already archived as {_named(known.values())}")
        self._archive(group, self._run_of(leftovers), leftovers.without_tests)
        if known:
            self._show_known_causes(self._run_of(self._read(group, logs)), known.values(), beside_new=True)

    def _read(self, group: Group, logs: Sequence[Artefact], known: Iterable[Path] = ()) -> Leftovers:
        """Read the artefacts of a run, except those already archived."""
        from pytest_dvwiki.capture.interrupted.places import places_of  # noqa: PLC0415
        from pytest_dvwiki.capture.leftovers.reader import read_leftovers  # noqa: PLC0415
        from pytest_dvwiki.capture.simulations.builds import Builds  # noqa: PLC0415

        files = (*group.artefacts, *logs)
        found = self._known_files.on_record(files)
        return read_leftovers(
            group.artefacts,
            logs=logs,
            root=self._settings.layout.root,
            interest=self._services.interest,
            class_of=self._class_of,
            known=known,
            builds=Builds(places_of(self._settings.layout, None)[0].builds),
            seen=[file.path for file in files if file.sha256 in found],
            templates=self._templates,
            read_logs=self._parallel_reader(files),
        )

    def _parallel_reader(
        self, files: Sequence[Artefact]
    ) -> Callable[[Sequence[Artefact]], Iterator[ReadLog | OSError]] | None:
        """Return a function that reads logs in other processes, or None if this process reads them."""
        from pytest_dvwiki.pipeline.read_logs import read_logs  # noqa: PLC0415

        logs = [file for file in files if file.kind == "log"]
        farm = farm_of(self._args, files=len(logs), size=sum(log.path.stat().st_size for log in logs))
        # With strict logs, waivers decide which error lines count, and the other processes do not have the waivers.
        if farm.is_here or self._settings.strict_logs:
            return None
        return lambda some: read_logs(some, self._services.registry, self._templates, farm)

    def _class_of(self, text: str) -> str | None:
        """Return the error class of the failure in a log, or None if there is no failure."""
        verdict = self._services.text_classifier.classify_text(text)
        return verdict.error_class if verdict is not None else None

    def _take_records(self, group: Group) -> None:
        """Archive records from other machines, without changing them."""
        from pytest_dvwiki import pipeline  # noqa: PLC0415
        from pytest_dvwiki.records import store  # noqa: PLC0415

        before = self._outcomes.copy()
        for file in group.artefacts:
            records, problems = store.read_documents(file.path, reading.read_records(file.path), file.shown)
            for problem in problems:
                self._complain(problem)
            self._outcomes["not archived"] += len(problems)
            for record, data in records:
                _progress(f"{group.name}: {record.task_id}")
                if self._args.summary:
                    self._collect(pipeline.causes_of_record(record, self._services))
                self._outcomes[self._take_record(file, record, data)] += 1
                self._shown |= {item.fingerprint for item in record.occurrences}
                self._waived.append(record.waived)
        outcomes = self._outcomes - before
        _say(f"{group.name}: {count(outcomes.total(), 'record')}: {_counted(outcomes)}")

    def _take_record(self, file: Artefact, record: RunRecord, data: bytes) -> str:
        """Archive a record, and return the outcome: one of `_OUTCOMES`."""
        from pytest_dvwiki import pipeline  # noqa: PLC0415
        from pytest_dvwiki.records import store  # noqa: PLC0415

        known = pipeline.on_record(record.task_id, self._settings)
        if known is not None and known != record:
            self._complain(
                f"{file.shown}: not archived, because a different record with the id {record.task_id} exists;"
                " records are never changed"
            )
            return "not archived"
        # The lists of tests are two folders above a record, and one folder above a monthly file.
        named = {suite for suite in (record.suite, *(each.suite for each in record.suites)) if suite}
        found = ((suite, store.read_suite(folder, suite)) for suite in named for folder in file.path.parents[1:3])
        lists = [names for suite, names in found if names and store.suite_id(names) == suite]
        archived = pipeline.adopt(record, self._settings, lists=lists, data=data)
        if archived.problem is not None:
            self._complain(f"{file.shown}: {archived.problem}")
            return "not archived"
        return "archived before" if known is not None else "archived"

    def _take_journal(self, group: Group) -> None:
        """Archive a killed run from its journal."""
        from pytest_dvwiki import pipeline  # noqa: PLC0415
        from pytest_dvwiki.capture.interrupted import orphans  # noqa: PLC0415

        settings, file = self._settings, group.artefacts[0]
        task_id = PurePosixPath(file.folder).name
        try:
            with orphans.left_behind(file.path.parent) as orphan:
                if orphan is None:
                    raise BlockingIOError(errno.EBUSY, "its run is still in progress")
                is_ours = file.path.is_relative_to(settings.layout.journal)
                killed = replace(orphan if is_ours else orphans.moved(orphan), task_id=task_id)
                run = pipeline.killed_run(killed, settings, self._services.interest)
        except OSError as error:
            self._complain(f"{file.shown}: cannot be read: {error.strerror}")
            self._outcomes["not archived"] += 1
            return
        run = replace(run, failures=tuple(map(self._masks.failure, run.failures)), always_record=True)
        if pipeline.on_record(task_id, settings) is not None:
            self._report_known(group, [task_id], run)
        else:
            self._archive(group, run)

    def _take_coverage(self, group: Group) -> None:
        """Archive the coverage reports of one run together.

        If any of them cannot be read, no new hole is reported.
        """
        from pytest_dvwiki.capture.files.coverage import read_reports  # noqa: PLC0415

        before = self._known_files.run_of_reports(group.artefacts)
        if before is not None:
            self._report_known(group, [before])
            return
        coverage = read_reports((report.shown, report.path) for report in group.artefacts)
        for problem in coverage.problems:
            self._complain(problem)
        if not coverage.bins:
            self._outcomes["not archived"] += 1
            _say(f"{group.name}: not archived, because it contains no bins")
            return
        run = self._run(group.artefacts, [report.modified for report in group.artefacts])
        self._archive(group, replace(run, coverage=coverage.bins, whole=not coverage.problems))

    def _take_report(self, group: Group) -> None:
        """Archive the failures and coverage holes mentioned in a session report."""
        from pytest_dvwiki import pipeline  # noqa: PLC0415
        from pytest_dvwiki.cli.session_reports import ReportError  # noqa: PLC0415

        (file,) = group.artefacts
        try:
            done = self._reports.archive(file.path, self._settings.task or file.path.stem)
        except ReportError as error:
            self._complain(f"{file.shown}{error}")
            self._outcomes["not archived"] += 1
            return
        if done is None:
            self._outcomes["not archived"] += 1
            _say(f"{file.shown}: not archived, because no failure was found in it")
            return
        self._outcomes["archived before" if done.was_known else "archived"] += 1
        if done.was_known:
            _say(f"{file.shown}: already archived as {done.identity}; nothing changed")
        else:
            _say(f"{file.shown}: {done.result.log_entry.rpartition(' | ')[2]}\narchived as {done.identity}")
        record = pipeline.on_record(done.identity, self._settings)
        if record is not None:
            self._shown |= {each.fingerprint for each in record.occurrences}
            if self._args.summary:
                self._services.history.refresh()
                self._collect(pipeline.causes_of_record(record, self._services, is_archived=not done.was_known))

    @cached_property
    def _reports(self) -> SessionReports:
        """Return the object that archives session reports, made at first use."""
        from pytest_dvwiki.cli.session_reports import SessionReports  # noqa: PLC0415

        return SessionReports(self._settings)

    def _report_known(self, group: Group, task_ids: Iterable[str], run: Run | None = None) -> None:
        """Report runs that are already archived, show their failures, and write pages that a killed call left out.

        Args:
            group: The files of the runs.
            task_ids: The task ids of the runs.
            run: The run as read from the files.
        """
        from pytest_dvwiki import pipeline  # noqa: PLC0415

        pages = 0
        names = sorted(set(task_ids))
        for task_id in names:
            record = pipeline.on_record(task_id, self._settings)
            archived = pipeline.adopt(record, self._settings) if record is not None else pipeline.Archived()
            pages += archived.pages or 0
            if archived.problem is not None:
                self._complain(f"{group.name}: {archived.problem}")
        self._outcomes["archived before"] += 1
        outcome = f"{count(pages, 'missing page')} made now" if pages else "nothing changed"
        _say(f"{group.name}: already archived as {_named(names)}; {outcome}")
        if run is not None:
            self._show_known_causes(run, names)

    def _show_known_causes(self, run: Run, task_ids: Iterable[str], *, beside_new: bool = False) -> None:
        """Show causes of runs that are already archived, unless this call has shown them before.

        Args:
            run: The runs as read from the files.
            task_ids: Their task ids.
            beside_new: Whether new files were read too, such as the log of a later run next to old results. If so,
                only recorded causes are shown.
        """
        from pytest_dvwiki import pipeline  # noqa: PLC0415

        if not run.failures:
            return
        archived = pipeline.recalled(run, self._services, _named(task_ids))
        self._collect(archived.causes)
        causes = tuple(cause for cause in archived.causes if cause.occurrence.fingerprint not in self._shown)
        if beside_new:
            records = (pipeline.on_record(task_id, self._settings) for task_id in task_ids)
            kept = {each.fingerprint for record in records if record is not None for each in record.occurrences}
            causes = tuple(cause for cause in causes if cause.occurrence.fingerprint in kept)
        self._shown |= {cause.occurrence.fingerprint for cause in causes}
        if causes:
            self._show(replace(archived, causes=causes))

    def _run_of(self, leftovers: Leftovers) -> Run:
        from pytest_dvwiki import pipeline  # noqa: PLC0415

        return replace(
            self._run(leftovers.sources, leftovers.times),
            failures=tuple(
                pipeline.with_ip_type(self._masks.failure(each), self._settings) for each in leftovers.failures
            ),
            results=tuple(leftovers.results),
            simulators=tuple(leftovers.simulators),
            axes=leftovers.axes,
            keep_suite=bool(self._settings.task) or bool(os.environ.get("CI")),
        )

    def _run(self, files: Sequence[Artefact], times: Sequence[float]) -> Run:
        """Return the run that produced these files, without results; its start and end come from `times`."""
        from pytest_dvwiki.capture.run_ids import in_order  # noqa: PLC0415

        started = min(times)
        # The last part of a task id distinguishes runs of the same second; here it is a digest of the contents.
        name = new_task_id(self._settings.task_name, started).rpartition("_")[0]
        return Run(
            task_id=f"{name}_{_digest(files, next(filter(None, in_order(self._run_id, self._vcs.commit)), ''))}",
            started=utc(started),
            finished=utc(max(times)),
            sources=tuple(SourceRow(path=file.shown, sha256=file.sha256) for file in files),
            run_id=self._run_id,
            always_record=True,
            part=True,
            vcs=self._vcs,
        )

    def _archive(self, group: Group, run: Run, without_tests: int = 0) -> None:
        """Archive a run, and print its results.

        Args:
            group: The files of the run.
            run: The run as read from the files.
            without_tests: Number of logs with neither a test name nor a failure; each counts as one placeholder test.
        """
        from pytest_dvwiki import pipeline  # noqa: PLC0415

        archived = pipeline.process(run, self._services)
        self._collect(archived.causes)
        if archived.record is not None:
            self._waived.append(archived.record.waived)
        failed = archived.problem is not None
        self._problems += failed
        self._outcomes["not archived" if failed else "archived"] += 1
        causes = {cause.occurrence.fingerprint for cause in archived.causes}
        news = failed or archived.passed or (archived.coverage is not None and archived.coverage.rows)
        repeated = self._several and causes <= self._shown and not news
        self._shown |= causes
        _say(f"{group.name}: {_summary(run, archived, without_tests)}{', shown above' if causes and repeated else ''}")
        if not repeated:
            self._show(archived)

    def _show(self, archived: Archived) -> None:
        from pytest_dvwiki.report import terminal  # noqa: PLC0415

        layout = self._settings.layout
        session = terminal.Session(archived=archived, root=layout.root, here=Path.cwd(), wiki=layout.wiki)
        if archived.passed and not archived.causes:
            print()
        for line in terminal.render(session, verbosity=0, width=shutil.get_terminal_size().columns):
            print(line.text)


def _settings(args: argparse.Namespace) -> Settings:
    layout = layout_of(args)
    given = {"task": args.task, "revision": args.revision, "revision_log": args.revision_log}
    settings = resolve(layout.root, command_line=given)
    # This command always archives, even if the project's setting `archive` is `no` or `record` for pytest sessions.
    return dataclasses.replace(settings, layout=layout, archive="yes")


def _templates(settings: Settings) -> list[PathTemplate]:
    """Return the templates for log paths: the string or list `ingest: {path: …}` in project.yaml."""
    from pytest_dvwiki.capture.simulations.named_runs import PathTemplate  # noqa: PLC0415

    path = settings.layout.root / PROJECT_FILE
    try:
        given = read_project_file(path, "ingest", ["path"]).get("path", [])
        return [PathTemplate.of(str(text)) for text in (given if isinstance(given, list) else [given])]
    except ValueError as error:
        raise UsageError(f"{path}: ingest.path: {error}") from None


def _vcs(settings: Settings, commit: str | None) -> Vcs:
    """Return the repository state that the user gave for the files."""
    from pytest_dvwiki.capture.git.repository import Repository  # noqa: PLC0415

    if commit is None:
        return Repository.of(settings).state() if settings.revision else Vcs()
    repository = Repository(settings.layout)
    found = repository.commit(commit)
    if found is None:
        raise UsageError(
            f"--commit {commit}: no such commit in {settings.layout.root}; fetch it, or give another commit"
        )
    now = repository.state()
    # If that commit is checked out with uncommitted changes, the files may have been made with these changes.
    return now if now.commit == found else Vcs(commit=found)


def _digest(files: Sequence[Artefact], run_id: str) -> str:
    """Return six hex digits that depend only on a run's id and on the contents of its files."""
    return hashlib.sha256("".join((*sorted(file.sha256 for file in files), run_id)).encode()).hexdigest()[:6]


def _named(task_ids: Iterable[str]) -> str:
    """Return the first few task ids in one line."""
    return ", ".join(sorted(set(task_ids))[:_NAMED])


def _summary(run: Run, archived: Archived, without_tests: int) -> str:
    if run.coverage:
        return count(len(run.sources), "coverage report")
    failed = sum(result.outcome in {"failed", "error"} for result in run.results)
    tests = len(run.results) - without_tests
    different = len({result.nodeid for result in run.results}) - without_tests
    ran = count(tests, "test") if different == tests else f"{tests} runs of {count(different, 'test')}"
    counts = [f"{ran}, {failed} failed"] if tests else []
    counts += [count(len(archived.causes), "cause")] if failed else []
    names = "names no test and shows" if without_tests == 1 else "name no test and show"
    counts += [f"{count(without_tests, 'log')} that {names} no known failure"] * bool(without_tests)
    return ", ".join(counts)


def _counted(outcomes: Counter[str]) -> str:
    return ", ".join(f"{outcomes[each]} {each}" for each in _OUTCOMES if outcomes[each])


def _say(text: str) -> None:
    _progress("")
    print(redact(text))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"{LINE_START}{text}", end="", file=sys.stderr, flush=True)
