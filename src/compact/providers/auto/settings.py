"""What can be set of the recipe `auto`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from compact.errors import InvalidConfiguration
from compact.policies import Configuration
from compact.summaries.model.strategy import LONGEST_PROMPT, Strategy, custom_strategy, find_strategy
from compact.summaries.model.summarize import OnFailure


class AutoSettings(Configuration):
    """Settings of `auto`."""

    recent_turns: int = Field(default=6, ge=0)
    """Turns at the end that stay whole before anything older does: a person's message and its answer."""
    tool_pairs: int = Field(default=4, ge=0)
    """Calls at the end that stay whole before anything older does, with their results."""
    recent_tokens: int = Field(default=0, ge=0)
    """The last exchanges that fit into so many tokens stay whole, too."""
    only_recent: bool = False
    """Summarize everything older than that, also where the target has room for more of it."""
    preserve_recent: int = Field(default=0, ge=0)
    """So many messages at the end stay whole, too, with the calls and results that belong to them."""
    preserve_user_messages: bool = False
    """Keep what people said whole."""
    preserve_assistant_text: bool = False
    """Keep what the model said in messages without calls whole."""
    roles_kept: tuple[str, ...] = ("system", "developer")
    """Messages of these roles stay."""
    strategy: str = "task_state"
    """What a summary keeps; `compact prompt` lists the strategies. Without a model it decides what comes first."""
    prompt: str = Field(default="", max_length=LONGEST_PROMPT)
    """What the summarizing model shall write, in place of the strategy's own words."""
    detail: Literal["detailed", "concise"] = "detailed"
    """How much it is to write."""
    focus: str = Field(default="", max_length=2000)
    """What matters most, in a person's words."""
    profile: str = ""
    """The model that summarizes; empty for the usual one."""
    max_summary_tokens: int = Field(default=4000, ge=64, le=64_000)
    """How long a model's summary may be, in tokens."""
    on_failure: OnFailure = "offline"
    """Without a usable summary the account is written without a model (offline), the messages stay (block), or go."""
    handles: bool = False
    """Whether what is left of a text says by which handle the whole can be recalled."""

    @field_validator("strategy")
    @classmethod
    def _is_known(cls, strategy: str) -> str:
        try:
            find_strategy(strategy)
        except InvalidConfiguration as error:
            raise ValueError(str(error)) from None
        return strategy

    @property
    def chosen_strategy(self) -> Strategy:
        strategy = find_strategy(self.strategy)
        return custom_strategy(self.prompt, strategy) if self.prompt else strategy
