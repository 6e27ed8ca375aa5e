"""Who is measured, and in which ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

OWN = ("compact", "baselines")
"""Adapters that run in the environment of this project."""

Setting: TypeAlias = Literal["documented", "best", "preset", "baseline"]


@dataclass(frozen=True, slots=True)
class Way:
    """One row: an adapter's way, how it is called here, and whose settings it runs with.

    `asks` says that it has a model write summaries; `blind`, that it takes no budget.
    """

    adapter: str
    name: str
    label: str
    setting: Setting
    asks: bool = False
    blind: bool = False

    @property
    def key(self) -> str:
        return f"{self.adapter}/{self.name}"

    @property
    def ours(self) -> bool:
        return self.adapter == "compact"


def _two(adapter: str, name: str, label: str, *, asks: bool = False, blind: bool = False) -> tuple[Way, Way]:
    return (
        Way(adapter, name, label, "documented", asks, blind),
        Way(adapter, f"{name}-best", label, "best", asks, blind),
    )


WAYS = (
    Way("compact", "auto", "Compact auto", "preset"),
    Way("compact", "auto-model", "Compact auto, summaries by the model", "preset", asks=True),
    Way("compact", "v1", "Compact v1", "preset"),
    Way("compact", "v2", "Compact v2", "preset"),
    Way("compact", "speed", "Compact speed", "preset"),
    Way("compact", "cost", "Compact cost", "preset"),
    Way("compact", "balanced", "Compact balanced", "preset"),
    Way("compact", "balanced-model", "Compact balanced, summaries by the model", "preset", asks=True),
    Way("compact", "quality", "Compact quality", "preset"),
    Way("compact", "quality-model", "Compact quality, summaries by the model", "preset", asks=True),
    Way("compact", "lossless", "Compact lossless, superseded", "preset", blind=True),
    Way("compact", "layers", "Compact layers", "preset"),
    Way("compact", "native", "Compact native", "preset"),
    Way("compact", "summary", "Compact offline summary as large as fits", "best"),
    Way("baselines", "last", "newest messages", "baseline"),
    Way("baselines", "first-last", "first message and newest", "baseline"),
    Way("baselines", "cut-alike", "every string cut alike", "baseline"),
    Way("baselines", "mask-10", "observation masking, last 10", "baseline", blind=True),
    Way("baselines", "mask-fit", "observation masking, as many as fit", "baseline"),
    *_two("langchain", "trim", "LangChain trim_messages"),
    *_two("langchain", "summarize", "LangChain SummarizationMiddleware", asks=True),
    *_two("langchain", "clear", "LangChain ClearToolUsesEdit"),
    *_two("openai_agents", "trim", "Agents SDK ToolOutputTrimmer"),
    *_two("pydantic_ai_harness", "tiers", "pydantic-ai-harness TieredCompaction", asks=True),
    *_two("pydantic_ai_harness", "window", "pydantic-ai-harness SlidingWindowCompaction"),
    *_two("haystack", "window", "Haystack SlidingWindowCompactor"),
    *_two("haystack", "prune", "Haystack ToolResultPruningCompactor"),
    *_two("haystack", "offload", "Haystack ToolResultOffloadCompactor"),
    *_two("haystack", "summarize", "Haystack SummarizationCompactor", asks=True),
    *_two("agent_framework", "window", "agent-framework ContextWindowCompactionStrategy"),
    *_two("agent_framework", "composed", "agent-framework TokenBudgetComposedStrategy", asks=True),
    *_two("headroom", "compress", "headroom compress", blind=True),
)

PACKAGES = {
    "langchain": ("langchain", "langchain-core"),
    "openai_agents": ("openai-agents",),
    "pydantic_ai_harness": ("pydantic-ai-harness",),
    "haystack": ("haystack-ai",),
    "agent_framework": ("agent-framework-core",),
    "headroom": ("headroom-ai",),
}
"""What each peer's environment is made of, beside the tokenizer."""
TOKENIZER = "splintr-rs==0.22.0"

LEFT_OUT = {
    "headroom's text compressor (Kompress)": "a model on a hub that is no package registry; `compress` runs without it",
    "LangChain ContextEditingMiddleware": "its one edit, ClearToolUsesEdit, is measured by itself",
    "pydantic-ai-harness RelevanceCompaction": "asks a model to judge every step; no stand-in would be fair to it",
    "OpenAI's and Anthropic's own compaction": "runs on the vendors' servers",
}
"""What is not measured, and why."""


def chosen(peers: str | None) -> tuple[Way, ...]:
    """The ways named, separated by commas: all of a peer by its adapter's name, or one (`langchain/trim`)."""
    names = {name.strip() for name in peers.split(",")} if peers else {way.adapter for way in WAYS}
    return tuple(way for way in WAYS if names & {way.adapter, way.key})
