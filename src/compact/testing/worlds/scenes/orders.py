"""Standing orders, prohibitions, and minds that change."""

from __future__ import annotations

import re

from compact.testing.worlds.beats import Beat, Draft, Part
from compact.testing.worlds.phrases import sentence, slots
from compact.testing.worlds.stage import Stage, stated
from compact.testing.worlds.truth import Speaker, TruthKind

_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


def standing_order(stage: Stage) -> list[Beat]:
    """Something to be done from now on."""
    return [_beat(stage, _plain(stage, "order"))]


def prohibition(stage: Stage) -> list[Beat]:
    """Something never to be done, in a sentence."""
    return [_beat(stage, _plain(stage, "prohibition"))]


def _beat(stage: Stage, draft: Draft, settles: tuple[Draft, ...] = ()) -> Beat:
    return Beat([Part(stage.embed(draft.fields["text"]), (draft,), settles)], [], [stage.say("ack")])


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
    forbids = use == "prohibition"
    fronted = "front" in chosen and dice.chance(0.5)
    frame = stage.pick("frames", ("fronted" if fronted else "conditional") + ("" if forbids else "_order"))
    condition = limits.fill(chosen["front" if fronted else "text"])
    text = stated(frame, act, condition=condition)
    if condition not in text:
        condition = sentence(condition)
    draft = stage.draft(
        TruthKind(use),
        Speaker.USER,
        cast.names(),
        text,
        opposite=stated("{do}." if forbids else "{dont}.", act),
        condition=condition,
        condition_names=limits.names(),
        negative=forbids,
    )
    return [_beat(stage, draft)]


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


def several(stage: Stage) -> list[Beat]:
    """Orders and prohibitions in one sentence, or on lines of their own: each is told by its line."""
    chosen = stage.template("several")
    if chosen is None:
        return []
    acts: dict[str, str] = {}
    told = []
    for slot in slots(chosen["text"]):
        form = slot.partition(".")[0]
        use = "order" if form == "do" else "prohibition"
        cast = stage.cast()
        act = stage.act(use, cast)
        acts[slot] = act[form]
        told.append((slot, use, cast.names(), stated("{dont}." if use == "order" else "{do}.", act)))
    lines = [(line, _BULLET.sub("", stated(line, acts))) for line in chosen["text"].split("\n")]
    drafts = []
    for slot, use, names, opposite in told:
        text = next(filled for line, filled in lines if f"{{{slot}}}" in line)
        fields = {"opposite": opposite, "negative": use == "prohibition"}
        drafts.append(stage.draft(TruthKind(use), Speaker.USER, names, text, **fields))
    return [Beat([Part(stated(chosen["text"], acts), tuple(drafts))], [], [stage.say("ack")])]


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
    return [_beat(stage, old), _beat(stage, new, (old,))]
