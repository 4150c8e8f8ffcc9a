"""Calls of a page store that check the kind of the answer."""

from __future__ import annotations

from pytest_dvwiki.wiki.store_protocol import Fetched, Written


def fetched(found: Fetched | Written) -> Fetched:
    assert isinstance(found, Fetched), found
    return found


def denied(found: Fetched | Written) -> str:
    assert isinstance(found, Written), found
    assert found.status == "denied"
    return found.reason
