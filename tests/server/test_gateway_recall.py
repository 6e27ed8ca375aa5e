"""Models that look up what the gateway removed: it answers them itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from compact.app import count_tokens
from compact.formats import convert, render
from compact.testing.vendors import FakeVendors, Received, Reply
from tests.server.conftest import Serve, Served, long_history

if TYPE_CHECKING:
    import httpx2

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
FORMATS_OF = {CHAT: "openai-chat", RESPONSES: "openai-responses", MESSAGES: "anthropic-messages"}
CLAUDE = "claude-sonnet-5"


@pytest.fixture(scope="module")
def recalling(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        yield serve(vendor.url, gateway_recall=True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_recall_is_answered_by_the_gateway(recalling: Served, vendor: FakeVendors, path: str, stream: bool) -> None:
    history = long_history(40, first=f"recall {path} {stream}")
    key = "input" if path == RESPONSES else "messages"
    body = {"model": CLAUDE if path == MESSAGES else "gpt-4o", key: history, "max_tokens": 500, "stream": stream}
    before = len(vendor.requests)
    vendor.reply(Reply("Let me see.", calls=[("compact_search", {"text": "part 3"})]), Reply("It is module 3."))
    answer = recalling.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-compact-recalls"] == "1"
    assert "module 3." in answer.text
    assert "Let me see." not in answer.text
    asked = [request.body for request in vendor.requests[before:]]
    assert len(asked) == 2
    assert re.search(r"compact_recall (?:sum|cut|fold)-", json.dumps(asked[0][key]))
    assert "Module 3 counts the lines of part 3" in json.dumps(asked[1][key][-1:])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_recall_beside_a_call_of_the_clients_goes_first(
    recalling: Served, vendor: FakeVendors, path: str, stream: bool
) -> None:
    history = long_history(40, first=f"both {path} {stream}")
    key = "input" if path == RESPONSES else "messages"
    body = {"model": CLAUDE if path == MESSAGES else "gpt-4o", key: history, "max_tokens": 500, "stream": stream}
    before = len(vendor.requests)
    both = [("read_file", {"path": "a"}), ("compact_recall", {"handle": "fold-none"})]
    vendor.reply(Reply(calls=both), Reply(calls=both[:1]))
    answer = recalling.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"})
    assert answer.status_code == 200, answer.text
    assert "read_file" in answer.text
    again = json.dumps(vendor.requests[-1].body[key][-3:])
    assert len(vendor.requests) == before + 2
    assert "compact_recall" in again
    assert "read_file" not in again


def test_recall_ends_after_a_few_rounds(recalling: Served, vendor: FakeVendors) -> None:
    history = long_history(40, first="recall without end")
    before = len(vendor.requests)
    call = Reply(calls=[("compact_search", {"text": "part"})])
    vendor.reply(call, call, call, call, Reply("Enough."))
    answer = recalling.ask("POST", CHAT, json={"model": "gpt-4o", "messages": history})
    assert answer.json()["choices"][0]["message"]["content"] == "Enough."
    asked = [request.body for request in vendor.requests[before:]]
    assert [body.get("tool_choice") for body in asked] == [None, None, None, None, "none"]


def looking_up(request: Received) -> Reply:
    """Recall every handle in turn, as long as that is allowed; nothing before the question that needs it."""
    body: Any = request.body
    text = json.dumps(body)
    looked_up = set(re.findall(r"handle\W+((?:cut|fold|sum)-\w+)\W", text))
    handles = [one for one in re.findall(r"compact_recall ((?:cut|fold|sum)-\w+)", text) if one not in looked_up]
    if "So which?" not in text:
        return Reply("Fine.")
    if not handles or "none" in str(body.get("tool_choice")):
        return Reply("It was 4440.")
    return Reply(calls=[("compact_recall", {"handle": handle}) for handle in handles[:2]])


def reading(path: str, first: str) -> list[Any]:
    """A conversation in which four long files are read."""
    table = "\n".join(f"line {at}: value {at * 37} of the register table" for at in range(200))
    chat: list[Any] = [{"role": "user", "content": first}]
    for at in range(4):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"f{at}.txt"})}
        chat.append({"role": "assistant", "tool_calls": [{"id": f"c{at}", "type": "function", "function": function}]})
        chat.append({"role": "tool", "tool_call_id": f"c{at}", "content": f"file {at}\n{table}"})
    chat += [{"role": "assistant", "content": "Done reading."}, {"role": "user", "content": "Which was line 120?"}]
    return render(convert(chat, FORMATS_OF[path]))


@pytest.mark.parametrize("limit", [400, 2_400, 6_000])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_what_is_recalled_fits_beside_the_answer(serve: Serve, path: str, limit: int) -> None:
    key, name = ("input", "max_output_tokens") if path == RESPONSES else ("messages", "max_tokens")

    def left(body: Any) -> int:
        tokens = count_tokens({**body, "format": FORMATS_OF[path]}, model="gpt-4o")
        return 8_000 - 1_500 - tokens - int(body[name])

    def ask(served: Served, history: list[Any]) -> httpx2.Response:
        body = {"model": "gpt-4o", key: history, name: limit}
        answer = served.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"})
        assert answer.status_code == 200, answer.text
        return answer

    recalled = 0
    with FakeVendors(window=8_000) as vendor, pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        gateway = serve(vendor.url, gateway_recall=True)
        vendor.reply(looking_up)
        for room in (3_000, 1_000, 400, 150, 20, 0):
            history = reading(path, f"Find the register, {room} {limit}.")
            ask(gateway, history)
            words = max(0, left(vendor.requests[-1].body) - room)
            newest = {"role": "user", "content": "note " * words + "So which?"}
            before = len(vendor.requests)
            answer = ask(gateway, [*history, {"role": "assistant", "content": "Fine."}, newest])
            assert "It was 4440." in answer.text
            asked = vendor.requests[before:]
            assert {one.status for one in asked} == {200}
            assert min(left(one.body) for one in asked) >= 0
            recalled += int(answer.headers["x-compact-recalls"])
    assert recalled >= 3


def test_an_overflow_after_a_recall_is_met_without_what_was_recalled(serve: Serve) -> None:
    with FakeVendors(window=5_000) as vendor, pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        recalling = serve(vendor.url, gateway_recall=True)
        vendor.reply(looking_up)
        history = reading(CHAT, "Find the register, whatever its window.")
        newest = {"role": "user", "content": "note " * 1_500 + "So which?"}
        body = {"model": "gpt-4o", "messages": [*history, newest], "max_tokens": 400}
        answer = recalling.ask("POST", CHAT, json=body)
        assert [one.status for one in vendor.requests] == [200, 400, 200]
        assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "forced")


def test_recall_is_not_offered_where_nothing_was_removed(recalling: Served, vendor: FakeVendors) -> None:
    ask = {"model": "gpt-4o", "messages": [{"role": "user", "content": "nothing removed"}]}
    assert recalling.ask("POST", CHAT, json=ask).status_code == 200
    assert vendor.requests[-1].body == ask
