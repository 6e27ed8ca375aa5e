"""What a condensation would come to, told before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from importlib.resources import files
from random import Random
from time import process_time

import pytest

import compact
from compact.app import Condensation, count, counter_for, read_transcript
from compact.app.costing import price
from compact.app.estimating import Asking, foresee
from compact.app.pricing import Summarizer
from compact.app.recipes import list_recipes, resolve_recipe
from compact.errors import InvalidConfiguration
from compact.messages import Conversation
from compact.models import cost, find_model
from compact.ports import LEAST_ANSWER, LEAST_SAVED, Answer, Ask, Completion, Failure, Refusal

RECIPES = [name for name, _ in list_recipes()]
ASKING = ["quality", "cost", "balanced", "v3"]


@pytest.fixture(scope="module")
def session() -> Conversation:
    name = "session.anthropic-messages.json"
    return read_transcript((files("compact.cli") / "transcripts" / name).read_bytes())


@pytest.mark.parametrize("target", [None, 0.5, 0.2])
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_estimate_is_near_what_comes_of_real_answers(
    session: Conversation, recipe: str, target: float | None
) -> None:
    told = compact.estimate(session, recipe=recipe, target=target)
    asking = Asking(recipe, [Summarizer("gpt-4o", "gpt-4o", reads=False)])

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        """Words that are read and checked like any model's, as many as are expected."""
        count = counter_for("gpt-4o").text
        known, expected = len(asking.asks), asking(asks)
        return tuple(Completion(summary(count(one.text), at), one.cost) for at, one in enumerate(expected, known))

    report = compact.condense(session, recipe=recipe, target=target, ask=answer).report
    assert (told.tokens_before, told.target) == (report.tokens_before, report.target)
    assert abs(told.tokens_after - report.tokens_after) <= 0.03 * report.tokens_before
    assert told.asks == len(asking.asks)
    assert told.cost is not None
    assert asking.charge.cost is not None
    assert abs(told.cost - asking.charge.cost) <= Decimal("0.1") * asking.charge.cost
    assert told.reduction == pytest.approx(1 - told.tokens_after / told.tokens_before)


def summary(tokens: int, subject: int) -> str:
    """So many tokens of prose, unlike that about any other subject."""
    chosen = Random(subject)
    words = "the count of words goes on while each line is read once and what it says stays in order".split()  # noqa: SIM905
    lines = ("- " + " ".join(chosen.choices(words, k=12)) + "\n" for _ in range(tokens // 15 + 1))
    return "## Progress\n" + "".join(lines)


def slowness() -> float:
    """How many times as long a plain loop takes now as on a machine that adds 12 million numbers a second."""
    began, total = process_time(), 0
    for number in range(300_000):
        total += number
    return max(1.0, (process_time() - began) * 40)


@pytest.mark.clock
@pytest.mark.parametrize("recipe", RECIPES)
def test_an_estimate_of_a_hundred_thousand_tokens_takes_a_tenth_of_a_second(session: Conversation, recipe: str) -> None:
    condensation, chosen = Condensation(session, "gpt-4o", None), resolve_recipe(recipe)
    assert condensation.tokens > 99_000

    def timed() -> float:
        began = process_time()
        foresee(condensation, chosen)
        return process_time() - began

    # The least of a few: what else runs on the machine only ever adds to it.
    assert min(timed() / slowness() for _ in range(10)) < 0.100


@pytest.mark.parametrize("preset", ASKING)
def test_what_is_asked_costs_what_the_catalogue_says(session: Conversation, preset: str) -> None:
    models = ("gpt-4o", "gpt-4o-mini")
    dear, cheap = (compact.estimate(session, preset=preset, model=model, target=0.1) for model in models)
    assert dear.asks == cheap.asks > 0
    assert dear.cost is not None
    assert cheap.cost is not None
    assert Decimal(10) < dear.cost / cheap.cost < Decimal(20)
    assert dear.seconds > 1


@pytest.mark.parametrize("preset", ["speed", "v1", "v2"])
def test_what_asks_nobody_costs_nothing(session: Conversation, preset: str) -> None:
    told = compact.estimate(session, preset=preset, target=0.5)
    assert (told.asks, told.cost, told.seconds) == (0, Decimal(0), 0.0)
    assert told.saved is not None
    assert told.saved > 0


def test_an_unknown_price_is_not_a_price_of_zero(session: Conversation) -> None:
    told = compact.estimate(session, preset="v3", model="a-model-nobody-knows")
    assert told.asks > 0
    assert told.cost is None
    assert told.saved is None
    assert compact.estimate(session, preset="v1", model="a-model-nobody-knows").cost == 0


def test_a_target_that_is_met_already_needs_nothing(session: Conversation) -> None:
    told = compact.estimate(session, preset="v3", target=1_000_000)
    assert (told.asks, told.reduction, told.target_met) == (0, 0.0, True)
    assert not compact.estimate(session, preset="v2", target=100).target_met


def test_it_takes_what_condense_takes() -> None:
    messages = [{"role": "user", "content": "hi"}]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    told = compact.estimate(messages, provider="lossless", config={"level": "verbatim"}, system="Be kind.", tools=tools)
    assert told.tokens_before == count(compact.parse(messages, system="Be kind.", tools=tools)).total
    assert told.reduction == 0.0
    with pytest.raises(InvalidConfiguration, match="cannot be given beside a preset"):
        compact.estimate(messages, provider="lossless", preset="v1")


def test_an_answer_is_as_long_as_is_to_be_expected() -> None:
    model, counter = find_model("claude-sonnet-4-5"), counter_for("claude-sonnet-4-5")
    asking = Asking("native", [Summarizer(model.id, model.id)])
    material = "Some words to be summarized. " * 200
    long, short = asking([Ask("Summarize.", material, 500), Ask("Summarize.", material[:400], 100)])
    assert abs(counter.text(long.text) - 300) <= 30
    assert counter.text(short.text) < 40
    assert all(answer.estimated for answer in (long, short))
    assert long.usage is not None
    sent = counter.text("Summarize.") + counter.text(material)
    assert sent < long.usage.input < sent + 20  # with what frames the two messages
    assert long.usage.output == 300
    assert long.cost == cost(long.usage, model.prices)
    assert (len(asking.asks), asking.charge.questions) == (2, 2)
    assert asking.seconds > 1.5


@pytest.mark.parametrize("target", [None, 0.5, 0.3])
@pytest.mark.parametrize("preset", ["speed", "v1", "v2"])
def test_where_nobody_is_asked_it_comes_to_just_that(session: Conversation, preset: str, target: float | None) -> None:
    after = compact.condense(session, preset=preset, target=target).report.tokens_after
    assert compact.estimate(session, preset=preset, target=target).tokens_after == after


@pytest.mark.parametrize("length", [0.4, 1.0])
@pytest.mark.parametrize("target", [None, 0.5, 0.2])
@pytest.mark.parametrize("recipe", ["auto", "native", "quality", "v3", "balanced"])
def test_the_number_of_questions_does_not_depend_on_how_long_the_answers_are(
    session: Conversation, recipe: str, target: float | None, length: float
) -> None:
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        known = len(asked)
        return tuple(Completion(summary(int(ask.wished * length * 0.8), known + at)) for at, ask in enumerate(asks))

    compact.condense(session, recipe=recipe, target=target, ask=answer)
    assert len(asked) == compact.estimate(session, recipe=recipe, target=target).asks


@pytest.mark.parametrize("given", ["refused", "failed", "cut off", "doubtful", "far too long", "nothing"])
@pytest.mark.parametrize("recipe", ["auto", "native", "layers", "quality", "v3", "balanced"])
def test_no_question_is_asked_twice_or_for_next_to_nothing(session: Conversation, recipe: str, given: str) -> None:
    answers: dict[str, Answer] = {
        "refused": Refusal("I must not."),
        "failed": Failure("down"),
        "cut off": Completion("- The wor", truncated=True),
        "doubtful": Completion("- It is all in src/invented.py\n- and in src/imagined.py"),
        "far too long": Completion(summary(20_000, 1)),
        "nothing": Completion(" "),
    }
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(answers[given] for _ in asks)

    compact.condense(session, recipe=recipe, ask=answer, target=0.1)
    assert asked
    assert len({(ask.instructions, ask.material) for ask in asked}) == len(asked)
    count_text = counter_for("gpt-4o").text
    for ask in asked:
        assert ask.max_tokens >= LEAST_ANSWER
        assert count_text(ask.material) - ask.wished >= LEAST_SAVED


@pytest.mark.parametrize("recipe", ["quality", "v3", "native", "auto", "layers"])
def test_a_short_conversation_is_worth_no_question(recipe: str) -> None:
    lines = "\n".join(f"line {number} of the file" for number in range(13))
    said: list[dict[str, object]] = [{"role": "user", "content": "Read them."}]
    for number in range(4):
        said.append({"role": "assistant", "content": f"{number}\n{lines}"})
        said.append({"role": "user", "content": "Go on."})
    assert compact.estimate(said, recipe=recipe).asks == 0


def test_an_answer_is_no_longer_than_the_profile_lets_it(session: Conversation) -> None:
    asks = foresee(Condensation(session, "gpt-4o", 0.4), resolve_recipe("native")).asks
    assert price(asks, [Summarizer("p", "gpt-4o-mini", 100)], "native").output == 100
