"""Standing orders, prohibitions, and minds that change."""

from __future__ import annotations

from compact.testing.worlds.beats import Beat, Draft, Part
from compact.testing.worlds.stage import Stage, stated
from compact.testing.worlds.truth import Speaker, TruthKind


def standing_order(stage: Stage) -> list[Beat]:
    """Something to be done from now on."""
    draft = _plain(stage, "order")
    return [Beat([Part(draft.fields["text"], (draft,))], [], [stage.say("ack")])]


def prohibition(stage: Stage) -> list[Beat]:
    """Something never to be done, in a sentence."""
    draft = _plain(stage, "prohibition")
    return [Beat([Part(draft.fields["text"], (draft,))], [], [stage.say("ack")])]


def _plain(stage: Stage, use: str) -> Draft:
    cast = stage.cast()
    act = stage.act(use, cast)
    forbids = use == "prohibition"
    text = stated(stage.pick("frames", use), act)
    opposite = stated("{do}." if forbids else "{dont}.", act)
    return stage.draft(TruthKind(use), Speaker.USER, cast.names(), text, opposite=opposite, negative=forbids)


def conditional(stage: Stage) -> list[Beat]:
    """A prohibition or an order that does not hold always."""
    dice = stage.dice
    use = dice.pick(("prohibition", "prohibition", "order"))
    cast, limits = stage.cast(), stage.cast()
    act = stage.act(use, cast)
    chosen = stage.template("condition")
    if chosen is None:
        return []
    condition = limits.fill(chosen["text"])
    frame = stage.pick("frames", "conditional" if use == "prohibition" else "conditional_order")
    forbids = use == "prohibition"
    draft = stage.draft(
        TruthKind(use),
        Speaker.USER,
        cast.names(),
        stated(frame, act, condition=condition),
        opposite=stated("{do}." if forbids else "{dont}.", act),
        condition=condition,
        condition_names=limits.names(),
        negative=forbids,
    )
    return [Beat([Part(draft.fields["text"], (draft,))], [], [stage.say("ack")])]


def rule_list(stage: Stage) -> list[Beat]:
    """Rules as a list: what to do, and what not below a heading that alone says so."""
    dice = stage.dice
    lines = [stage.pick("frames", "intro"), ""] if dice.chance(0.6) else []
    drafts: list[Draft] = []
    bullet = dice.pick(("- ", "- ", "* ", "1. "))
    if dice.chance(0.5):
        lead = stage.pick("frames", "always")
        items = [_item(stage, "order", lead) for _ in range(dice.number(1, 2))]
        lines += [lead, *(bullet + item.fields["text"] for item in items), ""]
        drafts += items
    lead = stage.pick("frames", "never")
    items = [_item(stage, "prohibition", lead) for _ in range(dice.number(2, 4))]
    lines += [lead, *(bullet + item.fields["text"] for item in items)]
    return [Beat([Part("\n".join(lines), (*drafts, *items))], [], [stage.say("ack")], alone=dice.chance(0.3))]


def _item(stage: Stage, use: str, lead: str) -> Draft:
    cast = stage.cast()
    act = stage.act(use, cast)
    forbids = use == "prohibition"
    text = stated("{bare}" if forbids else "{do}", act)
    fields = {"opposite": stated("{do}." if forbids else "{dont}.", act), "negative": forbids}
    # Without its head an item to be done still says what to do.
    return stage.draft(TruthKind(use), Speaker.USER, cast.names(), text, lead=lead if forbids else "", **fields)


def changed_mind(stage: Stage) -> list[Beat]:
    """A preference, and later another one in its place."""
    chosen = stage.template("change")
    if chosen is None:
        return []
    cast = stage.cast()
    first, then = cast.fill(chosen["first"]), cast.fill(chosen["then"])
    old = stage.draft(TruthKind.ORDER, Speaker.USER, cast.names("a"), first, standing=False)
    new = stage.draft(TruthKind.ORDER, Speaker.USER, cast.names("b"), then)
    old.fields["replaced_by"] = new.fields["id"]
    old.fields["settled"] = then
    return [
        Beat([Part(first, (old,))], [], [stage.say("ack")]),
        Beat([Part(then, (new,), (old,))], [], [stage.say("ack")]),
    ]
