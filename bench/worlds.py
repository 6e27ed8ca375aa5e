"""What recipes tell of generated sessions whose truth is known; with `--show`, examples of what they do not.

Worlds are in the words of the first author alone, unless `--author` names others: what is built with an eye on examples
is measured by the words of those whom nobody has looked at.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TextIO

from compact.app import list_recipes, resolve_recipe
from compact.lab.evaluating import Means, condense_body
from compact.messages import Json
from compact.testing.worlds import Judgement, Topic, Truth, Verdict, judge, make_world, tally, topic_of
from compact.testing.worlds.generator import LANGUAGES
from compact.testing.worlds.passages import read_messages
from compact.testing.worlds.phrases import authors

MEANS = Means("gpt-4o")
SHARES, COUNT, EXAMPLES = (0.25, 0.1), 100, 5
LINE = 300
"""Characters of a line that is shown."""


@dataclass(frozen=True, slots=True)
class Case:
    """What was left of a world, and what the judge found in it."""

    messages: Sequence[Json]
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Example:
    """A truth that is missing or told wrongly, and the lines that speak of it."""

    case: Case
    truth: Truth

    def lines(self) -> Iterator[str]:
        world, truth = self.case.judgement.world, self.truth
        facts = [f"{value}" for value in (truth.fate, truth.outcome, truth.value) if value]
        yield f"seed {world.seed}, {world.language}, {world.kind}: {truth.id}{''.join(f', {fact}' for fact in facts)}"
        yield f"  {truth.speaker} said: {_short(truth.text)}"
        if truth.settled:
            yield f"  settled by: {_short(truth.settled)}"
        wrong = [each for each in self.case.judgement.wrong if each.truth == truth.id]
        yield from (f"  {each.reading} ({each.reason}): {_short(each.text)}" for each in wrong)
        if not wrong:
            named = list(_naming(truth, self.case.messages))
            yield from (f"  left: {_short(line)}" for line in named)
            yield from () if named else ("  left: nothing that names it",)


def _short(text: str) -> str:
    line = " ⏎ ".join(text.strip().splitlines())
    return line if len(line) <= LINE else line[: LINE - 1] + "…"


def _naming(truth: Truth, messages: Sequence[Json]) -> Iterator[str]:
    """The lines that name what the truth is about."""
    names = [name.lower() for name in truth.names]
    for passage in read_messages(messages):
        for line in passage.text.splitlines():
            if any(name in line.lower() for name in names):
                yield f"{passage.role} {passage.kind}: {line}"


def cases(options: argparse.Namespace, recipe: str, share: float) -> list[Case]:
    """The worlds condensed by the recipe and judged."""
    chosen = authors() if "all" in options.author else options.author
    made = resolve_recipe(recipe)
    found = []
    for seed in range(options.seed, options.seed + options.count):
        world = make_world(seed, language=options.language, authors=chosen)
        messages = condense_body(world.body, world.format, made, share, MEANS).messages
        found.append(Case(messages, judge(world, messages)))
    return found


def examples(found: Sequence[Case], verdict: Verdict, topic: str | None) -> Iterator[tuple[str, list[Example]]]:
    """All truths with the verdict, by what they are about, in no order."""
    groups: dict[str, list[Example]] = {}
    for case in found:
        for truth in case.judgement.truths(verdict):
            name = topic_of(truth) or f"other {truth.kind}"
            if topic is None or name == topic:
                groups.setdefault(name, []).append(Example(case, truth))
    for name, group in groups.items():
        Random(0).shuffle(group)
        yield name, group


def show_table(found: Sequence[Case], out: TextIO) -> None:
    """The share of each topic's truths that is told, missing and contradicted; then what is wrong."""
    total = tally(case.judgement for case in found)
    print(f"{'topic':14} {'truths':>7} {'told':>7} {'missing':>8} {'contradicted':>13}", file=out)
    for topic, count in total.counts.items():
        of = max(count.total, 1)
        shares = f"{count.told / of:7.1%} {count.missing / of:8.1%} {count.contradicted / of:13.1%}"
        print(f"{topic:14} {count.total:7,} {shares}", file=out)
    reasons = Counter(each.reason for case in found for each in case.judgement.wrong)
    told = ", ".join(f"{reason} {number:,}" for reason, number in reasons.most_common())
    print(
        f"{total.false:,} false and {total.wrong_speaker:,} by the wrong speaker, of {total.statements:,} ",
        end="",
        file=out,
    )
    print(f"statements{': ' if told else ''}{told}", file=out, flush=True)


def show(options: argparse.Namespace, out: TextIO) -> None:
    for recipe in options.recipe:
        for share in options.share:
            names = ", ".join(options.author)
            print(
                f"{recipe} at {share:.0%}: {options.count:,} worlds from seed {options.seed}, author {names}", file=out
            )
            found = cases(options, recipe, share)
            show_table(found, out)
            for name, group in examples(found, Verdict(options.show), options.topic) if options.show else ():
                print(f"\n{name}, {options.show}: {min(len(group), options.examples)} of {len(group):,}", file=out)
                for example in group[: options.examples]:
                    print(*example.lines(), sep="\n", file=out)
            print(file=out)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench worlds", description=(__doc__ or "").splitlines()[0])
    recipes = [name for name, _ in list_recipes()]
    made.add_argument("--recipe", action="append", choices=recipes, help="repeatable; auto")
    made.add_argument("--share", action="append", type=float, help="of the tokens; repeatable; 0.25 and 0.1")
    made.add_argument("--count", type=int, default=COUNT, help=f"how many worlds; {COUNT}")
    made.add_argument("--seed", type=int, default=0, help="of the first world; the others follow")
    made.add_argument("--language", choices=LANGUAGES, help="of all worlds; usually any")
    made.add_argument("--author", action="append", choices=[*authors(), "all"], help="repeatable; first")
    made.add_argument("--show", choices=[Verdict.MISSING.value, Verdict.CONTRADICTED.value], help="examples of these")
    made.add_argument("--topic", choices=[topic.value for topic in Topic], help="examples of this topic alone")
    made.add_argument("--examples", type=int, default=EXAMPLES, help=f"of each topic; {EXAMPLES}")
    return made


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    options = parser().parse_args(arguments)
    options.recipe = options.recipe or ["auto"]
    options.share = options.share or list(SHARES)
    options.author = options.author or ["first"]
    show(options, out or sys.stdout)
    return 0


def run(out: TextIO) -> None:
    main([], out)
