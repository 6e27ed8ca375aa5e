"""What the figures say of Compact, claim by claim; a claim that does not hold is told with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from bench.peers.catalogue import Way
from bench.peers.standing import ENOUGH, Bill, Standing

TRUNCATION = ("compact/v2", "compact/speed")
SMART = "compact/balanced"
LARGEST_SHARE = 0.5
"""Of the tokens; also what sessions are brought down to when they are played again."""

REASONS = {
    "budget": "Reason: what nobody may touch is more than the instructions, the first request and the newest exchange.",
    "facts": "Reason: what is kept is chosen before it is known what will be used.",
    "relations": "Reason: what is kept is chosen before it is known what will be used together.",
    "time": (
        "Reason: keeping the newest messages takes no more than counting them, with the tokenizer that Compact uses "
        "and that the others are handed here. Compact looks at every place that could be cut, holds the result against "
        "the vendor's rules and records how to undo it."
    ),
    "smart time": (
        "Reason: it looks for text that was said before and for answers that later ones supersede, in all of the "
        "conversation, before it cuts or summarizes anything; dropping messages needs none of that, and loses them."
    ),
    "memory": "Reason: Compact brings its models of configuration and its rules for every vendor's format.",
    "dollars": (
        "Reason: each of their compactions leaves less than the budget allows, so that fewer are needed; the ways of "
        "Compact that keep as many facts fill the budget."
    ),
}
"""Why a claim does not hold, by the claim's name; only told where the figures say so."""


def verdicts(found: Sequence[Standing], held_out: Sequence[Standing], costs: Sequence[Bill]) -> Iterator[str]:
    """A list of claims, each with its figures; facts are judged on what Compact was not fitted to."""
    ours = [one for one in found if one.way.ours]
    shares = sorted({one.share for one in found}, reverse=True)
    for share in shares:
        if share < LARGEST_SHARE:
            yield from _facts(share, [one for one in held_out if one.share == share])
    yield _claim(
        "recovery", all(one.lost == 0 for one in ours), "Everything that Compact takes out of context can be had back."
    )
    yield _claim("validity", all(one.valid == 1 for one in ours), "Every result of Compact is valid.")
    for share in shares:
        rows = [one for one in found if one.share == share]
        yield from _truncation(share, rows)
        yield from _smart(share, rows)
    yield from _memory([one for one in found if one.comparable])
    yield from _dollars(found, costs)


def _facts(share: float, rows: Sequence[Standing]) -> Iterator[str]:
    others, ours = _others(rows), [one for one in rows if one.way.ours]
    if not others or not ours:
        return
    comparable = [one for one in ours if one.comparable]
    at = f"At {share:.0%} of the tokens, held out, "
    if not comparable:
        best = max(ours, key=lambda one: (one.met, one.in_context))
        yield _claim(
            "budget",
            False,
            f"{at}no way of Compact meets the budget in {ENOUGH:.0%} of the cuts; {_name(best.way)} does in "
            f"{best.met:.0%}.",
        )
        return
    for what, missed in (("facts", attrgetter("missing")), ("relations", attrgetter("parted"))):
        best, theirs = min(comparable, key=missed), min(others, key=missed)
        yield _claim(
            what,
            missed(best) * 2 <= missed(theirs),
            f"{at}{_name(best.way)} misses {missed(best):.1%} of the {what} used later; the best of the others, "
            f"{_name(theirs.way)}, misses {missed(theirs):.1%}. The aim is half of that.",
        )


def _others(rows: Sequence[Standing]) -> list[Standing]:
    return [one for one in rows if one.comparable and not one.way.ours]


def _truncation(share: float, rows: Sequence[Standing]) -> Iterator[str]:
    others = [one for one in _others(rows) if one.way.setting != "documented"]
    own = [one for one in rows if one.way.key in TRUNCATION]
    if not others or not own:
        return
    ours, fastest = (min(those, key=lambda one: one.milliseconds) for those in (own, others))
    text = (
        f"Down to {share:.0%}, {_name(ours.way)} takes {ours.milliseconds:.0f} ms for 100,000 tokens and meets the "
        f"budget in {ours.met:.0%} of the cuts; the fastest of the others that count tokens and meet it, "
        f"{_name(fastest.way)}, takes {fastest.milliseconds:.0f} ms."
    )
    yield _claim("time", ours.comparable and ours.milliseconds <= fastest.milliseconds, text)


def _smart(share: float, rows: Sequence[Standing]) -> Iterator[str]:
    smart = next((one for one in rows if one.way.key == SMART), None)
    if not smart:
        return
    rivals = [one for one in _others(rows) if one.removed >= smart.removed - 0.005]
    quicker = [one for one in rivals if one.milliseconds < smart.milliseconds]
    text = (
        f"Down to {share:.0%}, {_name(smart.way)} takes {smart.milliseconds:.0f} ms; of {len(rivals)} others that meet "
        f"the budget and remove as much, {len(quicker)} are quicker."
    )
    yield _claim("smart time", not quicker, text)


def _memory(rows: Sequence[Standing]) -> Iterator[str]:
    ours = min((one for one in rows if one.way.ours), key=lambda one: one.memory, default=None)
    others = min(
        (one for one in rows if one.way.setting in ("documented", "best") and not one.way.ours),
        key=lambda one: one.memory,
        default=None,
    )
    if ours and others:
        text = (
            f"A process with Compact has at most {ours.memory:.0f} MB; the smallest of the peers' "
            f"({_name(others.way)}) {others.memory:.0f} MB."
        )
        yield _claim("memory", ours.memory <= others.memory, text)


def _dollars(found: Sequence[Standing], costs: Sequence[Bill]) -> Iterator[str]:
    kept = {one.way.key: one.in_context for one in found if one.share == LARGEST_SHARE}
    whole = [bill for bill in costs if bill.way and not bill.refused]
    ours = [bill for bill in whole if bill.way and bill.way.ours]
    others = [bill for bill in whole if bill.way and not bill.way.ours]
    if not ours or not others:
        return
    for model in ours[0].dollars:
        ahead = [
            bill
            for bill in others
            if not any(own.dollars[model] <= bill.dollars[model] and kept[own.name] >= kept[bill.name] for own in ours)
        ]
        cheapest, other = (min(bills, key=lambda bill: bill.dollars[model]) for bills in (ours, others))
        text = (
            f"Played with {model}, the cheapest way of Compact comes to ${cheapest.dollars[model]:.2f}, the cheapest "
            f"of the others to ${other.dollars[model]:.2f}. For {len(others) - len(ahead)} of {len(others)} others "
            "there is a way of Compact that costs no more and keeps as many facts in context"
        )
        names = ", ".join(_name(bill.way) for bill in ahead if bill.way)
        yield _claim("dollars", not ahead, text + (f"; not for {names}." if ahead else "."))


def _claim(name: str, holds: bool, text: str) -> str:  # noqa: FBT001
    reason = "" if holds or name not in REASONS else f" {REASONS[name]}"
    return f"- **{'Holds' if holds else 'Does not hold'}.** {text}{reason}"


def _name(way: Way) -> str:
    return f"{way.label} ({way.setting})" if way.setting in ("documented", "best") and not way.ours else way.label
