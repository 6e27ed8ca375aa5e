"""Requests with their fates, task lists, decisions."""

from __future__ import annotations

from compact.messages import Json
from compact.testing.worlds.beats import Beat, Call, Draft, Part, Step
from compact.testing.worlds.phrases import Template
from compact.testing.worlds.scenes.filler import look, work
from compact.testing.worlds.stage import Cast, Stage
from compact.testing.worlds.truth import Fate, Kind, Speaker, TruthKind


def _ask(stage: Stage, fate: Fate) -> tuple[Draft, Cast, Template]:
    chosen = stage.dice.pick(stage.phrases.templates("request", stage.kind))
    cast = stage.cast()
    text = cast.fill(chosen["ask"])
    return stage.draft(TruthKind.REQUEST, Speaker.USER, cast.names(), text, fate=fate), cast, chosen


def _asking(stage: Stage, draft: Draft) -> list[Part]:
    return [Part(stage.embed(draft.fields["text"]), (draft,))]


def _put_off(draft: Draft, cast: Cast, chosen: Template) -> Part:
    """The answer that somebody will come to it later."""
    draft.fields["deferred"] = text = cast.fill(chosen["later"])
    return Part(text)


def done(stage: Stage) -> list[Beat]:
    """A request that is fulfilled, now or some turns later."""
    draft, cast, chosen = _ask(stage, Fate.DONE)
    draft.fields["settled"] = text = cast.fill(chosen["done"])
    steps = work(stage, cast) if stage.kind is Kind.CODING or stage.dice.chance(0.3) else []
    if stage.dice.chance(0.75):
        return [Beat(_asking(stage, draft), steps, [Part(text, (), (draft,))])]
    later = _put_off(draft, cast, chosen)
    return [Beat(_asking(stage, draft), [], [later]), Beat([stage.say("ask_look")], steps, [Part(text, (), (draft,))])]


def open_one(stage: Stage) -> list[Beat]:
    """A request that nobody has come to yet."""
    draft, cast, chosen = _ask(stage, Fate.OPEN)
    return [Beat(_asking(stage, draft), [], [_put_off(draft, cast, chosen)])]


def refused(stage: Stage) -> list[Beat]:
    """A request that is turned down."""
    draft, cast, chosen = _ask(stage, Fate.REFUSED)
    draft.fields["settled"] = text = cast.fill(chosen["refused"])
    return [Beat(_asking(stage, draft), [look(stage)] if stage.dice.chance(0.3) else [], [Part(text, (), (draft,))])]


def withdrawn(stage: Stage) -> list[Beat]:
    """A request that the user takes back."""
    draft, cast, chosen = _ask(stage, Fate.WITHDRAWN)
    shown = next(iter(cast.things.values())).shown
    draft.fields["settled"] = text = cast.fill(stage.pick("frames", "withdraw"), n=shown)
    return [
        Beat(_asking(stage, draft), [], [_put_off(draft, cast, chosen)]),
        Beat([Part(text, (), (draft,))], [], [stage.say("frames", "withdrawn")]),
    ]


def replaced(stage: Stage) -> list[Beat]:
    """A request that gives way to another one, which is done or still open."""
    old, cast, chosen = _ask(stage, Fate.REPLACED)
    finished = stage.dice.chance(0.5)
    new, other, other_chosen = _ask(stage, Fate.DONE if finished else Fate.OPEN)
    shown = next(iter(cast.things.values())).shown
    text = cast.fill(stage.pick("frames", "replace"), n=shown, ask=new.fields["text"])
    old.fields["settled"] = text
    old.fields["replaced_by"] = new.fields["id"]
    if finished:
        new.fields["settled"] = answer = other.fill(other_chosen["done"])
        settled = Part(answer, (), (new,))
    else:
        settled = _put_off(new, other, other_chosen)
    return [
        Beat(_asking(stage, old), [], [_put_off(old, cast, chosen)]),
        Beat([Part(text, (new,), (old,))], work(stage, other) if finished else [], [settled]),
    ]


def task_list(stage: Stage) -> list[Beat]:
    """A plan of the assistant whose items change their states from list to list."""
    dice = stage.dice
    tasks: list[Draft] = []
    for _ in range(dice.number(3, 6)):
        cast = stage.cast()
        text = cast.fill(dice.pick(stage.phrases.templates("request", stage.kind))["todo"])
        tasks.append(stage.draft(TruthKind.REQUEST, Speaker.ASSISTANT, cast.names(), text))
    finished = dice.number(1, len(tasks))
    beats = []
    rounds = sorted({0, dice.number(0, finished), finished})
    called = dice.chance(0.6)
    for number in rounds:
        last = number == rounds[-1]
        steps = [_plan(tasks, number, settles=last)] if called else []
        answer = stage.say("looked") if called else _boxes(tasks, number, settles=last)
        beats.append(Beat([stage.say("ask_look")], steps, [answer]))
    for index, task in enumerate(tasks):
        task.fields["fate"] = Fate.DONE if index < finished else Fate.OPEN
        task.fields["settled"] = (
            task.fields["text"] if called else f"[{'x' if index < finished else ' '}] {task.fields['text']}"
        )
    return beats


def _boxes(tasks: list[Draft], finished: int, *, settles: bool) -> Part:
    """The plan as the assistant writes it out."""
    lines = [f"- [{'x' if index < finished else ' '}] {task.fields['text']}" for index, task in enumerate(tasks)]
    return Part("\n".join(lines), tuple(tasks), tuple(tasks) if settles else ())


def _plan(tasks: list[Draft], finished: int, *, settles: bool) -> Step:
    todos: list[Json] = [
        {
            "content": task.fields["text"],
            "status": "completed" if index < finished else "in_progress" if index == finished else "pending",
        }
        for index, task in enumerate(tasks)
    ]
    asks = Part("", tuple(tasks), tuple(tasks) if settles else ())
    return Step((Call("TodoWrite", {"todos": todos}, Part("Todos have been modified successfully."), asks),))


def decision(stage: Stage) -> list[Beat]:
    """A choice between two things, with its reason, by either side."""
    chosen = stage.template("decision")
    if chosen is None:
        return []
    cast = stage.cast()
    text = cast.fill(chosen["text"])
    other = stage.cast()
    other.things, other._texts = dict(cast.things), dict(cast._texts)  # noqa: SLF001 - the same names, two of them swapped
    slots = {slot.partition(".")[2]: slot for slot in cast.things}
    other._texts[slots["a"]], other._texts[slots["b"]] = cast._texts[slots["b"]], cast._texts[slots["a"]]  # noqa: SLF001
    speaker = stage.dice.pick((Speaker.USER, Speaker.ASSISTANT))
    draft = stage.draft(
        TruthKind.DECISION,
        speaker,
        cast.names("a"),
        text,
        rejected=cast.names("b"),
        value=cast.names("r")[-1],
        opposite=other.fill(chosen["text"]),
    )
    part = Part(text, (draft,))
    if speaker is Speaker.USER:
        return [Beat([part], [], [stage.say("ack")])]
    return [Beat([stage.say("ask_look")], [look(stage)] if stage.dice.chance(0.5) else [], [part])]
