"""Transcripts in parts: a file holds the messages that are new, and names the runs of messages other files hold.

A line of a transcript is a message, or a reference to a run of messages in another file:
{"compact.archived":{"file":"transcript-pre-compact-001.jsonl","sha256":"…","first":1,"last":40}}
The SHA-256 is that of the whole file, so a part that was changed is noticed, and parts cannot refer to each other in
a circle.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias

from compact.disk import json_bytes
from compact.quantities import counted

_KEY = "compact.archived"
_MARK = b'{"%s":' % _KEY.encode()
_QUOTED = _MARK + b'{"message":'  # a message that begins like a reference is wrapped in one
_REMEMBERED = 64  # sessions of which the digests stay in memory
_RECENT = 8  # transcripts of which every message can be found again after a start; of the others only the new ones


@dataclass(frozen=True, slots=True)
class Run:
    """The messages from `first` to `last`, counted from 1, of the transcript in a file with that SHA-256."""

    file: str
    sha256: str
    first: int
    last: int

    def line(self) -> bytes:
        facts = {"file": self.file, "sha256": self.sha256, "first": self.first, "last": self.last}
        return json_bytes({_KEY: facts}, "transcript")


Piece: TypeAlias = bytes | Run
Load: TypeAlias = Callable[[str], tuple[bytes, str | None]]


class BrokenPart(Exception):
    """A part of a transcript is missing or damaged; `file` names it."""

    def __init__(self, file: str, problem: str) -> None:
        self.file, self.problem = file, problem
        super().__init__(f"{file} {problem}")


def write_part(pieces: Iterable[Piece]) -> bytes:
    """The file that holds those messages and references."""
    lines = (piece.line() if isinstance(piece, Run) else _quote(piece) for piece in pieces)
    return b"".join(line + b"\n" for line in lines)


def read_part(file: str, data: bytes) -> tuple[Piece, ...]:
    """The messages and references in a file; BrokenPart where a reference is none."""
    return tuple(_piece(file, number, line) for number, line in enumerate(split_lines(data), 1))


def split_lines(data: bytes) -> list[bytes]:
    """The lines without their ends; the last one may lack its end."""
    return data.split(b"\n")[:-1] if data.endswith(b"\n") else data.split(b"\n") if data else []


def join_parts(pieces: Sequence[Piece], fetch: Callable[[Run], Sequence[Piece]]) -> list[bytes]:
    """The messages, those of other parts included; `fetch` gives the part that a reference names."""
    found: list[bytes] = []
    waiting = list(reversed(pieces))
    while waiting:  # by hand: a session may have more parts than Python has frames
        piece = waiting.pop()
        if isinstance(piece, Run):
            waiting += reversed(_within(fetch(piece), piece))
        else:
            found.append(piece)
    return found


class Past:
    """What is archived of one session's transcripts, by content; the store is the truth, and `refresh` reads it."""

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        self._stamps: dict[str, str] = {}
        self._parts: dict[str, tuple[str, tuple[Piece, ...]]] = {}  # SHA-256, and digests in the place of messages
        self._latest: dict[bytes, tuple[str, int]] = {}  # by digest: a file whose transcript has it, and where

    def refresh(self, stamps: Mapping[str, str], load: Load) -> None:
        """Read the transcripts that are new; `stamps` has those that are there, with a sign that changes with them.

        What cannot be read, or is damaged, is left out: nothing will refer to it.
        """
        if any(stamps.get(name) != stamp for name, stamp in self._stamps.items()):
            for kept in (self._stamps, self._parts, self._latest):  # something is gone or was changed
                kept.clear()
        new = sorted((name for name in stamps if name not in self._stamps), key=lambda name: (len(name), name))
        for name in new:
            try:
                data, expected = load(name)
                pieces = read_part(name, data)
            except (OSError, BrokenPart):
                continue
            if expected == sha256(data).hexdigest():
                self._stamps[name] = stamps[name]
                self._add(name, expected, pieces)
        for name in new[-_RECENT:]:
            self._latest.update((digest, (name, at)) for at, digest in enumerate(self._whole(name)))

    def divide(self, messages: Sequence[bytes]) -> list[Piece]:
        """The messages, with a reference for every run that is archived already, where that is shorter."""
        digests = [_digest(message) for message in messages]
        wholes: dict[str, list[bytes]] = {}
        found: list[Piece] = []
        at, beside = 0, ("", 0)
        while at < len(messages):
            name, place, count = self._longest(digests, at, beside, wholes)
            own = messages[at : at + max(count, 1)]
            if count:
                run = Run(name, self._parts[name][0], place + 1, place + count)
                shorter = len(run.line()) < sum(map(len, own)) + len(own)
                found += [run] if shorter else own
                beside = name, place - at
            else:
                found += own
            at += len(own)
        return found

    def holds(self, name: str, data: bytes, messages: Sequence[bytes]) -> bool:
        """Whether the file of that content is the transcript of those messages."""
        try:
            return join_parts(_digested(read_part(name, data)), self._fetch) == [_digest(each) for each in messages]
        except BrokenPart:
            return False

    def _longest(
        self, digests: Sequence[bytes], at: int, beside: tuple[str, int], wholes: dict[str, list[bytes]]
    ) -> tuple[str, int, int]:
        """The longest run of archived messages from there on: its file, its place, and how many there are.

        It is looked for where the message was seen last, and where the run before would go on beside a change.
        """
        name, shift = beside
        places = [(name, at + shift)] if name else []
        if (latest := self._latest.get(digests[at])) is not None:
            places.append(latest)
        best = ("", 0, 0)
        for name, place in places:
            if name not in wholes:
                wholes[name] = self._whole(name)
            whole, count = wholes[name], 0
            longest = min(len(digests) - at, len(whole) - place)
            while count < longest and digests[at + count] == whole[place + count]:
                count += 1
            best = max(best, (name, place, count), key=lambda run: run[2])
        return best

    def _add(self, name: str, sha: str, pieces: Sequence[Piece]) -> None:
        self._parts[name] = sha, _digested(pieces)
        at = 0
        for piece in self._parts[name][1]:
            if isinstance(piece, bytes):
                self._latest[piece] = name, at
            at += _count(piece)

    def _whole(self, name: str) -> list[bytes]:
        """The digests of the transcript in the file; none where one of its parts is broken."""
        try:
            return join_parts(self._parts[name][1], self._fetch) if name in self._parts else []
        except BrokenPart:
            return []

    def _fetch(self, run: Run) -> Sequence[Piece]:
        sha, pieces = self._parts.get(run.file, ("", ()))
        if sha != run.sha256:
            raise BrokenPart(run.file, "is not what was referred to")
        return pieces


class Pasts:
    """What is archived, of the sessions that were used last."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._pasts: OrderedDict[str, Past] = OrderedDict()

    @contextlib.contextmanager
    def held(self, session: str) -> Iterator[Past]:
        """The past of the session, for one thread at a time."""
        with self._mutex:
            past = self._pasts.pop(session, None) or Past()
            self._pasts[session] = past
            if len(self._pasts) > _REMEMBERED:
                self._pasts.popitem(last=False)
        with past.mutex:
            yield past


def _within(pieces: Sequence[Piece], run: Run) -> list[Piece]:
    """The pieces that hold the messages of the run; BrokenPart where there are not that many."""
    found: list[Piece] = []
    before = 0
    for piece in pieces:
        count = _count(piece)
        low, high = max(run.first - before, 1), min(run.last - before, count)
        if low <= high and isinstance(piece, Run):
            found.append(replace(piece, first=piece.first + low - 1, last=piece.first + high - 1))
        elif low <= high:
            found.append(piece)
        before += count
    if run.last > before:
        raise BrokenPart(run.file, f"is damaged: it has {counted(before, 'message')}, and {run.last} are referred to")
    return found


def _count(piece: Piece) -> int:
    return piece.last - piece.first + 1 if isinstance(piece, Run) else 1


def _quote(message: bytes) -> bytes:
    return _QUOTED + message + b"}}" if message.startswith(_MARK) else message


def _piece(file: str, number: int, line: bytes) -> Piece:
    if not line.startswith(_MARK):
        return line
    if line.startswith(_QUOTED) and line.endswith(b"}}"):
        return line[len(_QUOTED) : -2]
    try:
        run = Run(**json.loads(line)[_KEY])
    except (ValueError, TypeError, RecursionError):
        run = Run(file, "", 0, 0)
    kinds = tuple(map(type, (run.file, run.sha256, run.first, run.last)))
    if kinds != (str, str, int, int) or not 1 <= run.first <= run.last:
        raise BrokenPart(file, f"is damaged, or was written by a later version: line {number} is no reference")
    return run


def _digested(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(_digest(piece) if isinstance(piece, bytes) else piece for piece in pieces)


def _digest(message: bytes) -> bytes:
    return sha256(message).digest()
