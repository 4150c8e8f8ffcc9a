"""Generates specifications: runs five rounds for each item, checks the quality, and writes the files."""

from __future__ import annotations

import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_dvwiki import reading, yamlio
from pytest_dvwiki.checks import DRAFT, SUFFIX
from pytest_dvwiki.checks.schema import CheckError, load_outline
from pytest_dvwiki.llm.client import connect
from pytest_dvwiki.llm.configuration import LibrarianSettings
from pytest_dvwiki.llm.model import ModelError
from pytest_dvwiki.records import disk
from pytest_dvwiki.redact import redact
from pytest_dvwiki.settings import PROJECT_FILE, resolve
from pytest_dvwiki.specs import drafts, prompts, quality
from pytest_dvwiki.specs.prompts import ROUNDS, Texts, TextsError
from pytest_dvwiki.specs.rounds import CACHE, RoundFiles
from pytest_dvwiki.upkeep.drafts import version
from pytest_dvwiki.version import __version__
from pytest_dvwiki.wiki.review import ReviewError, ReviewQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.checks.schema import Outline
    from pytest_dvwiki.llm.model import Model
    from pytest_dvwiki.settings import Layout

Status = Literal["success", "needs_review", "failed"]
DONE, NEEDS_REVIEW, WRONG_INPUT, NO_MODEL = range(4)
"""Exit statuses of `dvwiki spec generate`."""
BY = "dvwiki spec"
_LONGEST_ANSWER = 8192
_SPEC, _UNFINISHED = "_ItemSpec.md", "_ItemSpec_NEEDS_REVIEW.md"
_MARK = {
    ".md": re.compile(r"\n<!-- made by dvwiki spec, ([0-9a-f]{12}) -->\n"),
    ".yaml": re.compile(r"# made by dvwiki spec, ([0-9a-f]{12})\n"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecResult:
    """The result for one item."""

    result: str
    """The result in one line."""
    status: Status
    exit_status: int
    artifacts: dict[str, Any] = field(default_factory=dict)
    """`item_id`, `itemspec_path`, `itemspec_content`, `rounds` by name, `check_path`, `test_paths` and `proposal`."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """`version`, `models` (that answered), `tokens_in`, `tokens_out`, `resumed` (rounds), `warnings`, `cache`."""
    errors: tuple[str, ...] = ()


class SpecGenerator:
    """Generates specifications from items. An item is a file that describes what to check, but not how.

    Args:
        layout: The project, with its prompt files and the review queue for drafts.
        model: The model; None to use only saved results. A round without a saved result then fails.
        model_name: Name of the model in the settings; results of other models are not reused.
        activity: Called with each line of progress.
        debug: Folder for the files of the rounds; None for a hidden folder next to the specification.
    """

    def __init__(
        self,
        layout: Layout,
        model: Model | None,
        *,
        model_name: str = "",
        activity: Callable[[str], None] | None = None,
        debug: Path | None = None,
    ) -> None:
        self._layout = layout
        self._model = model
        self._model_name = model_name
        self._tell = activity or (lambda _: None)
        self._debug = debug

    @classmethod
    def of(
        cls, project: Path | Layout, *, activity: Callable[[str], None] | None = None, debug: Path | None = None
    ) -> SpecGenerator:
        """Return a generator with the model from a project's settings.

        Args:
            project: The root of the project, or its folders.
            activity: Called with each line of progress.
            debug: Folder for the files of the rounds; None for a hidden folder next to the specification.

        Raises:
            SettingsError: A setting is invalid.
        """
        layout = resolve(project.absolute()).layout if isinstance(project, Path) else project
        settings = LibrarianSettings.of(layout)
        tell = activity or (lambda _: None)
        return cls(
            layout,
            connect(settings, lambda event: tell(str(event))),
            model_name="; ".join(f"{each.kind} {each.run or each.url} {each.model}" for each in settings.backends),
            activity=activity,
            debug=debug.absolute() if debug else None,
        )

    def generate_all(self, items: Sequence[Path], output: Path | None = None, *, jobs: int = 1) -> list[SpecResult]:
        """Generate the specifications of items, `jobs` in parallel; the results are in the order of the items."""
        homes = [(_plain(output or item.parent), item.stem) for item in items]
        twice = [home for home in homes if homes.count(home) > 1]

        def one(item: Path, home: tuple[Path, str]) -> SpecResult:
            if home in twice:
                return _failed(item, WRONG_INPUT, f"several items are called {item.stem!r}; rename all but one")
            return self.generate(item, output)

        with ThreadPoolExecutor(jobs) as pool:
            return [*pool.map(one, items, homes)]

    def generate(self, item: Path, output: Path | None = None) -> SpecResult:
        """Generate the specification of an item. Only rounds without a usable result from an earlier call are run.

        Args:
            item: The file of the item.
            output: Output folder; None for the folder of the item.
        """
        item = _plain(item)
        if item.name.endswith(SUFFIX):
            return _failed(item, WRONG_INPUT, f"{item} is already a check; give the item file it was made from")
        try:
            texts = Texts.load(self._layout.agent / prompts.FOLDER)
            work = _Work(item.stem, load_outline(item), texts, _plain(output or item.parent))
            work.kept = RoundFiles.of(
                self._debug or work.folder / CACHE, item.stem, work.outline, texts, self._model_name
            )
            self._rounds(work)
            return self._finish(work)
        except ModelError as error:
            return _failed(item, NO_MODEL, str(error))
        except (CheckError, TextsError) as error:
            return _failed(item, WRONG_INPUT, str(error))
        except OSError as error:
            return _failed(item, WRONG_INPUT, reading.described(error))

    def _rounds(self, work: _Work) -> None:
        """Run the rounds without a usable result from an earlier call.

        Raises:
            ModelError: No model answered. Results of earlier rounds are kept.
        """
        disk.replace(work.kept.folder / "config.yaml", prompts.configuration(work.outline).encode())
        if not self._debug:
            disk.replace(work.kept.folder.parent / ".gitignore", b"*\n")
        for each in ROUNDS:
            label = f"{work.name}: round {each.number} of {len(ROUNDS)}, {each.title}"
            system = work.texts.system_of(each)
            prompt = work.texts.prompt_of(each, work.name, work.outline, work.results)
            kept = work.kept.result(each, system, prompt)
            if kept is not None:
                work.results[each.name] = kept
                work.resumed.append(each.number)
                self._tell(f"{label}: {len(kept)} characters from an earlier call")
                continue
            if self._model is None:
                raise ModelError(
                    f"no model is set up; list one under `backends:` in the block `librarian:` of {PROJECT_FILE}"
                )
            self._tell(f"{label}: asking the model ({len(prompt)} characters)")
            answer = self._model.complete(prompt, system=system, step=each.step, max_tokens=_LONGEST_ANSWER)
            response = redact(answer.text)
            result, warning = prompts.extracted(response, each.name)
            if warning:
                work.warn(f"round {each.number}: {warning}", self._tell)
            work.kept.keep(each, system=system, prompt=prompt, response=response, result=result)
            work.results[each.name] = result
            work.models[answer.source] = None
            work.tokens_in += answer.tokens_in
            work.tokens_out += answer.tokens_out
            self._tell(f"{label}: {len(result)} characters")

    def _finish(self, work: _Work) -> SpecResult:
        """Assemble the specification, check its quality, and write the output files."""
        text = work.assembled()
        problems = quality.issues(text)
        made = None
        if not problems:
            try:
                made = drafts.draft(text, work.outline, work.folder)
            except drafts.DraftError as error:
                problems = [f"no check can be made from the specification: {error}"]
        for problem in problems:
            self._tell(f"{work.name}: {problem}")
        if made is None:
            listed = "".join(f"  - {problem.replace('-->', '-- >')}\n" for problem in problems)
            text = f"<!-- NEEDS REVIEW\n{listed}-->\n\n{text}"
            path = work.write(f"{work.name}{_UNFINISHED}", text)
            found = len(problems)
            return work.result(path, text, f"{found} {'issue' if found == 1 else 'issues'}", [*problems, *work.skipped])
        path = work.write(f"{work.name}{_SPEC}", text)
        _remove_ours(work.folder / f"{work.name}{_UNFINISHED}")
        if not work.outline.input_files:
            work.warn("the item lists no input files, so the check reads none", self._tell)
        for each in made.omitted:
            work.warn(f"the specification has no expression for {each}; the draft does not check it", self._tell)
        tests = drafts.scenarios(made, work.outline, text)
        for name in drafts.SCENARIOS:
            if name in tests:
                tested = (
                    f"# A test of the check {work.name}; it passes if the result is one of those under `expected`.\n"
                )
                work.write(f"{work.name}_{name}.yaml", tested + yamlio.dump(tests[name]))
            else:
                _remove_ours(work.folder / f"{work.name}_{name}.yaml")
        self._propose(work, made)
        return work.result(path, text, "some files were not written" if work.skipped else "done", work.skipped)

    def _propose(self, work: _Work, made: drafts.Draft) -> None:
        """Write the draft check, and add it to the review queue."""
        check = work.folder / f"{work.name}{SUFFIX}"
        if _mark(check)[0] == _digest(made.text):
            work.artifacts["check_path"] = str(check)
            self._tell(f"{work.name}: {check.name} was already made from this draft")
            return
        draft = work.write(f"{work.name}{DRAFT}", made.text)
        if draft is None:
            return
        work.artifacts["check_path"] = str(draft)
        root = self._layout.root
        if not check.is_relative_to(root) or not self._layout.wiki.is_dir():
            why = "there is no wiki" if check.is_relative_to(root) else "it is outside the project"
            work.warn(f"{draft.name} is not in the review queue: {why}", self._tell)
            return
        queue = ReviewQueue(self._layout)
        target = check.relative_to(root).as_posix()
        try:
            proposal = queue.propose(
                "check",
                target,
                reading.read_text(draft),
                by=BY,
                reason=work.outline.description,
                base=version(check),
                sources=(f"{work.name}{_SPEC}",),
            )
            for other in queue.pending():
                if (other.kind, other.target, other.edited_by) == ("check", target, "") and other.id != proposal.id:
                    queue.decide(other.id, "rejected", by=BY, note=f"replaced by {proposal.id}")
        except ReviewError as error:
            work.warn(f"{draft.name} is not in the review queue: {error}", self._tell)
            return
        work.artifacts["proposal"] = proposal.id
        state = proposal.decision or "waits"
        self._tell(f"{work.name}: the draft check {state} in the review queue as {proposal.id}")


@dataclass(slots=True)
class _Work:
    """The state of one item: its inputs and the results so far."""

    name: str
    outline: Outline
    texts: Texts
    folder: Path
    kept: RoundFiles = field(init=False)
    results: dict[str, str] = field(default_factory=dict)
    resumed: list[int] = field(default_factory=list)
    models: dict[str, None] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    warnings: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """An error message for each file that was not overwritten because a person edited it."""
    artifacts: dict[str, Any] = field(default_factory=dict)

    def warn(self, text: str, tell: Callable[[str], None]) -> None:
        self.warnings.append(text)
        tell(f"{self.name}: warning: {text}")

    def assembled(self) -> str:
        """Return the specification: title, note on its author, and the four sections."""
        sections = [self.results[each.name] for each in ROUNDS[1:]]
        about = f"> A language model wrote this from `{self.outline.path.name}`: {{DESCRIPTION}}"
        text = "\n\n".join([f"# ItemSpec: {self.name}", about, *sections])
        return prompts.filled(text, self.name, self.outline) + "\n"

    def write(self, name: str, text: str) -> Path | None:
        """Write a file with a hash of its content, unless a person wrote or edited the file.

        Returns:
            The file, or None if it was not written.
        """
        path = self.folder / name
        mark, is_ours = _mark(path)
        if mark != _digest(text):  # an edited file that was made from the same text needs no update
            if path.exists() and not is_ours:
                self.skipped.append(
                    f"{path}: not written, because somebody edited it; move it away to get the new version"
                )
                return None
            disk.replace(path, _marked(path, text).encode())
        if name.endswith(".yaml"):
            self.artifacts.setdefault("test_paths", []).append(str(path))
        return path

    def result(self, path: Path | None, text: str, words: str, errors: Sequence[str]) -> SpecResult:
        about = {"item_id": self.name, "itemspec_path": path and str(path), "itemspec_content": text}
        return SpecResult(
            result=f"{self.name}: {words}",
            status="needs_review" if errors else "success",
            exit_status=NEEDS_REVIEW if errors else DONE,
            artifacts={**about, "rounds": self.results, **self.artifacts},
            metadata={
                "version": __version__,
                "models": [*self.models],
                "tokens_in": self.tokens_in,
                "tokens_out": self.tokens_out,
                "resumed": self.resumed,
                "warnings": self.warnings,
                "cache": str(self.kept.folder),
            },
            errors=tuple(errors),
        )


def _plain(path: Path) -> Path:
    """Return the absolute path of a file without `..`, for comparison with other paths."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # `Path.absolute` keeps `..`


def _failed(item: Path, exit_status: int, error: str) -> SpecResult:
    shown = error.replace(f"{Path.cwd()}{os.sep}", "")
    return SpecResult(
        result=f"{item.stem}: failed",
        status="failed",
        exit_status=exit_status,
        artifacts={"item_id": item.stem},
        metadata={"version": __version__},
        errors=(shown,),
    )


def _marked(path: Path, text: str) -> str:
    """Return a text with its hash in a comment, used to detect later edits."""
    digest = _digest(text)
    if path.suffix == ".md":
        return f"{text}\n<!-- made by dvwiki spec, {digest} -->\n"
    return f"# made by dvwiki spec, {digest}\n{text}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _mark(path: Path) -> tuple[str, bool]:
    """Return the hash in a file's comment (empty without one), and whether the rest of the file has this hash."""
    try:
        text = reading.read_text(path)
    except OSError:
        return "", False
    mark = _MARK[".md" if path.suffix == ".md" else ".yaml"].search(text)
    return ("", False) if mark is None else (mark[1], mark[1] == _digest(text[: mark.start()] + text[mark.end() :]))


def _remove_ours(path: Path) -> None:
    if _mark(path)[1]:
        path.unlink()
