"""Compactions that were kept: what they were built on, what they did, and why that cannot be read where it cannot."""

from __future__ import annotations

from collections.abc import Mapping

from compact.errors import NewerVersion, StoredPlanMismatch
from compact.messages import Json, Plan, plan_from_json
from compact.ports import RECORD_VERSION, Originals, Record

UNUSABLE = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
"""What a plan that says something senseless gives rise to."""

_REMEDY = "Call preflight with the whole history: the session goes on without that compaction."


def chain_of(last: Record, records: Mapping[int, Record]) -> list[Record]:
    """The compaction and those it was built on, in order; NewerVersion where one of them cannot be known."""
    chain = [last]
    while chain[0].parent in records:
        chain.insert(0, records[chain[0].parent])
    for record in chain:
        if record.version > RECORD_VERSION:
            raise NewerVersion(
                f"{_named(record)} is of version {record.version}, and this Compact reads version {RECORD_VERSION}",
                remedy="Upgrade Compact.",
            )
    return chain


def plan_of(record: Record) -> Plan:
    """What the compaction did."""
    try:
        return plan_from_json(record.plan)
    except UNUSABLE as error:
        raise mismatch(record, f"its plan is damaged ({type(error).__name__}: {error})") from None


def log_of(record: Record, originals: Originals, start: int = 0) -> list[Json]:
    """Return the messages of the log that the compaction was made on, from a position on."""
    try:
        return originals.get(record.session, record.log[start:])
    except KeyError as error:
        raise mismatch(record, f"message {error} is missing") from None


def mismatch(record: Record, problem: str) -> StoredPlanMismatch:
    """The error that says what is wrong with the compaction."""
    return StoredPlanMismatch(f"{_named(record)} cannot be used: {problem}", remedy=_REMEDY)


def _named(record: Record) -> str:
    return f"compaction {record.number} of session {record.session}"
