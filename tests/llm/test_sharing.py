"""Who is asked, in which order, how many at once, from which code."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from importlib.util import find_spec

import pytest
import stamina
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks

from compact.app import condense
from compact.errors import InvalidConfiguration
from compact.llm import Access, missing_extra
from compact.llm.vendors import require_extra
from compact.policies import Profile, Profiles, Vendor
from compact.ports import Ask, Completion, Event, Failure
from compact.testing.vendors import FakeVendors, Fault, Received, Reply
from tests.llm.lines import ASK, KEY, access, asked, from_openrouter, profile
from tests.llm.listening import listening

pytestmark = pytest.mark.usefixtures("sdks")


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        yield running


def _until_asked(server: FakeVendors) -> None:
    while not server.requests:
        time.sleep(0.01)


def test_each_answer_stands_where_its_question_stood(server: FakeVendors) -> None:
    server.reply(lambda request: Reply(request.body["messages"][-1]["content"].upper()))
    with asked(server, "openai") as line:
        answers = line.answer_now([replace(ASK, material=f"part {number}") for number in range(8)])
        assert line.answer_now([]) == ()
    assert [answer.text for answer in answers if isinstance(answer, Completion)] == [f"PART {n}" for n in range(8)]


def test_where_one_fails_the_next_by_priority_is_asked(server: FakeVendors) -> None:
    known = Profiles(
        profiles=(
            profile("openai", server.url, name="main", use="conversation"),
            profile("anthropic", server.url, name="second", priority=2),
            profile("gemini", server.url, name="cheap", priority=1, use="condensation"),
        )
    )
    events: list[Event] = []
    server.fail(Fault("quota"), times=2)
    server.reply("From the last resort.")
    with access(*known.for_condensation(), events=events) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.model == "gpt-4o-mini"
    assert [(event.name, event.properties["profile"]) for event in events] == [
        ("handler_selected", "cheap"),
        ("handler_failed", "cheap"),
        ("handler_selected", "second"),
        ("handler_failed", "second"),
        ("handler_selected", "main"),
    ]
    assert events[1].properties["kind"] == "quota"
    assert [event.properties["fallback"] for event in events if event.name == "handler_selected"] == [False, True, True]


def test_when_all_fail_the_answer_names_each_reason(server: FakeVendors) -> None:
    server.fail(Fault("quota"), times=2)
    with access(profile("openai", server.url), profile("anthropic", server.url)) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "quota"
    assert "openai: quota (429)" in answer.reason
    assert "; anthropic: quota (400): Your credit balance is too low" in answer.reason


@pytest.mark.parametrize("named", ["", "openai", "anthropic"])
def test_when_all_fail_each_was_asked_once(server: FakeVendors, named: str) -> None:
    messages = [{"role": "user", "content": f"Question {turn}: {'why ' * 200}"} for turn in range(9)]
    server.fail(Fault("quota"), times=9)
    with access(profile("openai", server.url), profile("anthropic", server.url)) as line:
        result = condense(messages, provider="native", config={"profile": named}, ask=line.answer_now)
    assert [request.body["model"] for request in server.requests] == (
        ["claude-haiku-4-5", "gpt-4o-mini"] if named == "anthropic" else ["gpt-4o-mini", "claude-haiku-4-5"]
    )
    assert result.report.passes[0].skipped.startswith("handler invalid")


def test_who_is_asked_again_is_told(server: FakeVendors) -> None:
    events: list[Event] = []
    server.fail(Fault("server_error"), times=2)
    with stamina.set_testing(True, attempts=3, cap=True), access(profile("openai", server.url), events=events) as line:
        line.answer_now([ASK])
    assert [event.name for event in events] == ["handler_selected", "handler_retried", "handler_retried"]
    assert events[1].properties["kind"] == "unavailable"
    json.dumps([dict(event.properties) for event in events])


@pytest.mark.clock
def test_to_close_cancels_what_is_under_way(server: FakeVendors) -> None:
    server.fail(Fault("hang"))
    line = Access([profile("openai", server.url)], key_of=lambda _: KEY)

    def ask() -> None:
        with pytest.raises(CancelledError):
            line.answer_now([ASK])

    asking = threading.Thread(target=ask)
    asking.start()
    _until_asked(server)
    began = time.monotonic()
    line.close()
    asking.join(5)
    assert not asking.is_alive()
    assert time.monotonic() - began < 5


def test_a_question_may_name_its_profile(server: FakeVendors) -> None:
    server.reply("Fine.")
    with access(profile("openai", server.url), profile("anthropic", server.url)) as line:
        [named, unknown] = line.answer_now([replace(ASK, profile="anthropic"), replace(ASK, profile="gone")])
    assert isinstance(named, Completion)
    assert named.model == "claude-haiku-4-5"
    assert unknown == Failure("there is no profile 'gone'; known: openai, anthropic", "unconfigured")


def test_a_profile_without_its_key_is_passed_over(server: FakeVendors) -> None:
    def key_of(profile: Profile) -> str:
        if profile.name == "openai":
            raise InvalidConfiguration("OPENAI_API_KEY is not set", field="profile openai", remedy="Set it.")
        return KEY

    with Access([profile("openai", server.url), profile("anthropic", server.url)], key_of=key_of) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.model == "claude-haiku-4-5"
    with Access([profile("openai", server.url)], key_of=key_of) as line:
        [failed] = line.answer_now([ASK])
    assert failed == Failure("openai: profile openai: OPENAI_API_KEY is not set. Set it.", "unconfigured", final=True)


def test_a_key_that_was_replaced_is_used_from_then_on() -> None:
    keys = ["first", "second", "second"]
    with (
        listening({"/v1/chat/completions": json.loads(from_openrouter("Fine."))}) as server,
        Access([profile("openai", server.url)], key_of=lambda _: keys.pop(0)) as line,
    ):
        answers = [line.answer_now([ASK])[0] for _ in range(3)]
    assert [type(answer) for answer in answers] == [Completion] * 3
    used = [heard.headers["authorization"] for heard in server.heard]
    assert used == ["Bearer first", "Bearer second", "Bearer second"]


def test_what_an_sdk_will_not_be_set_up_with_is_a_failure(server: FakeVendors) -> None:
    with access(profile("openrouter", server.url, model="gpt-4o")) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "unconfigured"
    assert "must be prefixed" in answer.reason


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_than_the_limit_are_under_way(server: FakeVendors, limit: int) -> None:
    lock, busy, most = threading.Lock(), [0], [0]

    def slowly(_: Received) -> Reply:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.03)
        with lock:
            busy[0] -= 1
        return Reply("Done.")

    server.reply(slowly)
    with asked(server, "openai", concurrency=limit) as line:
        answers = line.answer_now([ASK] * 9)
    assert [type(answer) for answer in answers] == [Completion] * 9
    assert most[0] == limit


def test_time_spent_in_the_queue_is_not_held_against_a_question(server: FakeVendors) -> None:
    def slowly(_: Received) -> Reply:
        time.sleep(0.9)
        return Reply("Done.")

    server.reply(slowly)
    with asked(server, "openai", concurrency=1, timeout=3) as line:
        answers = line.answer_now([ASK] * 4)
    assert [type(answer) for answer in answers] == [Completion] * 4


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"])
def test_the_time_a_vendor_asks_for_is_waited(server: FakeVendors, vendor: Vendor) -> None:
    waits: list[float] = []

    def note(details: RetryDetails) -> None:
        waits.append(details.wait_for)

    # Retry-After is a whole number of seconds where no header tells milliseconds.
    wanted = 1.0 if vendor == "anthropic" else 0.3
    server.fail(Fault("rate_limit", retry_after=wanted))
    before = get_on_retry_hooks()
    set_on_retry_hooks([note])
    try:
        with access(profile(vendor, server.url)) as line:
            began = time.monotonic()
            [answer] = line.answer_now([ASK])
            took = time.monotonic() - began
    finally:
        set_on_retry_hooks(before)
    assert isinstance(answer, Completion)
    assert waits == [wanted]
    assert took >= wanted


@pytest.mark.clock
def test_a_wait_beyond_the_deadline_is_not_begun(server: FakeVendors) -> None:
    server.fail(Fault("rate_limit", retry_after=3600))
    with access(profile("openai", server.url)) as line:
        began = time.monotonic()
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "rate_limited"
    assert time.monotonic() - began < 10
    assert len(server.requests) == 1


def test_the_deadline_tells_what_was_tried_before(server: FakeVendors) -> None:
    server.fail(Fault("server_error"))
    server.fail(Fault("hang"))
    with stamina.set_testing(True, attempts=3, cap=True), access(profile("openai", server.url, timeout=2)) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "timeout"
    assert "no answer within 2 s; before that, unavailable (500): The server had an error" in answer.reason


def test_awaited_it_answers_in_the_loop_that_asks(server: FakeVendors) -> None:
    server.reply("Fine.", "Fine.")

    async def main(line: Access) -> tuple[object, ...]:
        return await line.answer([ASK])

    with asked(server, "openai") as line:
        # Two loops, one after the other: connections must not belong to the first.
        answers = [*asyncio.run(main(line)), *asyncio.run(main(line))]
    assert [type(answer) for answer in answers] == [Completion, Completion]


def test_plain_code_may_ask_while_a_loop_is_running(server: FakeVendors) -> None:
    async def main() -> object:
        async with Access([profile("openai", server.url)], key_of=lambda _: KEY) as line:
            return line.answer_now([ASK])[0]

    assert isinstance(asyncio.run(main()), Completion)


def test_who_stops_waiting_stops_the_request(server: FakeVendors) -> None:
    server.fail(Fault("hang"))

    async def main(line: Access) -> None:
        asking = asyncio.create_task(line.answer([ASK]))
        await asyncio.to_thread(_until_asked, server)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        # There is room for one at a time, and the first has left.
        assert isinstance((await line.answer([ASK]))[0], Completion)

    with asked(server, "openai", concurrency=1) as line:
        asyncio.run(main(line))


def test_many_threads_may_ask_at_once(server: FakeVendors) -> None:
    answers: list[object] = []
    with asked(server, "openai") as line:
        threads = [threading.Thread(target=lambda: answers.extend(line.answer_now([ASK]))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [type(answer) for answer in answers] == [Completion] * 6


def _lines() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "compact models"]


def test_nothing_is_left_running(server: FakeVendors) -> None:
    gc.collect()
    others = _lines()  # of tests that ran before, and are not done yet
    line = Access([profile("openai", server.url)], key_of=lambda _: KEY)
    assert _lines() == others
    line.answer_now([ASK])
    assert _lines() == [*others, "compact models"]
    line.close()
    line.close()
    assert _lines() == others
    assert isinstance(line.answer_now([ASK])[0], Completion)
    watched = weakref.ref(line)
    del line
    gc.collect()
    assert watched() is None
    assert _lines() == others


def test_without_a_profile_there_is_no_access() -> None:
    with pytest.raises(InvalidConfiguration, match=r"^profiles: there is none"):
        Access([], key_of=lambda _: KEY)


@pytest.mark.parametrize(
    ("vendor", "sdk", "extra"),
    [
        ("openai", "openai", "openai"),
        ("anthropic", "anthropic", "anthropic"),
        ("bedrock", "boto3", "bedrock"),
        ("gemini", "google.genai", "google"),
        ("anthropic", "stamina", "anthropic"),
    ],
)
def test_a_missing_package_is_named(vendor: Vendor, sdk: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_extra(vendor) == ""
    found = find_spec
    monkeypatch.setattr("compact.llm.vendors.find_spec", lambda name: None if name == sdk else found(name))
    with pytest.raises(InvalidConfiguration, match=rf"pip install 'compact-context\[{extra}\]'"):
        require_extra(profile(vendor, "http://localhost"))
    with pytest.raises(InvalidConfiguration, match=rf"compact-context\[{extra}\]"):
        Access([profile(vendor, "http://localhost")], key_of=lambda _: KEY)


def test_a_prompt_of_any_text_reaches_the_model(server: FakeVendors) -> None:
    odd = Ask("Zusammenfassen: „kurz“.", "emoji 🙂, NUL \x00, tab \t, <|endoftext|>, \u2028", 50)
    with asked(server, "openai") as line:
        line.answer_now([odd])
    assert server.requests[0].body["messages"][1]["content"] == odd.material
