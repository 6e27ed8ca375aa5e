"""How many secrets of the scored set are found, and how many lines that hold none are touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType

from compact.redaction import Redactor


@dataclass(slots=True)
class Score:
    """What redaction does to the cases of one module: secrets by what they have in common, and lines."""

    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    lines: int = 0
    touched: list[str] = field(default_factory=list)

    def recall(self, group: str) -> dict[str, float]:
        """The share of secrets that are found, by kind, language or surrounding, or of `all`."""
        return {name: self.found[group, name] / size for (of, name), size in self.planted.items() if of == group}


def modules() -> Iterator[ModuleType]:
    """The modules beside this one that hold cases; each has `cases(seed)` and `stays(seed)` as half1.py describes."""
    for path in sorted(Path(__file__).parent.glob("half[0-9].py")):
        yield import_module(f"{__package__}.{path.stem}")


def score(module: ModuleType, seed: int) -> Score:
    """The score of the built-in rules."""
    redactor, result = Redactor(), Score()
    for case in module.cases(seed):
        redacted = redactor.text(case.text)
        groups = [("all", "all"), ("kind", case.kind), ("language", case.language), ("surrounding", case.surrounding)]
        for secret in case.secrets:
            is_found = secret not in redacted
            for group in groups:
                result.planted[group] += 1
                result.found[group] += is_found
            if not is_found:
                result.missed.append(f"{case.kind} {case.language} {case.surrounding}: {case.text!r} leaves {secret!r}")
    for line in module.stays(seed):
        result.lines += 1
        if redactor.text(line) != line:
            result.touched.append(line)
    return result
