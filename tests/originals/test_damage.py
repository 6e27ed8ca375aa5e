"""Whatever happens to a session's files: what is read is what was written, or an error says what is wrong."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

from compact.disk import Disk
from compact.errors import CompactError, DamagedOriginals
from compact.messages import Json, digest_of
from compact.originals import FileOriginals
from compact.originals.lines import Kind, write_line
from compact.originals.survey import segment_name
from compact.ports import Record
from tests.crash.faults import HastyDisk

Damage: TypeAlias = Callable[[random.Random, list[bytes]], list[bytes]]
MESSAGES: list[Json] = [
    {"role": "user", "content": f"{number} é\ud800 " + "word " * (number % 4 * 9)} for number in range(14)
]
MESSAGES[3]["meta"] = {"protected": True, "source": "crm-17"}


class Unwilling(HastyDisk):
    """A drive that refuses to confirm, once: then a second file is begun."""

    def __init__(self, at: int) -> None:
        self._left = at

    def sync(self, file: int) -> None:
        self._left -= 1
        if self._left == 0:
            raise OSError(5, "refused")


@dataclass(frozen=True)
class Kept:
    """What was kept, the files of it, and what could be read after each call."""

    files: dict[str, list[bytes]]
    states: list[tuple[Record, ...]]

    @property
    def lines(self) -> set[bytes]:
        return {line for lines in self.files.values() for line in lines}


def made(number: int, parent: int, places: str, session: str = "s") -> tuple[list[Json], Record]:
    log = [MESSAGES[int(place, 16)] for place in places]
    plan = [{"pass": number, "text": "x" * number * 10}]
    digests = tuple(map(digest_of, log))
    return log, Record(session, number, parent, "openai-chat", digests, plan, f"2030-01-0{number}T00:00:00Z")


def keep(folder: Path, disk: Disk) -> Kept:
    store = FileOriginals(folder, disk=disk)
    states: list[tuple[Record, ...]] = [()]
    acts: tuple[Callable[[], None], ...] = (
        lambda: store.keep("s", [MESSAGES[3]]),
        lambda: store.put(*made(1, 0, "0123")),
        lambda: store.put(*made(2, 1, "012345")),
        lambda: store.put(*made(3, 2, "0126789")),
        lambda: store.retract("s", 3),
        lambda: store.put(*made(4, 2, "012345ab")),
        lambda: store.put(*made(2, 1, "012345c")),
        lambda: store.retract("s", 1),
    )
    for act in acts:
        act()
        states.append(store.records("s"))
    store.put(*made(1, 0, "0d", "other"))
    own = segment_name("s", 0)[:64]
    files = {path.name: path.read_bytes().splitlines(keepends=True) for path in folder.iterdir() if own in path.name}
    return Kept(files, states)


@cache
def whole(kind: str, folder: Path) -> Kept:
    """The files as they are written; in two pieces; and as earlier versions wrote them, without checks."""
    made_ = keep(folder / kind, Unwilling(6) if kind == "two files" else HastyDisk())
    assert len(made_.files) == (2 if kind == "two files" else 1)
    if kind != "earlier":
        return made_
    ((name, lines),) = made_.files.items()
    older = [lines[0], *(_without_sum(line) for line in lines[1:] if line[9:10] != b"s")]
    (folder / kind / name).write_bytes(b"".join(older))
    return Kept({name: older}, made_.states)


def _without_sum(line: bytes) -> bytes:
    if line[9:10] != b"c":
        return line
    body = json.loads(line[11:])
    return write_line(Kind.COMMIT, json.dumps({key: body[key] for key in body if key != "sum"}).encode())


def flip(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    data = bytearray(b"".join(lines))
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return [bytes(data)]


def delete(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + 1 :]


def repeat(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    at = rng.randrange(len(lines))
    return [*lines[: at + 1], lines[rng.choice((at, rng.randrange(len(lines))))], *lines[at + 1 :]]


def swap(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    changed = list(lines)
    one, other = rng.sample(range(len(lines)), 2)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def truncate(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    data = b"".join(lines)
    return [data[: rng.randrange(len(data))]]


def overwrite(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    data = bytearray(b"".join(lines))
    start = rng.randrange(len(data))
    size = rng.randrange(1, 300)
    data[start : start + size] = rng.choice((bytes(size), rng.randbytes(size), b"\xff\xfe\n" * 3))
    return [bytes(data)]


def _garbled(rng: random.Random, line: bytes) -> bytes:
    """A line whose checksum is right, and which is no line of its kind."""
    body = line[11:-1]
    wrong = rng.choice((b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b"-1", b"[" * 9000, b"0" * 64, body[:-1]))
    if line[9:10] in b"cs" and rng.random() < 0.6:
        fields = json.loads(body)
        fields[rng.choice([key for key in fields if key != "plan"])] = rng.choice((None, -1, 1.5, [3], {"a": 1}, True))
        wrong = json.dumps(fields).encode()
    return write_line(Kind(line[9:10]), wrong)


def garble(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    at = rng.randrange(len(lines))
    return [*lines[:at], _garbled(rng, lines[at]), *lines[at + 1 :]]


def alter(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    """A line that is right in every respect, and says something else."""
    at = rng.choice([at for at, line in enumerate(lines) if line[9:10] in b"mcr"])
    kind, body = Kind(lines[at][9:10]), lines[at][11:-1]
    if kind is Kind.COMMIT:
        fields = json.loads(body)
        fields |= rng.choice(({"number": 9}, {"plan": []}, {"parent": 0}, {"at": "x"}, {"log": fields["log"][:-1]}))
        body = json.dumps(fields).encode()
    else:
        body = b"2" if kind is Kind.RETRACT else body.replace(b"word", b"drow").replace(b"user", b"tool")
    return [*lines[:at], write_line(kind, body), *lines[at + 1 :]]


DAMAGES: tuple[Damage, ...] = (flip, delete, repeat, swap, truncate, overwrite, garble, alter)
UNNOTICED = {"earlier": {delete, repeat, swap, alter}}
"""What cannot be known where there are no checks: which lines there were."""


def damaged(rng: random.Random, kept: Kept, damage: Damage, folder: Path) -> dict[str, bytes]:
    """Do the damage to one of the files; what is there then."""
    name = rng.choice(sorted(kept.files))
    content = {each: b"".join(lines) for each, lines in kept.files.items()}
    content[name] = b"".join(damage(rng, kept.files[name]))
    for each, data in content.items():
        (folder / each).write_bytes(data)
    return content


def read(store: FileOriginals) -> tuple[Record, ...]:
    """The records with all their messages, each of which must be the one of its digest."""
    records = store.records("s")
    for record in records:
        assert list(map(digest_of, store.get("s", record.log))) == list(record.log)
    assert all(message in MESSAGES for message in store.with_meta("s"))
    assert store.last("s") >= max((record.number for record in records), default=0)
    return records


def check_read(store: FileOriginals, kept: Kept, damage: Damage) -> None:
    """What was written, or an error that says where it is damaged."""
    found: tuple[Record, ...] | DamagedOriginals
    try:
        found = read(store)
    except DamagedOriginals as raised:
        found = raised
    if isinstance(error := found, DamagedOriginals):
        assert error.session == "s"
        assert Path(error.path).name in kept.files
        assert error.line >= 0
        assert "can still be read" in str(error)
        assert "compact originals repair s --storage" in str(error)
    else:
        # What has lost its end reads as it was at an earlier time, just as after a crash.
        assert found in (kept.states if damage in (truncate, overwrite) else kept.states[-1:])


def check_repaired(store: FileOriginals, kept: Kept, damage: Damage, content: dict[str, bytes]) -> None:
    """All that is whole can be had, nothing else, and nothing was deleted."""
    left = {line for data in content.values() for line in data.splitlines(keepends=True)} & kept.lines
    digests = {line[11 : 11 + 64].decode() for line in left if line[9:10] == b"m"}
    assert all(map(MESSAGES.__contains__, store.get("s", sorted(digests))))
    records = {line for line in kept.lines if line[9:10] in b"cr"}
    if damage in (flip, delete, overwrite) and len(content) == 1 and records <= left and b'"sum":' in b"".join(records):
        assert store.records("s") == tuple(each for each in kept.states[-1] if digests.issuperset(each.log))
    known = [each for state in kept.states for each in state]
    assert all(each in known for each in store.records("s"))


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        pytest.param(kind, damage, id=f"{kind}-{damage.__name__}")
        for kind in ("one file", "two files", "earlier")
        for damage in DAMAGES
        if damage not in UNNOTICED.get(kind, ())
    ],
)
def test_what_is_read_is_what_was_written_or_an_error(
    kind: str, damage: Damage, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = whole(kind, tmp_path_factory.getbasetemp() / "kept")
    folder = tmp_path / "originals"
    for seed in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path_factory.getbasetemp() / "kept" / kind, folder)
        rng = random.Random(f"{kind} {damage.__name__} {seed}")
        content = damaged(rng, kept, damage, folder)
        store = FileOriginals(folder, disk=HastyDisk())
        check_read(store, kept, damage)
        assert store.sessions() in (("other", "s"), ("other",))
        assert store.get("other", [digest_of(MESSAGES[13])]) == [MESSAGES[13]]
        done = store.repair("s")
        assert store.verify("s") == ()
        assert store.repair("s") is None
        again = FileOriginals(folder, disk=HastyDisk())
        assert read(store) == read(again)
        if done is not None:
            check_repaired(again, kept, damage, content)
            assert {Path(path).read_bytes() for path in done.aside} <= {*content.values()}
            assert {Path(path).name[:72] for path in done.aside} == {*content}
        again.put(*made(9, 0, "0d"))
        assert again.records("s")[-1] == made(9, 0, "0d")[1]


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _cases() -> Iterator[tuple[str, Callable[[Path], object]]]:
    yield "a folder in its place", _make_folder
    yield "empty", lambda path: path.write_bytes(b"")
    yield "not UTF-8", lambda path: path.write_bytes(b"\xff\xfe\n" * 20)
    yield "of another session", lambda path: shutil.copy(path.with_name(segment_name("other", 0)), path)


@pytest.mark.parametrize(("damage"), [case for _, case in _cases()], ids=[name for name, _ in _cases()])
def test_a_file_that_is_something_else(damage: Callable[[Path], object], tmp_path: Path) -> None:
    keep(tmp_path, HastyDisk())
    path = tmp_path / segment_name("s", 0)
    damage(path)
    store = FileOriginals(tmp_path, disk=HastyDisk())
    if path.is_file() and not path.stat().st_size:
        assert store.records("s") == ()
        return
    with pytest.raises(DamagedOriginals, match="no compaction can still be read"):
        store.records("s")
    assert store.sessions() == ("other",)
    (unknown,) = store.unknown()
    assert unknown.path == str(path)
    done = store.repair("s")
    assert done is not None
    assert Path(*done.aside).exists()
    assert store.verify("s") == ()
    assert store.unknown() == ()
    assert store.records("s") == ()


@pytest.mark.parametrize("gone", [0, 1])
def test_a_file_that_is_missing_while_a_later_one_is_there(gone: int, tmp_path: Path) -> None:
    kept = keep(tmp_path, Unwilling(6))
    (tmp_path / segment_name("s", gone)).unlink()
    store = FileOriginals(tmp_path, disk=HastyDisk())
    if gone:  # nothing says that there was one
        assert store.records("s") in kept.states
        return
    for act in (store.records, lambda session: store.put(*made(9, 0, "0", session))):
        with pytest.raises(DamagedOriginals, match=f"{segment_name('s', 0)}: it is missing"):
            act("s")
    assert store.repair("s") is not None
    assert store.verify("s") == ()
    store.put(*made(9, 0, "0"))


def test_a_session_is_known_by_its_checks_where_its_header_is_damaged(tmp_path: Path) -> None:
    kept = keep(tmp_path, HastyDisk())
    path = tmp_path / segment_name("s", 0)
    path.write_bytes(b"#" + path.read_bytes()[1:])
    store = FileOriginals(tmp_path, disk=HastyDisk())
    assert store.sessions() == ("other", "s")
    done = store.repair("s")
    assert done is not None
    assert done.lost == ()
    assert store.records("s") == kept.states[-1]


def test_files_of_earlier_versions_are_whole(tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = whole("earlier", tmp_path_factory.getbasetemp() / "kept")
    store = FileOriginals(tmp_path_factory.getbasetemp() / "kept" / "earlier", disk=HastyDisk())
    assert store.verify("s") == ()
    assert read(store) == kept.states[-1]


def test_an_error_of_damage_is_a_storage_error(tmp_path: Path) -> None:
    keep(tmp_path, HastyDisk())
    (tmp_path / segment_name("s", 0)).write_bytes(b"?\n")
    with pytest.raises(CompactError) as raised:
        FileOriginals(tmp_path).records("s")
    assert isinstance(raised.value, OSError)
