"""How stored sessions are compressed: when, what stays, and what becomes of a summary that fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from compact.messages import Json
from compact.policies.configuration import Configuration
from compact.policies.threshold import (
    INHERIT,
    SESSIONS_BUFFER,
    USUAL_TARGET,
    Threshold,
    TriggerShare,
    inherit,
    target_below,
)
from compact.policies.variants import Variant

DEFAULT_MAX_INPUT = 128_000
"""What an unknown model is taken to read."""


class StoredSettings(Configuration):
    """Settings of stored sessions; each may be set globally or for a workspace, the first two for a model, too."""

    threshold: TriggerShare = 0.95
    """Compress when this share of the model's maximum input is used, the current input included; -1 inherits."""
    retention_tokens: int = Field(default=1000, ge=0)
    """The last messages that fit into this many tokens stay as they are, as long as the target allows it."""
    target: float = Field(default=USUAL_TARGET, gt=0, le=1)
    """Compress down to this share of the model's maximum input; lower by default if the threshold is below 0.85."""
    recipe: str = Field(default="", max_length=200)
    """By which recipe; empty for the default one. Under `layers`, exactly the retention stays beside one summary."""
    minimum_tokens: int = Field(default=2000, ge=0)
    """Never compress automatically below this many tokens."""
    automatic: bool = True
    """Compress before a request that needs it; without, a request over the window is refused."""
    on_summary_failure: Literal["prune", "block", "offline"] = "block"
    """Without a summary: block further requests, drop the messages from the context, or summarize without a model."""
    strategy: str = "general"
    """What the summary keeps, and in which sections; `compact prompt` lists the strategies."""
    prompt: str = Field(default="", max_length=20_000)
    """What the summarizing model is told to write, in place of the strategy's own words."""
    detail: Literal["detailed", "concise"] = "detailed"
    """How much it is to write."""
    summary_tokens: int = Field(default=2000, ge=64, le=64_000)
    """How long a summary may be, in tokens."""
    summary_role: Literal["system", "assistant", "user"] = "system"
    """In whose name the summary stands, where the vendor's rules allow it."""
    profile: str = ""
    """The model that summarizes; empty for the first one configured, offline for none."""
    variant: Variant = ""
    """The deployment whose rules hold, such as vllm, mistral or bedrock; empty for what the model's name tells."""
    notify: bool = True
    """Tell the user when a compression begins and ends."""

    @field_validator("target")
    @classmethod
    def _lies_below(cls, target: float, info: ValidationInfo) -> float:
        given = info.data.get("threshold", INHERIT)
        threshold = cls.model_fields["threshold"].default if given == INHERIT else given
        if target >= threshold:
            raise ValueError(f"must lie below threshold ({threshold}), or every request would compress again")
        return target

    @model_validator(mode="after")
    def _follows(self) -> StoredSettings:
        inherit(self, "threshold")
        if "target" not in self.model_fields_set:
            self.__dict__["target"] = target_below(self.threshold)
        return self

    def trigger(self) -> Threshold:
        """When a session is compressed."""
        return Threshold(
            share=self.threshold,
            buffer_share=SESSIONS_BUFFER,
            minimum=self.minimum_tokens,
            automatic=self.automatic,
        )


_PERCENT = 100
_OLDER = {
    "compressionThreshold": "threshold",
    "autoCondenseContextPercent": "threshold",
    "retentionTokenCount": "retention_tokens",
    "retentionTokens": "retention_tokens",
    "minimumTokens": "minimum_tokens",
    "autoCompress": "automatic",
    "autoCondenseContext": "automatic",
    "customCondensingPrompt": "prompt",
    "condensingApiConfigId": "profile",
    "showNotifications": "notify",
}


def migrate_stored(values: Mapping[str, Json]) -> dict[str, Json]:
    """Settings of older versions and other tools in today's words; what is written in both counts as it is today."""
    read: dict[str, Json] = {}
    for key, value in values.items():
        name = _OLDER.get(key.removeprefix("roo-cline."), key)
        if name != key and (name in values or value is None):
            continue
        percent = name == "threshold" and isinstance(value, int | float) and 1 < value <= _PERCENT
        read[name] = value / _PERCENT if percent else value
    return read
