"""The models this release knows, from a dated snapshot that ships with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from compact.errors import InvalidConfiguration
from compact.models.encodings import tokenization
from compact.models.model import DEFAULT_WINDOW, CacheRules, Model, Prices, Tier, input_limit
from compact.models.names import ALIASES, MAKERS, VENDORS, canonical, readings, releases, spellings

_LONGEST_NAME = 200
# Whose list also holds for a host, as its own may lag behind. Azure and Vertex charge what the makers charge; Bedrock
# does not, so it borrows no prices.
_BORROWS = {
    "azure": ("openai", "anthropic", "deepseek", "xai", "mistral", "moonshotai"),
    "vertex": ("google", "anthropic"),
    "google": ("vertex",),
    "bedrock": ("anthropic", "openai", "mistral", "deepseek", "moonshotai", "zai", "minimax"),
}
_PASSED_ON = ("openai", "anthropic", "google", "xai")
"""Makers whose models only they price; OpenRouter passes the price on."""
_FAMILIES = {"claude": "anthropic", "gpt": "openai", "gemini": "google"}


def find_model(name: str) -> Model:
    """The model of this name, however it is spelled.

    An unknown name never fails: it gets a window of 128,000 tokens and `source` "default".
    """
    if not isinstance(name, str):
        raise InvalidConfiguration(
            f"a model's name is a text, not {name!r}"[:100], field="model", remedy='Name one, such as "gpt-4o".'
        )
    return _find(name)


def list_models(vendor: str | None = None) -> tuple[Model, ...]:
    """Every model of the catalogue, or of one vendor, by vendor and id."""
    return _snapshot().listing(vendor and ALIASES.get(vendor.lower(), vendor))


@cache
def _snapshot() -> Catalogue:
    # Like importlib.resources it reads package data wherever the package is, at an eighth of the time to import.
    import pkgutil

    return Catalogue(json.loads(pkgutil.get_data("compact.models", "catalogue.json") or b"{}", parse_float=str))


@lru_cache(maxsize=4096)
def _find(name: str) -> Model:
    return _snapshot().find(name)


class _Place(NamedTuple):
    """Where a model is listed."""

    vendor: str
    id: str


class Catalogue:
    """An index over a snapshot: per vendor by every name the vendor uses, and over all vendors by bare name."""

    def __init__(self, snapshot: Mapping[str, Any]) -> None:
        self._models: Mapping[str, Mapping[str, Mapping[str, Any]]] = snapshot["models"]
        self._cache_rules: list[list[Any]] = snapshot.get("cache", [])
        self._made: dict[str, _Place] = {}
        self._hosted: dict[str, list[_Place]] = {}
        self._keys = {vendor: self._index(vendor) for vendor in VENDORS}

    def find(self, name: str) -> Model:
        """The model of this name; see `find_model`."""
        if len(name) > _LONGEST_NAME:
            return _unknown(name, None)
        text = name.strip().lower()
        found = self._fine_tuned(text) if text.startswith("ft:") else self._named(text)
        if found is None:
            return _unknown(name, readings(name)[0][0])
        free_no_more = text.endswith(":free") and not found.id.endswith(":free")
        return replace(found, prices=None) if free_no_more else found

    def listing(self, vendor: str | None) -> tuple[Model, ...]:
        """Every model of one vendor, or of all, in the order of the snapshot."""
        vendors = self._models if vendor is None else [vendor]
        return tuple(self._model(_Place(name, id)) for name in vendors for id in self._models.get(name, {}))

    def _index(self, vendor: str) -> dict[str, str]:
        """The vendor's names, then its further spellings, then what follows the maker's; none hides an earlier one."""
        entries = self._models.get(vendor, {})
        keys = {canonical(id): id for id in entries}
        for id, entry in entries.items():
            for spelling in entry.get("also", ()):
                keys.setdefault(canonical(spelling), id)
        for key, id in list(keys.items()):
            if vendor == "bedrock" and not key.startswith("global-"):
                keys.setdefault(key.partition("-")[2], id)
            keys.setdefault(key.rpartition("/")[2], id)
        for key, id in keys.items():
            if vendor in MAKERS:
                self._made.setdefault(key, _Place(vendor, id))
            else:
                self._hosted.setdefault(key, []).append(_Place(vendor, id))
        return keys

    def _named(self, text: str) -> Model | None:
        ways = [(vendor, canonical(rest)) for vendor, rest in readings(text)]
        for vendor, key in ways:
            if found := self._listed(vendor, key):
                return found
        for vendor, key in ways:
            for spelling in spellings(key) if vendor == "openrouter" else _loosely(key):
                if found := self._listed(vendor, spelling):
                    return found
        for vendor, key in ways:
            # A vendor that is not known to serve it: the limits are those of others, the price is not.
            for spelling in _loosely(key) if vendor else ():
                if found := self._listed(None, spelling):
                    return replace(found, vendor=vendor or found.vendor, prices=None)
        return None

    def _listed(self, vendor: str | None, key: str) -> Model | None:
        if vendor is None:
            return self._made_anywhere(key) or self._hosted_anywhere(key)
        if id := self._keys[vendor].get(key):
            return self._model(_Place(vendor, id))
        for lender in _BORROWS.get(vendor, ()):
            if id := self._keys[lender].get(key):
                found = self._model(_Place(lender, id))
                return replace(found, vendor=vendor, prices=None if vendor == "bedrock" else found.prices)
        return None

    def _made_anywhere(self, key: str) -> Model | None:
        return next((self._model(self._made[name]) for name in releases(key) if name in self._made), None)

    def _hosted_anywhere(self, key: str) -> Model | None:
        """A name that no maker lists but hosts do.

        Where it is not plainly one host's name for it, the bare name does not say who serves the model: the smallest
        of the limits holds, and there is a price only if it is everywhere the maker's.
        """
        places = self._hosted.get(key, [])
        if not places:
            return None
        if "/" in key or (len(places) == 1 and "/" not in places[0].id):
            return self._model(places[0])
        found = min(map(self._model, places), key=lambda model: (model.source == "default", model.max_input))
        maker = found.id.rpartition("/")[0]
        vendor = ALIASES.get(maker, maker or "unknown")
        prices = found.prices if found.vendor == "openrouter" and vendor in _PASSED_ON else None
        return replace(found, id=found.id.rpartition("/")[2], vendor=vendor, prices=prices)

    def _fine_tuned(self, text: str) -> Model | None:
        """A fine-tuned OpenAI model, `ft:base:organisation:name:id`; its prices are not those of its base."""
        base = text.split(":")[1]
        for spelling in spellings(canonical(base)):
            if id := self._keys["openai"].get(f"ft:{spelling}"):
                return self._model(_Place("openai", id))
        found = self._named(base)
        return found and replace(found, prices=None)

    def _model(self, place: _Place) -> Model:
        entry = self._models[place.vendor][place.id]
        stated = entry.get("window")
        window = DEFAULT_WINDOW if stated is None else stated
        output, stated_input, apart = entry.get("output"), entry.get("input"), "gemini" in place.id
        encoding, exact, prior = tokenization(place.id)
        return Model(
            id=place.id,
            vendor=place.vendor,
            name=entry.get("name", place.id),
            context_window=window,
            max_input=input_limit(window, output, stated=stated_input, apart=apart),
            max_output=output,
            prices=_prices(entry),
            encoding=encoding,
            exact=exact,
            prior=prior,
            source="default" if stated is None else "catalogue",
            retired=entry.get("retired", False),
            cache=self._cache(place),
            stated_input=stated_input,
            apart=apart,
        )

    def _cache(self, place: _Place) -> CacheRules | None:
        """The most specific rule for the model; one without a minimum says that none is known."""
        rules = [rule for rule in self._cache_rules if rule[0] == place.vendor and place.id.startswith(rule[1])]
        _, _, minimum, lifetimes = max(rules, key=lambda rule: len(rule[1]), default=(None, None, None, ()))
        return None if minimum is None else CacheRules(minimum, tuple(lifetimes))


def _loosely(key: str) -> Iterator[str]:
    """Every spelling of the whole key, then of what follows its routes."""
    yield from spellings(key)
    if "/" in key:
        yield from spellings(key.rpartition("/")[2])


def _prices(entry: Mapping[str, Any]) -> Prices | None:
    if (row := entry.get("prices")) is None:
        return None
    tiers = tuple(Tier(above, Prices.per_million(*rates)) for above, *rates in entry.get("tiers", ()))
    return replace(Prices.per_million(*row), tiers=tiers)


def _unknown(name: str, vendor: str | None) -> Model:
    encoding, _, prior = tokenization(name[:_LONGEST_NAME])
    maker = next((maker for family, maker in _FAMILIES.items() if family in name.lower()), "unknown")
    return Model(
        id=name,
        vendor=vendor or maker,
        name=name,
        context_window=DEFAULT_WINDOW,
        max_input=DEFAULT_WINDOW,
        max_output=None,
        prices=None,
        encoding=encoding,
        exact=False,
        prior=prior,
        source="default",
    )
