"""Profiles: which models may be asked, where, with whose key, and in which order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from compact.models import CacheRules, Model, Prices, find_model
from compact.policies.addresses import check_address
from compact.policies.configuration import Configuration, configure
from compact.policies.threshold import INHERIT, OwnThreshold, check_percent
from compact.policies.variants import Variant

Vendor: TypeAlias = Literal["openai", "azure", "anthropic", "bedrock", "gemini", "vertex", "openrouter", "compatible"]

CHEAP: Final[Mapping[Vendor, str]] = MappingProxyType(
    {
        "openai": "gpt-4o-mini",
        "azure": "gpt-4o-mini",
        "anthropic": "claude-haiku-4-5",
        "bedrock": "global.anthropic.claude-haiku-4-5-20251001-v1:0",
        "gemini": "gemini-2.5-flash",
        "vertex": "gemini-2.5-flash",
        "openrouter": "google/gemini-2.5-flash",
    }
)
"""The model that summarizes where a vendor is named and no model; any other URL serves models of its own."""

_CATALOGUE: Final[Mapping[Vendor, str]] = {"gemini": "google"}
_USUAL_MINIMUM: Final = 1_024
"""The shortest beginning that vendors cache, where it is not known."""
_NEEDS_URL: Final = ("azure", "compatible")
# How the keys of vendors begin, and the long runs of letters and digits that no name has.
_KEY: Final = re.compile(
    r"(?:sk|pk|rk|gsk|r8|hf|ghp|gho|ghs|tvly|pplx|xai|lsv2|ABSK|bedrock-api-key)[-_][A-Za-z0-9_-]{16,}"
    r"|AIza[\w-]{10,}|ya29\.|GOCSPX-|ABSK[A-Za-z0-9+/]{10,}|A(?:KI|SI|BI|CC)A[A-Z0-9]{12,}|eyJ[\w-]{8,}\.|Bearer\s"
    r"|(?=[a-z_-]*\d)[a-z0-9]{32,}|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z0-9+/_=]{32,}"
)
_REFERENCE: Final = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,127}|keyring:[^/\s][^/]{0,127}/[^/]{1,128}")
_PASTED: Final = (
    "holds what looks like a key itself: put that into the environment or the keyring, and give "
    "env:NAME or keyring:SERVICE/USER as `key`"
)


def _no_key(text: str) -> str:
    # What was given is never repeated in an error: it may be a key.
    if _KEY.match(text):
        raise ValueError(_PASTED)
    return text


def _reference(text: str) -> str:
    if any(_KEY.match(part) for part in re.split("[:/]", text)):
        raise ValueError(_PASTED)
    if text and (not _REFERENCE.fullmatch(text) or not text.isprintable()):
        raise ValueError("must be env:NAME or keyring:SERVICE/USER, a reference and never a key")
    return text


STORED: Final = MappingProxyType({"stored": True})
"""The context in which a file of profiles is read: a wrong threshold there is a warning, and is not used."""


def _percentage(value: float, info: ValidationInfo) -> float:
    return value if info.context == STORED else check_percent(value)


Price: TypeAlias = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Word: TypeAlias = Annotated[str, Field(max_length=256), AfterValidator(_no_key)]
Reference: TypeAlias = Annotated[str, AfterValidator(_reference)]
Address: TypeAlias = Annotated[str, Field(max_length=2048), AfterValidator(check_address)]


class Profile(Configuration):
    """A model, where it is asked, with whose key, and how."""

    model_config = ConfigDict(hide_input_in_errors=True)

    name: Annotated[str, Field(max_length=64, pattern=r"^[^\W_][\w .:/@+-]*$"), AfterValidator(_no_key)]
    """What the profile is called."""
    vendor: Vendor
    """Who serves the model; compatible is any address that speaks OpenAI's Chat Completions."""
    model: Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_no_key)]
    """The model as the vendor calls it; for Azure, the deployment."""
    url: Annotated[Address, Field(validate_default=True)] = ""
    """The address, where it is not the vendor's own; needed for azure and compatible."""
    key: Reference = ""
    """Where the key is: env:NAME or keyring:SERVICE/USER, by default the vendor's usual variable."""
    use: Literal["conversation", "condensation", "both"] = "both"
    """What the model is for; one that is only for conversations condenses when no other can."""
    priority: int = 0
    """The lower it is, the sooner it is asked."""
    threshold: Annotated[float, Field(allow_inf_nan=False), AfterValidator(_percentage)] = INHERIT
    """Condense from this percentage of the window; -1 is whatever holds for all profiles."""
    recipe: Annotated[str, Field(max_length=64)] = ""
    """The recipe that compacts conversations with this model in the gateway, where it is not the default one."""
    variant: Variant = ""
    """The deployment whose rules hold, such as vllm or mistral; empty for what address and model tell."""
    strategy: Annotated[str, Field(max_length=64, pattern=r"^[a-z_]*$")] = ""
    """The summarization strategy, where it is not the usual one."""
    prompt: Annotated[str, Field(max_length=20_000)] = ""
    """A summarization prompt of your own."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0
    """How freely the model chooses its words; none leaves it to the vendor."""
    seed: int | None = 42
    """Makes answers repeatable, where the vendor knows how."""
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    """The most an answer may have, where a question asks for more."""
    input_price: Price | None = None
    """Dollars per million tokens of input; none is what the catalogue says, and unknown for a compatible address."""
    output_price: Annotated[Price | None, Field(validate_default=True)] = None
    """Dollars per million tokens of answers; it goes together with the price of input."""
    cache_read_price: Price | None = None
    """Dollars per million tokens that come from the vendor's cache; none is the price of input."""
    cache_write_price: Price | None = None
    """Dollars per million tokens that are put into the vendor's cache; none is the price of input."""
    context_window: Annotated[int, Field(ge=1_000, le=1_000_000_000)] | None = None
    """Tokens of a request and its answer together; none is what the catalogue says, or 128,000."""
    caches: bool | None = None
    """Whether the vendor caches the beginning of requests; none is what the catalogue says."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60
    """Seconds a question may take, with everything that is tried again."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """How often a question is asked when the vendor does not answer."""
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    """Questions under way at once."""
    region: Word = ""
    """Where Bedrock or Vertex runs the model."""
    project: Word = ""
    """Vertex' project."""
    api_version: Word = ""
    """Azure's API version, by default its newest."""

    @field_validator("url")
    @classmethod
    def _known_address(cls, url: str, info: ValidationInfo) -> str:
        if not url and info.data.get("vendor") in _NEEDS_URL:
            raise ValueError(f"is needed for {info.data['vendor']}, whose address only you know")
        return url

    @field_validator("output_price")
    @classmethod
    def _both_prices(cls, price: float | None, info: ValidationInfo) -> float | None:
        if (price is None) != (info.data.get("input_price") is None):
            raise ValueError("goes together with input_price: give both, or neither")
        return price

    @field_validator("cache_read_price", "cache_write_price")
    @classmethod
    def _beside_others(cls, price: float | None, info: ValidationInfo) -> float | None:
        if price is not None and info.data.get("input_price") is None:
            raise ValueError("needs input_price and output_price beside it")
        return price

    @property
    def catalogue_name(self) -> str:
        """The model's name for `find_model`; what a compatible address calls a model says nothing of its price."""
        if self.vendor == "compatible":
            return self.model
        return f"{_CATALOGUE.get(self.vendor, self.vendor)}:{self.model}"

    @property
    def own_threshold(self) -> OwnThreshold:
        """Its threshold, which may be none that can be used."""
        share = None if self.threshold == INHERIT else self.threshold / 100
        unused = share is not None and self.use == "condensation"
        problem = f"profile {self.name}: its threshold is not used, as no conversation is with its model" * unused
        return OwnThreshold("profile", share, self.name, problem)

    def serves(self, model: str) -> bool:
        """Whether conversations with the model, however it is spelled, may be with this profile's."""
        wanted = find_model(model).id
        return self.use != "condensation" and wanted in (self.model, find_model(self.catalogue_name).id)

    @property
    def recipient(self) -> str:
        """The vendor that gets what is asked, as the catalogue names it; empty for a compatible address."""
        return "" if self.vendor == "compatible" else _CATALOGUE.get(self.vendor, self.vendor)


def model_of(profile: Profile) -> Model:
    """The profile's model: what the catalogue knows of it, and above that what the profile says.

    At a compatible address the name tells the window, but neither a price nor a cache.
    """
    known = find_model(profile.catalogue_name)
    strange = profile.vendor == "compatible"
    window = profile.context_window
    return replace(
        known if window is None else replace(known.resized(window), source="profile"),
        prices=_own_prices(profile) or (None if strange else known.prices),
        cache=_cache(profile, None if strange else known.cache),
    )


def _own_prices(profile: Profile) -> Prices | None:
    if profile.input_price is None:
        return None
    return Prices.per_million(
        profile.input_price, profile.output_price, profile.cache_write_price, profile.cache_read_price
    )


def _cache(profile: Profile, known: CacheRules | None) -> CacheRules | None:
    if profile.caches is None:
        return known
    return known or CacheRules(_USUAL_MINIMUM) if profile.caches else None


class Profiles(Configuration):
    """All profiles of an installation; names are unique."""

    model_config = ConfigDict(hide_input_in_errors=True)

    profiles: tuple[Profile, ...] = ()
    """The profiles."""

    @model_validator(mode="after")
    def _unique(self) -> Self:
        names = [profile.name for profile in self.profiles]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"more than one is called {', '.join(twice)}")
        return self

    def for_condensation(self) -> tuple[Profile, ...]:
        """Who summarizes, in the order of asking: those meant for it by priority, then the conversation's models."""
        return tuple(sorted(self.profiles, key=lambda profile: (profile.use == "conversation", profile.priority)))

    def for_conversation(self, model: str = "") -> tuple[Profile, ...]:
        """The conversation's models by priority; those that serve a model, where one is named."""
        own = (profile for profile in self.profiles if profile.use != "condensation")
        return tuple(sorted((one for one in own if not model or one.serves(model)), key=lambda one: one.priority))


def default_profile(vendor: Vendor, *, url: str = "", model: str = "") -> Profile:
    """A profile that condenses with the vendor's cheap model; azure and compatible need a URL, the latter a model."""
    chosen = model or CHEAP.get(vendor, "")
    values = {"name": vendor, "vendor": vendor, "model": chosen, "url": url, "use": "condensation"}
    return configure(Profile, values, under="profile")
