"""What is known about one model: its limits, its prices and how its tokens are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
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
class Limits:
    """How many tokens a model takes.

    `window` is the size that shares refer to: the input that fits beside the model's longest answer, or the window that
    a person has set. `input` is the most it takes as input, however short the answer. `total` is the most it takes as
    input and answer together; None where the vendor counts them apart. `size` is the most bytes of a request, where the
    vendor states that.
    """

    window: int
    input: int
    total: int | None
    size: int | None = None

    @classmethod
    def shared(cls, window: int) -> Limits:
        """The limits of a window for input and answer together of which nothing else is known."""
        return cls(window, window, window)

    def input_beside(self, answer: int) -> int:
        """The most input that leaves so many tokens to the answer."""
        return self.input if self.total is None else min(self.input, self.total - answer)


_SIZES: Mapping[str, int] = {
    "anthropic": 32_000_000,
    "azure": 50_000_000,
    "bedrock": 20_000_000,
    "google": 20_000_000,
    "openai": 50_000_000,
    "vertex": 20_000_000,
}
"""The largest request of each vendor in bytes, as far as they document one; images and files count in base64."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model as one vendor serves it.

    `max_input` is the input that is accepted whatever output the request asks for (see `input_limit`). `stated_input`
    is the limit of the input where the vendor states one, and with `apart` the answer takes nothing of the window.
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
    stated_input: int | None = None
    apart: bool = False

    @property
    def limits(self) -> Limits:
        """How many tokens a request may have."""
        window = self.context_window
        total = None if self.apart else window
        return Limits(self.max_input, min(self.stated_input or window, window), total, _SIZES.get(self.vendor))

    def resized(self, window: int) -> Model:
        """The model with another window, which a person has set.

        The vendor's own limit of the input holds in it, unless it is larger than the window that the limit was for.
        """
        output = None if self.max_output is None else min(self.max_output, window)
        stated = self.stated_input if window <= self.context_window else None
        limit = min(input_limit(window, output, apart=self.apart), stated or window)
        return replace(self, context_window=window, max_input=limit, max_output=output, stated_input=stated)


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
