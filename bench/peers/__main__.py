"""Measures Compact beside its peers and writes `docs/benchmarks.md`.

The whole of it is `python -m bench.peers`. `--files` measures fewer sessions; `--peers` measures some peers again and
keeps what is known of the others, if it was measured on the same sessions. `--report` writes the document of the last
results again, and `--lock` takes the newest versions of the peers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from time import monotonic
from typing import Any

from bench.peers import dollars
from bench.peers.catalogue import PACKAGES, Way, chosen
from bench.peers.environments import FOLDER, ROOT, lock, python_of, versions
from bench.peers.measuring import LARGE, Sources, measure, read_sources
from bench.peers.report import document

RESULTS = FOLDER / "results.json"
DOCUMENT = ROOT / "docs" / "benchmarks.md"


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    if options.lock:
        for peer in PACKAGES:
            lock(peer)
        return 0
    if not options.report:
        ways = chosen(options.peers)
        for adapter in dict.fromkeys(way.adapter for way in ways):
            python_of(adapter)
        run(ways, read_sources(options.files), options.long, arguments)
    DOCUMENT.write_text(document(json.loads(RESULTS.read_text())))
    print(f"written: {DOCUMENT.relative_to(ROOT)}")
    return 0


def run(ways: Sequence[Way], sources: Sources, long: int | None, arguments: Sequence[str]) -> None:
    """Measure every way, one process at a time; what is known is kept after each."""
    began = monotonic()
    large = [session for session in sources.sessions if session.tokens > LARGE]
    large = sorted(large, key=lambda session: session.tokens)[: len(large) if long is None else long]
    about = {**_about(sources, arguments), "long": [[session.name, session.tokens] for session in large]}
    results = _known(about, {way.key for way in ways})
    spent = results["about"]["seconds"]
    if not results["replays"]:
        results["replays"] += dollars.references(large)
    for number, way in enumerate(ways, 1):
        start = monotonic()
        results["rows"] += measure(way, sources.cuts)
        results["replays"] += dollars.replayed(way, large)
        results["about"]["seconds"] = round(spent + monotonic() - began)
        FOLDER.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results))
        print(f"{number}/{len(ways)} {way.key}: {monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def _known(about: dict[str, Any], again: set[str]) -> dict[str, Any]:
    """The results of before without those of the ways measured again; none where the sessions were others."""
    nothing: dict[str, Any] = {"about": {**about, "seconds": 0, "runs": 1}, "rows": [], "replays": []}
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else nothing
    rows = [row for row in known["rows"] if row["way"] not in again]
    if not rows or any(known["about"].get(key) != about[key] for key in ("notes", "long", "transcripts")):
        return nothing
    replays = [row for row in known["replays"] if row["way"] not in again]
    # One command would have measured all of it: the one that this adds to.
    kept = {key: known["about"][key] for key in ("command", "seconds")}
    return {"about": {**about, **kept, "runs": known["about"]["runs"] + 1}, "rows": rows, "replays": replays}


def _about(sources: Sources, arguments: Sequence[str]) -> dict[str, Any]:
    return {
        "command": " ".join(("python -m bench.peers", *arguments)),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {
            "compact-context": version("compact-context"),
            **versions(list(PACKAGES)),
        },
        "notes": list(sources.notes),
        "held_out": list(sources.held_out),
        "transcripts": bool(os.environ.get("COMPACT_TRANSCRIPTS")),
    }


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--files", type=int, help="how many sessions, spread over all there are")
    parser.add_argument("--long", type=int, help="how many of those over 100,000 tokens are played again")
    parser.add_argument("--peers", help="adapters or ways of them (langchain/trim), separated by commas")
    parser.add_argument("--lock", action="store_true", help="compile the lock files anew and stop")
    parser.add_argument("--report", action="store_true", help="only write the document of the last results")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
