"""What the API rejects.

A call is an item whose type ends in `_call` and a result one whose type ends in `_output`, if they have a `call_id`:
what the vendor runs itself has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compact.formats.format import Finding, Request, Rule, text_of
from compact.messages import Json
from compact.messages.conversation import once

VARIANTS: tuple[str, ...] = ("openai", "deepseek")

_OPENAI = frozenset({"openai"})
_DEEPSEEK = frozenset({"deepseek"})

_LONGEST_CALL_ID = 64
_NEEDS_CALL_ID = frozenset(
    {
        "computer_call",
        "computer_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
    }
)
_ITEM_ID = re.compile(r"[A-Za-z0-9_-]+")
_ID_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_PARTS_OF_USERS = ("input_text", "input_image", "input_file")


def _items(body: Mapping[str, Json] | None) -> list[dict[str, Json]]:
    """The items; one that is no object counts as an empty one, so that positions stay."""
    items = (body or {}).get("input")
    return [item if isinstance(item, dict) else {} for item in items] if isinstance(items, list) else []


@once
def _read(request: Request) -> list[dict[str, Json]]:
    """The items of the request; one reading serves all rules."""
    return _items(request.body)


def _kind(item: Mapping[str, Json]) -> str:
    return text_of(item.get("type")) or ("message" if "role" in item else "")


def _call_id(item: Mapping[str, Json], suffix: str) -> str:
    """The id by which a call (`_call`) or a result (`_output`) is paired; nothing for other items."""
    return text_of(item.get("call_id")) if text_of(item.get("type")).endswith(suffix) else ""


def _invalid_ids(request: Request) -> Iterator[Finding]:
    for index, item in enumerate(_read(request)):
        id, place = item.get("id"), f"input[{index}].id"
        if not isinstance(id, str):
            continue
        if not _ITEM_ID.fullmatch(id):
            text = (
                "Expected an ID that contains letters, numbers, underscores, or dashes, "
                "but this value contained additional characters."
            )
            yield Finding(index, f"Invalid '{place}': '{id}'. {text}", place, "invalid_value")
        elif not id.startswith(prefix := _ID_PREFIXES.get(_kind(item), "")):
            text = f"Invalid '{place}': '{id}'. Expected an ID that begins with '{prefix}'."
            yield Finding(index, text, place, "invalid_value")


def _invalid_call_ids(request: Request) -> Iterator[Finding]:
    for index, item in enumerate(_read(request)):
        id, place = item.get("call_id"), f"input[{index}].call_id"
        if isinstance(id, str) and len(id) > _LONGEST_CALL_ID:
            text = (
                f"Invalid '{place}': string too long. Expected a string with maximum length {_LONGEST_CALL_ID}, "
                f"but got a string with length {len(id)} instead."
            )
            yield Finding(index, text, place, "string_above_max_length")
        elif id == "" and _kind(item) in _NEEDS_CALL_ID:
            text = "empty string. Expected a string with minimum length 1, but got an empty string instead."
            yield Finding(index, f"Invalid '{place}': {text}", place, "empty_string")
        elif id is None and _kind(item) in _NEEDS_CALL_ID:
            yield Finding(index, f"Missing required parameter: '{place}'.", place, "missing_required_parameter")


def _parts_of_users(request: Request) -> Iterator[Finding]:
    for index, item in enumerate(_read(request)):
        content = item.get("content")
        if item.get("role") == "assistant" and isinstance(content, list):
            for at, part in enumerate(content):
                if isinstance(part, dict) and (kind := part.get("type")) in _PARTS_OF_USERS:
                    text = f"Invalid value: '{kind}'. Supported values are: 'output_text' and 'refusal'."
                    yield Finding(index, text, f"input[{index}].content[{at}]", "invalid_value")


def _repeated_items(request: Request) -> Iterator[Finding]:
    seen = set()
    for index, item in enumerate(_read(request)):
        if not (id := text_of(item.get("id"))):
            continue
        if id in seen:
            text = f"Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            yield Finding(index, text, "input")
        seen.add(id)


def _unstored_reasoning(request: Request) -> Iterator[Finding]:
    """An item that carries its content needs no lookup; only bare reasoning is known to be looked up by its id."""
    if request.body.get("store") is not False:
        return
    for index, item in enumerate(_read(request)):
        id = text_of(item.get("id"))
        if id and _kind(item) == "reasoning" and not item.get("encrypted_content"):
            text = (
                f"Item with id '{id}' not found. Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input."
            )
            yield Finding(index, text, "input", status=404)


def _altered_seals(request: Request) -> Iterator[Finding]:
    """Only the vendor can tell whether a seal is good, but one that was not received is certainly not."""
    if request.origin is None:
        return
    received = {text_of(item.get("encrypted_content")) for item in _items(request.origin)}
    for index, item in enumerate(_read(request)):
        seal = text_of(item.get("encrypted_content"))
        if seal and seal not in received:
            text = (
                f"The encrypted content {seal[:4]}...{seal[-4:]} could not be verified. "
                "Reason: Encrypted content could not be decrypted or parsed."
            )
            yield Finding(index, text, code="invalid_encrypted_content")


def _dangling_reasoning(request: Request) -> Iterator[Finding]:
    """Reasoning that leads to nothing of the model; without an id nothing is demanded of it."""
    items = _read(request)
    found = []
    leads_on = False
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if (kind := _kind(item)) != "reasoning":
            from_others = kind == "message" and item.get("role") != "assistant"
            leads_on = not (from_others or kind.endswith("_output") or kind == "mcp_approval_response")
        elif not leads_on and (id := text_of(item.get("id"))):
            text = f"Item '{id}' of type 'reasoning' was provided without its required following item."
            found.append(Finding(index, text, "input"))
    return reversed(found)


def _bereft_of_reasoning(request: Request) -> Iterator[Finding]:
    """What reasoning an item needs is known from the request it was in before."""
    needs = {}
    previous: Mapping[str, Json] = {}
    for item in _items(request.origin):
        if _kind(previous) == "reasoning" and _kind(item) != "reasoning":
            needs[text_of(item.get("id"))] = text_of(previous.get("id"))
        previous = item
    kept = set()
    for index, item in enumerate(_read(request)):
        id, kind = text_of(item.get("id")), _kind(item)
        if kind == "reasoning":
            kept.add(id)
        elif id and (reasoning := needs.get(id)) and reasoning not in kept:
            text = f"Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{reasoning}'."
            yield Finding(index, text, "input")


def _uncalled_results(request: Request) -> Iterator[tuple[int, str, str]]:
    """The results whose call does not stand before them: position, id, and what their type is called.

    Behind an `item_reference` there may be any call.
    """
    called = set()
    for index, item in enumerate(_read(request)):
        if item.get("type") == "item_reference":
            return
        if id := _call_id(item, "_output"):
            if id not in called:
                yield index, id, item["type"].replace("_", " ")
        elif id := _call_id(item, "_call"):
            called.add(id)


def _uncalled(request: Request) -> Iterator[Finding]:
    if request.body.get("previous_response_id") or request.body.get("conversation"):
        return  # the call may be in what the vendor stored
    for index, id, kind in _uncalled_results(request):
        yield Finding(index, f"No tool call found for {kind} with call_id {id}.", "input")


def _uncalled_at_deepseek(request: Request) -> Iterator[Finding]:
    """DeepSeek stores nothing, so nothing but the input counts."""
    for index, id, _ in _uncalled_results(request):
        text = f"No tool call found for tool output with call_id {id}."
        yield Finding(index, text, code="invalid_request_error")


def _unanswered(request: Request) -> Iterator[Finding]:
    items = _read(request)
    found = []
    answered = set()
    for index in range(len(items) - 1, -1, -1):
        if id := _call_id(items[index], "_output"):
            answered.add(id)
        elif (id := _call_id(items[index], "_call")) and id not in answered:
            kind = items[index]["type"].replace("_", " ")
            found.append(Finding(index, f"No tool output found for {kind} {id}.", "input"))
    return reversed(found)


def _unanswered_at_deepseek(request: Request) -> Iterator[Finding]:
    """There the results must directly follow the calls they answer, which stand together."""
    items = _read(request)
    calls: list[tuple[int, str]] = []
    answered: set[str] = set()
    for index, item in enumerate([*items, {}]):
        if id := _call_id(item, "_output"):
            answered.add(id)
            continue
        call = _call_id(item, "_call")
        if answered or not call:
            yield from _unanswered_of(calls, answered)
            calls, answered = [], set()
        if call:
            calls.append((index, call))


def _unanswered_of(calls: list[tuple[int, str]], answered: set[str]) -> Iterator[Finding]:
    for index, id in calls:
        if id not in answered:
            yield Finding(index, f"No tool output found for tool call {id}.", code="invalid_request_error")


RULES: tuple[Rule, ...] = (
    Rule(
        id="R8",
        name="item-id-has-its-types-prefix",
        seen="2026-11",
        source="error",
        remedy="Leave the item's id out; results are paired by call_id.",
        find=_invalid_ids,
        variants=_OPENAI,
    ),
    Rule(
        id="R9",
        name="call-id-of-at-most-64-characters",
        seen="2026-11",
        source="error",
        remedy="Give the call and its output the same call_id of 1 to 64 characters.",
        find=_invalid_call_ids,
        variants=_OPENAI,
    ),
    Rule(
        id="R10",
        name="assistant-content-is-output",
        seen="2026-11",
        source="error",
        remedy="Write an assistant's content as output_text parts, or as one string.",
        find=_parts_of_users,
        variants=_OPENAI,
    ),
    Rule(
        id="R7",
        name="item-ids-are-unique",
        seen="2026-11",
        source="error",
        remedy="Send each item once, or leave the ids out.",
        find=_repeated_items,
        variants=_OPENAI,
    ),
    Rule(
        id="R5",
        name="unstored-reasoning-brings-its-content",
        seen="2026-11",
        source="error",
        remedy="Drop the item, or send its encrypted_content along (include: reasoning.encrypted_content).",
        find=_unstored_reasoning,
        variants=_OPENAI,
    ),
    Rule(
        id="R6",
        name="encrypted-reasoning-unaltered",
        seen="2026-11",
        source="error",
        remedy="Keep encrypted content exactly as it was received, or drop the whole item.",
        find=_altered_seals,
        compares=True,
        variants=_OPENAI,
    ),
    Rule(
        id="R3",
        name="reasoning-is-followed-by-what-it-led-to",
        seen="2026-11",
        source="error",
        remedy="Drop the reasoning together with the item it led to, or leave its id out.",
        find=_dangling_reasoning,
        variants=_OPENAI,
    ),
    Rule(
        id="R4",
        name="item-keeps-the-reasoning-before-it",
        seen="2026-09",
        source="error",
        remedy="Keep the reasoning item before it, or leave out the item's id.",
        find=_bereft_of_reasoning,
        compares=True,
        variants=_OPENAI,
        optional=True,
    ),
    Rule(
        id="R1",
        name="output-follows-its-call",
        seen="2026-11",
        source="error",
        remedy="Keep the call before its output, or remove both.",
        find=_uncalled,
        variants=_OPENAI,
    ),
    Rule(
        id="R2",
        name="every-call-has-its-output",
        seen="2026-11",
        source="error",
        remedy="Add the output of the call after it, or remove the call.",
        find=_unanswered,
        variants=_OPENAI,
    ),
    Rule(
        id="R2b",
        name="outputs-directly-follow-their-calls",
        seen="2026-11",
        source="code",
        remedy="Put the outputs directly after the calls, with no other item between, or remove the calls.",
        find=_unanswered_at_deepseek,
        variants=_DEEPSEEK,
    ),
    Rule(
        id="R1b",
        name="output-follows-its-call-at-deepseek",
        seen="2026-11",
        source="error",
        remedy="Keep the call before its output, or remove both.",
        find=_uncalled_at_deepseek,
        variants=_DEEPSEEK,
    ),
)
