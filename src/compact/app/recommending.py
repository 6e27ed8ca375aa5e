"""What to do for the least money, in words; and money for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from compact.app.costing import Option
from compact.app.pricing import Summarizer
from compact.messages import Json
from compact.models.spending import Charge
from compact.quantities import counted

_NO_MONEY = Decimal(0)


def recommend(options: Sequence[Option], *, turns: int) -> tuple[str, ...]:
    """What to do for the least money, and why: which model should summarize, and which recipe pays most."""
    return tuple(filter(None, (_cheapest_model(options), _best_recipe(options, turns))))


def _cheapest_model(options: Sequence[Option]) -> str:
    """The cheapest summarizer of the recipe that differs most, against the first: the one that would be asked."""
    best, most = "", _NO_MONEY
    for recipe in dict.fromkeys(option.recipe for option in options):
        priced = [
            (option.charge.cost, option.summarizer)
            for option in options
            if option.recipe == recipe and option.summarizer and option.charge.cost is not None
        ]
        if len(priced) < 2:
            continue
        usual, cheapest = priced[0], min(priced, key=lambda pair: pair[0])
        if (less := usual[0] - cheapest[0]) > most:
            most = less
            best = (
                f"With {recipe}, {_named(cheapest[1])} would cost {dollars(cheapest[0])} instead of "
                f"{dollars(usual[0])} with {_named(usual[1])}: {less / usual[0]:.0%} less."
            )
    return best


def _best_recipe(options: Sequence[Option], turns: int) -> str:
    paid = [(worth, option) for option in options if (worth := option.worth(turns)) is not None]
    if not paid:
        return "What pays cannot be told: the price of the conversation's model is unknown."
    worth, option = max(paid, key=lambda pair: pair[0])
    if worth <= 0 or option.warm is None or option.warm.turns is None:
        soon = min((option.warm.turns for _, option in paid if option.warm and option.warm.turns), default=None)
        when = "it never does" if soon is None else f"the first to do so needs {_requests(soon)}"
        return f"Nothing pays for itself within {_requests(turns)} ({when}): compact to fit the window, not to save."
    by = f" with {_named(option.summarizer)}" if option.summarizer else ""
    return (
        f"By money alone, {option.recipe}{by} is best: it pays for itself after {_requests(option.warm.turns)} and has "
        f"saved {dollars(worth)} after {turns:,}."
    )


def dollars(amount: Decimal | None) -> str:
    """Money for people: four digits behind the point, as many as it takes for less than that."""
    if amount is None:
        return "?"
    if amount == 0:
        return "$0"
    sign, size = "-" if amount < 0 else "", abs(amount)
    return f"{sign}${size:.4f}" if size >= Decimal("0.0001") else f"{sign}${size:.2g}"


def dollar_range(charge: Charge) -> str:
    """Describe an estimate with the range that the length of the answers leaves."""
    low, high = charge.range
    spread = "" if low == high else f" ({dollars(low)} to {dollars(high)})"
    return f"{dollars(charge.cost)}{spread}"


def option_facts(option: Option) -> dict[str, Json]:
    """The option as plain JSON; money as text, so that nothing is rounded."""
    low, high = option.charge.range
    return {
        "way": option.recipe,
        "profile": option.summarizer.name if option.summarizer else None,
        "model": option.summarizer.facts.id if option.summarizer else None,
        "tokens_before": option.rewrite.before,
        "tokens_after": option.rewrite.after,
        "kept_prefix": option.rewrite.kept,
        "questions": option.charge.questions,
        "input_tokens": option.charge.input,
        "output_tokens": option.charge.output,
        "condensing": _text(option.charge.cost),
        "condensing_low": _text(low),
        "condensing_high": _text(high),
        "rewrite": _text(option.rewriting),
        "saved_per_request": _text(option.saved),
        "turns": option.warm and option.warm.turns,
        "turns_after_pause": option.cold and option.cold.turns,
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount, "f")


def _named(summarizer: Summarizer | None) -> str:
    if summarizer is None:
        return "no model"
    model = summarizer.facts.id
    return model if summarizer.name == model else f"{summarizer.name} ({model})"


def _requests(turns: int) -> str:
    return counted(turns, "request")
