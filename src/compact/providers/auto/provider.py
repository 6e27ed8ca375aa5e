"""The default: fills the target with what is worth most, and tells the rest in one account.

What must stay stays. The last exchanges and what is being worked on come first, then everything else by worth for each
token, so that words outlast what tools printed. Exchanges before a boundary become lines of one account, or a model's
summary; those after it stand as messages, with long results cut to excerpts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from compact.messages import MOVING_TAIL, ROLES_NEVER_PRUNED, Fold, Message, Pass, exchanges, is_summary
from compact.ports import LEAST_ANSWER, LEAST_SAVED, Event
from compact.providers.auto.composition import PASS, Composition
from compact.providers.auto.settings import AutoSettings
from compact.providers.auto.steady import steady_prefixes
from compact.providers.provider import Applied, Capabilities, Rejected, Step, Steps, Task, propose
from compact.summaries.model.strategy import DEFAULT, Style
from compact.summaries.model.summarize import NoSummary, Request, Summary, summarize
from compact.summaries.offline.emphasis import EVEN, describe_no_effect, emphasis_of
from compact.summaries.offline.lines import tell_following

_ROUNDS = 4
_USER = "user"
_SHARE = 4
"""A summary takes at most this part of the target, and of what the summarizing model reads at once."""
_READABLE = 0.9
"""The part of what the summarizing model reads at once that a whole conversation may take, to be read whole."""


class AutoProvider:
    """Fills the target with what is worth most."""

    id = "auto"
    name = "Auto"
    description = "Fills the target with what is worth most, and tells the rest in one account."
    version = "1.0"
    capabilities = Capabilities(batch=True, individual=True, summarizes=True, speed="fast")
    settings = AutoSettings

    def condense(self, task: Task, settings: AutoSettings, /) -> Steps:
        """Propose one pass; where it is rejected, leave what was at fault as it is and choose again."""
        if task.reached(task.tokens):
            yield from propose(Pass(PASS, (), (f"{task.tokens:,} tokens are within the target",)))
            return
        target = task.tokens // 2 if task.target is None else task.target
        if (yield from _propose_steady(task, settings, target)):
            return
        composition = Composition(task, settings, target)
        if task.tokens <= composition.target:
            yield from propose(Pass(PASS, (), ("all that may go has gone",)))
            return
        removed, room = _summarizable(task, settings, composition)
        answer, read = (yield from _ask(task, settings, removed, room)) if removed else (None, 0)
        if isinstance(answer, NoSummary) and settings.on_failure != "offline":
            refused = Pass(PASS, (), (f"no summary: {answer.reason}",))
            pruned = composition.pruned() if answer.prune else refused
            yield from propose(replace(pruned, notes=(*pruned.notes, *refused.notes)) if answer.prune else refused)
            return
        summary = answer.text if isinstance(answer, Summary) else ""
        notes = _notes(answer)
        kept: frozenset[str] = frozenset()
        reachable = composition.within_reach
        for _ in range(_ROUNDS):
            if summary:
                proposal = composition.summarized(summary, removed, read)
            else:
                proposal = _fitted(composition, settings, partial(Composition, task, target=target, kept=kept))
            if kept and reachable and not composition.reaches(proposal):
                break
            verdict = yield from propose(replace(proposal, notes=(*proposal.notes, *notes)))
            if not isinstance(verdict, Rejected):
                return
            if task.account.role != _USER:
                # Some rules are about who speaks before the current step: in the user's role an account breaks none.
                task = replace(task, account=replace(task.account, role=_USER))
                composition = Composition(task, settings, target, kept)
                continue
            fault = _at_fault(task.conversation.messages, verdict.messages) - kept
            if not fault:
                break
            kept |= fault
            composition = Composition(task, settings, target, kept)
            if task.tokens <= composition.target:
                return  # all that may go has gone
        yield from _propose_otherwise(task, settings, composition, target)


def _notes(answer: Summary | NoSummary | None) -> tuple[str, ...]:
    """What is to be known of a model's answer: what of it is doubted, or why there is none."""
    if isinstance(answer, NoSummary):
        return (f"written without a model: {answer.reason}",)
    return answer.notes if answer else ()


def _at_fault(messages: Sequence[Message], named: frozenset[str]) -> frozenset[str]:
    """The messages that a rejection names, and those that a rule about them may be about.

    These are their neighbours, and the beginning of the turn that the model is in: what it thought there may have to
    stand before all that follows.
    """
    places = [at for at, message in enumerate(messages) if message.id in named]
    last = max((at for at, message in enumerate(messages) if message.from_user and not message.results), default=-1)
    near = {last + 1, *(index for at in places for index in range(at - 1, at + 2))}
    return frozenset(messages[index].id for index in near if 0 <= index < len(messages))


def _propose_otherwise(
    task: Task, settings: AutoSettings, last: Composition, target: int
) -> Generator[Step, Any, None]:
    """Cut only, or tell all that may go in the account, or nothing of it; else keep all that was at fault.

    Some vendors accept no account before the current step, as what was thought there must stand behind what it did.
    """
    cut = Composition(task, settings, target, steady=1)
    none = Composition(task, settings, target)
    first, then = ([cut], [last]) if cut.within_reach else ([], [last, cut])
    beyond = [one.fitted for one in then if task.tokens > one.target]
    for proposed in (*(one.fitted for one in first), lambda: _put_first(none.fitted()), none.told, none.least, *beyond):
        verdict = yield from propose(proposed())
        if isinstance(verdict, Applied):
            return


def _put_first(proposal: Pass) -> Pass:
    """The pass with its account ahead of what the system says between messages: behind it only the model may speak."""
    edits = (replace(edit, first=True) if isinstance(edit, Fold) else edit for edit in proposal.edits)
    return replace(proposal, edits=tuple(edits))


def _propose_steady(task: Task, settings: AutoSettings, target: int) -> Generator[Step, Any, bool]:
    """Cut only what is new, if that is enough: what stands at the front stays in the vendor's cache."""
    for steady in steady_prefixes(task, target):
        composition = Composition(task, settings, target, steady=steady)
        if composition.holds:
            again = partial(Composition, task, target=target, steady=steady)
            verdict = yield from propose(composition.fitted() if task.asks else _fitted(composition, settings, again))
            return isinstance(verdict, Applied)
    return False


def _summarizable(task: Task, settings: AutoSettings, composition: Composition) -> tuple[Sequence[Message], int]:
    """Return the messages that a model's summary would cover, and its room; nothing where it would save too little."""
    room = _room(task, settings, composition)
    removed = composition.removed(room) if room else ()
    room = min(room, sum(map(task.measure.message, removed)) - LEAST_SAVED)
    return (removed, room) if room >= LEAST_ANSWER else ((), 0)


def _fitted(composition: Composition, settings: AutoSettings, again: Callable[..., Composition]) -> Pass:
    """The pass with an account that no model writes; it notes which settings for a model have no effect."""
    found, same = composition.fitted(), False
    if emphasis_of(settings.strategy) != EVEN:
        usual = settings.model_copy(update={"strategy": DEFAULT, "prompt": ""})
        same = again(settings=usual).fitted().edits == found.edits
    notes = describe_no_effect(settings.strategy, prompt=bool(settings.prompt), same=same)
    return replace(found, notes=(*found.notes, *notes))


def _room(task: Task, settings: AutoSettings, composition: Composition) -> int:
    """How long a model's summary may be; 0 where none is asked for."""
    if not task.asks:
        return 0
    reads = task.read_by(settings.profile)
    free = composition.target - composition.floor - composition.frame - composition.quoted
    nothing_first = not (settings.recent_turns or settings.tool_pairs or settings.recent_tokens)
    most = free if nothing_first or settings.only_recent else max(free // 2, composition.target // _SHARE)
    room = min(settings.max_summary_tokens, reads // _SHARE, most, free)
    return room if room >= LEAST_ANSWER else 0


def _ask(
    task: Task, settings: AutoSettings, removed: Sequence[Message], room: int
) -> Generator[Step, Any, tuple[Summary | NoSummary, int]]:
    """A model's summary of the messages as they were at first, and how many of the messages it knows of.

    It also reads the messages that stay if it can, and else gets them in short. Those at the very end it does not get:
    a client may still rewrite them, and what the summary says must not depend on them.
    """
    gone = {message.id for message in removed}
    origin = [task.originals.get(message.id, message) for message in task.conversation.messages]
    reads = task.read_by(settings.profile) - room
    last = max(at for at, message in enumerate(origin) if message.id in gone) + 1
    settled = (group[0] for group in exchanges(origin) if group[-1] >= len(origin) - MOVING_TAIL)
    known = max(last, next(settled, 0))
    if sum(map(task.measure.message, origin[:known])) <= reads * _READABLE:
        last = known  # it can read everything, and tell how things stand then
    request = Request(
        messages=tuple(
            message for message in origin[:last] if message.role not in ROLES_NEVER_PRUNED or is_summary(message)
        ),
        strategy=settings.chosen_strategy,
        style=Style(settings.detail, focus=settings.focus),
        budget=room,
        reads=reads,
        profile=settings.profile,
        on_failure="block" if settings.on_failure == "offline" else settings.on_failure,
        kept=frozenset(message.id for message in origin if message.id not in gone),
        beside=tuple(origin),
        asks=task.asks,
        below=tell_following(origin[last:known]),
    )
    answer = yield from summarize(request, task.measure)
    if isinstance(answer, NoSummary) and settings.on_failure == "offline":
        yield Event("summary_created", {"tokens": 0, "offline": True, "kind": answer.kind, "reason": answer.reason})
    return answer, known
