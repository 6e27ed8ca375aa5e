"""What of a conversation is truncated, and how far."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from compact.messages import Message
from compact.policies import Configuration
from compact.providers.truncation.cutting import SUPPRESSED, Cut, Markers
from compact.providers.truncation.places import KINDS, Kind

Operation: TypeAlias = Literal["keep", "truncate", "suppress"]
Priority: TypeAlias = Literal["size", "age", "type", "combined"]


class TruncationSettings(Configuration):
    """How tool output, call arguments and text between the first message and the recent ones are cut."""

    mode: Literal["mechanical", "targeted"] = "targeted"
    """Mechanical cuts everything; targeted what is oversized, and smaller texts for a target that is given."""
    preserve_recent: int = Field(default=5, ge=0)
    """Leave the last messages alone, and the calls and results that belong to them."""
    tool_results: Operation = "truncate"
    """What is done to what tools answered."""
    tool_parameters: Operation = "truncate"
    """What is done to the texts in the arguments of calls."""
    message_text: Operation = "keep"
    """What is done to what people and the model said."""
    preserve_user_messages: bool = False
    """Leave what people said as it is, whatever `message_text` says."""
    preserve_assistant_text: bool = False
    """Leave what the model said as it is, whatever `message_text` says."""
    max_result_lines: int = Field(default=5, ge=0)
    """Lines that stay at the head of a result, or of a message's text."""
    max_result_chars: int = Field(default=1000, ge=1)
    """Characters that stay of these lines, so that very long lines are cut as well."""
    lines: Literal["first", "relevant"] = "first"
    """Which lines of a result stay: its first ones, or those with what is most likely to be needed again."""
    tail_lines: int | None = Field(default=None, ge=0)
    """Lines that stay at the end; unset: as many as at the head with the markers `s0`, else none."""
    max_parameter_chars: int = Field(default=100, ge=0)
    """Characters that stay of a text in the arguments of a call."""
    target_reduction: float = Field(default=0.5, gt=0, lt=1)
    """The share of the tokens to remove when no target is given, as far as what is oversized allows (targeted mode)."""
    result_threshold: int = Field(default=500, ge=0)
    """Results of more tokens than this are cut first (targeted mode)."""
    parameter_threshold: int = Field(default=100, ge=0)
    """Texts in arguments of more tokens than this are cut first (targeted mode)."""
    suppress_rest: bool = True
    """Whether texts are suppressed, one after the other, where cutting all does not meet a target that was given."""
    priority: Priority = "size"
    """What is cut first: the largest, the oldest, results before arguments, or the large and old."""
    markers: Markers = "plain"
    """How a cut is marked: in plain words, or with the texts of the presets v1, v2 and v3 (s3) or speed (s0)."""
    handles: bool = False
    """Whether what is left of a text says by which handle the whole can be recalled."""

    def operation(self, kind: Kind) -> Operation:
        if kind == "result":
            return self.tool_results
        return self.tool_parameters if kind == "parameter" else self.message_text

    def keeps(self, message: Message) -> bool:
        """Whether the text of the message stays, as its role is preserved."""
        return self.preserve_user_messages if message.role == "user" else self.preserve_assistant_text

    def least(self, *, linked: bool) -> dict[Kind, int]:
        """How many characters a text must exceed to be worth a look, by kind; what is kept is not looked at.

        Where texts are `linked` by references, a short one may stand for many lines.
        """
        least = {kind: len(SUPPRESSED) for kind in KINDS if self.operation(kind) != "keep"}
        if not linked and self.mode == "mechanical" and self.tool_parameters == "truncate":
            least["parameter"] = max(len(SUPPRESSED), self.max_parameter_chars)
        return least

    def threshold(self, kind: Kind) -> int:
        return self.parameter_threshold if kind == "parameter" else self.result_threshold

    def cut(self, kind: Kind, chars: int | None = None) -> Cut:
        """How far a text of that kind is cut: to so many characters, or as far as it may be."""
        if kind == "parameter":
            return Cut(chars=self.max_parameter_chars if chars is None else chars, markers=self.markers, value=True)
        tail = self.tail_lines
        if tail is None:
            tail = self.max_result_lines if self.markers == "s0" else 0
        if chars is None:
            return Cut(self.max_result_lines, self.max_result_chars, tail, self.markers)
        return Cut(None, chars, tail, self.markers)
