"""Roo Code's six sections, as a strategy."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from compact.summaries.model.strategy import Section, Strategy, custom_strategy, find_strategy

OWN = "native"
_PENDING = "Pending tasks"


def choose_strategy(name: str, prompt: str | None = None) -> Strategy:
    """The strategy of that name, our own included, with a prompt of one's own if there is one."""
    strategy = _six_sections() if name == OWN else find_strategy(name)
    return strategy if prompt is None else custom_strategy(prompt, strategy)


@cache
def _six_sections() -> Strategy:
    text = (files("compact.providers.native") / "prompts" / "summary.md").read_text(encoding="utf-8")
    prompt, *chapters = text.split("\n## ")
    pairs = (chapter.strip().split("\n", 1) for chapter in chapters)
    sections = (
        Section(title, about, standing=title == _PENDING, instructs=title == _PENDING) for title, about in pairs
    )
    return Strategy(OWN, "Six sections, as Roo Code has them.", tuple(sections), prompt.strip())
