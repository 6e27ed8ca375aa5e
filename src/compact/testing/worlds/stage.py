"""What scenes are played on: dice, names, phrases, and the drafts of truths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compact.testing.generate.dice import Dice
from compact.testing.worlds.beats import Draft, Part
from compact.testing.worlds.names import Name, Names
from compact.testing.worlds.phrases import Phrases, Template, sentence, slots, substitute
from compact.testing.worlds.truth import Kind, Speaker, TruthKind

_NUMBERS = {"k": (101, 989), "m": (10, 59), "d": (1, 9), "num": (1000, 9999)}


class Cast:
    """The names of one scene: each slot is one thing, wherever the scene speaks of it."""

    def __init__(self, dice: Dice, names: Names) -> None:
        self._dice = dice
        self._names = names
        self.things: dict[str, Name] = {}
        self._texts: dict[str, str] = {}

    def fill(self, template: str, **texts: str) -> str:
        """The template with names in its slots."""
        values = dict(texts)
        for slot in slots(template):
            if slot not in values:
                values[slot] = self._value(slot)
        return substitute(template, values)

    def _value(self, slot: str) -> str:
        if slot in self._texts:
            return self._texts[slot]
        if slot in _NUMBERS:
            text = str(self._dice.number(*_NUMBERS[slot]))
        elif slot == "w":
            text = self._names.word()
            self.things[slot] = Name(text, (text,))
        else:
            self.things[slot] = self._names.make(slot.partition(".")[0])
            text = self.things[slot].shown
        self._texts[slot] = text
        return text

    def names(self, label: str = "") -> tuple[str, ...]:
        """What the thing with the label can be recognised by, or the first thing."""
        for slot, name in self.things.items():
            if not label or slot.partition(".")[2] == label:
                return name.names
        return ()


class Stage:
    """Where a world is played."""

    def __init__(self, dice: Dice, kind: Kind, phrases: Phrases) -> None:
        self.dice = dice
        self.kind = kind
        self.phrases = phrases
        self.names = Names(dice)
        self.drafts: list[Draft] = []

    def cast(self) -> Cast:
        """Nobody yet."""
        return Cast(self.dice, self.names)

    def draft(self, kind: TruthKind, speaker: Speaker, names: Sequence[str], text: str, **more: Any) -> Draft:
        """A new truth."""
        id = f"{kind}-{len(self.drafts) + 1}"
        draft = Draft(kind, id=id, speaker=speaker, names=tuple(names), text=text, **more)
        self.drafts.append(draft)
        return draft

    def pick(self, *path: str) -> str:
        """One of the phrases below the keys."""
        return self.dice.pick(self.phrases.texts(*path))

    def template(self, key: str, use: str = "") -> Template | None:
        """One of the tables of that name that suit the conversation."""
        found = self.phrases.templates(key, self.kind, use)
        return self.dice.pick(found) if found else None

    def say(self, *path: str) -> Part:
        """A phrase that says nothing that is judged."""
        return Part(self.pick(*path))

    def embed(self, text: str) -> str:
        """The words as they are, or now and then in the middle of a paragraph about other things."""
        chosen = self.template("paragraph") if self.dice.chance(0.2) else None
        if chosen is None:
            return text
        end = "" if not text[-1:].isalnum() else "." if self.pick("separator") else "。"
        return substitute(chosen["text"], {"said": text + end})

    def act(self, use: str, cast: Cast) -> dict[str, str]:
        """Something to do: as an order, as a prohibition, and bare, as below a heading."""
        chosen = self.template("act", use)
        if chosen is None:
            return {}
        return {form: cast.fill(chosen[form]) for form in ("do", "dont", "bare")}


def stated(frame: str, act: Mapping[str, str], **more: str) -> str:
    """The frame filled with an act; with a capital letter, unless the frame has its own first word."""
    text = substitute(frame, {**act, **more})
    return sentence(text) if frame.startswith("{") else text
