"""What Chat Completions and its compatibles reject, provoked."""

from __future__ import annotations

from random import Random

from compact.messages import Json
from compact.testing.corrupt.spoil import Spoiler, corruptions, pick
from compact.testing.generate.dice import Body
from compact.testing.generate.openai_chat import OLD_REASONER, REASONER, SHORT_ID, UNINSTRUCTED


def _with_calls(body: Body) -> list[int]:
    return [index for index, message in enumerate(body["messages"]) if "tool_calls" in message]


def _of_role(body: Body, *roles: str) -> list[int]:
    return [index for index, message in enumerate(body["messages"]) if message["role"] in roles]


def _user(text: str = "Wait.") -> Json:
    return {"role": "user", "content": text}


def _drop_result(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_role(body, "tool"))
    if index is None:
        return False
    del body["messages"][index]
    return True


def _interrupt_results(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_role(body, "tool"))
    if index is None:
        return False
    body["messages"].insert(index, _user())
    return True


def _forget_last_results(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and "tool_calls" not in messages[-1]:
        messages.pop()
    return bool(messages)


def _drop_calls(body: Body, rng: Random) -> bool:
    index = pick(rng, _with_calls(body))
    if index is None:
        return False
    del body["messages"][index]["tool_calls"]
    body["messages"][index]["content"] = "I shall look."
    return True


def _forget_beginning(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and messages[0]["role"] != "tool":
        messages.pop(0)
    return bool(messages)


def _repeat_result(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_role(body, "tool"))
    if index is None:
        return False
    body["messages"].insert(index, dict(body["messages"][index]))
    return True


def _misdirect_result(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_role(body, "tool"))
    if index is None:
        return False
    body["messages"][index]["tool_call_id"] = "call_nobody"
    return True


def _empty_calls(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_role(body, "assistant"))
    if index is None:
        return False
    body["messages"][index]["tool_calls"] = []
    return True


def _rename(body: Body, rng: Random, new: str) -> bool:
    """Gives one call and its result another id."""
    index = pick(rng, _with_calls(body))
    if index is None:
        return False
    call = rng.choice(body["messages"][index]["tool_calls"])
    old, call["id"] = call["id"], new
    for message in body["messages"][index + 1 :]:
        if message["role"] != "tool":
            break
        if message["tool_call_id"] == old:
            message["tool_call_id"] = new
    return True


def _lengthen_id(body: Body, rng: Random) -> bool:
    return _rename(body, rng, "call_".ljust(rng.randint(65, 120), "x"))


def _lengthen_short_id(body: Body, rng: Random) -> bool:
    calls = [call for index in _with_calls(body) for call in body["messages"][index]["tool_calls"]]
    if not all(SHORT_ID.fullmatch(call["id"]) for call in calls):
        return False
    return _rename(body, rng, rng.choice(("abc", "call_0123456789", "abc-12345")))


def _unname_function(body: Body, rng: Random) -> bool:
    calls = [call for index in _with_calls(body) for call in body["messages"][index]["tool_calls"]]
    call = pick(rng, [call for call in calls if "function" in call])
    if call is None:
        return False
    call["function"]["name"] = ""
    return True


def _say_nothing(body: Body, rng: Random) -> bool:
    index = rng.choice(_of_role(body, "user", "tool", "system"))
    body["messages"][index]["content"] = None
    return True


def _answer_nothing(body: Body, rng: Random) -> bool:
    body["messages"].insert(rng.choice(_of_role(body, "user")), {"role": "assistant", "content": None})
    return True


def _instruct(body: Body, rng: Random) -> bool:
    if body["model"] != UNINSTRUCTED:
        return False
    body["messages"].insert(0, {"role": rng.choice(("system", "developer")), "content": "Be brief."})
    return True


def _instruct_late(body: Body, rng: Random) -> bool:
    body["messages"].append({"role": "system", "content": "Be brief."})
    return True


def _ask_twice(body: Body, rng: Random) -> bool:
    body["messages"].insert(rng.choice(_of_role(body, "user")), _user())
    return True


def _ask_after_result(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    last = [i for i in _of_role(body, "tool") if i == len(messages) - 1 or messages[i + 1]["role"] == "assistant"]
    index = pick(rng, last)
    if index is None:
        return False
    messages.insert(index + 1, _user())
    return True


def _end_with_answer(body: Body, rng: Random) -> bool:
    if body["messages"][-1]["role"] == "assistant":
        return False
    body["messages"].append({"role": "assistant", "content": "So"})
    return True


def _forget_reasoning(model: str) -> Spoiler:
    """Drops the reasoning of a call in the current turn of that model."""

    def spoil(body: Body, rng: Random) -> bool:
        asked = _of_role(body, "user")[-1]
        index = pick(rng, [index for index in _with_calls(body) if index > asked])
        if body["model"] != model or index is None:
            return False
        del body["messages"][index]["reasoning_content"]
        return True

    return spoil


_UNANSWERED = [_drop_result, _interrupt_results, _forget_last_results]
_UNCALLED = [_drop_calls, _forget_beginning, _interrupt_results]

CORRUPTIONS = corruptions(
    {
        "C1": _UNANSWERED,
        "C1b": _UNANSWERED,
        "C2": _UNCALLED,
        "C2b": _UNCALLED,
        "C3": [_misdirect_result],
        "C4": [_empty_calls],
        "C5": [_lengthen_id],
        "C6": [_unname_function],
        "C7": [_say_nothing, _answer_nothing],
        "C8": [_instruct],
        "C9": [_instruct_late],
        "C9b": [_ask_twice],
        "C9c": [_ask_twice, _instruct_late],
        "C10": [_forget_reasoning(REASONER)],
        "C10b": [_forget_reasoning(OLD_REASONER)],
        "C11": [_repeat_result],
        "M1": [_lengthen_short_id],
        "M2": [_ask_after_result],
        "M3": [_end_with_answer],
    }
)
