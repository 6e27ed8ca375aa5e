"""Where Compact keeps its own files."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`COMPACT_HOME`, by default the platform's folder for application data; it need not exist yet."""
    if chosen := os.environ.get("COMPACT_HOME"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("compact", appauthor=False)


def database() -> str:
    """Where conversations are stored: `COMPACT_DATABASE`, by default a file in Compact's own folder."""
    return os.environ.get("COMPACT_DATABASE") or str(home() / "sessions.db")
