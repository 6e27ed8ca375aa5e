"""Estimates beside the bills of recorded answers: questions, input tokens and dollars.

`python -m bench bills FOLDER` takes a folder of cases. A case is a folder with an `exam.json` that names a `transcript`
below COMPACT_TRANSCRIPTS, how many of its messages come before the compaction (`messages_before_cut`), and the `target`
in tokens. What a model answered lies below it in `answers/RECIPE/NUMBER.md`, by the number of the question, from 1;
`model-answer.md` is the answer to the only question of native and of auto. `--requests RECIPE` writes the questions
that have no answer yet to `NUMBER.request.md` in FOLDER or in `--output`. Bills are priced for the model of `--model`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from compact.app import counter_for, read_transcript
from compact.app.condensing import Condensation
from compact.app.costing import Metered, price
from compact.app.estimating import foresee
from compact.app.pricing import Summarizer
from compact.app.recipes import resolve_recipe
from compact.messages import Conversation
from compact.models import Usage, cost
from compact.models.spending import Charge
from compact.ports import Answer, Ask, Completion, Failure, ReadingLimits
from compact.providers import Recipe

RECIPES = ("native", "auto", "v3", "quality")
_FRAME = 7
"""Tokens that a vendor of Chat Completions counts around a system and a user message."""


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation up to a compaction, with recorded answers."""

    folder: Path
    conversation: Conversation
    target: int

    def answer(self, recipe: str, number: int) -> str | None:
        """Return the recorded answer to a question; None where there is none."""
        own = self.folder / "answers" / recipe / f"{number}.md"
        shared = self.folder / "model-answer.md"
        if not own.is_file() and recipe in ("native", "auto") and number == 1:
            own = shared
        return own.read_text(encoding="utf-8").strip() if own.is_file() else None


class Recorded:
    """A callback that gives recorded answers with the usage that a vendor would report, and keeps the questions."""

    def __init__(self, case: Case, recipe: Recipe, summarizer: Summarizer) -> None:
        self.asks: list[Ask] = []
        self.missing: list[int] = []
        self.vendors = frozenset({summarizer.vendor})
        self._case, self._recipe, self._summarizer = case, recipe, summarizer

    def reader(self, _: str) -> ReadingLimits | None:
        return self._summarizer.reader

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(map(self._answer, asks))

    def _answer(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        text = self._case.answer(self._recipe.name, len(self.asks))
        if text is None:
            self.missing.append(len(self.asks))
            return Failure("no answer is recorded")
        count = counter_for(self._summarizer.model).text
        usage = Usage(count(ask.instructions) + count(ask.material) + _FRAME, min(count(text), ask.max_tokens))
        model = self._summarizer.facts
        return Completion(text, cost(usage, model.prices), usage=usage, model=model.id)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench bills", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="claude-haiku-4-5")
    parser.add_argument("--requests", choices=RECIPES)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args(arguments)
    cases = list(_cases(given.folder))
    if given.requests:
        return _write_requests(cases, given.requests, given.output or given.folder, given.model)
    return _compare(cases, given.model, sys.stdout)


def run(out: TextIO) -> None:
    folder = os.environ.get("COMPACT_RECORDED_ANSWERS", "")
    if not folder:
        print("no recorded answers: set COMPACT_RECORDED_ANSWERS, or run python -m bench bills FOLDER", file=out)
        return
    _compare(list(_cases(Path(folder))), "claude-haiku-4-5", out)


def _cases(folder: Path) -> Iterator[Case]:
    transcripts = Path(os.environ.get("COMPACT_TRANSCRIPTS", folder))
    for exam in sorted(folder.glob("*/exam.json")):
        facts = json.loads(exam.read_text(encoding="utf-8"))
        whole = read_transcript((transcripts / facts["transcript"]).read_bytes())
        before = whole.with_messages(whole.messages[: facts["messages_before_cut"]])
        yield Case(exam.parent, before, facts["target"])


def _compare(cases: Sequence[Case], model: str, out: TextIO) -> int:
    print(f"priced for {model}", file=out)
    heads = ("case", "recipe", "questions", "answered", "input", "dollars", "range holds")
    print("{:20} {:8} {:>11} {:>8} {:>8} {:>8}  {}".format(*heads), file=out)
    worst = 0.0
    for case in cases:
        for name in RECIPES:
            row, error = _row(case, resolve_recipe(name), Summarizer(model, model))
            worst = max(worst, abs(error))
            print(f"{case.folder.name[:20]:20} {name:8} {row}", file=out)
    print(f"largest error in dollars: {worst:.1%}", file=out)
    return 0


def _row(case: Case, recipe: Recipe, summarizer: Summarizer) -> tuple[str, float]:
    """The estimate beside the bill; only questions with a recorded answer are priced."""
    condensation = Condensation(case.conversation, "gpt-4o", case.target)
    foreseen = foresee(condensation, recipe, [summarizer])
    recorded = Recorded(case, recipe, summarizer)
    metered = Metered(recorded)
    condensation.run(recipe, metered)
    bill = metered.charge
    answered = [ask for ask, _ in metered.answered]
    expected = price(answered, [summarizer], recipe.name) if recorded.missing else foreseen.charge
    asked = f"{len(foreseen.asks)} of {len(recorded.asks)}"
    if not bill.questions or not bill.cost or expected.cost is None:
        return f"{asked:>11} {bill.questions:>8}", 0.0
    error = float((expected.cost - bill.cost) / bill.cost)
    tokens = (expected.input - bill.input) / bill.input
    return f"{asked:>11} {bill.questions:>8} {tokens:>+8.1%} {error:>+8.1%}  {_holds(expected, bill)}", error


def _holds(expected: Charge, bill: Charge) -> str:
    low, high = expected.range
    if low is None or high is None or bill.cost is None:
        return "?"
    return "yes" if low <= bill.cost <= high else "no"


def _write_requests(cases: Sequence[Case], name: str, output: Path, model: str) -> int:
    recipe = resolve_recipe(name)
    for case in cases:
        summarizer = Summarizer(model, model)
        foreseen = foresee(Condensation(case.conversation, "gpt-4o", case.target), recipe, [summarizer])
        folder = output / case.folder.name / "answers" / name
        for number, ask in enumerate(foreseen.asks, 1):
            if case.answer(name, number) is None:
                folder.mkdir(parents=True, exist_ok=True)
                text = f"{ask.instructions}\n\n{ask.material}\n"
                (folder / f"{number}.request.md").write_text(text, encoding="utf-8")
        print(f"{case.folder.name}: {len(foreseen.asks)} questions")
    return 0
