"""Where a possible secret stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A possible secret: text[start:end], found by the rule whose anchor stands at `anchor`."""

    text: str
    anchor: int
    start: int
    end: int
    quoted: bool
    link: str = ""
    """How name and value are linked: `said` by words or a space, `pair` by a comma or the like, `element` by a tag,
    `block` by the sign of a block of YAML, `option` as an option of a command, else by a sign."""

    @property
    def value(self) -> str:
        return self.text[self.start : self.end]
