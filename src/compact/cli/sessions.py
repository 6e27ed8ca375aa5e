"""`compact sessions`: the conversations in a database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import typer
from rich.text import Text

from compact.app import session_files
from compact.app.stored import StoredSessions
from compact.cli.console import AsJson, File, busy, name_of, print_json, read_bytes, screen, styled
from compact.cli.options import ForModel, Output, grouped, require_database
from compact.cli.output import emit
from compact.cli.tables import Column, Table, numeric, shares_table, table_of
from compact.engine.stored.service import Compression, Context, Wish
from compact.engine.stored.snapshots import read_summary
from compact.errors import InvalidInput
from compact.formats import parse
from compact.messages import Json, Message, message_texts
from compact.ports import Found, StoredMessage, StoredSession
from compact.quantities import counted

_LIST = "Examples: compact sessions list · compact sessions list --workspace support --limit 20 --json"
_SHOW = "Examples: compact sessions show ID · compact sessions show ID --json"
_SEARCH = "Examples: compact sessions search refund policy · compact sessions search timeout --session ID --json"
_COMPACT = (
    "Examples: compact sessions compact ID · "
    "compact sessions compact ID --retention 2000 --note 'keep every amount' --strategy decision_log"
)
_UNDO = "Examples: compact sessions undo ID · compact sessions undo ID --json"
_ACKNOWLEDGE = "Examples: compact sessions acknowledge ID · compact sessions compact ID --offline"
_SWITCH = "Examples: compact sessions automatic ID off · compact sessions automatic ID inherit"
_HISTORY = "Examples: compact sessions history ID · compact sessions history ID --after 99 --limit 50 --json"
_EXPORT = "Examples: compact sessions export ID --output chat.json · compact sessions export ID | compact check -"
_IMPORT = "Examples: compact sessions import chat.json · compact sessions import - --id support-7 --model gpt-4o"

_LONGEST = 100
Switch: TypeAlias = Literal["on", "off", "inherit"]

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

commands = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Look at conversations in a database, compress and move them.",
    epilog=(
        "Examples: compact sessions import chat.json --id support-7 · compact sessions list · "
        "compact sessions show support-7 · compact sessions search 'refund policy'"
    ),
)


@commands.command("list", epilog=_LIST)
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
    screen().print(table_of([_row(context) for context in contexts]))
    if len(contexts) == limit:
        screen().print(f"more: --after {contexts[-1].session.id}")


@commands.command("show", epilog=_SHOW)
def show_session(session: Session, database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Show what would be sent to the model now: the summary, what is pinned, what is recent, and what takes room."""
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
    output.print(f"{full}; {_automatic(context)}")
    if context.session.blocked:
        output.print(f"blocked: {context.session.blocked}", soft_wrap=True)
    filled = {kind: tokens for kind, tokens in kinds.items() if tokens}
    output.print(shares_table("what", filled, decision.used, digits=0))
    messages = parse(context.messages, format=context.session.format).messages
    rows = ((str(number), message.role, _start(message)) for number, message in enumerate(messages, 1))
    output.print(Table((numeric("no"), "role", "content"), rows))
    if summary := _summary(context):
        output.print("summary:")
        for line in str(summary["text"]).split("\n"):
            output.print(f"  {line}", soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Search:
    """The options of `compact sessions search`."""

    words: Annotated[list[str], typer.Argument(help="Words that a message must hold, all of them.")]
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None
    workspace: Workspace = None
    limit: Limit = 20
    database: DatabaseUrl = ""
    as_json: AsJson = False


@commands.command("search", epilog=_SEARCH)
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
    rows = ((one.session, f"{one.position:,}", one.role, _highlighted(one)) for one in found)
    screen().print(Table(("session", numeric("position"), "role", "excerpt"), rows))


@dataclass(frozen=True, slots=True)
class Compress:
    """The options of `compact sessions compact`."""

    session: Session
    retention: Annotated[
        int | None, typer.Option(min=0, help="How many tokens of the last messages stay as they are; 0 for none.")
    ] = None
    note: Annotated[str, typer.Option(help="What matters, in your own words.")] = ""
    strategy: Annotated[str, typer.Option(help="What the summary keeps: see `compact prompt`.")] = ""
    offline: Annotated[bool, typer.Option("--offline", help="Call no model: the account is written by rules.")] = False
    database: DatabaseUrl = ""
    as_json: AsJson = False


@commands.command("compact", epilog=_COMPACT)
@grouped
def compact_session(options: Compress) -> None:
    """Compress a session now: a summary takes the place of its older messages. The messages stay in the database."""
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
    report = done.report
    if report.written_by:
        price = "" if report.cost is None else f" for ${report.cost:.4f}"
        screen().print(f" - written by {', '.join(report.written_by)}{price}", soft_wrap=True)
    elif report.why_offline:
        screen().print(f" - written offline: {report.why_offline}", soft_wrap=True)
    for warning in done.warnings:
        screen().print(f" - {warning}", soft_wrap=True)


@commands.command("undo", epilog=_UNDO)
def undo_summary(session: Session, database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Take the summary back that stands: what stood before it stands again."""
    with _found(database) as sessions:
        sessions.summaries.undo(session)
        context = sessions.context(session)
    _told(context, as_json)


@commands.command("acknowledge", epilog=_ACKNOWLEDGE)
def acknowledge_failure(session: Session, database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Let a session go on that a failed summary blocks, at the risk that its requests become too long."""
    with _found(database) as sessions:
        sessions.acknowledge(session)
        context = sessions.context(session)
    _told(context, as_json)


@commands.command("automatic", epilog=_SWITCH)
def switch_automatic(
    session: Session,
    value: Annotated[Switch, typer.Argument(help="On, off, or what the settings say.")],
    database: DatabaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """Turn automatic compaction of a session on or off. Off, a request that does not fit is refused, never sent."""
    with _found(database) as sessions:
        sessions.set_automatic(session, None if value == "inherit" else value == "on")
        context = sessions.context(session)
    _told(context, as_json, _automatic(context))


@commands.command("history", epilog=_HISTORY)
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
    rows = []
    for one in page:
        mark = "summarized" if one.position not in sent else "pinned" if one.pinned else ""
        message = assembled.conversation.dialect.parse_message(json.loads(one.raw), str(one.position))
        rows.append((f"{one.position:,}", one.role, f"{one.tokens:,}", mark, _start(message)))
    screen().print(Table((numeric("position"), "role", numeric("tokens"), "", "content"), rows))
    if page and page[-1].position + 1 < total:
        screen().print(f"{total - page[-1].position - 1:,} more: --after {page[-1].position}")


@commands.command("export", epilog=_EXPORT)
def export_session(session: Session, output: Output = None, database: DatabaseUrl = "") -> None:
    """Write the whole conversation as a request in its own format, every message byte for byte as it was stored."""
    with _found(database) as sessions:
        data = session_files.export_session(sessions, session)
    emit(data, output)


@dataclass(frozen=True, slots=True)
class Import:
    """The options of `compact sessions import`."""

    file: File
    id: Annotated[str, typer.Option("--id", help="The new session's id; by default one is made up.")] = ""
    model: ForModel = None
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="The workspace to put it in.")] = ""
    database: DatabaseUrl = ""
    as_json: AsJson = False


@commands.command("import", epilog=_IMPORT)
@grouped
def import_session(options: Import) -> None:
    """Store a transcript as a new session, every message byte for byte as it stands in the file."""
    name = name_of(options.file)
    wanted = StoredSession(options.id, options.model or "", "", options.workspace)
    data = read_bytes(options.file)
    with StoredSessions(options.database) as sessions, busy(f"storing {name}"):
        new = session_files.import_session(sessions, data, wanted, name=name)
        context = sessions.context(new)
    _told(context, options.as_json)


def _found(database: str) -> StoredSessions:
    """The sessions in a database that is there."""
    require_database(database)
    return StoredSessions(database)


def _told(context: Context, as_json: bool, more: str = "") -> None:
    if as_json:
        print_json(_facts(context))
        return
    session = context.session
    screen().print(
        f"{session.id}: {counted(session.messages, 'message')}, {context.tokens:,} tokens for {session.model}"
        + (more and f"; {more}")
    )


def _row(context: Context) -> dict[str | Column, str]:
    session = context.session
    return {
        "session": session.id,
        "workspace": session.workspace,
        "model": session.model,
        numeric("messages"): f"{session.messages:,}",
        numeric("tokens"): f"{context.tokens:,}",
        numeric("usage"): f"{context.decision.usage:.0%}",
        "blocked": session.blocked,
    }


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
        "automatic": context.automatic,
        "created": session.created,
        "updated": session.updated,
    }


def _automatic(context: Context) -> str:
    """From where on a session is compacted automatically, if at all."""
    if context.automatic:
        return f"compacted from {context.decision.trigger_at:,} on"
    return f"automatic compaction is off {'in the settings' if context.session.automatic is None else 'for it'}"


def _summary(context: Context) -> dict[str, Json] | None:
    summary = context.summary
    if summary is None:
        return None

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
    text, at = styled(""), 0
    for start, end in found.spans:
        text.append_text(styled(found.excerpt[at:start])).append_text(styled(found.excerpt[start:end], "bold"))
        at = end
    return text.append_text(styled(found.excerpt[at:]))


def _compression(session: str, done: Compression) -> dict[str, Json]:
    return {
        "session": session,
        "snapshot": done.snapshot.id,
        "messages": done.messages,
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "seconds": round(done.seconds, 3),
        "warnings": list(done.warnings),
        "written_by": list(done.report.written_by),
        "why_offline": done.report.why_offline,
        "cost": None if done.report.cost is None else format(done.report.cost, "f"),
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
    said = "\n".join(text for _, text in message_texts(message)).strip()
    text = " · ".join([*([said] if said else []), *(f"→ {call.name}" for call in message.calls)])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
