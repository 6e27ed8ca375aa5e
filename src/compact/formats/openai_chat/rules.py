"""What the API rejects.

Where a compatible server enforces a rule in words of its own that are not known, OpenAI's stand for them. Positions are
of the message to change; where OpenAI's `param` names another one, it is left as OpenAI says it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from compact.formats.format import Finding, Request, Rule, text_of
from compact.formats.openai_chat.compatibles import AFTER_PAIRING, BEFORE_PAIRING, DEEPSEEK
from compact.formats.openai_chat.wire import model_of, view

VARIANTS: tuple[str, ...] = ("openai", "vllm", "mistral", "deepseek", "perplexity")

_OPENAI = frozenset({"openai"})
_NOT_DEEPSEEK = frozenset(VARIANTS) - DEEPSEEK
_NOT_VLLM = frozenset(VARIANTS) - {"vllm"}

_LONGEST_ID = 64
_WITHOUT_SYSTEM = ("o1-mini", "o1-preview")
_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")


def _empty_calls(request: Request) -> Iterator[Finding]:
    for index, message in enumerate(view(request).messages):
        if message.get("tool_calls") == [] and message.get("role") == "assistant":
            place = f"messages[{index}].tool_calls"
            text = "empty array. Expected an array with minimum length 1, but got an empty array instead."
            yield Finding(index, f"Invalid '{place}': {text}", place, "empty_array")


def _long_ids(request: Request) -> Iterator[Finding]:
    read = view(request)
    found = [(index, "tool_call_id", id) for index, id in read.answers.items() if len(id) > _LONGEST_ID]
    for index, calls in read.calls.items():
        for at, call in enumerate(calls):
            if isinstance(call, dict) and len(id := text_of(call.get("id"))) > _LONGEST_ID:
                found.append((index, f"tool_calls[{at}].id", id))
    for index, key, id in sorted(found, key=lambda one: one[0]):
        yield _too_long(index, key, id)


def _too_long(index: int, key: str, id: str) -> Finding:
    place = f"messages[{index}].{key}"
    text = (
        f"Invalid '{place}': string too long. Expected a string with maximum length {_LONGEST_ID}, "
        f"but got a string with length {len(id)} instead."
    )
    return Finding(index, text, place, "string_above_max_length")


def _nameless_functions(request: Request) -> Iterator[Finding]:
    for index, calls in view(request).calls.items():
        for at, call in enumerate(calls):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and function.get("name") == "":
                place = f"messages[{index}].tool_calls[{at}].function.name"
                text = "empty string. Expected a string with minimum length 1, but got an empty string instead."
                yield Finding(index, f"Invalid '{place}': {text}", place, "empty_string")


def _unsupported_roles(request: Request) -> Iterator[Finding]:
    if not model_of(request.body).startswith(_WITHOUT_SYSTEM):
        return
    for index, message in enumerate(view(request).messages):
        if (role := message.get("role")) in ("system", "developer"):
            place = f"messages[{index}].role"
            text = f"Unsupported value: '{place}' does not support '{role}' with this model."
            yield Finding(index, text, place, "unsupported_value")


def _missing_content(request: Request) -> Iterator[Finding]:
    """Legacy `function` messages may have none; what `developer` messages hold is checked in other words."""
    for index, message in enumerate(view(request).messages):
        if message.get("content") is not None:
            continue
        role = message.get("role")
        if role == "assistant" and any(message.get(key) not in (None, []) for key in _INSTEAD_OF_CONTENT):
            continue
        place = f"messages[{index}].content"
        if role in ("system", "user", "assistant", "tool"):
            text = "Invalid value for 'content': expected a string, got null."
            yield Finding(index, text, f"messages.[{index}].content")
        elif role == "developer" and "content" not in message:
            yield Finding(index, f"Missing required parameter: '{place}'.", place, "missing_required_parameter")
        elif role == "developer":
            text = f"Invalid type for '{place}': expected one of a string or array of objects, but got null instead."
            yield Finding(index, text, place, "invalid_type")


def _unanswered_calls(request: Request) -> Iterator[tuple[int, int, list[str]]]:
    """Where calls are made, where the next message should have answered them, and which were not."""
    read = view(request)
    answers = read.answers
    for index, ids in read.called.items():
        answered, at = set(), index + 1
        while at in answers:
            answered.add(answers[at])
            at += 1
        if missing := [id for id in ids if id and id not in answered]:
            yield index, min(at, len(read.messages) - 1), missing


_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
)


def _unanswered(request: Request) -> Iterator[Finding]:
    for index, due, missing in _unanswered_calls(request):
        text = f"{_UNANSWERED} The following tool_call_ids did not have response messages: {', '.join(missing)}"
        yield Finding(index, text, f"messages.[{due}].role")


def _unanswered_at_deepseek(request: Request) -> Iterator[Finding]:
    text = f"{_UNANSWERED} (insufficient tool messages following tool_calls message)"
    for index, _, _ in _unanswered_calls(request):
        yield Finding(index, text, code="invalid_request_error")


def _results(request: Request) -> Iterator[tuple[int, str, Collection[str] | None]]:
    """Every tool message: its position, its id, and the ids that may be answered there, if any may."""
    read = view(request)
    before, called = -2, -2
    for index, id in read.answers.items():
        called = called if index == before + 1 else index - 1
        before = index
        yield index, id, read.called.get(called)


def _uncalled(request: Request) -> Iterator[Finding]:
    text = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    for index, _, open_ids in _results(request):
        if open_ids is None:
            yield Finding(index, text, f"messages.[{index}].role")


def _uncalled_at_deepseek(request: Request) -> Iterator[Finding]:
    text = "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
    for index, _, open_ids in _results(request):
        if open_ids is None:
            yield Finding(index, text, code="invalid_request_error")


def _unknown_ids(request: Request) -> Iterator[Finding]:
    for index, id, open_ids in _results(request):
        if id and open_ids is not None and id not in open_ids:
            text = f"Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
            yield Finding(index, text, f"messages.[{index}].tool_call_id")


def _answered_twice(request: Request) -> Iterator[Finding]:
    answered: dict[str, int] = {}
    before = -1
    for index, id in view(request).answers.items():
        if index != before + 1:
            answered = {}
        before = index
        if id and (first := answered.setdefault(id, index)) != index:
            where = f"in messages[{first}] and messages[{index}]"
            text = f"Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', {where}."
            yield Finding(index, text, f"messages.[{index}].tool_call_id")


_SHAPE = (
    Rule(
        id="C4",
        name="tool-calls-not-empty",
        seen="2026-11",
        source="error",
        remedy="Leave the key tool_calls out of a message without calls.",
        find=_empty_calls,
        variants=_OPENAI,
    ),
    Rule(
        id="C5",
        name="call-id-at-most-64-characters",
        seen="2026-09",
        source="error",
        remedy="Shorten the id to 64 characters, the same way in the call and in its result.",
        find=_long_ids,
        variants=_OPENAI,
    ),
    Rule(
        id="C6",
        name="function-has-a-name",
        seen="2026-11",
        source="error",
        remedy="Name the function that was called, or remove the call together with its result.",
        find=_nameless_functions,
    ),
    Rule(
        id="C8",
        name="model-supports-the-role",
        seen="2026-11",
        source="code",
        remedy="Send what the message says in a user message, or choose a model that takes system messages.",
        find=_unsupported_roles,
        variants=_OPENAI,
    ),
    Rule(
        id="C7",
        name="message-has-content",
        seen="2026-11",
        source="error",
        remedy="Give the message content, if only an empty string, or remove it.",
        find=_missing_content,
        variants=_NOT_VLLM,
    ),
)

# In this order the first finding is the one OpenAI would report: it walks the messages, and takes offence at a foreign
# result before it misses the right one, and misses that before it meets the result too late.
_PAIRING = (
    Rule(
        id="C3",
        name="result-answers-a-call-of-its-step",
        seen="2026-11",
        source="error",
        remedy="Give the tool message the id of a call in the assistant message before it, or remove it.",
        find=_unknown_ids,
    ),
    Rule(
        id="C1",
        name="every-call-is-answered",
        seen="2026-11",
        source="error",
        remedy="Put a tool message for each call directly after the assistant message, or remove the call.",
        find=_unanswered,
        variants=_NOT_DEEPSEEK,
    ),
    Rule(
        id="C1b",
        name="every-call-is-answered-at-deepseek",
        seen="2026-11",
        source="error",
        remedy="Put a tool message for each call directly after the assistant message, or remove the call.",
        find=_unanswered_at_deepseek,
        variants=DEEPSEEK,
    ),
    Rule(
        id="C2",
        name="result-follows-its-call",
        seen="2026-11",
        source="error",
        remedy="Keep the assistant message with the calls directly before its tool messages, or remove both.",
        find=_uncalled,
        variants=_NOT_DEEPSEEK,
    ),
    Rule(
        id="C2b",
        name="result-follows-its-call-at-deepseek",
        seen="2026-11",
        source="error",
        remedy="Keep the assistant message with the calls directly before its tool messages, or remove both.",
        find=_uncalled_at_deepseek,
        variants=DEEPSEEK,
    ),
    Rule(
        id="C11",
        name="each-call-is-answered-once",
        seen="2026-11",
        source="error",
        remedy="Keep one tool message for each call, and give parallel calls ids of their own.",
        find=_answered_twice,
        variants=_OPENAI,
    ),
)

RULES: tuple[Rule, ...] = (*_SHAPE, *BEFORE_PAIRING, *_PAIRING, *AFTER_PAIRING)
