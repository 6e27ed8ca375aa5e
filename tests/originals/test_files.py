"""The files of a session: how they are named, whose they are, and what is read of lines that are damaged."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from compact.disk import Disk
from compact.messages import Json, digest_of, message_bytes
from compact.originals import FileOriginals
from compact.originals.lines import (
    Check,
    Commit,
    Damaged,
    Header,
    Kind,
    first_header,
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
from compact.originals.survey import Problem, Survey, is_segment, segment_name, segment_number, segments_of, session_in
from compact.ports import Record

A, B, C = (digest_of({"content": letter}) for letter in "abc")
RECORD = Record("s", 3, 2, "openai-chat", (A, B), [{"pass": 1}], "2030-01-01T00:00:00Z", 2)


def body(line: bytes) -> bytes:
    """What a line says."""
    (read,) = read_lines(line)
    return line[read.start : read.end - 1]


def test_every_line_comes_back_as_it_was_written() -> None:
    raw = message_bytes({"content": "a"})
    assert body(write_message(A, raw)) == A.encode() + b" " + raw
    assert read_message(body(write_message(A, raw))) == {"content": "a"}
    assert read_digest(body(write_message(A, raw))) == A
    assert read_header(body(write_header("s", 1, 20))) == Header("s", 1, 20)
    assert first_header(write_header("s", 1, 20) + b"more") == (Header("s", 1, 20), len(write_header("s", 1, 20)))
    assert read_retract(body(write_retract(1234567890123456))) == 1234567890123456
    lines = [write_message(A, raw), write_commit(RECORD, ()), write_retract(3)]
    check = read_check(body(write_check("s", b"".join(lines), 5)))
    assert check == Check("s", zlib.crc32(b"".join(lines), 5), tuple(map(zlib.crc32, lines[1:])))
    assert read_check(body(write_header("s", 1, 20))) is None


COMMIT = {"number": 3, "parent": 2, "format": "f", "at": "t", "same": 0, "log": [A]}


def changed(values: Json, **others: Json) -> bytes:
    return json.dumps({**values, **others}).encode()


def test_fields_that_earlier_versions_did_not_write_may_be_missing() -> None:
    assert read_commit(changed(COMMIT), "s") == Commit(Record("s", 3, 2, "f", (A,), None, "t", 1), 0, None)


@pytest.mark.parametrize(
    ("read", "line", "problem"),
    [
        (read_digest, A.encode() + b"x", "a message without its digest"),
        (read_digest, A.upper().encode() + b" {}", "a message without its digest"),
        (read_digest, A[:-1].encode() + b"  {}", "a message without its digest"),
        (read_message, A.encode() + b" {}", f"message {A[:12]} is not the one that was written"),
        (read_retract, b"", "a withdrawal without a number"),
        (read_retract, b"-1", "a withdrawal without a number"),
        (read_retract, b"1" * 17, "a withdrawal without a number"),
        (read_header, b"[]", "a header that is no JSON object"),
        (read_header, b"{", "no JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
        (read_header, b"[" * 200_000, "JSON that is nested too deeply"),
        (read_header, b'{"session": 1}', "a header whose 'session' is wrong or missing"),
        (read_header, b'{"session": "s", "segment": -1}', "a header whose 'segment' is wrong or missing"),
        (read_header, b'{"session": "s", "segment": true}', "a header whose 'segment' is wrong or missing"),
        (read_header, b'{"session": "s", "segment": "1"}', "a header whose 'segment' is wrong or missing"),
        (read_header, b'{"session": "s", "segment": 0}', "a header whose 'sealed' is wrong or missing"),
        (read_check, b"1", "a check line that is no JSON object"),
        (read_check, b'{"session": "s"}', "a check line whose 'check' is wrong or missing"),
        (read_check, b'{"session": "s", "check": 0}', "a check line whose 'records' is wrong or missing"),
        (read_check, b'{"session": "s", "check": 0, "records": 5}', "a check line whose 'records' is wrong or missing"),
        (
            read_check,
            b'{"session": "s", "check": 0, "records": [-1]}',
            "a check line whose 'records' is wrong or missing",
        ),
        *(
            (
                lambda line: read_commit(line, "s"),
                changed(COMMIT, **{name: value}),
                f"a record whose '{name}' is wrong or missing",
            )
            for name, value in {
                "number": "3",
                "parent": None,
                "format": 1,
                "at": 1,
                "same": -1,
                "log": [A[:-1]],
                "sum": "1",
                "version": None,
            }.items()
        ),
        (lambda line: read_commit(line, "s"), changed(COMMIT, log=[5]), "a record whose 'log' is wrong or missing"),
        (lambda line: read_commit(line, "s"), b"0", "a record that is no JSON object"),
    ],
)
def test_a_line_that_does_not_say_what_it_has_to_is_damaged(
    read: Callable[[bytes], object], line: bytes, problem: str
) -> None:
    with pytest.raises(Damaged) as raised:
        read(line)
    assert str(raised.value) == problem


def test_data_that_begins_with_no_header_has_none() -> None:
    assert first_header(b"") is None
    assert first_header(write_retract(3)) is None
    assert first_header(write_line(Kind.HEADER, b"{}")) is None
    assert first_header(b"#" + write_header("s", 0, 0)[1:]) is None


def test_files_are_named_by_a_hash_of_the_session_and_a_number() -> None:
    own = segment_name("s", 0)[:64]
    assert segment_name("s", 7) == f"{own}-007.log"
    names = [segment_name("s", number) for number in (1000, 2, 0)] + [
        segment_name("t", 1),
        f"{own}-01.log",
        f"{own}.log",
    ]
    assert [is_segment(name) for name in names] == [True] * 4 + [False] * 2
    assert list(map(segment_number, names)) == [1000, 2, 0, 1, -1, -1]
    assert segments_of(names, "s") == [segment_name("s", number) for number in (0, 2, 1000)]


def test_whose_file_it_is_may_be_said_in_any_line_that_is_whole() -> None:
    name = segment_name("s", 0)
    assert session_in(name, write_header("s", 0, 0)) == "s"
    assert session_in(name, write_header("t", 0, 0)) == ""
    others = write_header("t", 0, 0) + write_line(Kind.HEADER, b"{}") + write_retract(3)
    assert session_in(name, others + write_check("s", b"", 0)) == "s"
    assert session_in(name, others + write_check("t", b"", 0)) == ""
    assert session_in(name, write_header("s", 0, 0)[:-1]) == ""


def test_a_survey_tells_what_can_still_be_read() -> None:
    one, other = RECORD, Record("s", 5, 3, "f", (), None, "t", 1)
    assert str(Survey("s")) == "0 messages and no compaction can still be read"
    found = Survey("s", messages=[(A, b""), (A, b"")], records=[other, one, 7])
    assert str(found) == "1 message and compactions 3, 5 can still be read"
    assert Survey("s", records=[one, other, 3]).live == [5]
    assert Survey("s", records=[one, other], lost=[5]).live == [3]
    assert str(Problem("p", 4, "t")) == "p, line 4: t"
    assert str(Problem("p", 0, "t")) == "p: t"


class Unreadable(Disk):
    """A drive that can read nothing."""

    def read(self, file: int, size: int, offset: int) -> bytes:
        raise OSError(5, "Input/output error")


def test_a_file_that_cannot_be_read_is_told_with_the_reason(tmp_path: Path) -> None:
    message: Json = {"role": "user", "content": "a"}
    FileOriginals(tmp_path).put([message], Record("s", 1, 0, "openai-chat", (digest_of(message),), None, "t"))
    name = segment_name("s", 0)
    found = FileOriginals(tmp_path, disk=Unreadable()).verify("s")
    assert found == (Problem(str(tmp_path / name), 0, "it cannot be read (Input/output error)"),)
