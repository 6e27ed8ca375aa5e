"""How configuration is read: strictly, and with errors that name the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from compact.errors import InvalidConfiguration


class Configuration(BaseModel):
    """A group of settings: immutable, and every key must be known."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


Settings = TypeVar("Settings", bound=Configuration)


def configure(kind: type[Settings], values: Mapping[str, Any], *, under: str = "") -> Settings:
    """The settings that the values give; InvalidConfiguration names each wrong field by its path."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        problems = [
            (".".join([*([under] if under else []), *map(str, problem["loc"])]), _plain(problem["msg"]))
            for problem in error.errors(include_url=False)
        ]
        field, text = problems[0]
        rest = "".join(f"; {name}: {other}" for name, other in problems[1:])
        known = ", ".join(kind.model_fields)
        raise InvalidConfiguration(text + rest, field=field, remedy=f"Known settings: {known}.") from None


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Input ").replace("a valid tuple", "a list")
