"""The record of one compaction, which reports, events, headers, stored rows and analytics read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from secrets import token_hex
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from compact.messages import Json

EntryPoint: TypeAlias = Literal["library", "command line", "manager", "gateway", "chat", "replay"]
"""The entry point by which a compaction was made."""
_T = TypeVar("_T")


class PassSizes(NamedTuple):
    """A pass that did something, and the tokens before it and after it."""

    name: str
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class CompactionOrigin:
    """Where a compaction is made: by which entry point, with whose model, what set it off, and its id."""

    source: EntryPoint = "library"
    model: str = ""
    trigger: str = "manual"
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFacts:
    """The record of one compaction, stored with it and reported everywhere.

    `id` is the compaction's own, by which records of it in several places are known as one; it is empty in a row that a
    version without such records wrote, of which some facts are unknown. `ended_at` is in UTC and ISO 8601, `seconds` is
    how long making it took. `trigger` is automatic, manual or regenerated. `model` is the conversation's. `strategy` is
    the one that its account was written by, with a person's own words where `custom_prompt` says so. `removed` is how
    many messages are no longer sent as they were. `cost` is what was paid, in dollars, where that is known.
    """

    id: str = ""
    ended_at: str = ""
    source: str = ""
    trigger: str = ""
    provider: str = ""
    recipe: str = ""
    strategy: str = ""
    custom_prompt: bool = False
    model: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    removed: int = 0
    cost: Decimal | None = None
    seconds: float = 0.0
    written_by: tuple[str, ...] = ()
    why_offline: str = ""
    failure: str = ""
    passes: tuple[PassSizes, ...] = ()

    @property
    def saved(self) -> int:
        """The tokens that the next request takes less."""
        return self.tokens_before - self.tokens_after

    @property
    def older(self) -> bool:
        """True if the row was written by a version without such records."""
        return not self.id

    def to_json(self) -> dict[str, Json]:
        """The facts as plain JSON; money as text, so that nothing is rounded."""
        cost = None if self.cost is None else format(self.cost, "f")
        passes = [one._asdict() for one in self.passes]
        return asdict(self) | {"cost": cost, "written_by": list(self.written_by), "passes": passes}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> CompactionFacts:
        """Read the output of `to_json`; a field that is missing, or of another type, is empty."""
        texts = ("id", "ended_at", "source", "provider", "recipe", "strategy", "model", "why_offline", "failure")
        numbers = ("tokens_before", "tokens_after", "removed")
        usual = "automatic" if data.get("automatic") is True else "manual"  # events of earlier versions
        written, passes = data.get("written_by"), data.get("passes")
        read: dict[str, Any] = {name: _read(data, name, str, "") for name in texts}
        read |= {name: _read(data, name, int, 0) for name in numbers}
        return cls(
            **read,
            trigger=_read(data, "trigger", str, usual),
            custom_prompt=data.get("custom_prompt") is True,
            cost=read_dollars(data.get("cost")),
            seconds=float(_read(data, "seconds", (int, float), 0.0)),
            written_by=tuple(map(str, written)) if isinstance(written, list) else (),
            passes=tuple(filter(None, map(_pass, passes if isinstance(passes, list) else ()))),
        )


def new_id() -> str:
    """An id for a compaction."""
    return token_hex(16)


def now() -> str:
    """The time in UTC and ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_dollars(value: Json) -> Decimal | None:
    """An amount of money that was written as text or as a number; None where it is none."""
    try:
        amount = Decimal(str(value)) if isinstance(value, str | int | float) else None
    except InvalidOperation:
        return None
    return amount if amount is not None and amount.is_finite() else None


def _read(data: Mapping[str, Json], name: str, kind: type[_T] | tuple[type[_T], ...], usual: _T) -> _T:
    value = data.get(name)
    return value if isinstance(value, kind) else usual


def _pass(row: Json) -> PassSizes | None:
    if not isinstance(row, dict):
        return None
    name, before, after = (row.get(key) for key in PassSizes._fields)
    return PassSizes(str(name), before, after) if isinstance(before, int) and isinstance(after, int) else None
