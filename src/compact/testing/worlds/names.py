"""Names made by the dice, each unique in its world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compact.testing.generate.dice import Dice

_STARTS = ("bra", "dro", "fel", "gri", "hal", "jor", "kel", "lum", "mav", "nor", "pel", "qui", "rov", "sel", "tor", "ulv",
           "vel", "wen", "xan", "yor", "zam", "bor", "cal", "dax", "fim", "gul")
_MIDDLES = ("ba", "do", "fi", "go", "ka", "li", "mo", "nu", "pi", "ra", "so", "tu", "va", "zi", "ke", "ro")
_ENDS = ("dex", "lin", "mar", "nox", "pol", "rik", "sun", "tam", "vik", "wyn", "zor", "bel", "quin", "gard", "feld")


@dataclass(frozen=True, slots=True)
class Name:
    """How a thing is shown, and what it can be recognised by."""

    shown: str
    names: tuple[str, ...]


_FORMS: dict[str, Callable[[Dice, str], str]] = {
    "path": lambda dice, word: dice.pick((f"src/{word}.py", f"lib/{word}/index.ts", f"app/{word}.go", f"{word}.rs")),
    "function": lambda dice, word: dice.pick((f"load_{word}", f"{word}_total", f"parse{word.title()}", f"{word}()")),
    "branch": lambda dice, word: dice.pick((f"feature/{word}", f"release-{word}", word)),
    "table": lambda dice, word: dice.pick((f"{word}_rows", f"{word}_orders", f"tbl_{word}")),
    "command": lambda dice, word: dice.pick((f"make check-{word}", f"npm run {word}", f"./bin/{word}.sh")),
    "host": lambda dice, word: f"{word}.internal",
    "library": lambda dice, word: dice.pick((f"lib{word}", word, f"{word}-js")),
    "person": lambda dice, word: word.title(),
    "place": lambda dice, word: word.title(),
    "item": lambda dice, word: word.title(),
    "topic": lambda dice, word: word,
}
_CODE = {"path", "function", "branch", "table", "command", "host", "library"}


class Names:
    """A source of names that gives none twice."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._used: set[str] = set()
        self._numbers: set[str] = set()
        self.quoted = dice.chance(0.6)
        """Whether code is written between backticks in this world."""

    def word(self) -> str:
        """A word that no other one contains."""
        dice = self._dice
        while True:
            word = dice.pick(_STARTS) + dice.pick(_MIDDLES) + dice.pick(_ENDS)
            if word not in self._used:
                self._used.add(word)
                return word

    def make(self, slot: str) -> Name:
        """A new name of the kind that a slot of a template asks for."""
        if slot == "code":
            code = self.number(5, prefix=self._dice.pick(("HX-", "RK-", "#W", "BQ-")))
            return Name(code, (code,))
        word = self.word()
        shown = _FORMS[slot](self._dice, word)
        names = (shown,) if shown.lower() == word else (shown, word)
        return Name(f"`{shown}`" if self.quoted and slot in _CODE else shown, names)

    def number(self, digits: int, prefix: str = "") -> str:
        """A number of so many digits that this world has only once."""
        dice = self._dice
        while True:
            number = str(dice.number(10 ** (digits - 1), 10**digits - 1))
            if number not in self._numbers:
                self._numbers.add(number)
                return prefix + number

    def price(self) -> str:
        """A price that this world has only once."""
        number = self.number(5)
        return f"{number[:3]}.{number[3:]}"
