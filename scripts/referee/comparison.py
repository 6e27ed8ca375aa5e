"""Which cases differ between two trees, or from the digests that were recorded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from scripts.referee.differences import Place, first_places
from scripts.referee.tasks import Digests, Result, outputs
from scripts.referee.trees import Tree


@dataclass(frozen=True, slots=True)
class Difference:
    """A case whose outputs differ; `places` are the first ones, where they were looked for."""

    case: str
    aspects: Sequence[str]
    places: Sequence[Place] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.case}: {', '.join(self.aspects)}", *map(str, self.places)])


@dataclass(slots=True)
class Comparison:
    """The cases of two trees: how many of each group are the same, and those that differ."""

    before: str
    after: str
    same: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def add(self, before: Digests, after: Digests) -> None:
        """Compare the cases of both; one that only one of them has differs."""
        for case in sorted({*before, *after}):
            one, other = (_aspects(digests.get(case, "")) for digests in (before, after))
            if one == other:
                self.same[group_of(case)] += 1
                continue
            names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
            missing = "" if one and other else f"only in {self.before if one else self.after}"
            self.differences.append(Difference(case, [missing] if missing else names))

    def __str__(self) -> str:
        differ = Counter(group_of(difference.case) for difference in self.differences)
        groups = sorted({*self.same, *differ})
        width = max(map(len, groups), default=0)
        rows = [f"{group:{width}} {self.same[group]:6,} {differ[group]:6,}" for group in groups]
        explained = [f"{difference}\n" for difference in self.differences if difference.places]
        head = [f"- {self.before}", f"+ {self.after}", ""]
        total = f"{self.same.total():,} cases are the same, {differ.total():,} differ"
        return "\n".join([*head, *explained, f"{'':{width}}   same differ", *rows, "", total])

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        differ = Counter(group_of(difference.case) for difference in self.differences)
        groups = {group: {"same": self.same[group], "differ": differ[group]} for group in {*self.same, *differ}}
        listed = [
            {"case": one.case, "aspects": list(one.aspects), "places": [place.to_json() for place in one.places]}
            for one in self.differences
        ]
        return {"before": self.before, "after": self.after, "groups": groups, "differences": listed}


def group_of(case: str) -> str:
    """The area of a case, with the recipe or policy where it has one: worlds/auto of worlds/auto/007@25%."""
    return "/".join(case.split("/")[:-1][:2])


def compare_results(trees: tuple[Tree, Tree], results: Sequence[Result]) -> Comparison:
    """The comparison of all tasks that were run in both trees."""
    comparison = Comparison(trees[0].label, trees[1].label)
    found = {(result.tree, result.task.key): result.digests for result in results}
    keys = dict.fromkeys(result.task.key for result in results)
    both = [key for key in keys if all((tree, key) in found for tree in trees)]
    before, after = ({case: text for key in both for case, text in found[tree, key].items()} for tree in trees)
    comparison.add(before, after)
    return comparison


def explain(comparison: Comparison, trees: tuple[Tree, Tree], results: Iterable[Result], most: int) -> None:
    """Look for the first places in `most` differences of each group; what they put out is read, or made once more."""
    tasks = {case: result.task for result in results for case in result.digests}
    counted: Counter[str] = Counter()
    shown: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, difference in enumerate(comparison.differences):
        counted[group_of(difference.case)] += 1
        if counted[group_of(difference.case)] <= most:
            shown[tasks[difference.case].key][difference.case] = number
    with ThreadPoolExecutor(len(trees)) as executor:
        for numbers in shown.values():
            cases = list(numbers)
            before, after = executor.map(outputs, trees, repeat(tasks[cases[0]]), repeat(cases))
            for case, number in numbers.items():
                places = first_places(before.get(case, {}), after.get(case, {}))
                comparison.differences[number] = replace(comparison.differences[number], places=places)


def _aspects(text: str) -> dict[str, str]:
    return {name: digest for name, _, digest in (pair.rpartition("=") for pair in text.split())}
