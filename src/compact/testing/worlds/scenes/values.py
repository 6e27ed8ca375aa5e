"""Many similar things with values, some of them asked for later."""

from __future__ import annotations

import json
from typing import Any

from compact.testing.worlds.beats import Beat, Call, Draft, Part, Step
from compact.testing.worlds.phrases import substitute
from compact.testing.worlds.stage import Stage
from compact.testing.worlds.truth import Speaker, TruthKind


def catalog(stage: Stage) -> list[Beat]:
    """A list of things with ids and values."""
    chosen = stage.template("catalog")
    if chosen is None:
        return []
    dice = stage.dice
    cast = stage.cast()
    arguments: dict[str, Any] = json.loads(cast.fill(chosen["arguments"]))
    drafts = []
    pretty = chosen["style"] == "json" and dice.chance(0.3)
    for _ in range(dice.number(4, 10)):
        thing = stage.names.word()
        shown = thing if chosen["shape"] in ("port", "reading") else thing.title()
        number = stage.names.number(8)
        value = _value(stage, chosen["shape"])
        row = substitute(chosen["row"], {"id": number, "thing": shown, "value": value})
        if pretty:
            row = json.dumps(json.loads(row), indent=2)
        drafts.append(
            stage.draft(TruthKind.VALUE, Speaker.TOOL, (shown, number), row, value=value, source=chosen["shape"])
        )
    rows = [draft.fields["text"] for draft in drafts]
    text = "[" + (",\n" if pretty else ", ").join(rows) + "]" if chosen["style"] == "json" else "\n".join(rows)
    call = Call(chosen["tool"], arguments, Part(text, tuple(drafts)))
    return [Beat([stage.say("ask_look")], [Step((call,))], [stage.say("looked")])]


def _value(stage: Stage, shape: str) -> str:
    if shape == "price":
        return stage.names.price()
    if shape == "port":
        return stage.names.number(4)
    if shape == "reading":
        number = stage.names.number(5)
        return f"{number[:4]}.{number[4:]}"
    number = stage.names.number(6)
    return f"{int(number[:3]) % 24:02}:{int(number[3:]) % 60:02}"


def last_request(stage: Stage) -> Beat:
    """The request that the conversation ends with; it needs values from before."""
    dice = stage.dice
    groups: dict[str, list[Draft]] = {}
    for draft in stage.drafts:
        if draft.fields["kind"] is TruthKind.VALUE:
            groups.setdefault(draft.fields["source"], []).append(draft)
    if not groups:
        return Beat([stage.say("ask_look")])
    shape = dice.pick(sorted(groups))
    wanted = dice.rng.sample(groups[shape], 2)
    for draft in wanted:
        draft.fields["asked"] = True
    names = stage.pick("and").join(draft.fields["names"][0] for draft in wanted)
    return Beat([Part(substitute(stage.pick("values", shape), {"names": names}))])
