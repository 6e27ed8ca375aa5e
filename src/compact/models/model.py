"""What is known about one model: its limits, its prices and how its tokens are counted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Literal

from compact.errors import InvalidInput

DEFAULT_WINDOW = 128_000
"""The context window assumed of a model nobody has described."""


@dataclass(frozen=True, slots=True)
class Tier:
    """The prices of a whole request whose input exceeds `above` tokens."""

    above: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens; `None` is a price that nobody publishes, never a price of zero.

    `tiers` rise in `above`; the last one exceeded sets every price of the request.
    """

    input: Decimal | None
    output: Decimal | None
    cache_write: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write_1h: Decimal | None = None
    tiers: tuple[Tier, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for price in fields(self):
            value = getattr(self, price.name)
            if isinstance(value, Decimal) and not (value.is_finite() and value >= 0):
                raise InvalidInput(
                    f"a price of {value} is not a finite amount of at least 0",
                    field=f"prices.{price.name}",
                    remedy="Give dollars per million tokens, or None where the price is unknown.",
                )

    @classmethod
    def per_million(
        cls,
        input: Decimal | float | str | None,
        output: Decimal | float | str | None,
        cache_write: Decimal | float | str | None = None,
        cache_read: Decimal | float | str | None = None,
        cache_write_1h: Decimal | float | str | None = None,
    ) -> Prices:
        """Prices from plain numbers, read as they are printed: 0.1 is a tenth, not its binary neighbour."""
        given = (input, output, cache_write, cache_read, cache_write_1h)
        return cls(*(None if value is None else Decimal(str(value)) for value in given))

    def at(self, input_tokens: int) -> Prices:
        """The prices of a request of so many input tokens, cached ones included."""
        for tier in reversed(self.tiers):
            if input_tokens > tier.above:
                return tier.prices
        return self


@dataclass(frozen=True, slots=True)
class CacheRules:
    """When a vendor's prompt cache works: the shortest prefix it keeps and the lifetimes, in seconds, it offers."""

    minimum: int
    lifetimes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """One model as one vendor serves it.

    `max_input` is the input that is accepted whatever output the request asks for (see `input_limit`).
    `encoding` names the tokenizer that counts for the model; where it is not the model's own (`exact` is false)
    a count is multiplied by `prior` until it has been calibrated.
    `source` says where the limits come from: "profile" is the profile by which the model is asked, "default" means that
    they are not known.
    """

    id: str
    vendor: str
    name: str
    context_window: int
    max_input: int
    max_output: int | None
    prices: Prices | None
    encoding: str
    exact: bool
    prior: float
    source: Literal["catalogue", "profile", "default"]
    retired: bool = False
    cache: CacheRules | None = None


def input_limit(window: int, output: int | None, *, stated: int | None = None, apart: bool = False) -> int:
    """The input tokens a model accepts whatever output is asked for.

    - A limit the vendor states holds (GPT-5: 272,000 of 400,000).
    - Where the vendor counts input and output apart (Gemini), the window is the input limit.
    - Otherwise both share the window (OpenAI, Anthropic and most others): window minus the largest output.
      A largest output above half the window is a ceiling, not a plan (many vendors print the window itself), so no
      more than half the window is set aside for it.
    - With the largest output unknown there is nothing to subtract.
    """
    if stated is not None:
        return min(stated, window)
    if apart or output is None:
        return window
    return window - min(output, window // 2)
