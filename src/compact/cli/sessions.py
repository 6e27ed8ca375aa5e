"""`compact sessions`: the conversations in a database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from compact.cli.columns import numeric
from compact.cli.console import AsJson, File, busy, counted, name_of, print_json, read_bytes, screen, table
from compact.cli.options import ForModel, Output, grouped, require_database
from compact.errors import InvalidInput

if TYPE_CHECKING:
    from rich.text import Text

    from compact.app.stored import StoredSessions
    from compact.engine.stored.service import Compression, Context
    from compact.messages import Json, Message
    from compact.ports import Found, StoredMessage

EXAMPLES = (
    "Examples: compact sessions import chat.json --id support-7 · compact sessions list · "
    "compact sessions show support-7 · compact sessions search 'refund policy'"
)
_LIST = "Examples: compact sessions list · compact sessions list --workspace support --limit 20 --json"
_SHOW = "Examples: compact sessions show ID · compact sessions show ID --json"
_SEARCH = "Examples: compact sessions search refund policy · compact sessions search timeout --session ID --json"
_COMPACT = (
    "Examples: compact sessions compact ID · "
    "compact sessions compact ID --retention 2000 --note 'keep every amount' --strategy decision_log"
)
_UNDO = "Examples: compact sessions undo ID · compact sessions undo ID --json"
_ACKNOWLEDGE = "Examples: compact sessions acknowledge ID · compact sessions compact ID --offline"
_HISTORY = "Examples: compact sessions history ID · compact sessions history ID --after 99 --limit 50 --json"
_EXPORT = "Examples: compact sessions export ID --output chat.json · compact sessions export ID | compact check -"
_IMPORT = "Examples: compact sessions import chat.json · compact sessions import - --id support-7 --model gpt-4o"

_LONGEST = 100

Session: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="The session's id.")]
DatabaseUrl: TypeAlias = Annotated[
    str,
    typer.Option(
        "--database",
        help="A SQLite file, or postgresql://user:password@host/name; by default COMPACT_DATABASE, else your own file.",
        show_default=False,
    ),
]
Workspace: TypeAlias = Annotated[str | None, typer.Option("--workspace", "-w", help="Only this workspace.")]
Limit: TypeAlias = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")]

app = typer.Typer(no_args_is_help=True, help="Look at conversations in a database, compress and move them.")


@app.command("list", epilog=_LIST)
def list_sessions(
    workspace: Workspace = None,
    limit: Limit = 50,
    after: Annotated[str | None, typer.Option(help="Go on after this session.")] = None,
    database: DatabaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """List the sessions, the one changed last first, and how full each one's model is."""
    with _found(database) as sessions:
        found = sessions.sessions(workspace, limit=limit, after=after)
        contexts = [sessions.context(session.id) for session in found]
    if as_json:
        print_json([_facts(context) for context in contexts])
        return
    if not contexts:
        screen().print("There are no sessions." if after is None else "There are no more sessions.")
        return
    rows = table("session", "workspace", "model", numeric("messages"), numeric("tokens"), numeric("usage"), "blocked")
    for context in contexts:
        session = context.session
        numbers = f"{session.messages:,}", f"{context.tokens:,}", f"{context.decision.usage:.0%}"
        rows.add_row(session.id, session.workspace, session.model, *numbers, session.blocked)
    screen().print(rows)
    if len(contexts) == limit:
        screen().print(f"more: --after {contexts[-1].session.id}")


@app.command("show", epilog=_SHOW)
def show_session(session: Session, database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Show what would be sent to the model now: the summary, what is pinned, what is recent, and what takes room."""
    from compact.formats import parse

    with _found(database) as sessions:
        context = sessions.context(session)
        kinds = dict(sessions.usage(session))
    if as_json:
        facts = _facts(context) | {"kinds": kinds, "summary": _summary(context), "context": context.messages}
        print_json(facts | {"system": context.session.system, "tools": context.session.tools})
        return
    decision, output = context.decision, screen()
    output.print(f"{session} · {context.session.model} · {context.session.format}", soft_wrap=True)
    full = f"{decision.used:,} of {decision.window:,} tokens ({decision.usage:.0%})"
    output.print(f"{full}; compressed from {decision.trigger_at:,} on")
    if context.session.blocked:
        output.print(f"blocked: {context.session.blocked}", soft_wrap=True)
    usage = table("what", numeric("tokens"), numeric("share"))
    for kind, tokens in sorted(kinds.items(), key=lambda item: -item[1]):
        if tokens:
            usage.add_row(kind, f"{tokens:,}", f"{tokens / max(decision.used, 1):.0%}")
    output.print(usage)
    rows = table(numeric("no"), "role", "content")
    for number, message in enumerate(parse(context.messages, format=context.session.format).messages, 1):
        rows.add_row(str(number), message.role, _start(message))
    output.print(rows)
    if summary := _summary(context):
        output.print("summary:")
        for line in str(summary["text"]).split("\n"):
            output.print(f"  {line}", soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Search:
    """What `compact sessions search` is told."""

    words: Annotated[list[str], typer.Argument(help="Words that a message must hold, all of them.")]
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None
    workspace: Workspace = None
    limit: Limit = 20
    database: DatabaseUrl = ""
    as_json: AsJson = False


@app.command("search", epilog=_SEARCH)
@grouped
def search_messages(options: Search) -> None:
    """Find the messages that hold all the words, whether a request still contains them or not; best ones first."""
    words = " ".join(options.words)
    if not any(map(str.isalnum, words)):
        raise InvalidInput("must hold a word", field="WORDS", remedy="Name what a message must hold.")
    within = {"session": options.session, "workspace": options.workspace}
    with _found(options.database) as sessions:
        found = sessions.search(words, **within, limit=options.limit)
    if options.as_json:
        print_json([_hit(one) for one in found])
        return
    if not found:
        screen().print("No message holds all of these words.")
        return
    rows = table("session", numeric("position"), "role", "excerpt")
    for one in found:
        rows.add_row(one.session, f"{one.position:,}", one.role, _highlighted(one))
    screen().print(rows)


@dataclass(frozen=True, slots=True)
class Compress:
    """What `compact sessions compact` is told."""

    session: Session
    retention: Annotated[
        int | None, typer.Option(min=0, help="How many tokens of the last messages stay as they are; 0 for none.")
    ] = None
    note: Annotated[str, typer.Option(help="What matters, in your own words.")] = ""
    strategy: Annotated[str, typer.Option(help="What the summary keeps: see `compact prompt`.")] = ""
    offline: Annotated[bool, typer.Option("--offline", help="Call no model: the account is written by rules.")] = False
    database: DatabaseUrl = ""
    as_json: AsJson = False


@app.command("compact", epilog=_COMPACT)
@grouped
def compact_session(options: Compress) -> None:
    """Compress a session now: a summary takes the place of its older messages. The messages stay in the database."""
    from compact.engine.stored.service import Wish

    wish = Wish(options.retention, options.note, options.strategy, options.offline)
    with _found(options.database) as sessions, busy(f"compressing {options.session}"):
        done = sessions.compress(options.session, wish)
    if options.as_json:
        print_json(_compression(options.session, done))
        return
    saved = 1 - done.tokens_after / max(done.tokens_before, 1)
    change = f"{done.tokens_before:,} → {done.tokens_after:,} tokens (-{max(saved, 0):.0%})"
    screen().print(
        f"{options.session}: {change}, {counted(done.messages, 'message')} in the summary, {done.seconds:.1f} s"
    )
    for warning in done.warnings:
        screen().print(f" - {warning}", soft_wrap=True)


@app.command("undo", epilog=_UNDO)
def undo_summary(session: Session, database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Take the summary back that stands: what stood before it stands again."""
    with _found(database) as sessions:
        sessions.summaries.undo(session)
        context = sessions.context(session)
    _told(context, as_json)


@app.command("acknowledge", epilog=_ACKNOWLEDGE)
def acknowledge_failure(session: Session, database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Let a session go on that a failed summary blocks, at the risk that its requests become too long."""
    with _found(database) as sessions:
        sessions.acknowledge(session)
        context = sessions.context(session)
    _told(context, as_json)


@app.command("history", epilog=_HISTORY)
def show_history(
    session: Session,
    after: Annotated[int, typer.Option(min=-1, help="Only what comes after this position.")] = -1,
    limit: Limit = 50,
    database: DatabaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """Page through everything that was said; a message that requests no longer contain is marked."""
    with _found(database) as sessions:
        page = sessions.history(session, after=after, limit=limit)
        assembled, _ = sessions.reader.now(session)
        total = assembled.active.session.messages
    sent = {one.position for one in assembled.messages.values()}
    if as_json:
        messages: list[Json] = [_message(one, one.position in sent) for one in page]
        print_json({"session": session, "total": total, "messages": messages})
        return
    rows = table(numeric("position"), "role", numeric("tokens"), "", "content")
    for one in page:
        mark = "summarized" if one.position not in sent else "pinned" if one.pinned else ""
        message = assembled.conversation.dialect.parse_message(json.loads(one.raw), str(one.position))
        rows.add_row(f"{one.position:,}", one.role, f"{one.tokens:,}", mark, _start(message))
    screen().print(rows)
    if page and page[-1].position + 1 < total:
        screen().print(f"{total - page[-1].position - 1:,} more: --after {page[-1].position}")


@app.command("export", epilog=_EXPORT)
def export_session(session: Session, output: Output = None, database: DatabaseUrl = "") -> None:
    """Write the whole conversation as a request in its own format, every message byte for byte as it was stored."""
    from compact.cli.output import emit
    from compact.app.session_files import exported

    with _found(database) as sessions:
        data = exported(sessions, session)
    emit(data, output)


@dataclass(frozen=True, slots=True)
class Import:
    """What `compact sessions import` is told."""

    file: File
    id: Annotated[str, typer.Option("--id", help="The new session's id; by default one is made up.")] = ""
    model: ForModel = None
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="The workspace to put it in.")] = ""
    database: DatabaseUrl = ""
    as_json: AsJson = False


@app.command("import", epilog=_IMPORT)
@grouped
def import_session(options: Import) -> None:
    """Store a transcript as a new session, every message byte for byte as it stands in the file."""
    from compact.app.session_files import imported
    from compact.ports import StoredSession

    name = name_of(options.file)
    wanted = StoredSession(options.id, options.model or "", "", options.workspace)
    data = read_bytes(options.file)
    with _open(options.database) as sessions, busy(f"storing {name}"):
        new = imported(sessions, data, wanted, name=name)
        context = sessions.context(new)
    _told(context, options.as_json)


def _found(database: str) -> StoredSessions:
    """The sessions in a database that is there."""
    require_database(database)
    return _open(database)


def _open(database: str) -> StoredSessions:
    from compact.app.stored import StoredSessions

    return StoredSessions(database)


def _told(context: Context, as_json: bool) -> None:
    if as_json:
        print_json(_facts(context))
        return
    session = context.session
    screen().print(
        f"{session.id}: {counted(session.messages, 'message')}, {context.tokens:,} tokens for {session.model}"
    )


def _facts(context: Context) -> dict[str, Json]:
    session, decision = context.session, context.decision
    return {
        "id": session.id,
        "workspace": session.workspace,
        "title": session.title,
        "model": session.model,
        "format": session.format,
        "messages": session.messages,
        "tokens": decision.used,
        "window": decision.window,
        "usage": round(decision.usage, 4),
        "blocked": session.blocked or None,
        "created": session.created,
        "updated": session.updated,
    }


def _summary(context: Context) -> dict[str, Json] | None:
    summary = context.summary
    if summary is None:
        return None
    from compact.engine.stored.snapshots import read_summary

    text = read_summary(summary).text
    return {"id": summary.id, "tokens": summary.tokens, "created": summary.created, "text": text}


def _hit(found: Found) -> dict[str, Json]:
    return {
        "session": found.session,
        "message": found.message,
        "position": found.position,
        "role": found.role,
        "excerpt": found.excerpt,
        "spans": [list(span) for span in found.spans],
    }


def _highlighted(found: Found) -> Text:
    """The excerpt with its words in bold; piece by piece, since control characters grow when they are spelled out."""
    from compact.cli.screen import styled

    text, at = styled(""), 0
    for start, end in found.spans:
        text.append_text(styled(found.excerpt[at:start])).append_text(styled(found.excerpt[start:end], "bold"))
        at = end
    return text.append_text(styled(found.excerpt[at:]))


def _compression(session: str, done: Compression) -> dict[str, Json]:
    from compact.engine.stored.snapshots import read_summary

    return {
        "session": session,
        "snapshot": done.snapshot.id,
        "messages": done.messages,
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "seconds": round(done.seconds, 3),
        "warnings": list(done.warnings),
        "summary": read_summary(done.snapshot).text,
    }


def _message(message: StoredMessage, in_context: bool) -> dict[str, Json]:
    return {
        "id": message.id,
        "position": message.position,
        "role": message.role,
        "tokens": message.tokens,
        "pinned": message.pinned,
        "in_context": in_context,
        "created": message.created,
        "message": json.loads(message.raw),
    }


def _start(message: Message) -> str:
    """The beginning of what the message says, or calls."""
    from compact.messages import message_texts

    said = "\n".join(text for _, text in message_texts(message)).strip()
    text = " · ".join([*([said] if said else []), *(f"→ {call.name}" for call in message.calls)])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
