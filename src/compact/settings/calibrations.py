"""Learned calibration factors, kept in `calibration.json` under Compact's home."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path

from compact.errors import InvalidConfiguration
from compact.settings.documents import replace_private, state_of, unwritable
from compact.settings.home import home
from compact.tokens import Calibration

VERSION = 1
_PATIENCE = 30.0


def load_calibrations() -> Mapping[str, Calibration]:
    """The calibration of each model that has one; read again only when the file changed."""
    path = _path()
    state = state_of(path)
    return {} if state is None else _load(path, state)


def update_calibration(model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
    """Keep what `change` makes of a model's calibration, and give it back.

    No other process writes in between, so nothing learned is lost.
    """
    path = _path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(path.with_suffix(".lock")):
            known = _read(path) if path.exists() else {}
            updated = change(known.get(model, Calibration()))
            replace_private(path, _written({**known, model: updated}))
    except OSError as error:
        raise unwritable(path, error) from None
    except sqlite3.Error as error:
        raise InvalidConfiguration(
            f"cannot be locked: {error}", field=str(path), remedy="Try again once no other Compact is writing it."
        ) from None
    return updated


def _path() -> Path:
    return home() / "calibration.json"


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until no other process is here.

    An empty SQLite file is the lock: it works the same on every platform, and ends with the process that holds it.
    """
    with closing(sqlite3.connect(lock, timeout=_PATIENCE, isolation_level=None)) as held:
        held.execute("BEGIN IMMEDIATE")
        yield


def _written(models: Mapping[str, Calibration]) -> str:
    known = {name: json.loads(models[name].to_json()) for name in sorted(models)}
    return json.dumps({"version": VERSION, "models": known}, indent=2)


@lru_cache(maxsize=4)
def _load(path: Path, _state: tuple[int, int, int]) -> Mapping[str, Calibration]:
    return _read(path)


def _read(path: Path) -> Mapping[str, Calibration]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != VERSION:
            raise ValueError(f"version {document['version']} is unknown")
        return {model: Calibration.from_json(json.dumps(value)) for model, value in document["models"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidConfiguration(
            f"cannot be used: {error}", field=str(path), remedy="Remove the file and run `compact calibrate` again."
        ) from error
