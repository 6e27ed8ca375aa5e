"""How configuration is read: strictly, and with errors that name the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from compact.errors import InvalidConfiguration

if TYPE_CHECKING:  # a checker that knew of `__call__` would forget what each model takes
    from pydantic._internal._model_construction import ModelMetaclass as _Kind
else:

    class _Kind(type(BaseModel)):
        """Makes the settings; what is wrong is told as an error of Compact's. `model_validate` stays Pydantic's own."""

        def __call__(cls, *args: Any, **values: Any) -> Any:
            try:
                return super().__call__(*args, **values)
            except ValidationError as error:
                raise _invalid(cls, error) from None


class Configuration(BaseModel, metaclass=_Kind):
    """A group of settings: immutable, and every key must be known."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


Settings = TypeVar("Settings", bound=Configuration)


def configure(kind: type[Settings], values: Mapping[str, Any], *, under: str = "") -> Settings:
    """The settings that the values give; InvalidConfiguration names each wrong field by its path."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        raise _invalid(kind, error, under) from None


def _invalid(kind: type[Configuration], error: ValidationError, under: str = "") -> InvalidConfiguration:
    problems = [
        (".".join([*([under] if under else []), *map(str, problem["loc"])]), _plain(problem["msg"]))
        for problem in error.errors(include_url=False)
    ]
    field, text = problems[0]
    rest = "".join(f"; {name}: {other}" for name, other in problems[1:])
    known = ", ".join(kind.model_fields)
    return InvalidConfiguration(text + rest, field=field, remedy=f"Known settings: {known}.")


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Input ").replace("a valid tuple", "a list")
