"""`compact originals`: what was kept of the sessions, as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from compact.app.keeping import storing
from compact.cli.console import AsJson, print_json, screen, tracked
from compact.errors import DamagedOriginals, NotFound
from compact.messages import Json
from compact.originals import FileOriginals, Problem, Repair
from compact.policies.session_ids import check_session_id
from compact.quantities import counted

_VERIFY = "Examples: compact originals verify · compact originals verify SESSION --storage /srv/agent/.compact --json"
_REPAIR = "Examples: compact originals repair · compact originals repair SESSION --storage /srv/agent/.compact --json"

Which: TypeAlias = Annotated[list[str] | None, typer.Argument(metavar="[SESSION]...", help="Only these sessions.")]
Storage: TypeAlias = Annotated[
    Path, typer.Option("--storage", "--path", help="The folder that holds `originals`: storage.path of the manager.")
]

commands = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Check and repair what was kept of conversations before they were compacted.",
    epilog="Examples: compact originals verify · compact originals repair SESSION",
)


@commands.command("verify", epilog=_VERIFY)
def verify_sessions(which: Which = None, storage: Storage = Path(".compact"), as_json: AsJson = False) -> None:
    """Read every line that was kept, and say which are damaged or missing; the status is 1 where one is."""
    with storing():
        originals = FileOriginals(storage / "originals")
        sessions = _chosen(originals, which)
        problems = [(name, each) for name in tracked(sessions, "sessions") for each in originals.verify(name)]
        unknown = () if which else originals.unknown()
    if as_json:
        found = [{"session": name, **_facts(each)} for name, each in problems]
        found += [{"session": None, "file": each.path, "line": each.line, "problem": each.problem} for each in unknown]
        print_json({"sessions": len(sessions), "problems": found})
    else:
        for name, each in problems:
            screen().print(f"{name}: {each}", soft_wrap=True)
        _print_unknown(unknown)
        screen().print(f"{counted(len(sessions), 'session')}, {counted(len(problems) + len(unknown), 'problem')}")
        if problems:
            screen().print("Keep what is whole: compact originals repair", soft_wrap=True)
    if problems or unknown:
        raise typer.Exit(1)


@commands.command("repair", epilog=_REPAIR)
def repair_sessions(which: Which = None, storage: Storage = Path(".compact"), as_json: AsJson = False) -> None:
    """Keep everything that is whole of damaged sessions; the status is 1 where there were any.

    The damaged files stay beside, with `.damaged-1` and so on after their names. Nothing is deleted.
    """
    with storing():
        originals = FileOriginals(storage / "originals")
        sessions = _chosen(originals, which)
        done = [each for name in tracked(sessions, "sessions") if (each := originals.repair(name)) is not None]
        unknown = () if which else originals.unknown()
    if as_json:
        files: list[Json] = [each.path for each in unknown]
        print_json({"sessions": len(sessions), "repaired": [_told(each) for each in done], "unknown": files})
    else:
        for each in done:
            for line in _lines(each):
                screen().print(line, soft_wrap=True)
        _print_unknown(unknown)
        screen().print(f"{counted(len(sessions), 'session')}, {len(done):,} repaired")
    if done or unknown:
        raise typer.Exit(1)


def _chosen(originals: FileOriginals, which: Sequence[str] | None) -> tuple[str, ...]:
    known = originals.sessions()
    if not which:
        return known
    chosen = tuple(dict.fromkeys(map(check_session_id, which)))
    for name in chosen:
        if name not in known and not originals.verify(name):
            raise NotFound(f"nothing was kept of {name}", field="SESSION", remedy="Look at --storage.")
    return chosen


def _print_unknown(unknown: Sequence[DamagedOriginals]) -> None:
    for each in unknown:
        screen().print(f"{each.path}: {each.problem}. {each.remedy}", soft_wrap=True)


def _lines(done: Repair) -> Iterator[str]:
    for problem in done.problems:
        yield f"{done.session}: {problem}"
    kept = ", ".join(map(str, done.compactions)) or "none"
    yield f"{done.session}: kept {counted(done.messages, 'message')} and these compactions: {kept}"
    if done.lost:
        yield f"{done.session}: could not keep these compactions: {', '.join(map(str, done.lost))}"
    for path in done.aside:
        yield f"{done.session}: the damaged file is {path}"


def _facts(problem: Problem) -> dict[str, Json]:
    return {"file": problem.path, "line": problem.line, "problem": problem.text}


def _told(done: Repair) -> Json:
    return {
        "session": done.session,
        "problems": [_facts(problem) for problem in done.problems],
        "messages": done.messages,
        "compactions": list(done.compactions),
        "lost": list(done.lost),
        "aside": list(done.aside),
    }
