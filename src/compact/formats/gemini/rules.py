"""What the API rejects, in the order in which it complains.

Consecutive contents of the model are one turn; Gemini does not ask for strict alternation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compact.formats.format import Finding, Request, Rule, text_of
from compact.messages import Json

VARIANTS: tuple[str, ...] = ("gemini", "vertex")

# What goes with a part's data, and is none itself; thoughtSignature is: the model returns it on a part without text.
_BESIDES = frozenset({"thought", "video_metadata", "videoMetadata", "part_metadata", "partMetadata"}) | frozenset(
    {"media_resolution", "mediaResolution"}
)
_MODEL = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class _Content:
    """One entry of `contents`, read: its role, and how many calls, responses and other parts it holds."""

    role: str
    calls: tuple[tuple[Mapping[str, Json], bool], ...]
    responses: int
    others: int
    ends_in_response: bool


def _contents(body: Mapping[str, Json]) -> list[Json]:
    found = body.get("contents")
    return found if isinstance(found, list) else []


def _role(content: Json) -> str:
    return (text_of(content.get("role")) or "user") if isinstance(content, dict) else ""


def _parts(content: Json) -> list[Json]:
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def _call(part: Json) -> Json:
    return (part.get("functionCall") or part.get("function_call")) if isinstance(part, dict) else None


def _is_call(part: Json) -> bool:
    return isinstance(part, dict) and ("functionCall" in part or "function_call" in part)


def _is_response(part: Json) -> bool:
    return isinstance(part, dict) and ("functionResponse" in part or "function_response" in part)
