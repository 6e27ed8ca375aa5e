"""The lines of a file of originals: what is written, what is read, and what is damaged."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from compact.originals.index import Index, Span
from compact.originals.lines import (
    PREFIX,
    Check,
    Damaged,
    Header,
    Kind,
    Line,
    checksum_of,
    first_header,
    is_cut_short,
    read_check,
    read_commit,
    read_digest,
    read_header,
    read_lines,
    read_message,
    read_retract,
    write_check,
    write_commit,
    write_header,
    write_line,
    write_message,
    write_retract,
)
from compact.ports import Record

RAW = b'{"role": "user", "content": "Hello."}'
DIGEST = sha256(RAW).hexdigest()
LOG = tuple(sha256(bytes([number])).hexdigest() for number in range(4))
RECORD = Record("s", 3, 2, "openai-chat", LOG[:3], [{"name": "Cut"}], "2026-01-02T03:04:05Z")


def body_of(line: bytes) -> bytes:
    return line[PREFIX:-1]


def fields(body: bytes, **changes: Any) -> bytes:
    """The body with other values; None takes one away."""
    values = {**json.loads(body), **changes}
    return json.dumps({name: value for name, value in values.items() if value is not None}).encode()


def test_a_line_is_its_checksum_its_kind_and_its_body() -> None:
    line = write_line(Kind.RETRACT, b"12")
    assert line == b"%08x r 12\n" % zlib.crc32(b"r 12")
    assert write_retract(12) == line
    assert body_of(line) == b"12"
    assert checksum_of(b"ab") == checksum_of(b"b", checksum_of(b"a")) == zlib.crc32(b"ab")


def test_lines_are_read_with_their_places_and_damaged_ones_have_no_kind() -> None:
    first, second = write_header("s", 1, 0), write_message(DIGEST, RAW)
    end = len(first)
    assert list(read_lines(first + second + b"the beginning")) == [
        Line(Kind.HEADER, PREFIX, end),
        Line(Kind.MESSAGE, end + PREFIX, end + len(second)),
    ]
    flipped = bytearray(first + second)
    flipped[end + PREFIX + 3] ^= 1
    assert [line.kind for line in read_lines(bytes(flipped))] == [Kind.HEADER, None]
    unknown = b"%08x x 1\n" % zlib.crc32(b"x 1")
    short = b"%08x \n" % zlib.crc32(b"")
    assert [line.kind for line in read_lines(unknown + short + b"\n" + first)] == [None, None, None, Kind.HEADER]
    assert list(read_lines(b"")) == list(read_lines(b"no end")) == []
    empty = write_line(Kind.RETRACT, b"")
    assert list(read_lines(empty)) == [Line(Kind.RETRACT, PREFIX, PREFIX + 1)]


def test_a_line_that_lacks_only_its_end_was_changed_and_not_cut_short() -> None:
    line = write_retract(12)
    assert not is_cut_short(line[:-1] + b"x")
    assert is_cut_short(line[:-2])
    assert is_cut_short(b"")


def test_a_message_is_read_by_its_digest() -> None:
    body = body_of(write_message(DIGEST, RAW))
    assert (read_digest(body), read_message(body)) == (DIGEST, json.loads(RAW))
    for wrong in (body[1:], DIGEST.upper().encode() + b" {}", DIGEST.encode() + b"_{}", b"\xff" * 64 + b" {}"):
        with pytest.raises(Damaged, match="a message without its digest"):
            read_digest(wrong)
    with pytest.raises(Damaged, match=f"message {DIGEST[:12]} is not the one that was written"):
        read_message(body + b" ")
    deep = b"[" * 100_000
    for raw, problem in ((b"{", r"no JSON \("), (deep, "JSON that is nested too deeply")):
        with pytest.raises(Damaged, match=problem):
            read_message(body_of(write_message(sha256(raw).hexdigest(), raw)))


def test_a_header_says_whose_file_it_is() -> None:
    line = write_header("s", 2, 77)
    assert read_header(body_of(line)) == Header("s", 2, 77)
    assert first_header(line + b"more") == (Header("s", 2, 77), len(line))
    wrong = write_line(Kind.HEADER, b"{}")
    for data in (b"", line[:-1], write_retract(3), wrong, b"x" + line):
        assert first_header(data) is None
    for name, values in (("session", (3, None)), ("segment", (-1, True, "1", 1.0, None)), ("sealed", (-1, None))):
        for value in values:
            with pytest.raises(Damaged, match=f"a header whose '{name}' is wrong or missing"):
                read_header(fields(body_of(line), **{name: value}))
    with pytest.raises(Damaged, match="a header that is no JSON object"):
        read_header(b"[]")


def test_a_check_line_holds_the_checksums_of_what_was_appended() -> None:
    kept = write_commit(RECORD, ()), write_retract(3)
    lines = write_message(DIGEST, RAW) + kept[0] + kept[1]
    body = body_of(write_check("s", lines, 5))
    assert read_check(body) == Check("s", zlib.crc32(lines, 5), tuple(map(zlib.crc32, kept)))
    assert read_check(body_of(write_header("s", 1, 0))) is None  # as earlier versions wrote it
    for changes in ({"check": None}, {"check": -1}, {"records": 3}, {"records": ["x"]}, {"session": None}):
        (name,) = changes
        with pytest.raises(Damaged, match=f"a check line whose '{name}' is wrong or missing"):
            read_check(fields(body, **changes))
    assert read_check(fields(body, sealed=1)) == read_check(body)


@pytest.mark.parametrize("before", [(), LOG[:2], LOG[:3], LOG])
def test_a_record_is_written_as_what_differs_and_read_after_the_same_record(before: tuple[str, ...]) -> None:
    body = body_of(write_commit(RECORD, before))
    commit = read_commit(body, "s")
    assert commit.same == min(len(before), 3)
    assert commit.record.log == LOG[commit.same : 3]
    assert commit.follow(before) == RECORD
    assert commit.follow(LOG[1:]) is None or not before
    if before:
        assert commit.follow(before[: commit.same - 1]) is None
        assert commit.follow((*before[: commit.same - 1], LOG[3])) is None
        unsummed = read_commit(fields(body, sum=None, version=None), "s")  # as earlier versions wrote it
        assert (unsummed.sum, unsummed.record.version) == (None, 1)
        followed = unsummed.follow((*before[: commit.same - 1], LOG[3]))
        assert followed is not None
        assert followed.log == (*before[: commit.same - 1], LOG[3], *LOG[commit.same : 3])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("number", (None, "1", -1, True)),
        ("parent", (None, "1")),
        ("format", (None, 1)),
        ("at", (None, 1)),
        ("same", (None, "1")),
        ("sum", ("1",)),
        ("version", ("1",)),
        ("log", (None, "x", [3], ["x"], [DIGEST.upper()], [DIGEST + "0"])),
    ],
)
def test_a_record_with_a_wrong_field_names_it(name: str, values: tuple[Any, ...]) -> None:
    body = body_of(write_commit(RECORD, ()))
    for value in values:
        with pytest.raises(Damaged, match=f"a record whose '{name}' is wrong or missing"):
            read_commit(fields(body, **{name: value}), "s")
    with pytest.raises(Damaged, match="a record that is no JSON object"):
        read_commit(b"3", "s")


def test_a_withdrawal_is_a_number() -> None:
    assert (read_retract(b"12"), read_retract(b"1" * 16)) == (12, int("1" * 16))
    for body in (b"", b"-1", b"x", b"1" * 17):
        with pytest.raises(Damaged, match="a withdrawal without a number"):
            read_retract(body)


class Filed:
    """An index, and the lines it has taken in."""

    def __init__(self) -> None:
        self.index, self.offset, self.checksum = Index("s"), 0, 0

    def add(self, line: bytes, *, kind: Kind | None = Kind.HEADER, segment: int = 1) -> Span:
        span = Span(segment, self.offset + PREFIX, len(line) - PREFIX - 1)
        self.index.add(kind, line, span)
        self.offset += len(line)
        return span


def test_an_index_knows_messages_records_and_withdrawals() -> None:
    filed = Filed()
    header, lines = write_header("s", 1, 0), write_message(DIGEST, RAW)
    filed.add(header)
    first = filed.add(lines, kind=Kind.MESSAGE)
    filed.add(lines, kind=Kind.MESSAGE)  # the first one counts
    meta = b'{"role": "user", "content": "x", "meta": {"protected": true}}'
    pinned = filed.add(write_message(sha256(meta).hexdigest(), meta), kind=Kind.MESSAGE)
    commit = filed.add(write_commit(RECORD, ()), kind=Kind.COMMIT)
    index = filed.index
    assert index.messages == {bytes.fromhex(DIGEST): first, sha256(meta).digest(): pinned}
    assert (index.with_meta, index.commits, index.live, index.highest) == ([pinned], [commit], {3: 0}, 3)
    assert index.last_log == RECORD.log
    filed.add(write_commit(replace(RECORD, number=2, log=LOG), RECORD.log), kind=Kind.COMMIT)
    assert (index.live, index.highest, index.last_log) == ({3: 0, 2: 1}, 3, LOG)
    filed.add(write_retract(3), kind=Kind.RETRACT)
    assert (index.live, index.highest) == ({2: 1}, 3)
    filed.add(write_retract(9), kind=Kind.RETRACT)
    assert (index.live, index.highest) == ({2: 1}, 9)
    before = index.checksum
    filed.add(write_check("s", b"", before))
    with pytest.raises(Damaged):
        filed.add(write_check("s", b"", before))  # a line stands before it since


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (write_retract(1), Kind.RETRACT),
        (write_header("t", 1, 0), Kind.HEADER),
        (write_header("s", 2, 0), Kind.HEADER),
        (write_header("s", 1, 0), None),
    ],
)
def test_a_segment_begins_with_its_own_header(line: bytes, kind: Kind | None) -> None:
    with pytest.raises(Damaged):
        Filed().add(line, kind=kind)


def test_lines_of_another_session_or_order_are_damaged() -> None:
    for line, kind in (
        (write_check("t", b"", checksum_of(write_header("s", 1, 0))), Kind.HEADER),
        (write_commit(RECORD, LOG[:1]), Kind.COMMIT),
        (write_retract(1), None),
    ):
        filed = Filed()
        filed.add(write_header("s", 1, 0))
        with pytest.raises(Damaged):
            filed.add(line, kind=kind)
    filed = Filed()
    filed.add(write_header("s", 1, 0))
    filed.add(write_header("s", 1, 0))  # which earlier versions wrote further down
