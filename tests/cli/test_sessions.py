"""`compact sessions`: conversations in a database, seen from the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from compact.app.session_files import export_session, import_session
from compact.app.stored import StoredSessions
from compact.errors import StorageError
from compact.messages import Json
from compact.ports import StoredMessage, StoredSession, Usage
from tests.app.test_batch import chat, write
from tests.cli.conftest import Run

TRANSCRIPTS = files("compact.cli") / "transcripts"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes((TRANSCRIPTS / "session.anthropic-messages.json").read_bytes())
    return path


def test_a_transcript_is_imported_looked_at_compressed_and_exported(run: Run, file: Path) -> None:
    told = run("sessions", "import", file, "--id", "limit", "--workspace", "cli")
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("limit: 163 messages, ")
    (listed,) = json.loads(run("sessions", "list", "--workspace", "cli", "--json").out)
    assert (listed["id"], listed["model"], listed["messages"]) == ("limit", "claude-sonnet-4-5", 163)
    assert 0 < listed["usage"] < 1
    assert "claude-sonnet-4-5" in run("sessions", "list").out
    compressed = run("sessions", "compact", "limit", "--retention", "3000")
    assert compressed.status == 0
    assert f"limit: {listed['tokens']:,} → " in compressed.out
    shown = json.loads(run("sessions", "show", "limit", "--json").out)
    assert shown["tokens"] < listed["tokens"] / 4
    assert shown["kinds"]["summary"] > 0
    assert json.dumps(shown["summary"]["text"])[1:-1] in json.dumps(shown["context"])
    pretty = run("sessions", "show", "limit")
    assert f"{shown['tokens']:,} of {shown['window']:,} tokens" in pretty.out
    assert "summary:" in pretty.out
    back = file.with_name("back.json")
    assert run("sessions", "export", "limit", "-o", back).err == f"wrote {back}\n"
    assert json.loads(back.read_bytes())["messages"] == json.loads(file.read_bytes())["messages"]
    assert run("check", back).status == 0


@pytest.mark.parametrize(
    "command", ["list", "show x", "search x", "history x", "export x", "undo x", "compact x", "automatic x off"]
)
def test_looking_for_something_makes_no_database(run: Run, tmp_path: Path, command: str) -> None:
    typo = tmp_path / "typo" / "typo.db"
    for name in (typo, f"sqlite:///{typo}"):
        told = run("sessions", *command.split(), "--database", name)
        assert (told.status, told.out) == (2, "")
        assert f"--database: there is no file {typo}. Check its name." in told.err
    assert not typo.parent.exists()


def test_a_summary_is_taken_back_and_a_failure_acknowledged(run: Run, file: Path) -> None:
    whole = json.loads(run("sessions", "import", file, "--id", "limit", "--json").out)
    run("sessions", "compact", "limit", "--retention", "3000")
    told = run("sessions", "undo", "limit")
    assert told.out == f"limit: 163 messages, {whole['tokens']:,} tokens for claude-sonnet-4-5\n"
    assert run("sessions", "undo", "limit").err == "error: there is nothing to undo: no compaction of limit stands\n"
    with StoredSessions() as sessions:
        sessions.store.change("limit", {"blocked": "The automatic compression failed.", "acknowledged": False})
    assert json.loads(run("sessions", "acknowledge", "limit", "--json").out)["id"] == "limit"
    with StoredSessions() as sessions:
        assert sessions.prepare("limit").messages


def test_automatic_compaction_of_a_session_is_turned_off_and_back(run: Run, file: Path) -> None:
    run("sessions", "import", file, "--id", "limit")
    assert "compacted from " in run("sessions", "show", "limit").out
    told = run("sessions", "automatic", "limit", "off")
    assert told.out.endswith("tokens for claude-sonnet-4-5; automatic compaction is off for it\n")
    assert "; automatic compaction is off for it" in run("sessions", "show", "limit").out
    assert json.loads(run("sessions", "show", "limit", "--json").out)["automatic"] is False
    compacted = run("sessions", "compact", "limit", "--retention", "3000")
    assert compacted.status == 0
    back = json.loads(run("sessions", "automatic", "limit", "inherit", "--json").out)
    assert (back["id"], back["automatic"]) == ("limit", True)
    with StoredSessions() as sessions:
        assert sessions.session("limit").automatic is None
    assert run("sessions", "automatic", "limit", "sometimes").status == 2


def test_history_goes_page_by_page_and_marks_what_is_summarized(run: Run, file: Path) -> None:
    run("sessions", "import", file, "--id", "limit")
    run("sessions", "compact", "limit", "--retention", "3000")
    first = run("sessions", "history", "limit", "--limit", "5")
    assert "158 more: --after 4" in first.out
    assert first.out.count("summarized") >= 4
    last = json.loads(run("sessions", "history", "limit", "--after", "160", "--json").out)
    assert last["total"] == 163
    assert [message["position"] for message in last["messages"]] == [161, 162]
    assert last["messages"][-1]["in_context"]
    assert last["messages"][-1]["message"] == json.loads(file.read_bytes())["messages"][-1]
    whole = json.loads(run("sessions", "history", "limit", "--limit", "200", "--json").out)["messages"]
    sent = json.loads(run("sessions", "show", "limit", "--json").out)["context"]
    ours = [message for message in sent if "removed here" in str(message["content"])[:80]]
    assert len(ours) >= 1
    assert sum(message["in_context"] for message in whole) == len(sent) - len(ours)


def test_words_are_found_wherever_they_stand(run: Run, tmp_path: Path) -> None:
    run("sessions", "import", write(tmp_path / "a.json", chat("zebra")), "--id", "a", "--workspace", "w")
    run("sessions", "import", write(tmp_path / "b.json", chat("tiger\x1b[31m")), "--id", "b")
    (found,) = json.loads(run("sessions", "search", "read", "zebra", "--json").out)
    assert (found["session"], found["position"], found["role"]) == ("a", 0, "user")
    assert [found["excerpt"][start:end] for start, end in found["spans"]] == ["Read", "zebra"]
    shown = run("sessions", "search", "read tiger", "--session", "b").out
    assert r"Read the logs tiger\x1b[31m." in shown
    assert "\x1b" not in shown
    assert run("sessions", "search", "tiger", "--workspace", "w").out == "No message holds all of these words.\n"


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"])
def test_what_is_exported_is_imported_byte_for_byte(run: Run, tmp_path: Path, name: str) -> None:
    source = tmp_path / "in.json"
    found = next(path for path in TRANSCRIPTS.iterdir() if path.name.endswith(f".{name}.json"))
    source.write_bytes(found.read_bytes())
    assert run("sessions", "import", source, "--id", "one").status == 0
    once, twice = tmp_path / "once.json", tmp_path / "twice.json"
    run("sessions", "export", "one", "-o", once)
    told = json.loads(run("sessions", "import", once, "--id", "two", "--json").out)
    run("sessions", "export", "two", "-o", twice)
    assert told["format"] == name
    assert once.read_bytes() == twice.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "[ ONE,\r\n\tTWO\n]",
        "ONE\n\n  TWO\n",
        '{"messages": [], "model":"gpt-4o", "messages" : [ONE,TWO ]}',
    ],
    ids=["list", "lines", "request"],
)
def test_messages_keep_their_bytes(tmp_path: Path, text: str, run: Run) -> None:
    database, one, two = (
        tmp_path / "own.db",
        r'{"role":"user" , "content":"one \u00e4"}',
        '{"content":"2","role":"assistant"}',
    )
    file = write(tmp_path / "a.json", text.replace("ONE", one).replace("TWO", two))
    told = run("sessions", "import", file, "--id", "a", "--database", database)
    assert (told.status, told.err) == (0, "")
    with StoredSessions(database) as sessions:
        raw = [message.raw for message in sessions.history("a")]
        assert raw == [one.encode(), two.encode()]
        assert b",\n".join(raw) in export_session(sessions, "a")


def test_a_message_in_another_encoding_is_exported_as_utf8(tmp_path: Path) -> None:
    with StoredSessions(tmp_path / "own.db") as sessions:
        sessions.create(StoredSession("a", "gpt-4o", "openai-chat"))
        sessions.append("a", ['{"role": "user", "content": "ä"}'.encode("utf-16")])
        assert json.loads(export_session(sessions, "a"))["messages"] == [{"role": "user", "content": "ä"}]


class Full(StoredSessions):
    """A database that takes a session, and no message."""

    def append(self, id: str, messages: Sequence[Json], usage: Usage | None = None) -> list[StoredMessage]:
        raise StorageError("the drive is full")


def test_an_import_that_fails_leaves_nothing(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", chat())
    with Full(tmp_path / "own.db") as full:
        with pytest.raises(StorageError, match="full"):
            import_session(full, file.read_bytes(), StoredSession("a", "", ""), name="a.json")
        assert full.sessions() == []
    assert run("sessions", "import", file, "--id", "a").status == 0
    assert run("sessions", "import", file, "--id", "a").status == 2
    assert [one["messages"] for one in json.loads(run("sessions", "list", "--json").out)] == [len(chat())]


def test_lists_go_on_where_a_page_ended(run: Run, tmp_path: Path) -> None:
    assert run("sessions", "list").out == "There are no sessions.\n"
    for id in "abc":
        run("sessions", "import", write(tmp_path / "a.json", chat(rounds=1)), "--id", id)
    assert "more: --after b" in run("sessions", "list", "--limit", "2").out
    assert [one["id"] for one in json.loads(run("sessions", "list", "--after", "b", "--json").out)] == ["a"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("show", "nobody"), "there is no session 'nobody'"),
        (("history", "nobody"), "there is no session 'nobody'"),
        (("compact", "nobody"), "there is no session 'nobody'"),
        (("export", "nobody"), "there is no session 'nobody'"),
        (("import", "nowhere.json"), "cannot be read: No such file or directory."),
        (("import", "-", "--id", "x" * 257), "is no session id"),
        (("list", "--database", "oracle://x"), "is no database that Compact knows"),
        (("compact", "a", "--retention", "-1"), "--retention"),
        (("search", ""), "WORDS: must hold a word."),
    ],
)
def test_mistakes_end_in_one_line(run: Run, arguments: tuple[str, ...], problem: str) -> None:
    told = run("sessions", *arguments, stdin=b'[{"role": "user", "content": "hello"}]')
    assert told.status == 2
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert problem in told.err


def test_where_everything_stays_there_is_nothing_to_compact(run: Run, file: Path) -> None:
    run("sessions", "import", file, "--id", "limit")
    before = run("sessions", "export", "limit").out
    told = run("sessions", "compact", "limit", "--retention", "1000000")
    assert (told.status, told.out) == (2, "")
    assert told.err.startswith("error: everything is pinned or recent. ")
    assert run("sessions", "export", "limit").out == before


def test_of_a_requests_options_only_the_model_is_kept(run: Run, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    request = {"model": "gpt-4o-mini", "temperature": 0.5, "tools": [], "messages": messages}
    run("sessions", "import", write(tmp_path / "a.json", json.dumps(request)), "--id", "a")
    assert json.loads(run("sessions", "export", "a").out) == {"model": "gpt-4o-mini", "messages": messages}
