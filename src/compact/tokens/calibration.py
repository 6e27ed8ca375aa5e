"""Learns how a vendor's token counts relate to our own, where the vendor keeps its tokenizer to itself."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Final, TypeGuard

from compact.errors import InvalidConfiguration

VERSION: Final = 1
LOWEST, HIGHEST = 0.5, 3.0
"""Factors beyond these are no tokenizer's: something was counted that was not sent, or sent and not counted."""

_REMEMBERED: Final = 15
_TOO_SMALL: Final = 200
_AGREEING: Final = 3
"""Observations in a row that must agree before their factor holds."""
_TOLERANCE: Final = 1.15
_REMEDY: Final = "Delete this model's calibration; it is learned again from the next answers"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many of the model's tokens one of ours makes, as far as is known.

    The factor is the median of the last few observations. It moves only where the last three agree, so outliers do not
    move it and a change at the vendor is followed within some requests. It is an assumption until it is `settled`.
    """

    factor: float = 1.0
    samples: int = 0
    recent: tuple[float, ...] = ()
    version: int = VERSION
    settled: bool = False

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise _invalid("version", f"{self.version!r} is not {VERSION}, the one this release reads")
        for place, ratio in enumerate((self.factor, *self.recent)):
            if not LOWEST <= ratio <= HIGHEST:
                raise _invalid(
                    f"recent[{place - 1}]" if place else "factor", f"{ratio!r} is not between {LOWEST} and {HIGHEST}"
                )
        if self.samples < len(self.recent):
            raise _invalid("samples", f"{self.samples} is less than the {len(self.recent)} observations in `recent`")

    def observe(self, local: int, reported: int, *, certain: bool = False) -> Calibration:
        """The calibration after the vendor reported `reported` input tokens for what we count as `local`.

        Both are without overheads, and `reported` includes tokens read from and written to a cache. Requests too
        small to tell anything are passed over. One that is certain holds at once, in place of what was known.
        """
        if local < _TOO_SMALL or reported <= 0:
            return self
        ratio = min(max(reported / local, LOWEST), HIGHEST)
        recent = (ratio,) if certain else (*self.recent, ratio)[-_REMEMBERED:]
        seen = replace(self, samples=self.samples + 1, recent=recent)
        return replace(seen, factor=median(recent), settled=True) if certain or _agree(recent) else seen

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Calibration:
        """Reads what `to_json` wrote; raises InvalidConfiguration that names the field where it cannot."""
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _invalid("", f"not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise _invalid("", f"{type(fields).__name__} where an object was expected")
        if fields.get("version") != VERSION:
            raise _invalid("version", f"{fields.get('version')!r} is not {VERSION}, the one this release reads")
        factor, samples, recent = fields.get("factor"), fields.get("samples"), fields.get("recent")
        if not _is_number(factor):
            raise _invalid("factor", f"{factor!r} is not a number")
        if isinstance(samples, bool) or not isinstance(samples, int):
            raise _invalid("samples", f"{samples!r} is not a whole number")
        if not isinstance(recent, list) or not all(map(_is_number, recent)):
            raise _invalid("recent", "not a list of numbers")
        settled = fields.get("settled", _agree(recent))  # earlier versions did not say
        if not isinstance(settled, bool):
            raise _invalid("settled", f"{settled!r} is neither true nor false")
        return cls(factor, samples, tuple(recent), settled=settled)


def anchored(usage: int, factor: float, new: int, overhead: int = 0) -> int:
    """The tokens of a request that continues one whose usage is known.

    `usage` is all that the vendor reported for the last request, input (cached tokens included) and output; only what
    came after it, `new` of our tokens, is estimated, so an error of the factor weighs little.
    """
    return usage + math.ceil(factor * new) + overhead


def _agree(recent: Sequence[float]) -> bool:
    last = recent[-_AGREEING:]
    return len(last) == _AGREEING and max(last) <= min(last) * _TOLERANCE


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _invalid(field: str, problem: str) -> InvalidConfiguration:
    return InvalidConfiguration(problem, field=f"calibration.{field}".rstrip("."), remedy=_REMEDY)
