"""Commands with many options, and what options mean that several commands have."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints

import typer

from compact.app.recipes import merge_settings
from compact.errors import InvalidInput
from compact.messages import Json

Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")
]
ForModel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help="The model to count for; by default the request's own, else one for its format."
    ),
]
VariantName: TypeAlias = Annotated[
    str,
    typer.Option(help="The deployment whose rules hold, such as bedrock or mistral; by default the vendor's own."),
]
RecipeName: TypeAlias = Annotated[
    str | None, typer.Option("--recipe", "-p", help="How: see `compact recipes`; without it, by the default recipe.")
]
PresetName: TypeAlias = Annotated[str | None, typer.Option("--preset", help="The same, for a preset.", hidden=True)]
ProviderName: TypeAlias = Annotated[
    str | None, typer.Option("--provider", help="The same, for a provider with its own defaults.", hidden=True)
]
Target: TypeAlias = Annotated[
    str | None, typer.Option("--target", "-t", help="What to come down to: tokens (8000, 8k) or a share (0.5, 50%).")
]

_Options = TypeVar("_Options")
# A comma parts thousands and nothing else: to many people 0,5 is a half.
_TARGET = re.compile(r"((?:[1-9]\d{0,2}(?:[_,]\d{3})+|\d+)?(?:\.\d+)?)\s*(%|k)?", re.IGNORECASE)


def grouped(command: Callable[[_Options], None]) -> Callable[..., None]:
    """A command that takes its options as one value, the way typer wants it: a parameter for each field."""
    (name,) = inspect.signature(command).parameters
    kind: Any = get_type_hints(command)[name]

    def call(**values: Any) -> None:
        command(kind(**values))

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__annotations__ = get_type_hints(kind, include_extras=True)
    parameters = [
        parameter.replace(annotation=call.__annotations__[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(kind).parameters.values()
    ]
    vars(call)["__signature__"] = inspect.Signature(parameters)
    return call


def read_target(text: str | None) -> float | None:
    """A target as people write it: `0.5` and `50%` are shares of the input, `8000`, `8,000` and `8k` are tokens."""
    if text is None:
        return None
    match = _TARGET.fullmatch(text.strip())
    value = float(re.sub("[_,]", "", match[1])) if match and match[1] else math.nan
    unit = (match[2] or "").lower() if match else ""
    if unit == "%":
        value = value / 100 if value < 100 else math.nan
    elif unit == "k":
        value = value * 1000
    elif value >= 1 and "." in text:
        value = math.nan  # neither a share nor a number of tokens
    if not 0 < value < math.inf:
        raise InvalidInput(
            f"{text!r} is no target", field="--target", remedy="Give tokens (8000, 8k) or a share (0.5, 50%)."
        )
    return value if value < 1 else int(value)


def read_settings(pairs: Sequence[str]) -> dict[str, Json]:
    """Settings from `key=value`; a dot leads into a group, and values are JSON where they can be read as such."""
    settings: dict[str, Json] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        steps = key.strip().split(".")
        if not equals or not all(steps):
            raise InvalidInput(f"{pair!r} sets nothing", field="--set", remedy="Write key=value or group.key=value.")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        for step in reversed(steps[1:]):
            value = {step: value}
        settings = merge_settings(settings, {steps[0]: value})
    return settings


def require_database(url: str | None) -> None:
    """InvalidInput where a file is named that is not there; looking for something would make a database of it."""
    if not url:
        return
    from compact.sessions.opening import file_of  # which needs an extra

    file = file_of(url)
    if file is not None and not file.exists():
        raise InvalidInput(f"there is no file {file}", field="--database", remedy="Check its name.")
