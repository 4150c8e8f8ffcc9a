"""The pipeline from failures to pages, for the end of a session, an ingest, and the takeover of a killed run."""

from pytest_dvwiki.pipeline.archiving import Archived, adopt, known_artefacts, on_record
from pytest_dvwiki.pipeline.processing import killed_run, process, with_ip_type
from pytest_dvwiki.pipeline.recalling import causes_of_record, recalled

__all__ = [
    "Archived",
    "adopt",
    "causes_of_record",
    "killed_run",
    "known_artefacts",
    "on_record",
    "process",
    "recalled",
    "with_ip_type",
]
