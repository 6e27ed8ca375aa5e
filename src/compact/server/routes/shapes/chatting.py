"""What is said in the chat, and the events that answer it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from compact.server.routes.shapes.conversations import Answering, Blocked, CompressionDone, ContextUsage

LONGEST_TEXT = 2_000_000


class Said(BaseModel):
    """What the user says; without a text, the last question that has no answer is asked again."""

    text: str | None = Field(default=None, min_length=1, max_length=LONGEST_TEXT)


class Prepared(BaseModel):
    """The request is ready: how full the model is, and the compression that was made for it."""

    type: Literal["prepared"] = "prepared"
    message: int | None = Field(description="The id of the user's message.")
    usage: ContextUsage
    compression: CompressionDone | None
    answering: Answering
    warnings: list[str]


class Delta(BaseModel):
    """A piece of the answer."""

    type: Literal["delta"] = "delta"
    text: str


class Finished(BaseModel):
    """The answer is stored, or the compression that was asked for is done."""

    type: Literal["done"] = "done"
    message: int | None
    answer: int | None
    usage: ContextUsage
    compression: CompressionDone | None = None
    cost: str | None = Field(default=None, description="Dollars, where the price is known.")
    truncated: bool = False


class Failed(BaseModel):
    """What went wrong; where `message` is given, the user's message is stored and can be asked again."""

    type: Literal["error"] = "error"
    kind: str
    text: str
    field: str = ""
    remedy: str = ""
    message: int | None
    blocked: Blocked


ChatEvent: TypeAlias = Annotated[Prepared | Delta | Finished | Failed, Field(discriminator="type")]
