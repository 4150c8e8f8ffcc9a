"""Reclassifies the archive with the current patterns: `triage` decides, and `wiki` writes the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.again import reclassify_failure
from pytest_dvwiki.triage.classify import Classifier
from pytest_dvwiki.version import FINGERPRINT_VERSION, TOOL
from pytest_dvwiki.wiki.writing.reclassify import reclassify

if TYPE_CHECKING:
    from pytest_dvwiki.settings import Settings
    from pytest_dvwiki.wiki.writing.reclassify import Reclassified


def reclassify_all(settings: Settings) -> Reclassified:
    """Reclassify all recorded failures whose verdicts come from other patterns or another fingerprint version.

    The next build updates the pages.

    Raises:
        PatternError: A pattern of the project is invalid; continuing without it could leave causes unclassified.
    """
    registry = load_registry(sorted(settings.layout.patterns.glob("*.yaml")))
    classifier = Classifier(registry)
    return reclassify(
        settings.layout,
        lambda occurrence, version: reclassify_failure(occurrence, version, classifier),
        tool=TOOL,
        registry=registry.hash,
        fingerprint_version=FINGERPRINT_VERSION,
    )
