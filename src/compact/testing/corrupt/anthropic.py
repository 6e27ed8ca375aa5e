"""What Anthropic Messages rejects, provoked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from compact.messages import Json
from compact.testing.corrupt import anthropic_thinking
from compact.testing.corrupt.spoil import Spoiler, at, blocks, blocks_of, corruptions, of_kind, text_block
from compact.testing.generate.anthropic import PREFILLED, STEERED
from compact.testing.generate.dice import Body


def _with(kind: str) -> Callable[[Body], list[Json]]:
    """Finds the messages with a block of that kind."""
    return lambda body: [message for message in body["messages"] if of_kind(message, kind)]


def _every(kind: str) -> Callable[[Body], list[Json]]:
    """Finds the blocks of that kind."""
    return lambda body: blocks_of(body, kind)


def _of_role(role: str) -> Callable[[Body], list[int]]:
    """Finds the positions of the messages of that role."""
    return lambda body: [index for index, message in enumerate(body["messages"]) if message["role"] == role]


@at(_with("tool_result"))
def _drop_result(body: Body, rng: Random, message: Json) -> None:
    message["content"].remove(rng.choice(of_kind(message, "tool_result")))
    if not message["content"]:
        message["content"].append(text_block())


@at(lambda body: [index for index, message in enumerate(body["messages"]) if of_kind(message, "tool_result")])
def _separate_results(body: Body, rng: Random, index: int) -> None:
    body["messages"][index:index] = [{"role": "user", "content": "Wait."}, {"role": "assistant", "content": "Yes?"}]


def _forget_last_results(body: Body, rng: Random) -> bool:
    messages = body["messages"]
    while messages and not of_kind(messages[-1], "tool_use"):
        messages.pop()
    return bool(messages)


@at(_with("tool_result"))
def _speak_before_results(body: Body, rng: Random, message: Json) -> None:
    message["content"].insert(0, text_block())


@at(_with("tool_use"))
def _drop_call(body: Body, rng: Random, message: Json) -> None:
    content = message["content"]
    content[content.index(rng.choice(of_kind(message, "tool_use")))] = text_block()


def _as_blocks(content: Json) -> list[Json]:
    return content if isinstance(content, list) else [text_block(content)]


@at(_of_role("user"))
def _add_result(body: Body, rng: Random, index: int) -> None:
    message = body["messages"][index]
    result = {"type": "tool_result", "tool_use_id": "toolu_nobody", "content": "?"}
    message["content"] = [result, *_as_blocks(message["content"])]


def _server_pairs(body: Body) -> list[tuple[list[Json], int, int]]:
    """Content, position of a server tool's call and of its result."""
    return [
        (content, call, result)
        for content in map(blocks, body["messages"])
        for call, block in enumerate(content)
        for result in range(call + 1, len(content))
        if "tool_use_id" in content[result] and content[result]["tool_use_id"] == block.get("id")
    ]


@at(_server_pairs)
def _drop_server_call(body: Body, rng: Random, pair: tuple[list[Json], int, int]) -> None:
    content, call, _ = pair
    content[call] = text_block()


@at(_server_pairs)
def _swap_server_pair(body: Body, rng: Random, pair: tuple[list[Json], int, int]) -> None:
    content, call, result = pair
    content[call], content[result] = content[result], content[call]


def _earlier_answers(body: Body) -> list[Json]:
    """The answers after which a user or the model speaks; reports of tools do not count."""
    messages = body["messages"]
    spoken = [
        index
        for index, message in enumerate(messages)
        if isinstance(message["content"], str) or len(blocks(message)) > len(of_kind(message, "tool_result"))
    ]
    return [message for message in messages[: max(spoken)] if message["role"] == "assistant"]


@at(_earlier_answers)
def _abandon_server_call(body: Body, rng: Random, message: Json) -> None:
    """Leaves a server tool's call unanswered although the conversation went on."""
    call = {"type": "server_tool_use", "id": "srvtoolu_lost", "name": "web_search", "input": {"query": "x"}}
    message["content"] = [*_as_blocks(message["content"]), call]


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


@at(_with("tool_result"))
def _repeat_result(body: Body, rng: Random, message: Json) -> None:
    message["content"].insert(0, dict(rng.choice(of_kind(message, "tool_result"))))


@at(_every("tool_use"))
def _misspell_id(body: Body, rng: Random, call: Json) -> None:
    _rename(body, call["id"], rng.choice(("call:1", "functions.read 0", "ü", "toolu_1.2")))


@at(_every("tool_use"))
def _encode_input(body: Body, rng: Random, call: Json) -> None:
    call["input"] = rng.choice(('{"path": "a"}', [], None, 3))


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


def _must_say_something(body: Body) -> list[Json]:
    """All but system messages and an answer at the end, which may be empty."""
    messages = body["messages"]
    last = len(messages) - 1
    return [m for i, m in enumerate(messages) if m["role"] == "user" or (m["role"] == "assistant" and i < last)]


@at(_must_say_something)
def _empty_content(body: Body, rng: Random, message: Json) -> None:
    message["content"] = rng.choice(("", []))


def _put_text(text: str) -> Spoiler:
    """Puts a block with that text somewhere."""

    @at(lambda body: [message for message in body["messages"][:-1] if blocks(message)])
    def put(body: Body, rng: Random, message: Json) -> None:
        message["content"].append(text_block(text))

    return put


@at(lambda body: [message for message in body["messages"] if message["content"]])
def _blank_message(body: Body, rng: Random, message: Json) -> None:
    message["content"] = rng.choice((" \n", [text_block("\t")]))


def _texts(body: Body) -> list[Json]:
    """The text blocks, and those within results."""
    results = [result["content"] for result in blocks_of(body, "tool_result") if "content" in result]
    inner = [part for content in results if isinstance(content, list) for part in content if part["type"] == "text"]
    return [*blocks_of(body, "text"), *inner]


@at(_texts)
def _empty_text(body: Body, rng: Random, block: Json) -> None:
    block["text"] = ""


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


@at(lambda body: _of_role("user")(body) if body["model"] in STEERED else [])
def _misplace_system(body: Body, rng: Random, index: int) -> None:
    body["messages"].insert(index, {"role": "system", "content": "Be brief."})


def _omit_tools(body: Body, rng: Random) -> bool:
    return bool(blocks_of(body, "tool_use")) and bool(body.pop("tools"))


@at(_every("tool_result"))
def _fail_silently(body: Body, rng: Random, result: Json) -> None:
    result |= {"is_error": True, "content": rng.choice(("", []))}


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
