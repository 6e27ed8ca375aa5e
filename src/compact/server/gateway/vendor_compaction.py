"""Requests whose client asked its vendor to compact, or to leave something out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from compact.messages import Json

COMPACTING: Final = "responses/compact"
"""The path at which OpenAI compacts a conversation."""


def asks_to_compact(path: str, format: str, body: Mapping[str, Json]) -> bool:
    """True if the vendor compacts the conversation: on demand now, or by itself from a threshold on."""
    kinds = [str(edit.get("type")) for edit in _edits(body)]
    if format == "anthropic-messages":
        return isinstance(body.get("compaction"), dict) or any(kind.startswith("compact_") for kind in kinds)
    items = body.get("input")
    last = items[-1] if isinstance(items, list) and items else None
    on_demand = isinstance(last, dict) and last.get("type") == "compaction_trigger"
    return path == COMPACTING or on_demand or "compaction" in kinds


def may_shorten(body: Mapping[str, Json]) -> bool:
    """True if the vendor may read less than the request holds: its usage then says nothing about our counts."""
    # Claude Code asks with every request to keep all thinking.
    return body.get("truncation") == "auto" or any(edit.get("keep") != "all" for edit in _edits(body))


def _edits(body: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The entries of `context_management`: a list with OpenAI, a list of edits with Anthropic."""
    asked = body.get("context_management")
    edits = asked.get("edits") if isinstance(asked, dict) else asked
    yield from (edit for edit in (edits if isinstance(edits, list) else ()) if isinstance(edit, dict))
