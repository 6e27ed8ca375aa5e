"""How far lossless condensing goes: a level, and a switch for each of its operations."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from compact.policies import Configuration


class LosslessSettings(Configuration):
    """How far to go. A switch that is set holds, whatever the level; one that is not is as the level says."""

    level: Literal["verbatim", "formatting", "superseded"] = Field(default="superseded")
    """verbatim: repeated text only, restorable from the messages alone. formatting: also plainer layout.
    superseded: also answers that a later one replaced. The latter two restore with the plan."""
    deduplicate_file_reads: bool | None = None
    """Whether text that was shown before, such as a file read again, becomes a reference. Every level does it."""
    consolidate_tool_results: bool | None = None
    """Whether only the latest answer stays of a call that was made several times. The level superseded does it."""
    remove_obsolete_state: bool | None = None
    """Whether what was shown of a file goes when it is read or written anew. The level superseded does it."""
    handles: bool = False
    """Whether what stands for a superseded answer says by which handle that can be recalled."""

    @model_validator(mode="after")
    def _does_something(self) -> LosslessSettings:
        if not (self.deduplicates or self.simplifies or self.consolidates or self.removes_obsolete):
            raise ValueError("nothing is left to do: every operation of this level is switched off")
        return self

    @property
    def deduplicates(self) -> bool:
        return self.deduplicate_file_reads is not False

    @property
    def simplifies(self) -> bool:
        """Whether layout becomes plain; the level alone says so."""
        return self.level != "verbatim"

    @property
    def consolidates(self) -> bool:
        return _as_set(self.consolidate_tool_results, self.level)

    @property
    def removes_obsolete(self) -> bool:
        return _as_set(self.remove_obsolete_state, self.level)

    @property
    def is_verbatim(self) -> bool:
        """Whether the messages alone give everything back."""
        return not (self.simplifies or self.consolidates or self.removes_obsolete)


def _as_set(switch: bool | None, level: str) -> bool:  # noqa: FBT001 - a setting, as it was given
    return level == "superseded" if switch is None else switch
