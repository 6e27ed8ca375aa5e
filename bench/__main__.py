"""Runs the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from importlib.metadata import version

SECTIONS = (
    "tokens",
    "recount",
    "usage",
    "lossless",
    "truncation",
    "speed",
    "offline",
    "fill",
    "cliffs",
    "overhead",
    "redaction",
    "tracing",
    "sessions",
    "gateway",
    "compacting",
    "worlds",
    "bills",
)
WITH_OPTIONS = ("lossless", "worlds", "bills")


def main(names: list[str]) -> int:
    if len(names) > 1 and names[0] in WITH_OPTIONS and (names[0] == "bills" or names[1].startswith("-")):
        status: int = import_module(f"bench.{names[0]}").main(names[1:])
        return status
    if {"-h", "--help"} & set(names):
        print(
            f"usage: python -m bench [SECTION...]\n       python -m bench {WITH_OPTIONS[0]} [OPTION...]\n\n{__doc__}\n"
        )
        for name in SECTIONS:
            print(f"  {name:12} {(import_module(f'bench.{name}').__doc__ or '').splitlines()[0]}")
        return 0
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    print(f"compact {version('compact-context')}, Python {platform.python_version()}, {platform.machine()}")
    for name in names or SECTIONS:
        print(f"\n## {name}\n", flush=True)
        import_module(f"bench.{name}").run(sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
