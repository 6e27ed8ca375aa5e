"""What Anthropic Messages rejects, provoked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from compact.messages import Json
from compact.testing.corrupt import anthropic_thinking
from compact.testing.corrupt.spoil import Spoiler, blocks, blocks_of, corruptions, of_kind, pick, text_block
from compact.testing.generate.anthropic import PREFILLED, STEERED
from compact.testing.generate.dice import Body


def _indices(body: Body, kind: str) -> list[int]:
    """The positions of the messages with a block of that kind."""
    return [index for index, message in enumerate(body["messages"]) if of_kind(message, kind)]


def _drop_result(body: Body, rng: Random) -> bool:
    index = pick(rng, _indices(body, "tool_result"))
    if index is None:
        return False
    content = body["messages"][index]["content"]
    content.remove(rng.choice(of_kind(body["messages"][index], "tool_result")))
    if not content:
        content.append(text_block())
    return True


def _separate_results(body: Body, rng: Random) -> bool:
    index = pick(rng, _indices(body, "tool_result"))
    if index is None:
        return False
    body["messages"][index:index] = [{"role": "user", "content": "Wait."}, {"role": "assistant", "content": "Yes?"}]
    return True


def _forget_last_results(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and not of_kind(messages[-1], "tool_use"):
        messages.pop()
    return bool(messages)


def _speak_before_results(body: Body, rng: Random) -> bool:
    index = pick(rng, _indices(body, "tool_result"))
    if index is None:
        return False
    body["messages"][index]["content"].insert(0, text_block())
    return True


def _drop_call(body: Body, rng: Random) -> bool:
    index = pick(rng, _indices(body, "tool_use"))
    if index is None:
        return False
    content = body["messages"][index]["content"]
    content[content.index(rng.choice(of_kind(body["messages"][index], "tool_use")))] = text_block()
    return True


def _add_result(body: Body, rng: Random) -> bool:
    index = rng.choice([index for index, message in enumerate(body["messages"]) if message["role"] == "user"])
    message = body["messages"][index]
    content = message["content"]
    parts = content if isinstance(content, list) else [text_block(content)]
    message["content"] = [{"type": "tool_result", "tool_use_id": "toolu_nobody", "content": "?"}, *parts]
    return True


def _server_pairs(body: Body) -> Iterator[tuple[list[Json], int, int]]:
    """Content, position of a server tool's call and of its result."""
    for message in body["messages"]:
        content = blocks(message)
        for call, block in enumerate(content):
            for result in range(call + 1, len(content)):
                if "tool_use_id" in content[result] and content[result]["tool_use_id"] == block.get("id"):
                    yield content, call, result


def _drop_server_call(body: Body, rng: Random) -> bool:
    pair = pick(rng, list(_server_pairs(body)))
    if pair is None:
        return False
    content, call, _ = pair
    content[call] = text_block()
    return True


def _swap_server_pair(body: Body, rng: Random) -> bool:
    pair = pick(rng, list(_server_pairs(body)))
    if pair is None:
        return False
    content, call, result = pair
    content[call], content[result] = content[result], content[call]
    return True


def _abandon_server_call(body: Body, rng: Random) -> bool:
    """Leaves a server tool's call unanswered although the conversation went on."""
    messages = body["messages"]
    spoken = [
        index for index, message in enumerate(messages) if len(blocks(message)) > len(of_kind(message, "tool_result"))
    ]
    asked = [index for index, message in enumerate(messages) if isinstance(message["content"], str)]
    latest = max(spoken + asked)
    index = pick(rng, [i for i, message in enumerate(messages[:latest]) if message["role"] == "assistant"])
    if index is None:
        return False
    content = messages[index]["content"]
    call = {"type": "server_tool_use", "id": "srvtoolu_lost", "name": "web_search", "input": {"query": "x"}}
    messages[index]["content"] = [*(content if isinstance(content, list) else [text_block(content)]), call]
    return True


def _rename(body: Body, old: str, new: str) -> None:
    for block in blocks_of(body, "tool_use", "tool_result"):
        for key in ("id", "tool_use_id"):
            if block.get(key) == old:
                block[key] = new


def _repeat_id(body: Body, rng: Random) -> bool:
    calls = blocks_of(body, "tool_use")
    if len(calls) < 2:
        return False
    one, other = rng.sample(calls, 2)
    _rename(body, other["id"], one["id"])
    return True


def _repeat_result(body: Body, rng: Random) -> bool:
    index = pick(rng, _indices(body, "tool_result"))
    if index is None:
        return False
    content = body["messages"][index]["content"]
    content.insert(0, dict(rng.choice(of_kind(body["messages"][index], "tool_result"))))
    return True


def _misspell_id(body: Body, rng: Random) -> bool:
    call = pick(rng, blocks_of(body, "tool_use"))
    if call is None:
        return False
    _rename(body, call["id"], rng.choice(("call:1", "functions.read 0", "ü", "toolu_1.2")))
    return True


def _encode_input(body: Body, rng: Random) -> bool:
    call = pick(rng, blocks_of(body, "tool_use"))
    if call is None:
        return False
    call["input"] = rng.choice(('{"path": "a"}', [], None, 3))
    return True


def _begin_with_answer(body: Body, rng: Random) -> bool:
    body["messages"].insert(0, {"role": "assistant", "content": "Hello."})
    return True


def _forget_beginning(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and messages[0]["role"] != "assistant":
        messages.pop(0)
    return bool(messages)


def _repeat_role(body: Body, rng: Random) -> bool:
    index = rng.randrange(len(body["messages"]))
    role = body["messages"][index]["role"]
    if role == "system":
        return False
    body["messages"].insert(index, {"role": role, "content": "By the way,"})
    return True


def _empty_content(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    index = pick(
        rng,
        [
            i
            for i, m in enumerate(messages)
            if m["role"] == "user" or (m["role"] == "assistant" and i < len(messages) - 1)
        ],
    )
    if index is None:
        return False
    messages[index]["content"] = rng.choice(("", []))
    return True


def _put_text(text: str) -> Spoiler:
    """Puts a block with that text somewhere."""

    def spoil(body: Body, rng: Random) -> bool:
        message = pick(rng, [message for message in body["messages"][:-1] if blocks(message)])
        if message is None:
            return False
        message["content"].append(text_block(text))
        return True

    return spoil


def _blank_message(body: Body, rng: Random) -> bool:
    message = rng.choice([message for message in body["messages"] if message["content"]])
    message["content"] = rng.choice((" \n", [text_block("\t")]))
    return True


def _empty_text(body: Body, rng: Random) -> bool:
    """Empties one text block, perhaps one within a result."""
    results = [result["content"] for result in blocks_of(body, "tool_result") if "content" in result]
    inner = [part for content in results if isinstance(content, list) for part in content if part["type"] == "text"]
    block = pick(rng, [*blocks_of(body, "text"), *inner])
    if block is None:
        return False
    block["text"] = ""
    return True


def _end_with_blanks(body: Body, rng: Random) -> bool:
    last = body["messages"][-1]
    if last["role"] == "assistant":
        return False
    said = rng.choice(("The answer is ", "Well\n", [text_block("So\t")]))
    body["messages"].append({"role": "assistant", "content": said})
    return True


def _end_with_answer(body: Body, rng: Random) -> bool:
    thinks = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
    if (body["model"] in PREFILLED and not thinks) or body["messages"][-1]["role"] == "assistant":
        return False
    body["messages"].append({"role": "assistant", "content": rng.choice(("The answer is", [text_block("So")]))})
    return True


def _insert_system(body: Body, rng: Random) -> bool:
    if body["model"] in STEERED:
        return False
    body["messages"].insert(rng.randint(0, len(body["messages"])), {"role": "system", "content": "Be brief."})
    return True


def _misplace_system(body: Body, rng: Random) -> bool:
    if body["model"] not in STEERED:
        return False
    messages = body["messages"]
    index = rng.choice([index for index, message in enumerate(messages) if message["role"] == "user"])
    messages.insert(index, {"role": "system", "content": "Be brief."})
    return True


def _omit_tools(body: Body, rng: Random) -> bool:
    return bool(blocks_of(body, "tool_use")) and bool(body.pop("tools"))


def _fail_silently(body: Body, rng: Random) -> bool:
    result = pick(rng, blocks_of(body, "tool_result"))
    if result is None:
        return False
    result |= {"is_error": True, "content": rng.choice(("", []))}
    return True


CORRUPTIONS = corruptions(
    {
        **anthropic_thinking.SPOILERS,
        "A1": [_drop_result, _separate_results, _forget_last_results],
        "A2": [_speak_before_results],
        "A3": [_drop_call, _add_result],
        "A4": [_drop_server_call, _swap_server_pair],
        "A5": [_abandon_server_call],
        "A6": [_repeat_id],
        "A7": [_repeat_result],
        "A8": [_misspell_id],
        "A9": [_encode_input],
        "A10": [_begin_with_answer, _forget_beginning],
        "A11": [_repeat_role],
        "A12": [_empty_content],
        "A13": [_put_text(""), _empty_text],
        "A14": [_blank_message],
        "A15": [_end_with_blanks],
        "A16": [_end_with_answer],
        "A24": [_insert_system],
        "A25": [_misplace_system],
        "B1": [_drop_result, _separate_results, _forget_last_results],
        "B2": [_add_result, _repeat_result],
        "B3": [_put_text(" "), _blank_message],
        "B4": [_omit_tools],
        "B5": [_fail_silently],
    }
)
