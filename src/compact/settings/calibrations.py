"""Learned calibration factors, kept in `calibration.json` under Compact's home."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import mkstemp

from compact.errors import InvalidConfiguration
from compact.settings.home import home
from compact.tokens import Calibration

VERSION = 1


def load_calibrations() -> Mapping[str, Calibration]:
    """The calibration of each model that has one; read again only when the file changed."""
    path = home() / "calibration.json"
    try:
        status = path.stat()
    except OSError:
        return {}
    return _load(path, (status.st_mtime_ns, status.st_size))


def save_calibration(model: str, calibration: Calibration) -> Path:
    """Keep a model's calibration; the file is replaced whole, so a crash leaves the old one or the new one."""
    path = home() / "calibration.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        models = {**load_calibrations(), model: calibration}
        document = {"version": VERSION, "models": {name: json.loads(models[name].to_json()) for name in sorted(models)}}
        descriptor, temporary = mkstemp(dir=path.parent, prefix="calibration.", suffix=".tmp")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError as error:
        raise InvalidConfiguration(
            f"cannot be written: {error.strerror}", field=str(path), remedy="Set COMPACT_HOME to a folder of your own."
        ) from None
    return path


@lru_cache(maxsize=4)
def _load(path: Path, _state: tuple[int, int]) -> Mapping[str, Calibration]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != VERSION:
            raise ValueError(f"version {document['version']} is unknown")
        return {model: Calibration.from_json(json.dumps(value)) for model, value in document["models"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidConfiguration(
            f"cannot be used: {error}", field=str(path), remedy="Remove the file and run `compact calibrate` again."
        ) from error
