"""Commands with their outcomes, bookings and records."""

from __future__ import annotations

import json
from typing import Any

from compact.testing.worlds.beats import Beat, Call, Draft, Part, Step
from compact.testing.worlds.phrases import Template
from compact.testing.worlds.scenes.filler import work
from compact.testing.worlds.stage import Cast, Stage
from compact.testing.worlds.truth import Outcome, Speaker, TruthKind

_PIPES = ("", "", "", " 2>&1 | tail -20", " | tail -5", " 2>&1 | tee out.log", " || true")


def run(stage: Stage) -> list[Beat]:
    """A command that works, fails, or works at last."""
    dice = stage.dice
    chosen = stage.template("run")
    if chosen is None:
        return []
    outcome = dice.pick((Outcome.OK, Outcome.FAILED, Outcome.FIXED))
    cast = stage.cast()
    command = cast.fill(chosen["command"]) + dice.pick(_PIPES)
    name = cast.fill(chosen["name"])
    names = tuple(dict.fromkeys((name, cast.names()[-1])))
    draft = stage.draft(TruthKind.OUTCOME, Speaker.TOOL, names, command, outcome=outcome)
    good = outcome is not Outcome.FAILED
    steps = []
    if outcome is Outcome.FIXED:
        steps = [_step(stage, chosen, cast, command, None), *work_on(stage, cast)]
    last = _step(stage, chosen, cast, command, draft)
    report = stage.pick("frames", f"run_{outcome}")
    answer = Part(cast.fill(report, n=name)) if dice.chance(0.4) else stage.say("looked" if good else "seen")
    if outcome is Outcome.FIXED and dice.chance(0.4):
        first = Beat([stage.say("ask_check")], steps[:1], [Part(cast.fill(stage.pick("frames", "run_failed"), n=name))])
        return [first, Beat([stage.say("ask_check")], [*steps[1:], last], [answer])]
    return [Beat([stage.say("ask_check")], [*steps, last], [answer])]


def work_on(stage: Stage, cast: Cast) -> list[Step]:
    """The repair of what failed."""
    steps = work(stage, cast)
    return [Step(steps[0].calls, stage.say("frames", "fix")), *steps[1:]]


def _step(stage: Stage, chosen: Template, cast: Cast, command: str, draft: Draft | None) -> Step:
    """A run; without a draft, one that fails before it is fixed."""
    good = draft is not None and draft.fields["outcome"] is not Outcome.FAILED
    key = "ok" if good else "failed"
    line = cast.fill(chosen[f"{key}_line"])
    text = cast.fill(chosen[key], line=line)
    if draft is not None:
        draft.fields["settled"] = line
    result = Part(text, (), (draft,) if draft else ())
    call = Call(chosen["tool"], {"command": command}, result, Part("", (draft,) if draft else ()))
    return Step((call,), stage.say("progress") if stage.dice.chance(0.3) else Part(""))


def record(stage: Stage) -> list[Beat]:
    """A booking or a record by a tool that answers in JSON, now and then with a second one at the same time."""
    dice = stage.dice
    chosen = stage.template("record")
    if chosen is None:
        return []
    calls = tuple(_record(stage, chosen) for _ in range(dice.pick((1, 1, 1, 2, 3))))
    return [Beat([stage.say("ask_check")], [Step(calls)], [stage.say("looked")])]


def _record(stage: Stage, chosen: Template) -> Call:
    cast = stage.cast()
    outcome = stage.dice.pick((Outcome.OK, Outcome.FAILED))
    arguments: dict[str, Any] = json.loads(cast.fill(chosen["arguments"]))
    result = cast.fill(chosen[outcome])
    names = (cast.fill(chosen["name"]), *cast.names())
    draft = stage.draft(TruthKind.OUTCOME, Speaker.TOOL, names, result, outcome=outcome)
    return Call(chosen["tool"], arguments, Part(result, (draft,), (draft,)))
