"""How configuration is read: strictly, and with errors that name the field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from compact.errors import InvalidConfiguration

if TYPE_CHECKING:  # a checker that knew of `__call__` would forget what each model takes
    from pydantic._internal._model_construction import ModelMetaclass as _Kind
else:

    class _Kind(type(BaseModel)):
        """Makes the settings; what is wrong is an error of Compact's. `model_validate` stays Pydantic's own."""

        def __call__(cls, *args: Any, **values: Any) -> Any:
            try:
                return super().__call__(*args, **values)
            except ValidationError as error:
                raise _invalid(cls, error) from None


class Configuration(BaseModel, metaclass=_Kind):
    """A group of settings: immutable, and every key must be known."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


Settings = TypeVar("Settings", bound=Configuration)
_UNKNOWN: Final = "extra_forbidden"
_WORDS: Final = {_UNKNOWN: "is no setting", "missing": "is needed", "model_type": "must be an object with settings"}


def configure(
    kind: type[Settings], values: Mapping[str, Any], *, under: str = "", context: Mapping[str, Any] | None = None
) -> Settings:
    """The settings that the values give; InvalidConfiguration names each wrong field by its path."""
    try:
        return kind.model_validate(dict(values), context=context)
    except ValidationError as error:
        raise _invalid(kind, error, under) from None


def problems_of(error: ValidationError, under: str = "") -> list[tuple[str, str]]:
    """What is wrong, in plain words: the path of each field, and the problem."""
    prefix = [under] if under else []
    return [
        (".".join([*prefix, *map(str, problem["loc"])]), _plain(problem)) for problem in error.errors(include_url=False)
    ]


def _invalid(kind: type[Configuration], error: ValidationError, under: str = "") -> InvalidConfiguration:
    (field, text), *others = problems_of(error, under)
    rest = "".join(f"; {name}: {other}" for name, other in others)
    unknown = [problem["loc"] for problem in error.errors(include_url=False) if problem["type"] == _UNKNOWN]
    known = ", ".join(_known(kind, unknown[0])) if unknown else ""
    remedy = f"Known settings: {known}." if known else "Correct it, or leave it out."
    return InvalidConfiguration(text + rest, field=field, remedy=remedy)


def _plain(problem: Any) -> str:
    if problem["type"] in _WORDS:
        return _WORDS[problem["type"]]
    name = problem["loc"][-1] if problem["loc"] else ""
    text: str = problem["msg"].removeprefix("Value error, ").removeprefix("Input ").removeprefix("String ")
    return text.removeprefix(f"{name}: ").removesuffix(".").replace("a valid tuple", "a list")


def _known(kind: type[Configuration], path: tuple[int | str, ...]) -> tuple[str, ...]:
    """The settings there are where the path leads; none where that may be one of several groups."""
    for step in path[:-1]:
        field = kind.model_fields.get(step) if isinstance(step, str) else None
        groups = list(_groups(field.annotation)) if field else [kind]
        if len(groups) != 1:
            return ()
        kind = groups[0]
    return tuple(kind.model_fields)


def _groups(annotation: Any) -> Iterator[type[Configuration]]:
    if arguments := get_args(annotation):
        for argument in arguments:
            yield from _groups(argument)
    elif isinstance(annotation, type) and issubclass(annotation, Configuration):
        yield annotation
