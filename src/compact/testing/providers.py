"""A conformance kit for providers: the laws each of them keeps, tried on random conversations in every format.

from compact.testing.providers import check_provider

def test_my_provider():
    check_provider(MyProvider())
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from pydantic.errors import PydanticInvalidForJsonSchema

from compact.app import counter_for
from compact.engine import AskModel, Gauge, Judge, Outcome, run
from compact.errors import EditError, InvalidConfiguration
from compact.formats import FORMATS, parse, reject, render, request_body, tools_of
from compact.messages import (
    Conversation,
    Json,
    Message,
    Pass,
    ToolCall,
    ToolResult,
    apply,
    check,
    fingerprint,
    pairs,
    protect,
    restore,
    untouchable,
    visible,
)
from compact.policies import Configuration, configure
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from compact.providers import Capabilities, Provider, Task, Verdict
from compact.testing.generate import random_body

WINDOW = 128_000
SIZES = (1, 6, 20, 40)
_MODEL = "gpt-4o"
_NEVER = frozenset({"protected", "order", "pair", "reasoning"})
_ID = re.compile(r"[a-z][a-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Breach:
    """A law that the provider broke, on which conversation, and how."""

    law: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.law} ({self.where}): {self.detail}" if self.where else f"{self.law}: {self.detail}"


def check_provider(
    provider: Provider, settings: Configuration | Mapping[str, Any] | None = None, *, rounds: int = 6, seed: int = 0
) -> None:
    """Raise AssertionError, naming every law that the provider broke, if it broke any.

    `rounds` conversations of each format are tried; the same seed gives the same ones.
    """
    found = list(breaches(provider, settings, rounds=rounds, seed=seed))
    if found:
        shown = "\n".join(f" - {breach}" for breach in found[:20])
        more = f"\n - and {len(found) - 20} more" if len(found) > 20 else ""
        raise AssertionError(f"provider {provider.id!r} breaks laws of providers:\n{shown}{more}")


def breaches(
    provider: Provider, settings: Configuration | Mapping[str, Any] | None = None, *, rounds: int = 6, seed: int = 0
) -> Iterator[Breach]:
    """Every law the provider breaks, one after the other."""
    wrong = [Breach("metadata", "", detail) for detail in _bad_metadata(provider)]
    wrong = wrong or [Breach("settings", "", detail) for detail in _bad_settings(provider)]
    yield from wrong
    if wrong:
        return
    if not isinstance(settings, Configuration):
        settings = configure(provider.settings, settings or {})
    for format in FORMATS:
        for number in range(rounds):
            where = f"{format}, seed {seed}, round {number}"
            conversation = _conversation(format, f"{seed} {format} {number}")
            original = json.dumps(request_body(conversation))
            for law, detail in _Trial(provider, settings, conversation).attempt():
                yield Breach(law, where, detail)
            if json.dumps(request_body(conversation)) != original:
                yield Breach("pure", where, "the messages it was given were changed")


def summarizing(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """A model that answers every question shortly, and the same question always alike."""
    return tuple(
        Completion(f"In short: {fingerprint(ask.instructions + ask.material)[:8]}", trusted=True) for ask in asks
    )


def _answering(answer: Callable[[Ask], Answer]) -> AskModel:
    return lambda asks: tuple(map(answer, asks))


_UNHELPFUL: Mapping[str, AskModel] = {
    "a refusal": _answering(lambda _: Refusal("against the rules")),
    "a failure": _answering(lambda _: Failure("not reachable")),
    "an empty answer": _answering(lambda _: Completion(" \n")),
    "an answer longer than its material": _answering(lambda ask: Completion(f"{ask.material} {ask.material} .")),
}


class _Watch(Judge):
    """A judge that remembers what no provider may ever propose."""

    def __init__(self, conversation: Conversation, gauge: Gauge) -> None:
        super().__init__(conversation, gauge, reject)
        self._count = gauge.conversation
        self.outrages: list[str] = []

    def decide(self, proposal: Pass) -> Verdict:
        try:
            after, _ = apply(self.conversation, proposal)
        except EditError as error:
            self.outrages.append(f"pass {proposal.name!r}: {error}")
        else:
            problems = check(self.conversation, after, rules=reject, count=self._count)
            self.outrages += [f"pass {proposal.name!r}: {each.text}" for each in problems if each.kind in _NEVER]
        return super().decide(proposal)


class _Trial:
    """One provider with one conversation."""

    def __init__(self, provider: Provider, settings: Configuration, conversation: Conversation) -> None:
        self._provider = provider
        self._settings = settings
        self._conversation = conversation
        self._gauge = Gauge(counter_for(_MODEL), tools_of(conversation))
        self._tokens = self._gauge.conversation(conversation)
        self.found: list[tuple[str, str]] = []

    def attempt(self) -> list[tuple[str, str]]:
        """Each law it breaks, and how."""
        half = self._tokens // 2
        for target in (None, half):
            self._guarded("a model that helps", partial(self._helped, target))
        for what, ask in _UNHELPFUL.items():
            self._guarded(what, partial(self._unhelped, ask, half))
        return self.found

    def _guarded(self, answers: str, law: Callable[[], None]) -> None:
        try:
            law()
        except Exception as error:  # noqa: BLE001 - somebody else's code: whatever it raises is a finding
            self.found.append(("never raises", f"{type(error).__name__} with {answers}: {error}"))

    def _run(self, conversation: Conversation, target: int | None, ask: AskModel) -> Outcome:
        judge = _Watch(conversation, self._gauge)
        task = Task(visible(conversation), judge.tokens, target, WINDOW, self._gauge)
        outcome = run(self._provider.condense(task, self._settings), judge, ask)
        self.found += [("proposes only what it may", outrage) for outrage in judge.outrages]
        return outcome

    def _helped(self, target: int | None) -> None:
        outcome = self._run(self._conversation, target, summarizing)
        self._lawful(outcome)
        if _essence(self._run(self._conversation, target, summarizing)) != _essence(outcome):
            self.found.append(("deterministic", "the same conversation was condensed differently the second time"))
        if target is None:
            return
        for what, result in (("result", outcome.conversation), ("result, sent and read again", _reread(outcome))):
            if changed := [done.name for done in self._run(result, target, summarizing).plan]:
                self.found.append(("idempotent", f"condensing the {what} again changed it: {', '.join(changed)}"))

    def _unhelped(self, ask: AskModel, target: int) -> None:
        self._lawful(self._run(self._conversation, target, ask))

    def _lawful(self, outcome: Outcome) -> None:
        before, after = self._conversation, outcome.conversation
        now = {message.id: message.wire for message in after.messages}
        fixed = untouchable(before)
        if touched := [each.id for each in before.messages if each.id in fixed and now.get(each.id) != each.wire]:
            self.found.append(("keeps what must stay", f"messages {', '.join(touched)} changed"))
        known = [message.id for message in before.messages]
        if [id for id in known if id in now] != [message.id for message in after.messages if message.id in known]:
            self.found.append(("keeps the order", "messages changed their places"))
        if lost := _halves(after.messages) - _halves(before.messages):
            self.found.append(("keeps pairs whole", f"{', '.join(sorted(lost))} lost the other half"))
        if added := len(reject(before, after)) - len(reject(before, before)):
            if added > 0:
                self.found.append(("valid", reject(before, after)[-1].text))
        if self._gauge.conversation(after) > self._tokens:
            self.found.append(("never larger", f"{self._tokens:,} tokens became more"))
        if render(restore(after, outcome.plan)) != render(before):
            self.found.append(("restores", "the plan does not lead back to the original"))


def _conversation(format: str, seed: str) -> Conversation:
    """A random conversation, now and then with messages protected."""
    rng = Random(seed)  # noqa: S311 - a repeatable one is the point
    size = rng.choice(SIZES)
    conversation = parse(random_body(rng, format, size=size), format=format)
    protected = rng.sample(range(len(conversation)), k=min(len(conversation), rng.choice((0, 0, 1, 3))))
    return protect(conversation, protected)


def _reread(outcome: Outcome) -> Conversation:
    """The result as it comes back when an application sends it again: with new ids."""
    result = outcome.conversation
    again = parse(request_body(result), format=result.format)
    return protect(again, [index for index, message in enumerate(result.messages) if message.protected])


def _essence(outcome: Outcome) -> Json:
    return render(outcome.conversation), [(done.name, done.edits) for done in outcome.plan]


def _halves(messages: Sequence[Message]) -> frozenset[str]:
    """The calls without a result, and the results without a call."""
    answers = pairs(messages)
    paired = {*answers, *answers.values()}
    return frozenset(
        f"{message.id}.{position}"
        for index, message in enumerate(messages)
        for position, block in enumerate(message.blocks)
        if isinstance(block, ToolCall | ToolResult) and (index, position) not in paired
    )


def _bad_metadata(provider: Provider) -> Iterator[str]:
    for name in ("id", "name", "description", "version"):
        value = getattr(provider, name, None)
        if not isinstance(value, str) or not value.strip():
            yield f"{name} must be a text that says something, not {value!r}"
    if isinstance(id := getattr(provider, "id", None), str) and not _ID.fullmatch(id):
        yield f"id {id!r} must be lower-case letters, digits and - _ . only, and begin with a letter"
    if not isinstance(getattr(provider, "capabilities", None), Capabilities):
        yield "capabilities must be a Capabilities"
    if not callable(getattr(provider, "condense", None)):
        yield "condense must be a generator function"


def _bad_settings(provider: Provider) -> Iterator[str]:
    kind: object = getattr(provider, "settings", None)
    if not isinstance(kind, type) or not issubclass(kind, Configuration):
        yield f"settings must be a kind of Configuration, not {kind!r}"
        return
    try:
        json.dumps(kind.model_json_schema())
    except (PydanticInvalidForJsonSchema, TypeError, ValueError) as error:
        yield f"settings have no JSON Schema: {error}"
        return
    for name, field in kind.model_fields.items():
        if not field.description:
            yield f"settings.{name} has no help text: put a docstring under it"
        if field.is_required():
            yield f"settings.{name} has no default"
    try:
        configure(kind, {"no such setting": True})
    except InvalidConfiguration:
        return
    yield "settings must refuse what they do not know"
