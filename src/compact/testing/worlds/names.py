"""Names made by the dice, each unique in its world."""

from __future__ import annotations

from dataclasses import dataclass

from compact.testing.generate.dice import Dice

_STARTS = (
    *("bra", "dro", "fel", "gri", "hal", "jor", "kel", "lum", "mav", "nor", "pel", "qui", "rov"),
    *("sel", "tor", "ulv", "vel", "wen", "xan", "yor", "zam", "bor", "cal", "dax", "fim", "gul"),
)
_MIDDLES = ("ba", "do", "fi", "go", "ka", "li", "mo", "nu", "pi", "ra", "so", "tu", "va", "zi", "ke", "ro")
_ENDS = ("dex", "lin", "mar", "nox", "pol", "rik", "sun", "tam", "vik", "wyn", "zor", "bel", "quin", "gard", "feld")


@dataclass(frozen=True, slots=True)
class Name:
    """How a thing is shown, and what it can be recognised by."""

    shown: str
    names: tuple[str, ...]


_FORMS = {
    "path": ("src/{w}.py", "lib/{w}/index.ts", "app/{w}.go", "{w}.rs"),
    "function": ("load_{w}", "{w}_total", "parse{title}", "{w}()"),
    "branch": ("feature/{w}", "release-{w}", "{w}"),
    "table": ("{w}_rows", "{w}_orders", "tbl_{w}"),
    "command": ("make check-{w}", "npm run {w}", "./bin/{w}.sh"),
    "host": ("{w}.internal",),
    "library": ("lib{w}", "{w}", "{w}-js"),
    "person": ("{title}",),
    "place": ("{title}",),
    "item": ("{title}",),
    "topic": ("{w}",),
}
"""How the names of each kind are made from a word."""
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
        shown = self._dice.pick(_FORMS[slot]).format(w=word, title=word.title())
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
