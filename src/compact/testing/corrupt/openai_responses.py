"""What Responses rejects, provoked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from compact.messages import Json
from compact.testing.corrupt.spoil import at, corruptions
from compact.testing.generate.dice import Body

_PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_"}


def _where(holds: Callable[[Json], bool]) -> Callable[[Body], list[int]]:
    """Finds the positions of the items of which that holds."""
    return lambda body: [index for index, item in enumerate(body["input"]) if holds(item)]


def _of_type(*endings: str) -> Callable[[Body], list[int]]:
    """Finds the positions of the items whose type ends so."""
    return _where(lambda item: item.get("type", "").endswith(endings))


_outputs = _where(lambda item: item.get("type", "").endswith("_output") and bool(item.get("call_id")))
_thoughts = _of_type("reasoning")


@at(_where(lambda item: item.get("type", "").endswith("_call") and bool(item.get("call_id"))))
def _drop_call(body: Body, rng: Random, index: int) -> None:
    del body["input"][index]


@at(_outputs)
def _forget_beginning(body: Body, rng: Random, index: int) -> None:
    del body["input"][:index]


@at(_outputs)
def _answer_first(body: Body, rng: Random, index: int) -> None:
    """Moves an output before its call."""
    output = body["input"].pop(index)
    calls = [i for i, item in enumerate(body["input"]) if item.get("call_id") == output["call_id"]]
    body["input"].insert(calls[0], output)


@at(_outputs)
def _drop_output(body: Body, rng: Random, index: int) -> None:
    del body["input"][index]


@at(_outputs)
def _misdirect_output(body: Body, rng: Random, index: int) -> None:
    body["input"][index]["call_id"] = "call_nobody"


def _directly_answered(body: Body) -> list[int]:
    """The positions of the outputs with nothing but calls and outputs between them and their call."""
    items = body["input"]
    found = []
    for index in _outputs(body):
        call = next(i for i, item in enumerate(items) if item.get("call_id") == items[index]["call_id"])
        if all("call_id" in item for item in items[call:index]):
            found.append(index)
    return found


@at(_directly_answered)
def _drop_direct_output(body: Body, rng: Random, index: int) -> None:
    del body["input"][index]


@at(_directly_answered)
def _interrupt_outputs(body: Body, rng: Random, index: int) -> None:
    body["input"].insert(index, {"role": "user", "content": "Wait."})


@at(_thoughts)
def _end_with_reasoning(body: Body, rng: Random, index: int) -> None:
    del body["input"][index + 1 :]


@at(_thoughts)
def _interrupt_reasoning(body: Body, rng: Random, index: int) -> None:
    body["input"].insert(index + 1, {"role": "user", "content": "Wait."})


@at(lambda body: [i for i in _thoughts(body) if any("id" in item for item in body["input"][i + 1 : i + 2])])
def _drop_reasoning(body: Body, rng: Random, index: int) -> None:
    del body["input"][index]


@at(_thoughts)
def _refer_to_nothing(body: Body, rng: Random, index: int) -> None:
    body["store"] = False
    body["input"][index].pop("encrypted_content", None)


@at(_where(lambda item: item.get("type") == "reasoning" and "encrypted_content" in item))
def _alter_seal(body: Body, rng: Random, index: int) -> None:
    item = body["input"][index]
    item["encrypted_content"] = item["encrypted_content"][:-1] + "?"


@at(_where(lambda item: "id" in item))
def _repeat_id(body: Body, rng: Random, index: int) -> None:
    body["input"].insert(index, dict(body["input"][index]))


@at(_where(lambda item: item.get("type") in _PREFIXES))
def _misspell_id(body: Body, rng: Random, index: int) -> None:
    prefix = _PREFIXES[body["input"][index]["type"]]
    body["input"][index]["id"] = rng.choice(("019f", "item-7", f"{prefix}a b", f"{prefix}ü", f"{prefix}1.2", ""))


@at(_of_type("function_call", "tool_call"))
def _lengthen_call_id(body: Body, rng: Random, index: int) -> None:
    old = body["input"][index]["call_id"]
    for item in body["input"]:
        if item.get("call_id") == old:
            item["call_id"] = "call_".ljust(rng.randint(65, 120), "x")


@at(_of_type("function_call", "function_call_output"))
def _omit_call_id(body: Body, rng: Random, index: int) -> None:
    if rng.random() < 0.5:
        del body["input"][index]["call_id"]
    else:
        body["input"][index]["call_id"] = ""


@at(_where(lambda item: item.get("role") == "assistant"))
def _answer_as_user(body: Body, rng: Random, index: int) -> None:
    body["input"][index]["content"] = [{"type": "input_text", "text": "So"}]


CORRUPTIONS = corruptions(
    {
        "R1": [_drop_call, _forget_beginning, _answer_first],
        "R1b": [_drop_call, _forget_beginning],
        "R2": [_drop_output, _answer_first, _misdirect_output],
        "R2b": [_drop_direct_output, _interrupt_outputs],
        "R3": [_end_with_reasoning, _interrupt_reasoning],
        "R4": [_drop_reasoning],
        "R5": [_refer_to_nothing],
        "R6": [_alter_seal],
        "R7": [_repeat_id],
        "R8": [_misspell_id],
        "R9": [_lengthen_call_id, _omit_call_id],
        "R10": [_answer_as_user],
    }
)
