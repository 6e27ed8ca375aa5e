"""Spans in a file, a JSON object a line."""

from __future__ import annotations

import os
from pathlib import Path

from compact.ports.spans import Exporter, Span
from compact.tracing.complaints import Complaints
from compact.tracing.written import encode, span_to_json


class JsonLinesExporter(Exporter):
    """Appends spans to a file that only its owner can read.

    It is opened for every span, so it may be moved away at any time, and processes may share it.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._complaints = Complaints("[compact]")
        self._torn = False

    def emit(self, span: Span) -> None:
        line = f"{encode(span_to_json(span))}\n".encode()
        try:
            self._append(b"\n" + line if self._torn else line)
        except OSError as error:
            self._complaints.failed(f"trace file {self._path}: {error.strerror or error}", 1)
        else:
            self._complaints.worked()

    def close(self) -> None:
        self._complaints.close()

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        file = os.open(self._path, flags, 0o600)
        try:
            # One call, so that lines of several processes do not mix.
            written = os.write(file, line)
        finally:
            os.close(file)
        self._torn = written < len(line)
        if self._torn:
            raise OSError("a line was written in part only")
