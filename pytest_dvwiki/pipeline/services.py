"""The objects needed to process a run: pattern registry, classifiers, waivers, history. Each is loaded at first use."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pytest_dvwiki.runs import today

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.git.revision import Revision
    from pytest_dvwiki.model import Failure, Interest, Verdict
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.settings import Settings
    from pytest_dvwiki.triage.classify import Classifier
    from pytest_dvwiki.triage.texts.reading import TextClassifier
    from pytest_dvwiki.triage.waivers import Waivers
    from pytest_dvwiki.wiki.query import WikiHistory


class Services:
    """The pattern registry and the objects that depend on it, each loaded at first use.

    A run without failures needs none of them.

    Args:
        settings: Location of the project's patterns and the wiki.
        extra_patterns: Returns more pattern files; the project's own patterns take precedence.
        classify: Hooks called before the registry to classify a failure.
        note: Called with a message for each unusable pattern.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        extra_patterns: Callable[[], Sequence[Path]] = tuple,
        classify: Sequence[Callable[[Failure], Verdict | None]] = (),
        note: Callable[[str], None],
    ) -> None:
        self.settings = settings
        self._extra_patterns = extra_patterns
        self._classify = classify
        self._note = note
        self.base: Revision | None = None
        """The base revision; None if `judge` was not used or no base is set."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "history" in self.__dict__:
            self.history.close()
        if self.__dict__.get("judge", self) is not self:
            self.judge.__exit__()

    @cached_property
    def registry(self) -> Registry:
        """Return the project's and the built-in patterns. Invalid patterns are left out with a note."""
        from pytest_dvwiki.patterns import cache  # noqa: PLC0415
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415

        layout = self.settings.layout
        cache.prefer(layout.wiki)
        own = [layout.patterns] if layout.patterns.is_dir() else []
        return load_registry(
            [*own, *self._further_patterns()], problem=lambda error: self._note(f"a pattern was left out: {error}")
        )

    def _further_patterns(self) -> Sequence[Path]:
        try:
            return self._extra_patterns()
        except Exception as error:  # noqa: BLE001  # somebody else's hook
            self._note(f"no patterns of plugins or hooks are used, because one failed: {type(error).__name__}: {error}")
            return ()

    @cached_property
    def interest(self) -> Interest:
        """Return the object that selects the lines to keep of a long log."""
        from pytest_dvwiki.patterns.matcher import Matcher  # noqa: PLC0415

        matcher = Matcher(self.registry)
        if not self.settings.strict_logs:
            return matcher
        judge = self
        if self.settings.gate_base:
            from pytest_dvwiki.capture.git.revision import RevisionError  # noqa: PLC0415  # few runs have a base

            with suppress(RevisionError):  # the gate then changes nothing, and reports the error
                judge = self.judge
        if judge is self and self.waivers is None:
            return matcher
        from pytest_dvwiki.triage.waivers import Accepting, Waivers  # noqa: PLC0415

        accepts = matcher if judge is self else Matcher(judge.registry)
        return Accepting(matcher, judge.waivers or Waivers(), today().isoformat(), accepts=accepts)

    @cached_property
    def judge(self) -> Services:
        """Return the services for the gate's decision: those of the base revision if one is set, or else this object.

        Raises:
            RevisionError: The base revision cannot be read.
        """
        if not self.settings.gate_base:
            return self
        from pytest_dvwiki.capture.git.revision import Revision  # noqa: PLC0415  # few runs have a base

        self.base = Revision(self.settings.layout, self.settings.gate_base)
        return Services(
            replace(self.settings, layout=self.base.layout, gate_base=""),
            extra_patterns=self._extra_patterns,
            classify=self._classify,
            note=self._note,
        )

    @cached_property
    def waivers(self) -> Waivers | None:
        """Return the waivers; None without a waiver file."""
        path = self.settings.layout.waivers
        if not path.exists():
            return None
        from pytest_dvwiki.triage.waivers import load_waivers  # noqa: PLC0415

        return load_waivers(path)

    @cached_property
    def history(self) -> WikiHistory:
        """Return the history of causes and tests, read from the archive."""
        from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

        return WikiHistory(self.settings.layout)

    @cached_property
    def classifier(self) -> Classifier:
        """Return the classifier for the failures of a run."""
        from pytest_dvwiki.triage.classify import Classifier  # noqa: PLC0415

        return Classifier(self.registry, self.history, self._classify)

    @cached_property
    def text_classifier(self) -> TextClassifier:
        """Return the classifier for logs and pasted text."""
        from pytest_dvwiki.triage.texts.reading import TextClassifier  # noqa: PLC0415

        return TextClassifier(self.registry, self.history, self._classify)
