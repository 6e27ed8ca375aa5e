"""How the passes of the smart provider are configured: what they take, what they do to it, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, model_validator

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import Configuration
from compact.providers.lossless.settings import LosslessSettings
from compact.providers.truncation.cutting import Cut, Markers
from compact.providers.truncation.places import Kind
from compact.providers.truncation.settings import Priority
from compact.summaries.model.strategy import DEFAULT, Strategy, custom_strategy, find_strategy
from compact.summaries.model.summarize import OnFailure

_Prompt: TypeAlias = Annotated[str, Field(max_length=20_000)]


class Prelude(LosslessSettings):
    """What is removed before the first pass, without losing anything: the settings of `lossless`."""

    enabled: bool = True
    """Whether there is a prelude."""


class SelectionSettings(Configuration):
    """Which messages a pass works on. What must stay as it is stays, whatever is selected."""

    type: Literal["preserve_recent", "preserve_percent", "custom", "oversized"] = "preserve_recent"
    """All but the recent messages; all but a share of them; the ones named; or only what is oversized in the older."""
    keep_recent: int = Field(default=5, ge=0)
    """How many messages at the end stay out (preserve_recent, oversized)."""
    keep_percentage: float = Field(default=20, ge=0, le=100)
    """How many percent of the messages, from the end, stay out (preserve_percent)."""
    indices: tuple[int, ...] = ()
    """The positions of the messages in the conversation as it came; negative ones count from the end (custom)."""
    result_threshold: int = Field(default=500, ge=0)
    """Results and texts of more tokens than this are oversized."""
    parameter_threshold: int = Field(default=100, ge=0)
    """Texts in the arguments of calls of more tokens than this are oversized."""
    priority: Priority = "size"
    """In which order oversized texts are worked on, until the target is met."""


class ContentOperation(Configuration):
    """What is done to one text."""

    operation: Literal["keep", "suppress", "truncate", "summarize"] = "keep"
    """Leave it, put a marker in its place, cut it, or ask a model for a summary of it."""
    max_lines: int | None = Field(default=5, ge=0)
    """Lines that stay at the head (truncate, and where a summary fails)."""
    max_chars: int | None = Field(default=1000, ge=0)
    """Characters that stay (truncate, and where a summary fails)."""
    tail_lines: int = Field(default=0, ge=0)
    """Lines that stay at the end (truncate, and where a summary fails)."""
    max_tokens: int = Field(default=100, ge=16)
    """How long a summary may be, in tokens; shorter texts are left as they are."""
    prompt: _Prompt = ""
    """What the model is told, in place of the usual instructions."""
    profile: str = ""
    """The model to ask; empty for the usual one."""

    def cut(self, kind: Kind, markers: Markers, chars: int | None = None) -> Cut:
        """How far a text of that kind is cut: to so many characters, or as far as it may be."""
        value = kind == "parameter"
        if chars is None:
            return Cut(self.max_lines, self.max_chars, self.tail_lines, markers, value)
        return Cut(None, chars, self.tail_lines, markers, value)


KEEP = ContentOperation()


class Operations(Configuration):
    """What is done to each kind of content."""

    message_text: ContentOperation = KEEP
    """To what people and the model said."""
    tool_parameters: ContentOperation = KEEP
    """To each text in the arguments of calls."""
    tool_results: ContentOperation = KEEP
    """To what tools answered."""

    def of(self, kind: Kind) -> ContentOperation:
        return {"text": self.message_text, "parameter": self.tool_parameters, "result": self.tool_results}[kind]


class Overrides(Configuration):
    """What is done to one message instead; what is unset is done as to all others."""

    message_text: ContentOperation | None = None
    """To what is said in it."""
    tool_parameters: ContentOperation | None = None
    """To each text in the arguments of its calls."""
    tool_results: ContentOperation | None = None
    """To what tools answered in it."""

    def of(self, kind: Kind) -> ContentOperation | None:
        return {"text": self.message_text, "parameter": self.tool_parameters, "result": self.tool_results}[kind]


class IndividualSettings(Configuration):
    """Each text of each selected message by itself."""

    defaults: Operations = Operations()
    """What is done to each kind of content."""
    overrides: dict[int, Overrides] = Field(default_factory=dict)
    """Other operations for single messages, by their positions in the conversation as it came."""
    markers: Markers = "plain"
    """How a cut is marked: in plain words, or with the texts of the preset v3 (s3) or of the other presets (s0)."""
    handles: bool = False
    """Whether what is left of a text says by which handle the whole can be recalled."""


class BatchSettings(Configuration):
    """The selected messages together."""

    operation: Literal["keep", "summarize"] = "summarize"
    """Leave them, or let one summary stand for them."""
    keep_first: int = Field(default=0, ge=0)
    """How many of the selected messages at the front stay as they are."""
    keep_last: int = Field(default=0, ge=0)
    """How many of the selected messages at the end stay as they are."""
    strategy: str = DEFAULT
    """What the summary keeps, and in which sections: see `compact prompt`."""
    prompt: _Prompt = ""
    """What the model is told, in place of the strategy's own words."""
    detail: Literal["detailed", "concise"] = "detailed"
    """How much it is to write."""
    profile: str = ""
    """The model to ask; empty for the usual one."""
    max_tokens: int = Field(default=2000, ge=64)
    """How long the summary may be, in tokens."""
    on_failure: OnFailure = "block"
    """Without a usable summary the messages stay (block), go (prune), or are summarized without a model (offline)."""

    @model_validator(mode="after")
    def _knows_its_strategy(self) -> BatchSettings:
        try:
            self.chosen_strategy()
        except InvalidConfiguration as error:
            raise ValueError(f"{error.problem}. {error.remedy}".rstrip(". ")) from None
        return self

    def chosen_strategy(self) -> Strategy:
        """The strategy, with a prompt of one's own if there is one."""
        strategy = find_strategy(self.strategy)
        return custom_strategy(self.prompt, strategy) if self.prompt else strategy


class Execution(Configuration):
    """When a pass runs."""

    type: Literal["always", "conditional"] = "always"
    """Always, or only while the conversation is too large."""
    token_threshold: int | None = Field(default=None, ge=0)
    """Run when there are more tokens than this."""
    window_share: float | None = Field(default=None, ge=0, le=1)
    """Run when there are more tokens than this share of the model's window."""

    @model_validator(mode="after")
    def _states_its_condition(self) -> Execution:
        if self.type == "conditional" and self.token_threshold is None and self.window_share is None:
            raise ValueError("a conditional pass needs token_threshold or window_share")
        return self

    def threshold(self, window: int) -> int | None:
        """The tokens above which the pass runs; None where it always does."""
        if self.type == "always":
            return None
        share = None if self.window_share is None else int(self.window_share * window)
        return min(bound for bound in (self.token_threshold, share) if bound is not None)


class PassSettings(Configuration):
    """One pass: what it takes, what it does with it, and when."""

    id: str = Field(min_length=1, max_length=100)
    """What the pass is called in reports, if it has no name."""
    name: str = ""
    """What the pass is called in reports."""
    description: str = ""
    """What the pass is for."""
    selection: SelectionSettings = SelectionSettings()
    """Which messages it works on."""
    mode: Literal["batch", "individual"] = "individual"
    """All selected messages together, or each text by itself."""
    batch: BatchSettings = BatchSettings()
    """What is done in batch mode."""
    individual: IndividualSettings = IndividualSettings()
    """What is done in individual mode."""
    execution: Execution = Execution()
    """When it runs."""

    @property
    def title(self) -> str:
        return self.name or self.id

    def adjusted(self, selection: Mapping[str, Json], operations: Mapping[str, Mapping[str, Json]]) -> PassSettings:
        """Return the pass with changes to its selection, and to the operation on each kind of content."""
        defaults = self.individual.defaults
        changed = {kind: getattr(defaults, kind).model_copy(update=changes) for kind, changes in operations.items()}
        individual = self.individual.model_copy(update={"defaults": defaults.model_copy(update=changed)})
        return self.model_copy(
            update={"selection": self.selection.model_copy(update=selection), "individual": individual}
        )


@cache
def _usual_passes() -> tuple[PassSettings, ...]:
    """The passes of the preset `balanced`, with plain markers: they stand there, where people read and copy them."""
    known = json.loads((files("compact.providers") / "presets.json").read_text(encoding="utf-8"))
    passes = known["presets"]["balanced"]["settings"]["passes"]
    for each in passes:
        each.get("individual", {}).pop("markers", None)
    return TypeAdapter(tuple[PassSettings, ...]).validate_python(passes)


def _set(**values: Json) -> dict[str, Json]:
    """The values that are set."""
    return {name: value for name, value in values.items() if value is not None}


def _tell_usual_passes(schema: dict[str, Any]) -> None:
    schema["default"] = [settings.model_dump(mode="json", exclude_unset=True) for settings in _usual_passes()]


class SmartSettings(Configuration):
    """A lossless prelude, then passes in order, until the target is met."""

    lossless_prelude: Prelude = Prelude()
    """What comes before the first pass."""
    passes: tuple[PassSettings, ...] = Field(default_factory=_usual_passes, json_schema_extra=_tell_usual_passes)
    """The passes, in the order they run in; those of the preset `balanced` where none are given."""
    max_parallel: int = Field(default=5, ge=1, le=50)
    """How many questions a model is asked at the same time."""
    target_reduction: float | None = Field(default=None, gt=0, lt=1)
    """The share of the tokens to remove where no target is given. Empty: half, and passes of your own all run."""
    preserve_recent: int | None = Field(default=None, ge=0)
    """In every pass: how many messages at the end stay out. Empty, as the next ones: as the pass says."""
    result_threshold: int | None = Field(default=None, ge=0)
    """In every pass: results and texts of more tokens than this are oversized."""
    parameter_threshold: int | None = Field(default=None, ge=0)
    """In every pass: texts in the arguments of calls of more tokens than this are oversized."""
    priority: Priority | None = None
    """In every pass: the order in which oversized texts are worked on."""
    max_result_lines: int | None = Field(default=None, ge=0)
    """In every pass: lines that stay at the head of a result that is cut."""
    max_parameter_chars: int | None = Field(default=None, ge=0)
    """In every pass: characters that stay of a text in the arguments of a call that is cut."""
    max_tokens: int | None = Field(default=None, ge=16)
    """In every pass: how long the summary of a single text may be, in tokens."""

    def adjusted_passes(self) -> tuple[PassSettings, ...]:
        """Return the passes with what is set for all of them."""
        selection = _set(
            keep_recent=self.preserve_recent,
            result_threshold=self.result_threshold,
            parameter_threshold=self.parameter_threshold,
            priority=self.priority,
        )
        operations = {
            "message_text": _set(max_tokens=self.max_tokens),
            "tool_parameters": _set(max_chars=self.max_parameter_chars, max_tokens=self.max_tokens),
            "tool_results": _set(max_lines=self.max_result_lines, max_tokens=self.max_tokens),
        }
        return tuple(each.adjusted(selection, operations) for each in self.passes)

    @model_validator(mode="after")
    def _tells_passes_apart(self) -> SmartSettings:
        ids = [settings.id for settings in self.passes]
        if len(set(ids)) < len(ids):
            raise ValueError("two passes have the same id; give each its own")
        return self
