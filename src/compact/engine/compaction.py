"""The engine: the one function by which every entry point compacts a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import perf_counter

from compact.engine.answering import answer_offline, answer_safely
from compact.engine.driver import Asker, AskModel, Judge, NoModel, Outcome, reasoning_drops, run
from compact.engine.events import error_event
from compact.engine.floor import floor_of
from compact.engine.gauge import Gauge
from compact.engine.hidden_secrets import hide_secrets
from compact.engine.media import drop_media
from compact.engine.relays import find_reader
from compact.errors import CompactError, InsufficientBudget
from compact.formats import reject
from compact.messages import (
    AccountItem,
    Conversation,
    Message,
    Pass,
    Reasoning,
    message_texts,
    protect,
    recognise,
    visible,
)
from compact.policies import configure
from compact.ports import CompactionOrigin, Observe
from compact.ports.compactions import new_id
from compact.providers import Recipe, Task
from compact.providers.auto import AutoProvider, AutoSettings
from compact.providers.native.sections import OWN as ROO
from compact.providers.provider import PLAIN, AccountStyle
from compact.redaction import Redactor, usual_redactor

_AUTO = AutoProvider()
_MORE_ROUNDS = 3
_LONGEST_ERROR = 300
_NOT_AUTOS = (ROO,)
"""Strategies that only the provider `native` has."""
_SAMPLED, _SAMPLED_CHARS = 64, 1_000
"""How many texts of a conversation, and how much of each, are counted to compare two tokenizers."""
NOT_GIVEN = "no callback or profile was given"
PROVIDER_FAILED = "ProviderFailed"
"""The kind of error of an event that says how a provider failed, and who did its work."""
_FAILED = frozenset({"summary_failed", "summary_refused"})


@dataclass(frozen=True, slots=True)
class Goal:
    """How small a conversation is to become.

    `target` is the tokens to come down to; None leaves it to the recipe. `budget` is the most that a request may take:
    it is kept whatever the recipe does, or InsufficientBudget says why not; None where there is no such limit.
    `trigger` is from where on the session would be compacted again; None where nothing compacts it by itself.
    `most` takes the place of the budget where what must stay takes more: the answer then gets less than it asks for.
    `room` takes the place of a target that is not set, once the recipe's passes have run: `auto` makes room down to it.
    `size` is the most bytes that images and files may leave of the request; None where they are no matter.
    """

    target: int | None = None
    budget: int | None = None
    trigger: int | None = None
    most: int | None = None
    room: int | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything in which entry points may differ.

    `gauge` counts; `window` is the model's.
    `account` is the role, the tag and the seal of the account; with `handles` markers name what recalls the text they
    stand for.
    `originals` are the messages as they were first given and `items` the statements of accounts, both by id, where the
    conversation was compacted before. `observe` gets the events.
    `vendor` is whose model the conversation is with, as the catalogue names it, where that is known. `redactor` gives
    what finds the secrets that another vendor's model does not get to read; None where nothing is to be hidden.
    `origin` is where the compaction is made, for its record; without an id, it gets a new one.
    """

    gauge: Gauge
    window: int
    account: AccountStyle = PLAIN
    handles: bool = False
    originals: Mapping[str, Message] = field(default_factory=dict)
    items: Mapping[str, tuple[AccountItem, ...]] = field(default_factory=dict)
    observe: Observe | None = None
    vendor: str = ""
    redactor: Callable[[], Redactor] | None = usual_redactor
    origin: CompactionOrigin = field(default_factory=CompactionOrigin)


def compact(conversation: Conversation, recipe: Recipe, goal: Goal, inputs: Inputs, asker: Asker = None) -> Outcome:
    """Compact the conversation by the recipe.

    Where the recipe's own passes end above the target, `auto` goes on from there if the recipe says so; where a request
    would exceed its budget, it does so in any case but two: the provider `layers` raises InsufficientBudget, and a
    recipe with `on_failure="block"` changes nothing where a summary failed. Where a rule of the vendor forbids what
    `layers` would do, `auto` goes on, too. Without a callback, no model is called, and what a model would write is
    written offline. A model of another vendor gets placeholders for secrets.
    """
    began = perf_counter()
    unasked = NOT_GIVEN if asker is None else asker.reason if isinstance(asker, NoModel) else ""
    ask = None
    if asker is not None and not isinstance(asker, NoModel):
        ask = hide_secrets(asker, inputs.vendor, conversation, inputs.redactor)
    if goal.budget is not None:
        goal = replace(goal, budget=_budget(conversation, goal, inputs))
    run_ = _Run(conversation, recipe, goal, inputs, ask)
    if goal.size is not None:
        run_.drop_media(goal.size)
    if goal.target is None or run_.judge.tokens > goal.target:
        run_.provider(goal.target, ask)
        refused = run_.refused
        wanted = goal.room if goal.target is None else goal.target
        if wanted is not None and run_.continues and not run_.blocked:
            run_.until_reached(wanted)
    else:
        run_.skip(goal.target)
        refused = False
    keeps_error = run_.blocked or (recipe.provider.id in _KEEPING_THEIR_ERROR and not run_.forbidden)
    if goal.budget is not None and run_.judge.tokens > goal.budget and not keeps_error:
        run_.over_budget(goal.budget)
    if refused:
        run_.note_stand_in()
    return replace(
        run_.judge.outcome(),
        unasked=unasked,
        failure=run_.failure,
        stand_in=run_.stand_in,
        origin=replace(inputs.origin, id=inputs.origin.id or new_id()),
        seconds=perf_counter() - began,
    )


def _describe(error: Exception) -> str:
    """Return the kind of an error and its text, as one line that can be written anywhere."""
    text = " ".join(str(error).split())[:_LONGEST_ERROR].encode("utf-8", "backslashreplace").decode()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_KEEPING_THEIR_ERROR = ("layers",)
"""Providers for which a request that is still too long is an error, as they promise."""


class _Run:
    """One compaction under way."""

    def __init__(
        self, conversation: Conversation, recipe: Recipe, goal: Goal, inputs: Inputs, ask: AskModel | None
    ) -> None:
        conversation = recognise(conversation, inputs.account.seal)
        self.judge = Judge(conversation, inputs.gauge, reject, inputs.observe)
        self._at_first = self.judge.tokens
        self._recipe = recipe.with_handles() if inputs.handles else recipe
        self._inputs = inputs
        self._ask = ask
        self._goal = goal
        self.failure = self.stand_in = ""
        self._originals = {**{message.id: message for message in conversation.messages}, **inputs.originals}

    def provider(self, target: int | None, ask: AskModel | None) -> None:
        """Run the recipe's own passes; where its provider raises, `auto` does its work, or the recipe stops there."""
        recipe = self._recipe
        try:
            run(recipe.provider.condense(self._task(target, ask), recipe.settings), self.judge, self._asker(ask))
        except CompactError:
            raise
        except Exception as error:  # a provider is other people's code; the passes it got through stand
            if recipe.provider.id == _AUTO.id:
                raise
            self._stand_in(f"{recipe.provider.name} failed: {_describe(error)}", target)

    def _stand_in(self, failure: str, target: int | None) -> None:
        """Let `auto` do the work of a provider that failed; what that did until then stays."""
        left, continues = self.judge.tokens, self._recipe.when_missed == "continue"
        if continues:
            self.auto(left // 2 if target is None else target)
        self.stand_in = _AUTO.name if self.judge.tokens < left else self.stand_in
        stayed = "what it had done stays" if left < self._at_first else "nothing was changed"
        self.failure = f"{failure}; {f'{_AUTO.id} did the work' if self.stand_in else stayed}"
        self.judge.note(error_event(PROVIDER_FAILED, self.failure, _AUTO.id if continues else ""))

    def drop_media(self, size: int) -> None:
        """Take out images and files, the oldest first, until the request has so many bytes."""
        conversation = self.judge.conversation
        if proposal := drop_media(conversation, self._inputs.gauge.size(conversation) - size):
            self.judge.decide(proposal)

    def skip(self, target: int) -> None:
        """Report that the conversation is within its target."""
        self.judge.decide(self._task(target, None).skip(self._recipe.name))

    @property
    def blocked(self) -> bool:
        """Whether a summary failed, and the recipe says that the messages stay then."""
        if getattr(self._recipe.settings, "on_failure", "") != "block":
            return False
        names = [event.name for event in self.judge.outcome().events]
        last = next((name for name in reversed(names) if name in (*_FAILED, "summary_created")), "")
        return last in _FAILED  # where a refused question was answered the next time, there is a summary

    @property
    def forbidden(self) -> bool:
        """True if a rule of the vendor forbade what `layers` would do."""
        return self.judge.forbidden and self._recipe.provider.id in _KEEPING_THEIR_ERROR

    @property
    def continues(self) -> bool:
        """True if `auto` goes on down to the target: the recipe says so, or `layers` could do nothing."""
        return self._recipe.when_missed == "continue" or self.refused

    @property
    def refused(self) -> bool:
        """True if `layers` could do nothing that the vendor's rules allow."""
        return self.forbidden and not self.judge.outcome().plan

    def note_stand_in(self) -> None:
        """Say that `auto` did the work of a provider that was refused, if it did."""
        if self.judge.outcome().plan:
            self.stand_in = _AUTO.name
            why = f"a rule of the vendor forbids what {self._recipe.provider.name} would do"
            self.failure = f"{why}; {_AUTO.id} did the work"

    def auto(self, target: int | None) -> None:
        """Go on with `auto` from what is left, if that is not enough yet. A recipe that calls no model calls none.

        Neither is one called again for less than its answers may have taken: what is asked must not depend on how long
        they were, so that it is known beforehand.
        """
        if (self._recipe.provider.id != _AUTO.id or self._holds) and target is not None:
            judge = self.judge
            worth_asking = judge.tokens + judge.unused - target > judge.wished
            asks = self._recipe.provider.capabilities.summarizes and worth_asking
            self._fill(target, self._ask if asks else None)

    def until_reached(self, target: int) -> None:
        """Go on with `auto`; where it made room and that is not enough, run the recipe's passes on what it left.

        What `auto` removes can allow what a check forbade before: without its reasoning, a message may be cut. No model
        is called again for that.
        """
        left = self._at_first if self._recipe.provider.id == _AUTO.id else self.judge.tokens
        self.auto(target)
        for _ in range(_MORE_ROUNDS):
            if not target < self.judge.tokens < left:
                return
            left = self.judge.tokens
            self.provider(target, None)
            self._fill(target, None)

    def over_budget(self, budget: int) -> None:
        """Bring the request within its budget, whatever it takes; no model is called for that."""
        message = f"{self.judge.tokens:,} tokens were left where {budget:,} may be used"
        self.judge.note(error_event("OverBudget", message, _AUTO.id))
        self._fill(budget, None)
        if self.judge.tokens > (self._goal.most or budget) and (before := self._holds - 1) > 0:
            # The newest thought that stays is bound to no older ones: these may go, all of them.
            drops = reasoning_drops(self.judge.conversation.messages[:before])
            self.judge.decide(Pass("Earlier reasoning dropped", drops))

    def _fill(self, target: int, ask: AskModel | None) -> None:
        task, held = self._task(target, ask), self._holds
        if not task.reached(task.tokens):
            settings = self._recipe.settings
            if not isinstance(settings, AutoSettings):
                words = {name: value for name, value in self._recipe.words.items() if value not in _NOT_AUTOS}
                settings = configure(AutoSettings, {**words, **self._recipe.kept, "handles": self._inputs.handles})
            run(_AUTO.condense(task, settings), self.judge, self._asker(ask))
            if self._holds > held:
                self._fill(target, None)

    @property
    def _holds(self) -> int:
        """How many messages at the front hold still: those up to reasoning that may neither lose them nor go."""
        return _up_to_open_thought(self.judge.conversation.messages) if self.judge.bound else 0

    def _task(self, target: int | None, ask: AskModel | None) -> Task:
        inputs, goal, conversation = self._inputs, self._goal, self.judge.conversation
        if holds := self._holds:
            conversation = protect(conversation, range(holds))
            if goal.most is not None:
                goal = replace(goal, budget=goal.most, trigger=goal.most)  # what holds still takes room from the answer
        return Task(
            visible(conversation),
            self.judge.tokens,
            target,
            inputs.window,
            inputs.gauge,
            partial(self._read_by, ask),
            asks=ask is not None,
            account=replace(inputs.account, handles=inputs.handles),
            originals=self._originals,
            items=inputs.items,
            budget=goal.budget,
            trigger=goal.trigger and min(goal.trigger, self._at_first),
        )

    def _read_by(self, ask: AskModel | None, profile: str) -> int:
        """How many of the conversation's tokens the model takes at once that a question for the profile goes to."""
        reader = find_reader(ask, profile)
        if reader is None:
            return self._inputs.window
        own, its = self._inputs.gauge.text(self._sample), reader.count(self._sample)
        return reader.limit * own // its if its else reader.limit

    @cached_property
    def _sample(self) -> str:
        """Some of what is said in the conversation, to compare what counts tokens."""
        texts = [text for message in self.judge.conversation.messages for _, text in message_texts(message)]
        step = len(texts) // _SAMPLED + 1
        return "\n".join(text[:_SAMPLED_CHARS] for text in texts[::step])

    def _asker(self, ask: AskModel | None) -> AskModel:
        return partial(answer_safely, ask or partial(answer_offline, self.judge))


def _up_to_open_thought(messages: Sequence[Message]) -> int:
    """How many messages there are up to the answer to the last one from the user, where it begins with reasoning."""
    last = max((at for at, message in enumerate(messages) if message.from_user and not message.results), default=-1)
    answer = messages[last + 1 : last + 2]
    return last + 2 if any(isinstance(block, Reasoning) for one in answer for block in one.blocks) else 0


def _budget(conversation: Conversation, goal: Goal, inputs: Inputs) -> int:
    """The most that a request may take; InsufficientBudget where what must stay takes more."""
    floor, budget = floor_of(conversation, inputs.gauge), goal.budget or 0
    if floor.total > budget and goal.most is not None:
        budget = goal.most
    if floor.total > budget:
        raise InsufficientBudget(
            f"{floor}; the budget is {budget:,} of {inputs.window:,}. Protect fewer or shorter messages, cut long "
            "tool results before they are added, shorten the system prompt or the tools, or use a model with a larger "
            "context window.",
            needed=floor.total,
            budget=budget,
        )
    return budget
