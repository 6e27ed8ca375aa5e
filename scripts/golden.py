"""Says in which outputs two trees of Compact differ, given the same inputs.

`compare` runs two trees and shows the differences. `check` runs the working tree on 40 worlds and compares the outputs
with the digests in tests/golden.json, and `record` writes these.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from scripts.referee.bodies import NoTranscripts
from scripts.referee.comparison import Comparison, compare_results, explain
from scripts.referee.inputs import AREAS, RECORDED, tasks
from scripts.referee.tasks import Result, TaskFailed, run_all
from scripts.referee.trees import ROOT, WORKING, commit_tree, working_tree

DIGESTS: Final = ROOT / "tests" / "golden.json"
_SELF: Final = ".venv/bin/python scripts/golden.py"
_EXAMPLES: Final = """examples:
  scripts/golden.py compare HEAD --quick             what uncommitted changes do to 40 worlds
  scripts/golden.py compare main --data transcripts  all worlds, and all transcripts below a folder
  scripts/golden.py compare v1 v2 --area gateway     two commits, and only what the gateway does
  scripts/golden.py check                            what the test suite runs
  scripts/golden.py record                           accept the outputs of the working tree: commit tests/golden.json

Results are kept in .bench/golden by the contents of the tree, so what was interrupted goes on where it ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 where nothing differs, 1 where something does, 2 where a tree cannot be run or has no inputs."""
    options = _parser().parse_args(arguments)
    try:
        return {"compare": _compare, "check": _check, "record": _record}[options.command](options)
    except TaskFailed as error:
        print(f"cannot run {error}", file=sys.stderr)
    except NoTranscripts as error:
        print(error, file=sys.stderr)
    except subprocess.CalledProcessError as error:
        print(error.stderr.decode().strip(), file=sys.stderr)
    except BrokenPipeError:  # whoever reads, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 2


def _compare(options: argparse.Namespace) -> int:
    before, after = commit_tree(options.before), commit_tree(options.after) if options.after else working_tree()
    chosen = tasks(options.data, quick=options.quick, areas=options.area or AREAS)
    results: list[Result] = []
    try:
        for result in run_all((before, after), chosen, options.workers):
            results.append(result)  # noqa: PERF402 - those so far are needed where Ctrl-C ends it
    except KeyboardInterrupt:
        print("interrupted: this is what was finished, and the same command goes on", file=sys.stderr)
        return _report(compare_results((before, after), results), as_json=options.json) and 130
    comparison = compare_results((before, after), results)
    explain(comparison, (before, after), results, options.show)
    return _report(comparison, as_json=options.json)


def _check(options: argparse.Namespace) -> int:
    comparison = Comparison(f"recorded in {DIGESTS.relative_to(ROOT)}", WORKING)
    comparison.add(json.loads(DIGESTS.read_text(encoding="utf-8")), _recordable(options.workers))
    status = _report(comparison, as_json=options.json)
    if status:
        command = ["git", "log", "-1", "--format=%h", "--", str(DIGESTS)]
        last = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
        print(f"What differs:    {_SELF} compare {last or 'COMMIT'} --quick", file=sys.stderr)
        print(f"If it is meant:  {_SELF} record, and say in the commit what changed and why", file=sys.stderr)
    return status


def _record(options: argparse.Namespace) -> int:
    found = _recordable(options.workers)
    if crashed := [case for case, text in found.items() if text.startswith("crash=")]:
        print(f"{len(crashed)} cases crash, so nothing is recorded: {', '.join(crashed[:10])}", file=sys.stderr)
        return 2
    DIGESTS.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(found):,} cases are recorded in {DIGESTS.relative_to(ROOT)}")
    return 0


def _recordable(workers: int) -> dict[str, str]:
    """The digests of the working tree, of the quick cases made of worlds."""
    found: dict[str, str] = {}
    for result in run_all([working_tree()], tasks(None, quick=True, areas=RECORDED), workers):
        found |= result.digests
    return found


def _report(comparison: Comparison, *, as_json: bool) -> int:
    print(json.dumps(comparison.to_json(), indent=1) if as_json else comparison)
    return 1 if comparison.differences else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "scripts/golden.py", description=__doc__, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2, help="processes at a time; 2 by default")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    compare = commands.add_parser("compare", help="show what differs between two trees")
    compare.add_argument("before", metavar="BEFORE", help="a commit")
    compare.add_argument("after", metavar="AFTER", nargs="?", help="another; by default the working tree")
    compare.add_argument(
        "--data", type=Path, metavar="DIR", help="a folder with real transcripts, or with folders of them"
    )
    compare.add_argument("--quick", action="store_true", help="40 worlds, each recipe to one target")
    compare.add_argument("--area", action="append", choices=AREAS, help="only this; repeatable")
    compare.add_argument(
        "--show", type=int, default=2, metavar="N", help="differences to show of each group; 2 by default"
    )
    check = commands.add_parser("check", help="compare the working tree with the recorded digests")
    for command in (compare, check):
        command.add_argument("--json", action="store_true", help="print JSON for programs")
    commands.add_parser("record", help="record the digests of the working tree")
    return parser


if __name__ == "__main__":
    sys.exit(main())
