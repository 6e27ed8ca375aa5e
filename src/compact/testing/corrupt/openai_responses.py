"""What Responses rejects, provoked."""

from __future__ import annotations

from random import Random

from compact.testing.corrupt.spoil import corruptions, pick
from compact.testing.generate.dice import Body

_PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_"}


def _of_type(body: Body, *endings: str) -> list[int]:
    """The positions of the items whose type ends so."""
    return [index for index, item in enumerate(body["input"]) if item.get("type", "").endswith(endings)]


def _drop_call(body: Body, rng: Random) -> bool:
    index = pick(rng, [index for index in _of_type(body, "_call") if "call_id" in body["input"][index]])
    if index is None:
        return False
    del body["input"][index]
    return True


def _forget_beginning(body: Body, rng: Random) -> bool:
    outputs = _of_type(body, "_output")
    if not outputs:
        return False
    del body["input"][: rng.choice(outputs)]
    return True


def _answer_first(body: Body, rng: Random) -> bool:
    """Moves an output before its call."""
    index = pick(rng, _of_type(body, "_output"))
    if index is None:
        return False
    output = body["input"].pop(index)
    calls = [i for i, item in enumerate(body["input"]) if item.get("call_id") == output["call_id"]]
    body["input"].insert(calls[0], output)
    return True


def _drop_output(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "_output"))
    if index is None:
        return False
    del body["input"][index]
    return True


def _misdirect_output(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "_output"))
    if index is None:
        return False
    body["input"][index]["call_id"] = "call_nobody"
    return True


def _directly_answered(body: Body) -> list[int]:
    """The positions of the outputs with nothing but calls and outputs between them and their call."""
    items = body["input"]
    found = []
    for index in _of_type(body, "_output"):
        call = next(i for i, item in enumerate(items) if item.get("call_id") == items[index]["call_id"])
        if all("call_id" in item for item in items[call:index]):
            found.append(index)
    return found


def _drop_direct_output(body: Body, rng: Random) -> bool:
    index = pick(rng, _directly_answered(body))
    if index is None:
        return False
    del body["input"][index]
    return True


def _interrupt_outputs(body: Body, rng: Random) -> bool:
    index = pick(rng, _directly_answered(body))
    if index is None:
        return False
    body["input"].insert(index, {"role": "user", "content": "Wait."})
    return True


def _end_with_reasoning(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "reasoning"))
    if index is None:
        return False
    del body["input"][index + 1 :]
    return True


def _interrupt_reasoning(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "reasoning"))
    if index is None:
        return False
    body["input"].insert(index + 1, {"role": "user", "content": "Wait."})
    return True


def _drop_reasoning(body: Body, rng: Random) -> bool:
    items = body["input"]
    index = pick(rng, [i for i in _of_type(body, "reasoning") if i + 1 < len(items) and "id" in items[i + 1]])
    if index is None:
        return False
    del items[index]
    return True


def _refer_to_nothing(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "reasoning"))
    if index is None:
        return False
    body["store"] = False
    body["input"][index].pop("encrypted_content", None)
    return True


def _alter_seal(body: Body, rng: Random) -> bool:
    index = pick(rng, [i for i in _of_type(body, "reasoning") if "encrypted_content" in body["input"][i]])
    if index is None:
        return False
    item = body["input"][index]
    item["encrypted_content"] = item["encrypted_content"][:-1] + "?"
    return True


def _repeat_id(body: Body, rng: Random) -> bool:
    index = pick(rng, [i for i, item in enumerate(body["input"]) if "id" in item])
    if index is None:
        return False
    body["input"].insert(index, dict(body["input"][index]))
    return True


def _misspell_id(body: Body, rng: Random) -> bool:
    index = pick(rng, [i for i, item in enumerate(body["input"]) if item.get("type") in _PREFIXES])
    if index is None:
        return False
    prefix = _PREFIXES[body["input"][index]["type"]]
    body["input"][index]["id"] = rng.choice(("019f", "item-7", f"{prefix}a b", f"{prefix}ü", f"{prefix}1.2", ""))
    return True


def _lengthen_call_id(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "function_call", "tool_call"))
    if index is None:
        return False
    old = body["input"][index]["call_id"]
    for item in body["input"]:
        if item.get("call_id") == old:
            item["call_id"] = "call_".ljust(rng.randint(65, 120), "x")
    return True


def _omit_call_id(body: Body, rng: Random) -> bool:
    index = pick(rng, _of_type(body, "function_call", "function_call_output"))
    if index is None:
        return False
    if rng.random() < 0.5:
        del body["input"][index]["call_id"]
    else:
        body["input"][index]["call_id"] = ""
    return True


def _answer_as_user(body: Body, rng: Random) -> bool:
    index = pick(rng, [i for i, item in enumerate(body["input"]) if item.get("role") == "assistant"])
    if index is None:
        return False
    body["input"][index]["content"] = [{"type": "input_text", "text": "So"}]
    return True


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
