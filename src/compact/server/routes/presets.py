"""Presets in the page: listed, checked as one edits them, kept, imported and exported."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query, Response
from pydantic import BaseModel, Field

from compact.app.inspecting import showable
from compact.app.presets import (
    Trouble,
    all_presets,
    complete_settings,
    drop_preset,
    import_presets,
    is_built_in,
    keep_presets,
    settings_schema,
    tidy,
    troubles,
)
from compact.providers import WhenMissed
from compact.providers.presets import Preset, dump_presets, find_preset
from compact.server.showing import download
from compact.settings.documents import LARGEST

router = APIRouter(prefix="/presets", tags=["presets"])

Name = Annotated[str, Path(max_length=64)]
Form = Literal["json", "yaml"]


class Draft(BaseModel):
    """A preset as it is being edited."""

    name: str = Field(max_length=200)
    description: str = Field(default="", max_length=2_000)
    provider: str = Field(default="smart", max_length=100)
    settings: dict[str, Any] = Field(default_factory=dict)
    when_missed: WhenMissed = "continue"


class KnownPreset(Draft):
    """A preset that is there; one's own can be changed."""

    own: bool


class Verdict(BaseModel):
    """Whether a preset can be used, and what is wrong with it."""

    problems: tuple[Trouble, ...]
    complete: dict[str, Any] | None = Field(description="Every setting with its value, where none is wrong.")


@router.get("", operation_id="list_presets")
def list_presets() -> list[KnownPreset]:
    """The built-in presets, then one's own."""
    return [_known(preset) for preset in all_presets()]


@router.get("/schema/{provider}", operation_id="settings_schema")
def show_schema(provider: Annotated[str, Path(max_length=100)]) -> dict[str, Any]:
    """The JSON Schema of a provider's settings."""
    schema: dict[str, Any] = settings_schema(provider)
    return schema


@router.post("/validate", operation_id="validate_preset")
def validate_preset(draft: Draft) -> Verdict:
    """What is wrong with a preset, field by field."""
    preset = _preset(draft)
    found = troubles(preset)
    usable = not any(each.path[0] != "name" for each in found)
    return Verdict(
        problems=found,
        complete=complete_settings(preset) if usable else None,
    )


@router.post("/import", operation_id="import_presets")
def take_presets(text: Annotated[str, Body(max_length=LARGEST)], form: Annotated[Form, Body()]) -> list[KnownPreset]:
    """Keep the presets in a text; where one of them cannot be used, none is kept."""
    return [_known(preset) for preset in import_presets(text, form)]


@router.get("/export", operation_id="export_presets", response_class=Response)
def export_presets(name: Annotated[list[str], Query(max_length=100)], form: Form = "yaml") -> Response:
    """The named presets as a file that can be imported again."""
    chosen = [find_preset(each, all_presets()) for each in name]
    return download(dump_presets(chosen, form), f"presets.{form}")


@router.post("/export", operation_id="export_draft", response_class=Response)
def export_draft(draft: Draft, form: Form = "yaml") -> Response:
    """A preset that is being edited, as a file."""
    return download(dump_presets([tidy(_preset(draft))], form), f"presets.{form}")


@router.put("/{name}", operation_id="keep_preset")
def keep_preset(name: Name, draft: Draft) -> KnownPreset:
    """Keep a preset of one's own under the name."""
    (kept,) = keep_presets([_preset(draft.model_copy(update={"name": name}))])
    return _known(kept)


@router.delete("/{name}", operation_id="drop_preset", status_code=204)
def forget_preset(name: Name) -> None:
    """Forget a preset of one's own."""
    drop_preset(name)


def _preset(draft: Draft) -> Preset:
    return Preset(draft.name, draft.description, draft.provider, draft.settings, draft.when_missed)


def _known(preset: Preset) -> KnownPreset:
    return KnownPreset(
        name=preset.name,
        description=preset.description,
        provider=preset.provider,
        settings=showable(dict(preset.settings)),
        when_missed=preset.when_missed,
        own=not is_built_in(preset.name),
    )
