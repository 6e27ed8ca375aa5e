"""Transcripts looked at in the page: what is in them, what every recipe would do, and what one of them did."""

import hashlib
from importlib.resources import files
from time import perf_counter
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from compact.app import Condensation, read_transcript
from compact.app.counting import choose_model
from compact.app.estimating import foresee
from compact.app.inspecting import Row, showable
from compact.app.planfile import load_plan, restore_file
from compact.errors import NotFound
from compact.server.inspecting import (
    Done,
    Facts,
    Inspected,
    RecipeChoice,
    Restored,
    ShownPart,
    condensed_bytes,
    facts_of,
    inspected,
    plan_bytes,
    shown,
    violated,
)
from compact.server.security import Uploaded
from compact.server.showing import FormatName, download
from compact.server.uploads import Upload, Uploads, uploads_of

router = APIRouter(prefix="/inspect", tags=["inspect"])

_CUT = 20_000
"""Characters of each side of a block that are shown unless all are asked for."""

Kept = Annotated[Uploads, Depends(uploads_of)]


def opened(id: str, kept: Kept) -> Upload:
    """A dependency: the transcript that the address names."""
    return kept.find(id)


Opened = Annotated[Upload, Depends(opened)]
Model = Annotated[str, Query(max_length=200)]


@router.post(
    "",
    operation_id="open_transcript",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "string"}}}},
    },
)
def open_transcript(
    data: Uploaded,
    kept: Kept,
    name: Annotated[str, Query(max_length=200)] = "transcript.json",
    model: Model = "",
) -> Inspected:
    """Open a transcript: the bytes of a file in any format that Compact reads, JSON lines included.

    It stays in memory until others take its place.
    """
    named = showable(name)
    return inspected(kept.add(named, data, read_transcript(data, name=named)), model)


@router.post("/demo", operation_id="open_demo")
def open_demo(kept: Kept, format: FormatName = "openai-chat") -> Inspected:
    """Open the bundled session: a scripted agent at work on this project's own files."""
    data = (files("compact") / "cli" / "transcripts" / f"session.{format}.json").read_bytes()
    return inspected(kept.add(f"demo.{format}.json", data, read_transcript(data)), "")


@router.get("/{id}", operation_id="look_again")
def look_again(upload: Opened, model: Model = "") -> Inspected:
    """An open transcript, counted for another model if one is named."""
    return inspected(upload, model)


@router.delete("/{id}", operation_id="close_transcript", status_code=204)
def close_transcript(id: str, kept: Kept) -> None:
    """Forget a transcript."""
    kept.forget(id)


@router.post("/{id}/try", operation_id="try_recipe")
def try_recipe(upload: Opened, choice: RecipeChoice) -> Facts:
    """What a recipe would do: nothing is kept, no model is called, and where one would be its answer is estimated."""
    began = perf_counter()
    chosen = choose_model(choice.model, upload.conversation)[0]
    condensation = Condensation(upload.conversation, chosen, choice.target, variant=choice.variant or "")
    return facts_of(foresee(condensation, choice.resolved()).result, began)


@router.post("/{id}/condense", operation_id="condense_transcript")
def condense_transcript(upload: Opened, choice: RecipeChoice) -> Done:
    """Condense for real; summaries are made offline, of the conversation's own words."""
    began = perf_counter()
    model = choose_model(choice.model, upload.conversation)[0]
    result = Condensation(upload.conversation, model, choice.target, variant=choice.variant or "").run(
        choice.resolved()
    )
    facts = facts_of(result, began)
    receipt = result.receipt()
    return Done(
        id=upload.keep(result, model).id,
        facts=facts,
        report=showable(str(result.report)),
        receipt=showable(receipt.to_json()),
        receipt_text=showable(str(receipt)),
        violations=violated(result.conversation),
    )


@router.get("/{id}/rows", operation_id="list_rows")
def list_rows(upload: Opened, result: str = "", model: Model = "") -> tuple[Row, ...]:
    """A row for every message: of the transcript alone, or beside a condensation of it."""
    return tuple(upload.inspection(result, choose_model(model, upload.conversation)[0]).rows())


@router.get("/{id}/rows/{row}", operation_id="show_row")
def show_row(
    upload: Opened, row: Annotated[int, Path(ge=0, le=10_000_000)], result: str = "", *, whole: bool = False
) -> tuple[ShownPart, ...]:
    """What stands in the message of a row, before and after; long texts are cut unless the whole is asked for."""
    inspection = upload.inspection(result, choose_model("", upload.conversation)[0])
    if row >= len(inspection):
        raise NotFound("is not in this transcript", field="row", remedy="Look at the list of rows again.")
    return tuple(shown(inspection.parts(row), None if whole else _CUT))


@router.get("/{id}/results/{result}/condensed", operation_id="download_condensed", response_class=Response)
def download_condensed(upload: Opened, result: str) -> Response:
    """The condensed file, laid out as the original."""
    return download(condensed_bytes(upload, upload.condensed(result)), "condensed.json")


@router.get("/{id}/results/{result}/plan", operation_id="download_plan", response_class=Response)
def download_plan(upload: Opened, result: str) -> Response:
    """The plan file: with it and the condensed file, `compact restore` brings everything back."""
    return download(plan_bytes(upload, upload.condensed(result)), "plan.json")


@router.post("/{id}/results/{result}/restore", operation_id="prove_restore")
def prove_restore(upload: Opened, result: str) -> Restored:
    """Bring the original back from the two files alone, and compare it with what was opened."""
    condensed = upload.condensed(result)
    small, plan = condensed_bytes(upload, condensed), plan_bytes(upload, condensed)
    read = load_plan(plan)
    restored = restore_file(read_transcript(small, format=read.format), read)
    return Restored(
        equal=restored == upload.data,
        sha256=hashlib.sha256(restored).hexdigest(),
        bytes=len(restored),
        condensed_bytes=len(small),
        plan_bytes=len(plan),
    )
