"""`compact archive`: what was archived of the sessions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, TypeAlias

import typer

from compact.app import dump_json
from compact.archive import Entry, Shelf, export, open_archive, show, verify
from compact.cli.console import AsJson, busy, print_json, screen
from compact.cli.options import Output
from compact.cli.output import emit
from compact.cli.tables import Table, numeric
from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies.session_ids import check_session_id
from compact.quantities import counted

_LIST = (
    "Examples: compact archive list · compact archive list SESSION --json · compact archive list --path s3://logs/ai"
)
_SHOW = "Examples: compact archive show SESSION · compact archive show SESSION 3 --json"
_VERIFY = "Examples: compact archive verify · compact archive verify SESSION --path /srv/agent/.compact"
_EXPORT = (
    "Examples: compact archive export SESSION --output session.json · "
    "compact archive export SESSION --step 3 --output before.json"
)

_LONGEST = 100

Session: TypeAlias = Annotated[str, typer.Argument(help="The session's id.")]
AnySession: TypeAlias = Annotated[str | None, typer.Argument(help="Only this session.")]
ArchivePath: TypeAlias = Annotated[
    str, typer.Option("--storage", "--path", help="The folder that holds the archive, or s3://bucket/prefix.")
]

commands = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Look at what was archived before conversations were compacted.",
    epilog="Examples: compact archive list · compact archive show SESSION · compact archive verify",
)


@commands.command("list", epilog=_LIST)
def list_entries(session: AnySession = None, path: ArchivePath = ".compact", as_json: AsJson = False) -> None:
    """List the archived sessions, or the files of one."""
    entries = _open(path).entries(_checked(session))
    if as_json:
        print_json([_facts(entry) for entry in entries])
    elif not entries:
        screen().print(f"Nothing is archived in {path}." if session is None else f"Nothing is archived of {session}.")
    elif session is None:
        rows = (_session_row(name, list(group)) for name, group in groupby(entries, key=lambda entry: entry.session))
        screen().print(Table(("session", numeric("steps"), numeric("last"), numeric("bytes")), rows))
    else:
        screen().print(Table(("file", "kind", numeric("step"), numeric("bytes")), map(_file_row, entries)))


@commands.command("show", epilog=_SHOW)
def show_step(
    session: Session,
    step: Annotated[int | None, typer.Argument(help="Which compaction; by default the last one.")] = None,
    path: ArchivePath = ".compact",
    as_json: AsJson = False,
) -> None:
    """Show one compaction: the conversation before it, and its summary."""
    archive = _open(path)
    found = show(archive, session, _last_step(archive, session) if step is None else step)
    if as_json:
        transcript = list(found.transcript)
        print_json({"session": session, "step": found.step, "transcript": transcript, "summary": found.summary})
        return
    rows = ((str(number), _role(message), _start(message)) for number, message in enumerate(found.transcript, 1))
    screen().print(f"{session}, step {found.step}: {counted(len(found.transcript), 'message')} before it")
    screen().print(Table((numeric("no"), "role", "content"), rows))
    print_json(found.summary)


@commands.command("verify", epilog=_VERIFY)
def verify_files(session: AnySession = None, path: ArchivePath = ".compact", as_json: AsJson = False) -> None:
    """Check that every archived file is there, whole, and as it was saved; the status is 1 where one is not."""
    archive = _open(path)
    with busy("reading the archive"):
        files = len(archive.entries(_checked(session)))
        if session is not None and not files:
            raise _nothing_of(session)
        problems = list(verify(archive, session))
    if as_json:
        print_json(
            {"files": files, "problems": [{"session": p.session, "file": p.name, "problem": p.text} for p in problems]}
        )
    else:
        for problem in problems:
            screen().print(f"{problem.session}/{problem.name}: {problem.text}", soft_wrap=True)
        screen().print(f"{counted(files, 'file')}, {counted(len(problems), 'problem')}")
    if problems:
        raise typer.Exit(1)


@commands.command("export", epilog=_EXPORT)
def export_session(
    session: Session,
    step: Annotated[
        int | None,
        typer.Option("--step", help="Only the conversation before this compaction, as other commands read it."),
    ] = None,
    output: Output = None,
    path: ArchivePath = ".compact",
) -> None:
    """Write everything that is archived of a session as one JSON file, or the conversation before one compaction."""
    archive = _open(path)
    found: Json = export(archive, session) if step is None else list(show(archive, session, step).transcript)
    emit((dump_json(found, indent=2) + "\n").encode(), output)


def _open(path: str) -> Shelf:
    return open_archive(path)


def _checked(session: str | None) -> str | None:
    return None if session is None else check_session_id(session)


def _last_step(archive: Shelf, session: str) -> int:
    entries = archive.entries(_checked(session))
    last = max((entry.step for entry in entries if entry.kind == "summary" and entry.step is not None), default=None)
    if last is None:
        raise _nothing_of(session)
    return last


def _nothing_of(session: str) -> InvalidInput:
    return InvalidInput(f"nothing is archived of {session}", field="SESSION", remedy="See: compact archive list.")


def _session_row(session: str, own: Sequence[Entry]) -> tuple[str, ...]:
    steps = {entry.step for entry in own if entry.step is not None}
    size = sum(entry.size or 0 for entry in own)
    return session, f"{len(steps):,}", str(max(steps, default="")), f"{size:,}"


def _file_row(entry: Entry) -> tuple[str, ...]:
    step = "" if entry.step is None else str(entry.step)
    return entry.name, entry.kind, step, "missing" if entry.size is None else f"{entry.size:,}"


def _facts(entry: Entry) -> dict[str, Json]:
    return {
        "session": entry.session,
        "file": entry.name,
        "kind": entry.kind,
        "step": entry.step,
        "bytes": entry.size,
    }


def _role(message: Json) -> str:
    return str(message.get("role", message.get("type", ""))) if isinstance(message, dict) else ""


def _start(message: Json) -> str:
    """The beginning of what the message says."""
    content = message.get("content") if isinstance(message, dict) else message
    text = content if isinstance(content, str) else dump_json(message if content is None else content)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
