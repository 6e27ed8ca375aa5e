"""Answers in a chat: by the model of a conversation profile, or, where there is none, by rules that say so."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING

from compact.app.profiles import add_profile, examine, vendor_profile
from compact.app.summarizers import ready_vendors
from compact.errors import InvalidConfiguration, NotFound
from compact.facts import sentences_in
from compact.formats import format_named, tools_of
from compact.formats.format import Turn
from compact.history.speech import common_words
from compact.messages import Conversation, Image, Json, Message, Text, is_summary
from compact.models import find_model
from compact.policies import Profile, Vendor, model_of
from compact.ports import Answer, Completion, Failure
from compact.quantities import counted
from compact.settings.keys import reveal_key, variable_of
from compact.settings.offline import VARIABLE, is_offline
from compact.settings.profiles import load_profiles

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart, UserContent
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

OFFLINE = "Offline answer"
"""How every answer begins that no model has written."""
_SHOWN = 5
_LONGEST_QUOTE = 300
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, slots=True)
class Responder:
    """The profile whose model answers; None where no model can be called, and `problem` says why."""

    profile: Profile | None = None
    problem: str = ""

    @property
    def offline(self) -> bool:
        return self.profile is None

    @property
    def label(self) -> str:
        """Who answers, for people."""
        if self.profile is None:
            return f"Offline, no model answers: {self.problem}"
        return f"{self.profile.model} ({self.profile.name})"

    def answer(
        self, conversation: Conversation, tokens: int, max_tokens: int, heard: Callable[[str], None] | None = None
    ) -> Answer:
        """The answer to the last message of a conversation that takes so many tokens; it never raises.

        It has at most `max_tokens`, and no more than the profile's model writes. `heard` gets the words as they
        are written, before it is known how the answer ends.
        """
        if self.profile is None:
            text = answer_offline(conversation, tokens)
            if heard is not None:
                heard(text)
            return Completion(text, trusted=True)
        import asyncio

        most = (max_tokens, self.profile.max_output_tokens, model_of(self.profile).max_output)
        return asyncio.run(_asked(self.profile, conversation, min(filter(None, most)), heard))


def responder_for(model: str) -> Responder:
    """The profile that answers in a session with the model: one with that model, else the first that is ready.

    There is none where no profile for conversations is configured, or none of them is ready.
    """
    try:
        if is_offline():
            return Responder(problem=f"{VARIABLE} is set.")
        standings = [examine(profile) for profile in load_profiles().for_conversation()]
    except InvalidConfiguration as error:
        return Responder(problem=str(error))
    ready = [standing for standing in standings if standing.ready]
    same = [standing for standing in ready if standing.profile.serves(model)]
    if ready:
        return Responder((same or ready)[0].profile)
    problems = [f"profile {standing.profile.name}: {standing.problems[0]}" for standing in standings]
    return Responder(problem="; ".join(problems) or "no conversation profile is configured.")


@dataclass(frozen=True, slots=True)
class KeyOffer:
    """A vendor's key in the environment that no profile names, and what would be asked with it.

    `model` would answer, and `summarizer` would write summaries.
    """

    vendor: Vendor
    variable: str
    model: str
    summarizer: str


def offer_keys(model: str) -> tuple[KeyOffer, ...]:
    """The keys with which a model could answer in a session with the model, that of its own vendor first.

    There are none where a profile for conversations is configured. Nothing is asked before a key was accepted.
    """
    try:
        if is_offline() or load_profiles().for_conversation():
            return ()
        ready = ready_vendors()
    except InvalidConfiguration:  # the responder says what is wrong
        return ()
    facts = find_model(model)
    offers = [
        KeyOffer(
            vendor=each.vendor,
            variable=variable_of(each),
            model=facts.id if each.recipient == facts.vendor else each.model,
            summarizer=each.model,
        )
        for each in sorted(ready, key=lambda profile: profile.recipient != facts.vendor)
    ]
    return tuple(offers)


def accept_key(vendor: Vendor, model: str) -> None:
    """Make profiles that use an offered key: a model of the vendor answers, and its small one writes summaries.

    Where other profiles write summaries, they go on to do so. NotFound where there is no such offer.
    """
    offer = next((each for each in offer_keys(model) if each.vendor == vendor), None)
    if offer is None:
        remedy = "Set the vendor's key where the server is started, or add a profile."
        raise NotFound(f"no key of {vendor} can be used", field="vendor", remedy=remedy)
    url = vendor_profile(vendor).url
    shared = {"vendor": vendor, "key": f"env:{offer.variable}"} | ({"url": url} if url else {})
    taken = {profile.name for profile in load_profiles().profiles}
    both = offer.model == offer.summarizer and not taken
    use = "both" if both else "conversation"
    add_profile({"name": _free_name(vendor, taken), "model": offer.model, "use": use, **shared})
    if not (both or taken):
        small = {"name": f"{vendor}-summaries", "model": offer.summarizer, "use": "condensation"}
        add_profile({**small, **shared})


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """The name itself, or followed by a number that no other has."""
    numbered = (f"{wanted}-{number}" for number in count(2))
    return next(name for name in chain([wanted], numbered) if name not in taken)


def wire_of(text: str, role: str, format: str) -> Json:
    """A plain text as a message of the format."""
    # After what a user says, as not every format lets a model begin.
    said = [Turn("user", (Text("-", ()),)), Turn(role, (Text(text, ()),))]
    return format_named(format).compose(said[role == "user" :])[-1]


def answer_offline(conversation: Conversation, tokens: int) -> str:
    """An answer made by rules: what was given, and the sentences in it that have most of the question's words."""
    messages = conversation.messages
    summaries = sum(map(is_summary, messages))
    held = f"{counted(len(messages), 'message')}, {tokens:,} tokens"
    summary = "with a summary of what came before" if summaries else "without a summary"
    lines = [
        f"{OFFLINE}: no model is configured, so rules have picked what follows.",
        "",
        f"Sent were {held}, {summary}.",
    ]
    question = next((message for message in reversed(messages) if message.from_user), None)
    found = _matching(question.text, [one for one in messages if one is not question]) if question else []
    if found:
        lines += ["", "Of what was sent, this has most words in common with the question:"]
        lines += [f"- {role}: {sentence}" for role, sentence in found]
    else:
        lines += ["", "Nothing else that was sent has words in common with the question."]
    return "\n".join(lines)


def _matching(question: str, messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The sentences with most of the question's words, a rare word counting more; of equals, the last."""
    wanted = _words(question)
    if not wanted:
        return []
    sentences = [
        (message.role, sentence, _words(sentence) & wanted) for message in messages for sentence in _sentences(message)
    ]
    seen = Counter(word for _, _, words in sentences for word in words)
    scored = sorted(
        (
            (sum(1 / seen[word] for word in words), len(words), at)
            for at, (_, _, words) in enumerate(sentences)
            if words
        ),
        reverse=True,
    )
    best = dict.fromkeys((sentences[at][0], sentences[at][1][:_LONGEST_QUOTE]) for _, _, at in scored[: 4 * _SHOWN])
    return list(best)[:_SHOWN]


def _sentences(message: Message) -> Iterator[str]:
    if message.text.startswith(OFFLINE):
        return
    for text in (message.text, *(result.text for result in message.results)):
        yield from (span.text for span in sentences_in(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in map(str.lower, _WORD.findall(text)) if word not in common_words())


async def _asked(
    profile: Profile, conversation: Conversation, limit: int, heard: Callable[[str], None] | None
) -> Answer:
    """The model's answer, by one attempt: the user can try again."""
    from anyio import current_time, move_on_after
    from anyio.to_thread import run_sync

    from compact.llm.failures import Trouble

    with move_on_after(profile.timeout) as patience:

        def listen(words: str) -> None:
            patience.deadline = current_time() + profile.timeout  # a long answer is no silence
            if heard is not None:
                heard(words)

        try:
            key = await run_sync(reveal_key, profile, abandon_on_cancel=True)
            return await _put(profile, key, conversation, limit, listen if heard else None)
        except InvalidConfiguration as error:
            return Failure(str(error), "unconfigured")
        except Trouble as failed:
            return failed.answer
    return Failure(f"no answer within {profile.timeout:g} s", "timeout")


async def _put(
    profile: Profile, key: str, conversation: Conversation, limit: int, heard: Callable[[str], None] | None
) -> Answer:
    from anyio import CancelScope

    from compact.llm.requesting import Requests, set_up
    from compact.settings.server import upstream_networks

    opened = await set_up(profile, key, upstream_networks())
    try:
        requests = Requests(profile, key, opened.model)
        history, settings = list(_history(conversation)), _settings(profile, conversation, limit)
        return await requests.put(history, settings, _tools(conversation), heard)
    finally:
        with CancelScope(shield=True):
            await opened.close()


def _settings(profile: Profile, conversation: Conversation, limit: int) -> ModelSettings:
    settings: ModelSettings = {"max_tokens": limit}
    # The default temperature is meant for summaries: only one that was set counts here.
    if "temperature" in profile.model_fields_set and profile.temperature is not None:
        settings["temperature"] = profile.temperature
    if conversation.tools:
        settings["tool_choice"] = "none"  # they cannot be run here
    return settings


def _tools(conversation: Conversation) -> ModelRequestParameters:
    """The tools: some vendors reject a history with calls of tools that the request does not know."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    known = [tool for tool in tools_of(conversation) if isinstance(tool.schema, dict)]
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=tool.name, parameters_json_schema=tool.schema, description=tool.description or None)
            for tool in known
        ]
    )


def _history(conversation: Conversation) -> Iterator[ModelMessage]:
    """The conversation as the SDK takes it, without reasoning, which only the model that wrote it may get back."""
    from pydantic_ai.messages import ModelRequest, ModelResponse

    called = {call.id: call.name for message in conversation.messages for call in message.calls}
    system = [conversation.system] if conversation.system else []
    for message in (*system, *conversation.messages):
        if message.role in ("assistant", "model"):
            if written := list(_written(message)):
                yield ModelResponse(parts=written)
        elif said := list(_said(message, called)):
            yield ModelRequest(parts=said)


def _written(message: Message) -> Iterator[ModelResponsePart]:
    from pydantic_ai.messages import TextPart, ToolCallPart

    if message.text:
        yield TextPart(message.text)
    for call in message.calls:
        yield ToolCallPart(call.name, call.raw, tool_call_id=call.id)


def _said(message: Message, called: Mapping[str, str]) -> Iterator[ModelRequestPart]:
    from pydantic_ai.messages import SystemPromptPart, ToolReturnPart, UserPromptPart

    for result in message.results:
        yield ToolReturnPart(called.get(result.call_id, "tool"), result.text, tool_call_id=result.call_id)
    if message.role in ("system", "developer"):
        if message.text:
            yield SystemPromptPart(message.text)
    elif content := [each for block in message.blocks for each in _content(block)]:
        yield UserPromptPart(content[0] if len(content) == 1 and isinstance(content[0], str) else content)


def _content(block: object) -> Iterator[UserContent]:
    from pydantic_ai.messages import BinaryContent, ImageUrl

    match block:
        case Text(text=text) if text:
            yield text
        case Image(media_type=kind, data=str(data)):
            try:
                yield BinaryContent(b64decode(data), media_type=kind or "image/png")
            except ValueError:
                yield "[a picture that cannot be read]"
        case Image(url=str(url)):
            yield ImageUrl(url)
