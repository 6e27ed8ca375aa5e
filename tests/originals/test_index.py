"""What the lines of a file come to, one by one, and which line may not stand where it does."""

from __future__ import annotations

import pytest

from compact.messages import Json, digest_of, message_bytes
from compact.originals.index import Index, Span
from compact.originals.lines import (
    PREFIX,
    Damaged,
    Kind,
    checksum_of,
    read_lines,
    write_check,
    write_commit,
    write_header,
    write_message,
    write_retract,
)
from compact.originals.survey import NO_HEADER, OTHER_LINES, OTHER_SESSION, WRONG_CHECKSUM
from compact.ports import Record

PLAIN: Json = {"content": "a"}
KEPT: Json = {"content": "b", "meta": {"protected": True}}
HEADER = write_header("s", 2, 0)


def message(wire: Json) -> bytes:
    return write_message(digest_of(wire), message_bytes(wire))


def record(number: int, *log: str) -> Record:
    return Record("s", number, 0, "openai-chat", log, None, "t")


def taken(*lines: bytes) -> tuple[Index, list[Span]]:
    """The index of segment 2 of session `s` with these lines, and where their bodies are."""
    index, spans, data = Index("s"), [], b"".join(lines)
    for line in read_lines(data):
        spans.append(Span(2, line.start, line.end - line.start))
        index.add(line.kind, data[line.start - PREFIX : line.end], spans[-1])
    return index, spans


def test_messages_and_records_are_found_by_their_places() -> None:
    a, b = digest_of(PLAIN), digest_of(KEPT)
    lines = [HEADER, message(PLAIN), message(KEPT), message(PLAIN), message(KEPT)]
    lines += [write_commit(record(3, a), ()), write_commit(record(5, a, b), (a,)), write_retract(3), write_retract(9)]
    lines += [write_commit(record(4, a), (a, b))]
    index, spans = taken(*lines)
    assert index.messages == {bytes.fromhex(a): spans[1], bytes.fromhex(b): spans[2]}
    assert index.with_meta == [spans[2], spans[4]]
    assert index.commits == [spans[5], spans[6], spans[9]]
    assert index.live == {5: 1, 4: 2}
    assert index.highest == 9
    assert index.last_log == (a,)
    assert index.checksum == checksum_of(b"".join(lines))


def test_a_check_and_a_header_further_down_change_nothing() -> None:
    index, _ = taken(HEADER, write_retract(3), write_check("s", write_retract(3), checksum_of(HEADER)), HEADER)
    assert (index.highest, index.live) == (3, {})


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([write_retract(3)], NO_HEADER),
        ([write_header("t", 2, 0)], OTHER_SESSION),
        ([write_header("s", 1, 0)], OTHER_SESSION),
        ([HEADER, HEADER[:-2] + b"?\n"], WRONG_CHECKSUM),
        ([HEADER, write_check("t", b"", checksum_of(HEADER))], OTHER_SESSION),
        ([HEADER, write_check("s", b"", 0)], OTHER_LINES),
        ([HEADER, write_commit(record(3, digest_of(PLAIN)), (digest_of(PLAIN),))], OTHER_LINES),
    ],
)
def test_a_line_that_may_not_stand_there_is_damage(lines: list[bytes], problem: str) -> None:
    with pytest.raises(Damaged) as raised:
        taken(*lines)
    assert str(raised.value) == problem


def test_a_line_of_no_kind_is_not_taken_in() -> None:
    index = Index("s")
    with pytest.raises(Damaged):
        index.add(None, HEADER, Span(2, PREFIX, 5))
    index.add(Kind.HEADER, HEADER, Span(2, PREFIX, len(HEADER) - PREFIX))
    assert index.checksum == checksum_of(HEADER)
