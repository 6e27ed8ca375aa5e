"""What the page shows of transcripts: models of requests and answers, and how the answers are made."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from compact import formats
from compact.app import Result, count, resolve_recipe
from compact.app.counting import choose_model
from compact.app.inspecting import Hunk, Part, PartKind, showable
from compact.app.planfile import dump_plan, write_like
from compact.messages import Conversation, wires_of
from compact.models import find_model
from compact.providers import Recipe, WhenMissed
from compact.server.showing import Sizes, money
from compact.server.uploads import Condensed, Upload

_VIOLATIONS = 200
RecipeName = Annotated[str, Field(max_length=200)]


class Violated(BaseModel):
    """Something the vendor's API would reject."""

    rule: str
    index: int | None
    text: str
    remedy: str


class Inspected(BaseModel):
    """A transcript that is open."""

    id: str
    name: str
    format: str
    bytes: int
    sha256: str
    messages: int
    tokens: int
    precision: str
    model: str
    model_source: Literal["option", "request", "default"]
    window: int
    by_role: dict[str, int]
    by_kind: dict[str, int]
    violations: list[Violated]
    violations_total: int


class RecipeChoice(BaseModel):
    """A recipe by name, with changes to it, and what to compact to: for a model at a deployment, down to a target.

    Without a name it is the default recipe; `provider` and `preset` are names, too, that say which of the two is meant.
    """

    model_config = ConfigDict(extra="forbid")

    recipe: RecipeName | None = None
    provider: RecipeName | None = None
    preset: RecipeName | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    when_missed: WhenMissed | None = None
    target: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    model: str = Field(default="", max_length=200)
    variant: str | None = Field(default=None, max_length=50)

    def resolved(self) -> Recipe:
        """The recipe itself; InvalidConfiguration names what is wrong with the choice."""
        recipe = resolve_recipe(self.recipe, provider=self.provider, preset=self.preset, config=self.settings)
        return replace(recipe, when_missed=self.when_missed) if self.when_missed else recipe


class PassDone(Sizes):
    """One pass: what it did, or why it was skipped."""

    name: str
    edits: int
    asked: int
    seconds: float
    notes: list[str]
    skipped: str


class Facts(Sizes):
    """What a compaction does; `wall` is how long finding that out took."""

    recipe: str
    provider: str
    change: float
    target: int | None
    target_met: bool
    messages: int
    edits: int
    summaries: int
    saved: str | None
    cost: str | None
    kept_prefix: int
    seconds: float
    wall: float
    notes: list[str]
    passes: list[PassDone]


class Done(BaseModel):
    """A condensation that was done: its facts, the report in words, and what became of the facts in it."""

    id: str
    facts: Facts
    report: str
    receipt: dict[str, Any]
    receipt_text: str
    violations: list[Violated]


class Restored(BaseModel):
    """Whether plan and condensed file together give the original back, byte for byte."""

    equal: bool
    sha256: str
    bytes: int
    condensed_bytes: int
    plan_bytes: int


@dataclass(frozen=True, slots=True)
class ShownPart:
    """One block of a message; `hidden` is how many characters were left out of both sides."""

    kind: PartKind
    title: str
    hunks: tuple[Hunk, ...]
    hidden: int


def inspected(upload: Upload, model: str) -> Inspected:
    """An open transcript, counted for the model."""
    conversation = upload.conversation
    named, source = choose_model(model, conversation)
    counted = count(conversation, model=named)
    facts = find_model(named)
    found = violated(conversation)
    return Inspected(
        id=upload.id,
        name=upload.name,
        format=conversation.format,
        bytes=len(upload.data),
        sha256=hashlib.sha256(upload.data).hexdigest(),
        messages=len(conversation),
        tokens=counted.total,
        precision=counted.precision,
        model=showable(facts.id),
        model_source=source,
        window=facts.context_window,
        by_role=showable(counted.by_role),
        by_kind=showable(counted.by_kind),
        violations=found[:_VIOLATIONS],
        violations_total=len(found),
    )


def violated(conversation: Conversation) -> list[Violated]:
    """What the vendor's API would reject."""
    return [
        Violated(rule=each.rule, index=each.index, text=showable(each.text), remedy=showable(each.remedy))
        for each in formats.violations(conversation)
    ]


def facts_of(result: Result, began: float) -> Facts:
    """What a condensation did."""
    report = result.report
    return Facts(
        recipe=showable(report.recipe),
        provider=report.provider,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        change=(report.tokens_after - report.tokens_before) / max(report.tokens_before, 1),
        target=report.target,
        target_met=report.target_met,
        messages=len(result.conversation),
        edits=sum(done.edits for done in report.passes),
        summaries=sum(done.asked for done in report.passes),
        saved=money(report.saved),
        cost=money(report.cost),
        kept_prefix=report.kept_prefix,
        seconds=report.seconds,
        wall=perf_counter() - began,
        notes=showable([*filter(None, [report.failure]), *report.notes]),
        passes=[
            PassDone(
                name=showable(done.name),
                tokens_before=done.tokens_before,
                tokens_after=done.tokens_after,
                edits=done.edits,
                asked=done.asked,
                seconds=done.seconds,
                notes=showable(done.notes),
                skipped=showable(done.skipped),
            )
            for done in report.passes
        ],
    )


def shown(parts: Iterable[Part], most: int | None) -> Iterator[ShownPart]:
    """The blocks of a message, each side of each cut to so many characters."""
    for part in parts:
        hunks, hidden = _cut(part.hunks(), most)
        yield ShownPart(part.kind, part.title, hunks, hidden)


def condensed_bytes(upload: Upload, condensed: Condensed) -> bytes:
    """The condensed file, laid out as the original."""
    return write_like(upload.data, upload.conversation, wires_of(condensed.result.conversation))


def plan_bytes(upload: Upload, condensed: Condensed) -> bytes:
    return dump_plan(upload.data, upload.conversation, condensed.result, name=upload.name).encode()


def _cut(hunks: Sequence[Hunk], most: int | None) -> tuple[tuple[Hunk, ...], int]:
    if most is None:
        return tuple(hunks), 0
    kept, hidden, room = [], 0, [most, most]
    for hunk in hunks:
        sides = []
        for which, text in enumerate((hunk.before, hunk.after)):
            taken = None if text is None else text[: room[which]]
            room[which] -= len(taken or "")
            hidden += len(text or "") - len(taken or "")
            sides.append(taken)
        if any(sides) or not hidden:
            kept.append(Hunk(hunk.same, *sides))
    return tuple(kept), hidden
