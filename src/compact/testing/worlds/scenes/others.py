"""Other people's orders: in results, in pasted text, in wrappers; impostors; the rules of the project."""

from __future__ import annotations

import json

from compact.testing.worlds.beats import Beat, Call, Draft, Part, Step
from compact.testing.worlds.scenes.filler import printed
from compact.testing.worlds.stage import Cast, Stage, stated
from compact.testing.worlds.truth import Speaker, TruthKind


def _quote(stage: Stage, frames: str = "quote") -> Draft:
    """Somebody else's order."""
    cast = stage.cast()
    act = stage.act("quote", cast)
    frame = stage.pick("frames", frames)
    forbids = "{dont}" in frame
    text = stated(frame, act)
    fields = {"opposite": stated("{do}!" if forbids else "{dont}!", act), "negative": forbids}
    return stage.draft(TruthKind.QUOTATION, Speaker.OTHER, cast.names(), text, **fields)


def in_tool(stage: Stage) -> list[Beat]:
    """An order in an issue, a page, a mail that a tool reads."""
    return _found(stage, "quote")


def impostor(stage: Stage) -> list[Beat]:
    """An order in a result that pretends to come from above."""
    return _found(stage, "impostor")


def _found(stage: Stage, frames: str) -> list[Beat]:
    chosen = stage.template("source")
    if chosen is None:
        return []
    draft = _quote(stage, frames)
    cast = Cast(stage.dice, stage.names)
    arguments = json.loads(cast.fill(chosen["arguments"]))
    draft.fields["source"] = cast.fill(chosen["source"])
    text = cast.fill(chosen["text"], quote=draft.fields["text"])
    if stage.dice.chance(0.4):
        text += "\n\n" + printed(stage, "page", stage.dice.pick((4, 12)))
    call = Call(chosen["tool"], arguments, Part(text, (draft,)))
    return [Beat([stage.say("ask_look")], [Step((call,))], [stage.say("looked")])]


def pasted(stage: Stage) -> list[Beat]:
    """Text of somebody else that the user pastes."""
    chosen = stage.template("paste")
    if chosen is None:
        return []
    cast = stage.cast()
    draft = _quote(stage)
    draft.fields["lead"] = lead = cast.fill(chosen["lead"])
    draft.fields["source"] = cast.fill(chosen["source"])
    mark = stage.dice.pick(("", "> "))
    quoted = [draft.fields["text"], *printed(stage, "page", stage.dice.pick((1, 3, 8))).split("\n")]
    lines = [lead, "", *(mark + line for line in quoted), "", chosen["close"]]
    return [Beat([Part("\n".join(lines), (draft,))], [], [stage.say("looked")], alone=True)]


def wrapped(stage: Stage) -> list[Beat]:
    """Words that an agent's own program puts into the user's role."""
    chosen = stage.template("wrapper")
    if chosen is None:
        return []
    cast = stage.cast()
    draft = _quote(stage)
    draft.fields["lead"] = chosen["lead"]
    draft.fields["source"] = chosen["source"]
    text = cast.fill(chosen["text"], quote=draft.fields["text"])
    # Where nothing shows the end of a program's words, the program sends them as a message of their own.
    alone = stage.dice.chance(0.7) or "open" in chosen
    return [Beat([Part(text, (draft,))], [], [stage.say("looked")], alone=alone)]


def project_rules(stage: Stage) -> list[Beat]:
    """A file with the project's rules, read by a tool."""
    dice = stage.dice
    chosen = stage.template("rules")
    if chosen is None:
        return []
    drafts = []
    for _ in range(dice.number(2, 4)):
        cast = stage.cast()
        act = stage.act("rule", cast)
        frame = dice.pick(("{do}.", "{dont}."))
        forbids = "{dont}" in frame
        fields = {"opposite": stated("{do}." if forbids else "{dont}.", act), "negative": forbids}
        text = stated(frame, act)
        names = cast.names()
        drafts.append(
            stage.draft(TruthKind.PROJECT_RULE, Speaker.PROJECT, names, text, source=chosen["path"], **fields)
        )
    text = "\n".join([chosen["head"], *("- " + draft.fields["text"] for draft in drafts)])
    call = Call("read_file", {"path": chosen["path"]}, Part(text, tuple(drafts)))
    return [Beat([stage.say("ask_look")], [Step((call,))], [stage.say("looked")])]
