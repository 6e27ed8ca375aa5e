"""What Chat Completions and its compatibles reject, provoked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from compact.messages import Json
from compact.testing.corrupt.spoil import Spoiler, at, corruptions
from compact.testing.generate.dice import Body
from compact.testing.generate.openai_chat import OLD_REASONER, REASONER, SHORT_ID, UNINSTRUCTED


def _with_calls(body: Body) -> list[int]:
    return [index for index, message in enumerate(body["messages"]) if "tool_calls" in message]


def _calls(body: Body) -> list[Json]:
    return [call for message in body["messages"] for call in message.get("tool_calls", ())]


def _of_role(*roles: str) -> Callable[[Body], list[int]]:
    """Finds the positions of the messages of these roles."""
    return lambda body: [index for index, message in enumerate(body["messages"]) if message["role"] in roles]


_results = _of_role("tool")


def _user(text: str = "Wait.") -> Json:
    return {"role": "user", "content": text}


@at(_results)
def _drop_result(body: Body, rng: Random, index: int) -> None:
    del body["messages"][index]


@at(_results)
def _interrupt_results(body: Body, rng: Random, index: int) -> None:
    body["messages"].insert(index, _user())


def _forget_last_results(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and "tool_calls" not in messages[-1]:
        messages.pop()
    return bool(messages)


@at(_with_calls)
def _drop_calls(body: Body, rng: Random, index: int) -> None:
    del body["messages"][index]["tool_calls"]
    body["messages"][index]["content"] = "I shall look."


def _forget_beginning(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and messages[0]["role"] != "tool":
        messages.pop(0)
    return bool(messages)


@at(_results)
def _repeat_result(body: Body, rng: Random, index: int) -> None:
    body["messages"].insert(index, dict(body["messages"][index]))


@at(_results)
def _misdirect_result(body: Body, rng: Random, index: int) -> None:
    body["messages"][index]["tool_call_id"] = "call_nobody"


@at(_of_role("assistant"))
def _empty_calls(body: Body, rng: Random, index: int) -> None:
    body["messages"][index]["tool_calls"] = []


def _rename(body: Body, rng: Random, index: int, new: str) -> None:
    """Gives one call of a message and its result another id."""
    call = rng.choice(body["messages"][index]["tool_calls"])
    old, call["id"] = call["id"], new
    for message in body["messages"][index + 1 :]:
        if message["role"] != "tool":
            break
        if message["tool_call_id"] == old:
            message["tool_call_id"] = new


@at(_with_calls)
def _lengthen_id(body: Body, rng: Random, index: int) -> None:
    _rename(body, rng, index, "call_".ljust(rng.randint(65, 120), "x"))


@at(lambda body: _with_calls(body) if all(SHORT_ID.fullmatch(call["id"]) for call in _calls(body)) else [])
def _lengthen_short_id(body: Body, rng: Random, index: int) -> None:
    _rename(body, rng, index, rng.choice(("abc", "call_0123456789", "abc-12345")))


@at(lambda body: [call for call in _calls(body) if "function" in call])
def _unname_function(body: Body, rng: Random, call: Json) -> None:
    call["function"]["name"] = ""


@at(_of_role("user", "tool", "system"))
def _say_nothing(body: Body, rng: Random, index: int) -> None:
    body["messages"][index]["content"] = None


@at(_of_role("user"))
def _answer_nothing(body: Body, rng: Random, index: int) -> None:
    body["messages"].insert(index, {"role": "assistant", "content": None})


def _instruct(body: Body, rng: Random) -> bool:
    if body["model"] != UNINSTRUCTED:
        return False
    body["messages"].insert(0, {"role": rng.choice(("system", "developer")), "content": "Be brief."})
    return True


def _instruct_late(body: Body, rng: Random) -> bool:
    body["messages"].append({"role": "system", "content": "Be brief."})
    return True


@at(_of_role("user"))
def _ask_twice(body: Body, rng: Random, index: int) -> None:
    body["messages"].insert(index, _user())


def _last_results(body: Body) -> list[int]:
    """The positions of the results that the model speaks after, or that stand last."""
    messages = body["messages"]
    return [i for i in _results(body) if i == len(messages) - 1 or messages[i + 1]["role"] == "assistant"]


@at(_last_results)
def _ask_after_result(body: Body, rng: Random, index: int) -> None:
    body["messages"].insert(index + 1, _user())


def _end_with_answer(body: Body, rng: Random) -> bool:
    if body["messages"][-1]["role"] == "assistant":
        return False
    body["messages"].append({"role": "assistant", "content": "So"})
    return True


def _forget_reasoning(model: str) -> Spoiler:
    """Drops the reasoning of a call in the current turn of that model."""

    @at(lambda body: [i for i in _with_calls(body) if i > _of_role("user")(body)[-1] and body["model"] == model])
    def forget(body: Body, rng: Random, index: int) -> None:
        del body["messages"][index]["reasoning_content"]

    return forget


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
