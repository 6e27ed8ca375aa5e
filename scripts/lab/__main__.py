"""Runs real clients through the gateway and prints what became of their requests; or records the shapes of these.

`python -m scripts.lab claude codex --steps 60` makes no request to any vendor: a scripted
model on this machine answers. `--install` puts the clients into the folder first; that needs the network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from compact.server.gateway.upstreams import SPEAKS
from scripts.lab.clients import CLIENTS, Client
from scripts.lab.installing import install, is_installed
from scripts.lab.recorder import NotRecorded, record
from scripts.lab.shapes import save_shape
from scripts.lab.trial import run_trial


def main() -> int:
    """Do what the command line says; 1 where a client did not come to the end or a request was wrong."""
    options = _parse()
    chosen = [CLIENTS[name] for name in options.clients or CLIENTS]
    folder: Path = options.folder.resolve()
    if options.install:
        for client in {client.folder: client for client in chosen}.values():
            install(client, folder)
    missing = [client.name for client in chosen if not is_installed(client, folder)]
    if missing:
        print(f"not installed in {folder}: {', '.join(missing)}. Add --install, or choose another --folder.")
        return 2
    if options.record:
        return _record(chosen, options)
    return _try(chosen, options)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.lab", description=__doc__)
    parser.add_argument("clients", nargs="*", choices=[*CLIENTS, []], metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--steps", type=int, default=60, help="how often the agent calls tools")
    parser.add_argument(
        "--window",
        type=int,
        action="append",
        help="tokens, instead of the two of each client; may be given more than once",
    )
    parser.add_argument("--folder", type=Path, default=Path("build/clients"), help="where the clients are installed")
    parser.add_argument("--install", action="store_true", help="install them there first")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long a run may take")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="write shapes there instead")
    return parser.parse_args()


def _record(clients: Sequence[Client], options: argparse.Namespace) -> int:
    failed = 0
    for client in clients:
        try:
            shape = record(client, options.folder.resolve(), options.steps, options.seconds)
        except NotRecorded as error:
            print(error, file=sys.stderr)
            failed = 1
            continue
        path = options.record / f"{client.name}.json"
        save_shape(shape, path)
        print(f"{path}: {len(shape.bodies)} requests of {client.name} {shape.version}, {path.stat().st_size:,} bytes")
    return failed


def _try(clients: Sequence[Client], options: argparse.Namespace) -> int:
    """Print a row for each client and window as soon as it is known."""
    widths: list[int] = []
    wrong = False
    for client in clients:
        if client.format not in SPEAKS:
            print(f"{client.name}: the gateway does not speak {client.format}; only --record uses it", file=sys.stderr)
            continue
        for window in options.window or client.windows:
            trial = run_trial(client, options.folder.resolve(), options.steps, window, options.seconds)
            row = trial.row
            if not widths:
                widths = [max(len(name), 10) for name in row]
                widths[0] = max(map(len, CLIENTS))
                widths[list(row).index("breaks")] = 32
                print("  ".join(name.ljust(width) for name, width in zip(row, widths, strict=True)))
            print("  ".join(value.ljust(width) for value, width in zip(row.values(), widths, strict=True)), flush=True)
            for fault in trial.faults:
                print(f"  {fault}", file=sys.stderr)
                wrong = True
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
