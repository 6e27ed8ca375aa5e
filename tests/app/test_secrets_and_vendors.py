"""A summarizing model of another vendor than the conversation's reads placeholders; the account has the secrets."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.profiles import ask_with
from compact.app.stored import StoredSessions
from compact.cli import main
from compact.messages import Json
from compact.policies import Profile, Profiles
from compact.ports import Answer, Ask, Completion, ModelConfig, StoredSession
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors, Received

PASSWORD, TOKEN, BADGE = "Sommerregen", "kq7Hn2vXw9Lm4Rt8", "EMP-481516"
KEY = "sk-made-up-0123456789abcdef"
CLAUDE, GPT = "claude-sonnet-4-5", "gpt-4o"
SHOWN = re.compile(r"database password: (\S+)")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path / "home"


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        running.reply(summary)
        yield running


def summary(request: Received) -> str:
    """A summary that repeats what it read in place of the password."""
    return told(json.dumps(request.body).replace("\\n", "\n"))


def told(material: str) -> str:
    read = SHOWN.search(material)
    return f"## Findings\n- The database password: {read[1]}" if read else "## Findings\n- The tables are moved"


def openai(server: FakeVendors, **values: Json) -> Profile:
    given = {"name": "usual", "vendor": "openai", "model": "gpt-4o-mini", "url": f"{server.url}/v1", "attempts": 1}
    return Profile.model_validate({**given, **values})


def conversation(turns: int = 14) -> list[Json]:
    """A long one: the password stands in a sentence and in an argument whose name tells it, the token in a setting."""
    arguments = json.dumps({"host": "db", "variables": [{"name": "DB_PASSWORD", "value": PASSWORD}]})
    call = {"id": "call_1", "type": "function", "function": {"name": "connect", "arguments": arguments}}
    messages: list[Json] = [
        {"role": "user", "content": "Move the data."},
        {"role": "user", "content": f"By the way, the database password: {PASSWORD}\nexport API_KEY={TOKEN}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": f"connected with {PASSWORD} and {TOKEN}"},
    ]
    for number in range(turns):
        messages.append({"role": "assistant", "content": f"Table {number} is moved. " + f"Row {number} is fine. " * 40})
        messages.append({"role": "user", "content": f"Go on with table {number + 1}."})
    return messages


def sent(server: FakeVendors) -> str:
    bodies = [json.dumps(request.body) for request in server.requests]
    assert bodies
    return "\n".join(bodies)


def assert_hidden(server: FakeVendors, account: str) -> None:
    """The password and the token did not leave, and the account has the password in its place."""
    assert PASSWORD not in sent(server)
    assert TOKEN not in sent(server)
    assert f"database password: {PASSWORD}" in account
    assert "<SECRET-1>" not in account


def text_of(messages: Sequence[Json]) -> str:
    return "\n".join(str(message["content"]) for message in messages)


def accounts_of(messages: Sequence[Json]) -> str:
    """What was not in the conversation before."""
    before = text_of(conversation())
    return "\n".join(str(one["content"]) for one in messages if str(one["content"]) not in before)


def test_condense_hides_secrets_from_another_vendor(server: FakeVendors) -> None:
    with ask_with([openai(server)]) as ask:
        result = compact.condense(conversation(), recipe="native", model=CLAUDE, ask=ask)
    assert_hidden(server, accounts_of(result.messages))


def test_what_a_model_invents_or_changes_is_not_taken_for_a_secret(server: FakeVendors) -> None:
    with FakeVendors() as other:
        other.reply(lambda request: f"{summary(request)}\n- Its key: <SECRET-77>\n- Also <secret-1> and SECRET-1")
        with ask_with([openai(other)]) as ask:
            result = compact.condense(conversation(), recipe="native", model=CLAUDE, ask=ask)
    account = accounts_of(result.messages)
    assert account.count(PASSWORD) == 1
    assert TOKEN not in account


def test_the_conversations_own_vendor_reads_what_it_has_read_before(server: FakeVendors) -> None:
    with ask_with([openai(server)]) as ask:
        result = compact.condense(conversation(), recipe="native", model=GPT, ask=ask)
    assert PASSWORD in sent(server)
    assert f"database password: {PASSWORD}" in accounts_of(result.messages)


def test_a_vendor_that_is_not_known_is_another_one(server: FakeVendors) -> None:
    for profile, model in (
        (openai(server), None),
        (openai(server), "a-model-of-my-own"),
        (openai(server, vendor="compatible"), GPT),
    ):
        with ask_with([profile]) as ask:
            result = compact.condense(conversation(), recipe="native", model=model, ask=ask)
        assert_hidden(server, accounts_of(result.messages))


def test_the_model_that_the_request_names_tells_the_vendor(server: FakeVendors) -> None:
    for model in (CLAUDE, GPT):
        server.forget()
        with ask_with([openai(server)]) as ask:
            compact.condense({"model": model, "messages": conversation()}, recipe="native", ask=ask)
        assert (PASSWORD in sent(server)) == (model == GPT)


def test_one_profile_of_another_vendor_is_enough_to_hide_secrets(server: FakeVendors) -> None:
    other = openai(server, name="other", vendor="compatible")
    with ask_with([openai(server), other]) as ask:
        compact.condense(conversation(), recipe="native", model=GPT, ask=ask)
    assert PASSWORD not in sent(server)


def manager(server: FakeVendors, folder: Path, **config: Json) -> CompactManager:
    save_profiles(Profiles(profiles=(openai(server),)))
    given = {"model": CLAUDE, "max_context_tokens": 4_000, "policy": {"recipe": "native"}}
    return CompactManager(CompactConfig.model_validate({**given, "storage": {"path": str(folder)}, **config}))


def test_a_manager_hides_secrets_from_another_vendor(server: FakeVendors, tmp_path: Path) -> None:
    with manager(server, tmp_path) as held:
        messages = held.preflight("a", conversation())
        assert_hidden(server, accounts_of(messages))
        assert text_of(held.undo("a")) == text_of(conversation())


def test_no_file_of_a_manager_holds_the_key_it_asks_with(server: FakeVendors, tmp_path: Path) -> None:
    trace = tmp_path / "spans.jsonl"
    with manager(server, tmp_path, tracing={"jsonl": str(trace)}, redaction={"enabled": False}) as held:
        held.preflight("a", conversation())
    assert server.requests
    assert trace.exists()
    assert [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


def test_a_managers_own_patterns_hide_more(server: FakeVendors, tmp_path: Path) -> None:
    said = [*conversation(), {"role": "user", "content": f"Ask {BADGE}."}]
    with manager(server, tmp_path, redaction={"patterns": ["EMP-[0-9]{6}"]}) as held:
        held.manual_compact("a", [said[0], said[-1], *said[1:-1]])
    assert BADGE not in sent(server)


def test_a_manager_without_redaction_hides_nothing(server: FakeVendors, tmp_path: Path) -> None:
    with manager(server, tmp_path, redaction={"enabled": False}) as held:
        held.preflight("a", conversation())
    assert PASSWORD in sent(server)


def test_stored_sessions_hide_secrets_from_another_vendor(server: FakeVendors, tmp_path: Path) -> None:
    save_profiles(Profiles(profiles=(openai(server),)))
    with StoredSessions(tmp_path / "sessions.db") as sessions:
        sessions.preferences.put_model(ModelConfig("anthropic", CLAUDE, 4_000, 1_000))
        sessions.create(StoredSession(id="a", model=CLAUDE, format="openai-chat"))
        sessions.append("a", conversation())
        assert_hidden(server, accounts_of(sessions.prepare("a").messages))


def test_the_command_line_hides_secrets_from_another_vendor(
    server: FakeVendors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_profiles(Profiles(profiles=(openai(server),)))
    file, out = tmp_path / "chat.json", tmp_path / "out.json"
    file.write_text(json.dumps(conversation()))
    options = ["--profile", "usual", "--recipe", "native", "--output", str(out)]
    monkeypatch.setattr(sys, "argv", ["compact", "condense", str(file), *options])
    main()
    assert_hidden(server, accounts_of(json.loads(out.read_text())))


def asking(answer: Callable[[Ask], str], asked: list[Ask]) -> Callable[[Sequence[Ask]], tuple[Answer, ...]]:
    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Completion(answer(one)) for one in asks)

    return ask


def repeated(ask: Ask) -> str:
    return told(ask.material)


def test_a_callback_gets_placeholders_unless_it_names_the_conversations_vendor() -> None:
    for vendors, hidden in ((None, True), (["anthropic", "openai"], True), (["anthropic"], False), ("anthropic", True)):
        asked: list[Ask] = []
        ask = asking(repeated, asked)
        if vendors is not None:
            setattr(ask, "vendors", vendors)  # noqa: B010 - the type of a function has no such attribute
        result = compact.condense(conversation(), recipe="native", model=CLAUDE, ask=ask)
        assert asked
        assert (PASSWORD not in "".join(one.material for one in asked)) == hidden
        assert f"database password: {PASSWORD}" in accounts_of(result.messages)


def test_all_questions_of_a_compaction_use_the_same_numbers(tmp_path: Path) -> None:
    said = conversation(60)
    for number in (20, 60, 100):
        said[number]["content"] += f" The database password: {PASSWORD}\n"
    asked: list[Ask] = []
    given = {"model": CLAUDE, "max_context_tokens": 6_000, "policy": {"recipe": "native"}}
    config = CompactConfig.model_validate({**given, "storage": {"path": str(tmp_path)}})
    with CompactManager(config, ask=asking(repeated, asked)) as held:
        held.preflight("a", said)
    shown = [SHOWN.findall(one.material) for one in asked]
    assert sum(map(bool, shown)) > 1
    assert len({placeholder for part in shown for placeholder in part}) == 1


def test_a_text_that_looks_like_a_placeholder_comes_back_as_it_was() -> None:
    said = conversation()
    said[1]["content"] = f"<SECRET-1> and <SECRET-2> are our words. The database password: {PASSWORD}\nIt holds."

    def all_of_it(ask: Ask) -> str:
        found = re.findall(r"<SECRET-\d+>", ask.material)
        assert len(set(found)) >= 3
        return "## Findings\n" + "\n".join(f"- It says {one}" for one in dict.fromkeys(found))

    result = compact.condense(said, recipe="native", model=CLAUDE, ask=asking(all_of_it, []))
    account = accounts_of(result.messages)
    assert f"It says {PASSWORD}" in account
