"""How a `CompactManager` works: when it compacts, what it keeps, where it writes, where events go."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, SecretStr, model_validator

from compact.policies.configuration import Configuration
from compact.policies.threshold import (
    USUAL_TARGET,
    EffectiveThreshold,
    OwnThreshold,
    Threshold,
    TriggerShare,
    effective_threshold,
    inherit,
    target_below,
)
from compact.policies.variants import Variant

Share: TypeAlias = Annotated[float, Field(gt=0, le=1)]


class Policy(Configuration):
    """When to compact, and what stays."""

    automatic: bool = True
    """Whether requests are compacted when they reach the trigger; without it only a manual compaction does."""
    trigger_pct: TriggerShare = 0.85
    """Compact when this share of the context window is used; -1 is the default. The model's profile goes before it."""
    hard_cap_buffer: int = Field(default=1500, ge=0)
    """Tokens kept free for the next input and the tools' answers."""
    target_pct: Share = USUAL_TARGET
    """The share of the window that a compaction comes down to; lower by default where the trigger is below 0.85."""
    keep_recent_turns: int = Field(default=6, ge=1)
    """Turns at the end that stay as they are: a person's message and what follows it."""
    keep_tool_io_pairs: int = Field(default=4, ge=1)
    """Calls at the end that stay as they are, with their results."""
    roles_never_prune: tuple[str, ...] = ("system", "developer")
    """Messages of these roles are never pruned; long results in them may still be cut."""
    strategy: str = "task_state"
    """How summaries are written: task_state, decision_log, code_delta, brief, general or code."""
    summary_tokens: int = Field(default=2000, ge=64)
    """How long a summary may be, in tokens."""
    on_summary_failure: Literal["prune", "block", "offline"] = "offline"
    """Without a summary: write the account offline, change nothing and raise, or prune, which `layers` does."""
    recipe: str = ""
    """What compacts the conversation: auto, another provider or a preset; empty for the default."""
    provider: str = ""
    """The same, for a provider."""
    preset: str = ""
    """The same, for a preset."""

    @model_validator(mode="after")
    def _comes_down(self) -> Policy:
        inherit(self, "trigger_pct")
        if "target_pct" not in self.model_fields_set:
            self.__dict__["target_pct"] = target_below(self.trigger_pct)
        elif self.target_pct >= self.trigger_pct:
            raise ValueError(
                f"target_pct ({self.target_pct}) must lie below trigger_pct ({self.trigger_pct}), "
                "or every request would compact again"
            )
        return self

    @model_validator(mode="after")
    def _names_one(self) -> Policy:
        if sum(map(bool, (self.recipe, self.provider, self.preset))) > 1:
            raise ValueError("recipe, provider and preset are names for one thing: give one of them")
        return self

    @property
    def chosen(self) -> str:
        """The recipe that is named, by whichever name; empty for the default."""
        return self.recipe or self.provider or self.preset

    @property
    def given_target(self) -> float | None:
        """`target_pct` where it was set."""
        return self.target_pct if "target_pct" in self.model_fields_set else None

    def effective_threshold(self, *before: OwnThreshold, after: Sequence[OwnThreshold] = ()) -> EffectiveThreshold:
        """The threshold that is in force: the first of those before the policy's own, that, or the first after it."""
        own = OwnThreshold("global", self.trigger_pct if "trigger_pct" in self.model_fields_set else None)
        return effective_threshold((*before, own, *after), self.trigger_pct, self.given_target)

    def triggered_by(self, threshold: EffectiveThreshold) -> Policy:
        """The same policy with that threshold, and with the target below it."""
        if (threshold.share, threshold.target) == (self.trigger_pct, self.target_pct):
            return self
        changed = self.model_copy(update={"trigger_pct": threshold.share, "target_pct": threshold.target})
        if self.given_target is None:  # it follows the threshold, and nobody set it
            changed.__pydantic_fields_set__.discard("target_pct")
        return changed

    @property
    def threshold(self) -> Threshold:
        return Threshold(share=self.trigger_pct, buffer_tokens=self.hard_cap_buffer, automatic=self.automatic)


class StorageSettings(Configuration):
    """Where transcripts and summaries are archived before anything is pruned."""

    adapter: Literal["fs", "s3", "none"] = "fs"
    """Files, an S3 bucket, or nowhere."""
    path: str = ".compact"
    """The folder that holds the archive and the originals."""
    bucket: str = ""
    """The bucket (s3)."""
    prefix: str = ""
    """What keys begin with (s3)."""
    kms_key: str = ""
    """The KMS key that encrypts (s3); empty for the bucket's own."""
    region: str = ""
    """The region (s3); empty for the environment's."""
    endpoint: str = ""
    """An address other than Amazon's (s3)."""

    @model_validator(mode="after")
    def _names_its_bucket(self) -> StorageSettings:
        if self.adapter == "s3" and not self.bucket:
            raise ValueError("adapter s3 needs a bucket")
        return self


class RedactionSettings(Configuration):
    """What is taken out of the archive and of traces, and hidden from other vendors' models."""

    enabled: bool = True
    """Whether secrets are <REDACTED> in archives and traces, and placeholders where another vendor's model is asked."""
    patterns: tuple[str, ...] = ()
    """Regular expressions of your own, beside the built-in ones."""
    keys: tuple[str, ...] = ()
    """Names of your own, beside the built-in ones, whose values are secret."""


class TracingSettings(Configuration):
    """Where events go."""

    console: bool = False
    """Print events to standard error."""
    jsonl: str = ""
    """Append events to this file."""
    ariadne: str = ""
    """Send spans to this Ariadne server, such as http://localhost:5175."""
    otlp: str = ""
    """Send spans to this OpenTelemetry collector, such as http://localhost:4318."""
    agents_sdk: bool = True
    """Record spans in the OpenAI Agents SDK's trace, where one is running."""


def _named(model: str) -> str:
    if not model.strip():
        raise ValueError("must name a model, such as gpt-4o")
    return model


LEAST_KEY = 16
"""Characters that a key for seals has at least."""


def _strong(key: SecretStr) -> SecretStr:
    if 0 < len(key) < LEAST_KEY:
        raise ValueError(f"must have at least {LEAST_KEY} characters")
    return key


class CompactConfig(Configuration):
    """The configuration of a `CompactManager`."""

    model: Annotated[str, AfterValidator(_named)]
    """The model the conversation is with."""
    max_context_tokens: int | None = Field(default=None, ge=1000)
    """Its context window; by default what is known of the model."""
    variant: Variant = ""
    """The deployment whose rules hold, such as vllm, mistral or bedrock; empty for what the model's name tells."""
    policy: Policy = Policy()
    """When to compact, and what stays."""
    storage: StorageSettings = StorageSettings()
    """Where the archive is."""
    originals: Literal["keep", "redact", "none"] = "keep"
    """What restore, recall and undo need: kept as it was, redacted, or not at all."""
    allow_loss: bool = False
    """Whether to prune without keeping originals."""
    redaction: RedactionSettings = RedactionSettings()
    """What is taken out of exports, and hidden from other vendors' models."""
    tracing: TracingSettings = TracingSettings()
    """Where events go."""
    profile: str = ""
    """The profile whose model summarizes: by default those configured, else the vendor's own, if its key is set."""
    max_asks: int = Field(default=3, ge=1)
    """Questions that one compaction asks a model, by auto, native and layers; more only to read long ones in parts."""
    max_cost: Annotated[Decimal, Field(ge=0)] | None = None
    """Dollars a day for summaries; a question that may cost more than what is left of them is not asked."""
    fallback_max_cost: Annotated[Decimal, Field(ge=0)] | None = None
    """Dollars that fallbacks may take in a compaction; by default 3 times the estimate for the first choice."""
    seal_key: Annotated[SecretStr, AfterValidator(_strong)] = SecretStr("")
    """The secret that signs accounts, the same for all replicas: signed, they are known again without any state."""
    recall: bool = False
    """Whether models have the tool `compact_recall` although the requests given here do not list it."""
    background: bool | None = None
    """Prepare a compaction while the model answers, from nine tenths of the trigger on; usual if one summarizes."""

    @classmethod
    def load(cls, path: str | Path | None = None, **overrides: Any) -> CompactConfig:
        """Read the configuration: keywords go before `COMPACT_*` variables, these before the file, it before defaults.

        The file is the one given, else compact.yaml, compact.yml or compact.json in the working directory, if there is
        one. Keywords are named as the settings; those of the policy may stand alone: `load(trigger_pct=0.9)`.
        """
        from compact.settings.compaction import gather  # the layer that reads files is above this one

        return gather(path, overrides=overrides).config()

    @model_validator(mode="after")
    def _keeps_what_it_prunes(self) -> CompactConfig:
        if self.originals == "none" and not self.allow_loss:
            raise ValueError('originals "none" loses what is pruned: set allow_loss to accept that')
        return self
