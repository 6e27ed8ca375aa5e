"""What is found of damaged files, line by line, and what a repair makes of it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from compact.messages import digest_of
from compact.originals import FileOriginals
from compact.originals.lines import Kind, read_lines, write_check, write_header, write_line, write_message
from compact.originals.survey import Problem, is_segment, segment_name, segment_number, segments_of, session_in
from compact.ports import Record
from tests.crash.faults import HastyDisk
from tests.originals.test_damage import Unwilling
from tests.originals.test_originals import record, text

Change: TypeAlias = Callable[[list[bytes]], list[bytes]]
WRONG = "it is not as it was written"
OTHER_LINES = "the lines before it are not those that were written"


def records() -> list[Record]:
    """Three compactions, each on the log of the one before."""
    return [record(number, [text(each) for each in range(1, number + 2)]) for number in (1, 2, 3)]


def kept(folder: Path, disk: HastyDisk | None = None) -> FileOriginals:
    """Lines: 1 header; 2 and 3 messages, 4 record, 5 check; 6 message, 7 record, 8 check; 9 message, 10 record, ..."""
    store = FileOriginals(folder, disk=disk or HastyDisk())
    for number, made in enumerate(records(), 1):
        store.put([text(each) for each in range(1, number + 2)], made)
    store.retract("s", 2)
    return store


def file_of(folder: Path, segment: int = 0) -> Path:
    return folder / segment_name("s", segment)


def without(*lines: int) -> Change:
    return lambda given: [line for number, line in enumerate(given, 1) if number not in lines]


def instead(number: int, line: bytes) -> Change:
    return lambda given: [*given[: number - 1], line, *given[number:]]


def altered(kind: Kind, line: bytes, **changes: object) -> bytes:
    return write_line(kind, json.dumps({**json.loads(line[11:]), **changes}).encode())


FIRST_GONE = [(5, OTHER_LINES), (4, "1 is missing"), (7, "2 is missing"), (10, "3 is missing")]
CONTINUES = "continues one that is missing or damaged"
CASES: dict[str, tuple[Change, list[tuple[int, str]], list[int], list[int], int]] = {
    "whole": (lambda lines: lines, [], [1, 3], [], 4),
    "cut short": (lambda lines: [*lines, b"0123 half a li"], [], [1, 3], [], 4),
    "a message": (instead(2, b"garbage\n"), [(2, WRONG), *FIRST_GONE], [], [1, 3], 3),
    "another message": (
        instead(6, b"garbage\n"),
        [(6, WRONG), (8, OTHER_LINES), (7, "of compaction 2 is missing"), (10, "of compaction 3 is missing")],
        [1],
        [3],
        3,
    ),
    "a record": (
        without(4),
        [(4, OTHER_LINES), (6, f"compaction 2 {CONTINUES}"), (9, f"compaction 3 {CONTINUES}")],
        [],
        [3],
        4,
    ),
    "the header": (instead(1, b"garbage\n"), [(1, WRONG), (5, OTHER_LINES)], [1, 3], [], 4),
    "no header": (without(1), [(1, "its first line, which says whose"), (4, OTHER_LINES)], [1, 3], [], 4),
    "the end": (lambda lines: [*lines[:-1], lines[-1][:-1] + b"x"], [(13, "its end is not")], [1, 3], [], 4),
    "a header further down": (lambda lines: [*lines, lines[0]], [], [1, 3], [], 4),
    "a check of another": (
        lambda lines: [*lines, write_check("t", b"", 0)],
        [(14, "it belongs to another session")],
        [1, 3],
        [],
        4,
    ),
    "a withdrawal": (
        lambda lines: [*lines, write_line(Kind.RETRACT, b"x")],
        [(14, "a withdrawal without a number")],
        [1, 3],
        [],
        4,
    ),
    "a wrong check": (lambda lines: [*lines, write_check("s", b"", 1)], [(14, OTHER_LINES)], [1, 3], [], 4),
    "another record": (
        lambda lines: instead(10, altered(Kind.COMMIT, lines[9], plan=["other"]))(lines),
        [(11, OTHER_LINES), (10, "it is no record that was written there")],
        [1],
        [],
        4,
    ),
    "another text": (
        instead(2, write_message("0" * 64, b"{}")),
        [(2, "message 000000000000 is not the one that was written"), *FIRST_GONE],
        [],
        [1, 3],
        3,
    ),
}


@pytest.mark.parametrize(("change", "problems", "live", "lost", "messages"), CASES.values(), ids=CASES.keys())
def test_each_problem_is_named_with_its_line_and_what_is_whole_is_kept(
    tmp_path: Path, change: Change, problems: list[tuple[int, str]], live: list[int], lost: list[int], messages: int
) -> None:
    kept(tmp_path)
    path = file_of(tmp_path)
    data = b"".join(change(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(data)
    store = FileOriginals(tmp_path, disk=HastyDisk())
    found = store.verify("s")
    assert [(problem.path, problem.line) for problem in found] == [(str(path), line) for line, _ in problems]
    assert [text for problem, (_, text) in zip(found, problems, strict=True) if text not in problem.text] == []
    done = store.repair("s")
    if not problems:
        assert done is None
        return
    assert done is not None
    assert (done.session, done.problems, done.compactions) == ("s", found, tuple(live))
    assert list(done.lost) == lost
    assert done.messages == messages
    assert done.aside == (f"{path}.damaged-1",)
    assert Path(done.aside[0]).read_bytes() == data
    assert [one.number for one in store.records("s")] == live
    assert store.last("s") == max([*live, *lost, 2])
    assert store.set_aside("s") == done.aside
    assert store.set_aside("other") == ()
    assert file_of(tmp_path).stat().st_mode & 0o777 == 0o600


def test_several_repairs_keep_every_damaged_file_beside(tmp_path: Path) -> None:
    store = kept(tmp_path)
    path = file_of(tmp_path)
    for number in (1, 2, 3):
        path.write_bytes(path.read_bytes() + b"garbage\n")
        done = store.repair("s")
        assert done is not None
        assert done.aside == (f"{path}.damaged-{number}",)
    assert store.set_aside("s") == tuple(f"{path}.damaged-{number}" for number in (1, 2, 3))
    path.unlink()
    path.mkdir()
    done = store.repair("s")
    assert done is not None
    assert done.problems == (Problem(str(path), 0, "it cannot be read (Is a directory)"),)
    assert done.aside == (f"{path}.damaged-4",)
    assert Path(done.aside[0]).is_dir()
    assert (done.messages, done.compactions, store.records("s")) == (0, (), ())


def test_of_two_files_what_was_written_again_is_not_counted_twice_and_helps_a_repair(tmp_path: Path) -> None:
    store = kept(tmp_path, Unwilling(2))
    assert [one.number for one in store.records("s")] == [1, 3]
    assert store.verify("s") == ()
    second = file_of(tmp_path, 1)
    lines = second.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line[9:10] == b"m")
    second.write_bytes(b"".join([*lines[:at], b"garbage\n", *lines[at + 1 :]]))
    found = store.verify("s")
    assert found[0].line == at + 1
    done = store.repair("s")
    assert done is not None
    assert (done.compactions, done.lost, done.messages) == ((1, 3), (), 4)
    assert done.aside == (f"{file_of(tmp_path)}.damaged-1", f"{second}.damaged-1")
    assert not second.exists()
    assert store.get("s", [digest_of(text(number)) for number in (1, 2, 3, 4)]) == [text(n) for n in (1, 2, 3, 4)]


class Unnumbered(Unwilling):
    """A drive whose files all have the same number."""

    def status(self, file: int) -> os.stat_result:
        given = list(super().status(file))
        given[stat.ST_INO] = 0
        return os.stat_result(given)


def test_what_was_known_of_the_files_is_forgotten_when_they_were_replaced(tmp_path: Path) -> None:
    store = kept(tmp_path, Unnumbered(2))
    second = file_of(tmp_path, 1)
    second.write_bytes(second.read_bytes() + b"garbage\n")
    assert store.repair("s") is not None
    assert [one.number for one in store.records("s")] == [1, 3]


@pytest.mark.parametrize(
    ("segment", "problem"),
    [(0, (0, "it is missing")), (1, None)],
)
def test_a_missing_file_is_a_problem_where_a_later_one_says_so(
    tmp_path: Path, segment: int, problem: tuple[int, str] | None
) -> None:
    store = kept(tmp_path, Unwilling(2))
    file_of(tmp_path, segment).unlink()
    found = store.verify("s")
    expected = [] if problem is None else [Problem(str(file_of(tmp_path, segment)), *problem)]
    assert [each for each in found if not each.line] == expected


def test_a_first_file_that_is_shorter_than_the_second_says_lacks_lines(tmp_path: Path) -> None:
    store = kept(tmp_path, Unwilling(2))
    path = file_of(tmp_path)
    (line, *_) = read_lines(path.read_bytes())
    path.write_bytes(path.read_bytes()[: line.end])
    assert store.verify("s")[0] == Problem(str(path), 0, "lines are missing at its end")


def test_a_problem_reads_as_a_place_and_a_sentence() -> None:
    assert str(Problem("a.log", 3, "it is wrong")) == "a.log, line 3: it is wrong"
    assert str(Problem("a.log", 0, "it is missing")) == "a.log: it is missing"


def test_files_are_named_by_a_digest_and_found_in_their_order() -> None:
    names = [segment_name("s", number) for number in (1000, 2, 0, 10)]
    others = [segment_name("t", 0), "x", f"{names[1]}.damaged-1", f"{names[1]}.lock", names[1][1:]]
    assert segments_of([*names, *others], "s") == [segment_name("s", number) for number in (0, 2, 10, 1000)]
    assert [segment_number(name) for name in (*names, *others[1:])] == [1000, 2, 0, 10, -1, -1, -1, -1]
    assert [is_segment(name) for name in others] == [True, False, False, False, False]
    assert "s-" not in segment_name("s", 0)[:64]


def test_a_session_is_named_by_whatever_line_of_its_own_is_whole() -> None:
    name = segment_name("s", 0)
    own, other, broken = write_header("s", 0, 0), write_header("t", 0, 0), write_line(Kind.HEADER, b"{}")
    check = write_check("s", b"", 0)
    assert session_in(name, own) == session_in(name, b"x\n" + broken + other + check) == "s"
    assert session_in(name, other) == session_in(name, b"") == session_in(name, write_message("0" * 64, own)) == ""


def test_a_file_of_another_session_is_none_of_its_own(tmp_path: Path) -> None:
    store = kept(tmp_path)
    other = FileOriginals(tmp_path, disk=HastyDisk())
    other.put([text(1)], record(1, [text(1)], "t"))
    file_of(tmp_path).write_bytes((tmp_path / segment_name("t", 0)).read_bytes())
    found = FileOriginals(tmp_path, disk=HastyDisk()).verify("s")
    assert found == (Problem(str(file_of(tmp_path)), 1, "it belongs to another session, or to another place"),)
    done = store.repair("s")
    assert done is not None
    assert (done.messages, done.compactions, done.lost) == (0, (), ())
