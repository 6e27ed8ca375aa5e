"""Configuration files of a `CompactManager`: what is wrong with one, one to begin with, and one from older settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from compact.app.profiles import OFFLINE, find_profile
from compact.app.recipes import resolve_recipe
from compact.app.summarizers import find_profiles
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import CompactConfig, Policy
from compact.policies.fields import meanings_of_groups
from compact.policies.migration import Migration
from compact.redaction import Redactor
from compact.settings.compaction import all_settings
from compact.settings.documents import dump_document
from compact.summaries.model.strategy import find_strategy
from compact.tracing.post import Address

_WORD = re.compile(r"\.?[a-z]+(?:[_-][a-z0-9_.-]*[a-z0-9])?")


def further_problems(config: CompactConfig) -> Iterator[tuple[str, str]]:
    """What a manager would refuse besides: the path of each setting that names something there is not, and why."""
    policy, redaction, tracing = config.policy, config.redaction, config.tracing
    tries: list[tuple[str, Callable[[], object]]] = [
        ("policy.strategy", partial(find_strategy, policy.strategy)),
        ("policy.recipe", partial(resolve_recipe, policy.recipe or None)),
        ("policy.provider", partial(resolve_recipe, provider=policy.provider or None)),
        ("policy.preset", partial(resolve_recipe, preset=policy.preset or None)),
        ("redaction.patterns", partial(Redactor, redaction.patterns, keys=redaction.keys)),
    ]
    if config.profile not in ("", OFFLINE):
        tries.append(("profile", partial(find_profile, config.profile)))
    addresses = {"tracing.ariadne": tracing.ariadne, "tracing.otlp": tracing.otlp}
    tries += [(path, partial(Address, url, setting=path)) for path, url in addresses.items() if url]
    found = [problem for path, attempt in tries for problem in _problems(path, attempt)]
    yield from found
    if not any(path.startswith("policy.") for path, _ in found):
        # Each is known by itself; now whether they go together.
        yield from _problems("", partial(_check_passes, policy))


def _check_passes(policy: Policy) -> None:
    """Raise InvalidConfiguration where the settings do not go together, or a pass names a profile that is unknown."""
    recipe = resolve_recipe(policy=policy)
    try:
        find_profiles(recipe)
    except InvalidConfiguration as error:
        field = next((name for name in ("preset", "provider") if getattr(policy, name)), "recipe")
        raise InvalidConfiguration(error.problem, field=f"policy.{field}", remedy=error.remedy) from None


def _problems(path: str, attempt: Callable[[], object]) -> Iterator[tuple[str, str]]:
    try:
        attempt()
    except InvalidConfiguration as error:
        told = f"{error.problem} ({error.remedy.removesuffix('.')})" if error.remedy else error.problem
        yield path or error.field, told


def template(model: str) -> str:
    """A compact.yaml with every setting, its default and its meaning."""
    groups = meanings_of_groups(CompactConfig)
    lines = [
        "# How a CompactManager works, for CompactConfig.load. Any line but the model's may go: all are defaults.",
        "# COMPACT_* variables go before this file; `compact config show` tells what holds.",
    ]
    for group, meaning in groups.items():
        lines += ["", f"# {meaning}", f"{group}:"] if group else []
        indent = "  " if group else ""
        for setting in all_settings():
            if setting.group == group and not setting.secret:
                value = json.dumps(model) if setting.needed else _scalar(setting.default)
                lines += [] if group else [""]
                lines += [f"{indent}# {setting.meaning}", f"{indent}{setting.name}: {value}"]
    return "\n".join(lines) + "\n"


def document_of(migration: Migration, model: str | None, path: Path) -> str:
    """A configuration file with migrated settings; in YAML, with the remarks as comments before them."""
    values = ({"model": model} if model else {}) | dict(migration.config)
    if path.suffix.lower() == ".json":
        return dump_document(values, path)
    comments = "".join(f"# {' '.join(remark.split())}\n" for remark in migration.remarks)
    legible = "".join(char if char.isprintable() or char == "\n" else "?" for char in comments)
    return legible + (dump_document(values, path) if values else "")


def _scalar(value: Json) -> str:
    """JSON, which YAML can read; a plain word needs no quotes."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else json.dumps(value)
