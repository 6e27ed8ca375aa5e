"""A drive that takes nothing, or only half: what was promised is there, and what was not leaves no trace."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from compact.disk import Disk, Folder
from compact.errors import DamagedOriginals
from compact.messages import digest_of
from compact.originals import FileOriginals
from compact.originals.lines import first_header, read_lines
from compact.originals.survey import segment_name
from tests.crash.faults import HastyDisk
from tests.originals.test_originals import record, text


class TroubledDisk(Disk):
    """Fails the next so many calls of a name; `half` of a write is taken before it fails."""

    def __init__(self) -> None:
        self.failing: dict[str, int] = {}
        self.half = False
        self.made: list[str] = []

    def _call(self, name: str) -> None:
        self.made.append(name)
        if self.failing.get(name, 0) > 0:
            self.failing[name] -= 1
            raise OSError(errno.ENOSPC, "no space")

    def write(self, file: int, data: memoryview) -> int:
        if self.half and len(data) > 1:
            self.half, self.failing["write"] = False, 1
            return os.write(file, data[: len(data) // 2])
        self._call("write")
        return os.write(file, data)

    def truncate(self, file: int, size: int) -> None:
        self._call("truncate")
        super().truncate(file, size)

    def sync(self, file: int) -> None:
        self._call("sync")

    def sync_folder(self, folder: Folder) -> None:
        self._call("sync_folder")


def whole(folder: Path, count: int) -> None:
    """Everybody reads just the first so many records, with their messages."""
    other = FileOriginals(folder, disk=HastyDisk())
    assert [one.number for one in other.records("s")] == list(range(1, count + 1))
    digests = [digest_of(text(number)) for number in range(1, count + 1)]
    assert other.get("s", digests) == [text(number) for number in range(1, count + 1)]
    assert other.verify("s") == ()


def put(kept: FileOriginals, number: int) -> None:
    kept.put([text(number)], record(number, [text(number)]))


def file_of(folder: Path, segment: int = 0) -> Path:
    return folder / segment_name("s", segment)


@pytest.mark.parametrize("half", [True, False])
def test_what_failed_to_be_written_is_taken_back_at_once(tmp_path: Path, half: bool) -> None:
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path, disk=disk)
    put(kept, 1)
    before = file_of(tmp_path).read_bytes()
    disk.half = half
    disk.failing["write"] = not half
    with pytest.raises(OSError, match="no space"):
        put(kept, 2)
    assert file_of(tmp_path).read_bytes() == before
    whole(tmp_path, 1)
    put(kept, 2)
    put(kept, 3)
    whole(tmp_path, 3)
    assert file_of(tmp_path).read_bytes().startswith(before)
    assert not file_of(tmp_path, 1).exists()


def test_what_could_not_be_taken_back_is_before_anything_else_is_done(tmp_path: Path) -> None:
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path, disk=disk)
    put(kept, 1)
    before = file_of(tmp_path).read_bytes()
    disk.half, disk.failing["truncate"] = True, 1
    with pytest.raises(OSError, match="no space"):
        put(kept, 2)
    assert len(file_of(tmp_path).read_bytes()) > len(before)
    whole(tmp_path, 1)
    assert [one.number for one in kept.records("s")] == [1]
    assert file_of(tmp_path).read_bytes() == before
    put(kept, 2)
    whole(tmp_path, 2)


def test_what_somebody_else_wrote_since_is_not_taken_back(tmp_path: Path) -> None:
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path, disk=disk)
    put(kept, 1)
    disk.half, disk.failing["truncate"] = True, 1
    with pytest.raises(OSError, match="no space"):
        put(kept, 2)
    other = FileOriginals(tmp_path, disk=HastyDisk())
    put(other, 2)
    put(other, 3)
    assert [one.number for one in kept.records("s")] == [1, 2, 3]
    whole(tmp_path, 3)


def test_where_the_drive_does_not_take_it_a_new_file_is_begun_that_says_how_much_of_the_old_one_counts(
    tmp_path: Path,
) -> None:
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path, disk=disk)
    put(kept, 1)
    counts = len(file_of(tmp_path).read_bytes())
    disk.failing["sync"] = 1
    put(kept, 2)
    found = first_header(file_of(tmp_path, 1).read_bytes())
    assert found is not None
    assert found[0] == ("s", 1, counts)
    put(kept, 3)
    whole(tmp_path, 3)
    assert not file_of(tmp_path, 2).exists()
    assert [one.number for one in kept.records("s")] == [1, 2, 3]


def test_where_the_drive_takes_neither_nothing_of_it_counts(tmp_path: Path) -> None:
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path, disk=disk)
    put(kept, 1)
    before = file_of(tmp_path).read_bytes()
    disk.failing["sync"] = 2
    with pytest.raises(OSError, match="the drive does not take what is written") as caught:
        put(kept, 2)
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, str(file_of(tmp_path, 1)))
    assert file_of(tmp_path).read_bytes() == before
    assert file_of(tmp_path, 1).read_bytes() == b""
    whole(tmp_path, 1)
    put(kept, 2)
    whole(tmp_path, 2)


def test_what_another_wrote_and_the_drive_does_not_have_is_written_again(tmp_path: Path) -> None:
    other = FileOriginals(tmp_path, disk=HastyDisk())
    put(other, 1)
    counts = len(file_of(tmp_path).read_bytes())
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path, disk=disk)
    assert len(kept.records("s")) == 1
    put(other, 2)
    other.retract("s", 1)
    put(other, 1)
    disk.failing["sync"] = 1
    assert [one.number for one in kept.records("s")] == [1, 2]
    data = file_of(tmp_path, 1).read_bytes()
    found = first_header(data)
    assert found is not None
    assert found[0] == ("s", 1, counts)
    kinds = [line.kind.value for line in read_lines(data) if line.kind]
    assert kinds == [b"s", b"m", b"c", b"r", b"c", b"s"]
    whole(tmp_path, 2)
    put(kept, 3)
    whole(tmp_path, 3)


def test_a_new_file_that_the_drive_does_not_have_is_an_error_until_it_has(tmp_path: Path) -> None:
    disk = TroubledDisk()
    put(FileOriginals(tmp_path, disk=HastyDisk()), 1)
    kept = FileOriginals(tmp_path, disk=disk)
    disk.failing["sync"] = 2
    with pytest.raises(OSError, match="the drive does not take"):
        kept.records("s")
    assert [one.number for one in kept.records("s")] == [1]
    whole(tmp_path, 1)


def test_names_are_on_the_drive_before_a_record_counts(tmp_path: Path) -> None:
    disk = TroubledDisk()
    kept = FileOriginals(tmp_path / "new", disk=disk)
    put(kept, 1)
    assert disk.made.index("sync") < len(disk.made) - 1 - disk.made[::-1].index("sync_folder")
    disk.made.clear()
    put(kept, 2)
    assert "sync_folder" not in disk.made
    assert disk.made.count("sync") == 1


def test_half_of_a_write_that_was_never_finished_is_written_over(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path, disk=HastyDisk())
    put(kept, 1)
    with file_of(tmp_path).open("ab") as file:
        file.write(b"01234567 m abc")
    whole(tmp_path, 1)
    put(FileOriginals(tmp_path, disk=HastyDisk()), 2)
    whole(tmp_path, 2)
    assert b"01234567 m abc" not in file_of(tmp_path).read_bytes()


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    long = text(1, 3 << 20)
    kept = FileOriginals(tmp_path, disk=HastyDisk())
    kept.put([long, text(2)], record(1, [long, text(2)]))
    other = FileOriginals(tmp_path, disk=HastyDisk())
    assert other.get("s", [digest_of(text(2)), digest_of(long)]) == [text(2), long]
    assert other.last("s") == 1


def segments(folder: Path, count: int) -> FileOriginals:
    """Records in so many files each."""
    disk = TroubledDisk()
    kept = FileOriginals(folder, disk=disk)
    put(kept, 1)
    for number in range(2, count + 1):
        disk.failing["sync"] = 1
        put(kept, number)
    return kept


@pytest.mark.parametrize("missing", [0, 1])
def test_a_file_that_is_missing_in_between_is_told(tmp_path: Path, missing: int) -> None:
    segments(tmp_path, 3)
    whole(tmp_path, 3)
    file_of(tmp_path, missing).unlink()
    with pytest.raises(DamagedOriginals) as caught:
        FileOriginals(tmp_path, disk=HastyDisk()).records("s")
    assert str(file_of(tmp_path, missing)) in str(caught.value)


@pytest.mark.parametrize("segment", [0, 1])
def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path, segment: int) -> None:
    segments(tmp_path, 2)
    file_of(tmp_path, segment).unlink()
    file_of(tmp_path, segment).mkdir()
    with pytest.raises(DamagedOriginals, match="it is a folder") as caught:
        FileOriginals(tmp_path, disk=HastyDisk()).records("s")
    assert str(file_of(tmp_path, segment)) in str(caught.value)


def test_a_sealed_file_that_is_shorter_than_it_was_is_told(tmp_path: Path) -> None:
    segments(tmp_path, 2)
    found = first_header(file_of(tmp_path, 1).read_bytes())
    assert found is not None
    data = file_of(tmp_path).read_bytes()
    file_of(tmp_path).write_bytes(data[: found[0].sealed])
    whole(tmp_path, 2)
    file_of(tmp_path).write_bytes(data[: found[0].sealed - 1])
    with pytest.raises(DamagedOriginals) as caught:
        FileOriginals(tmp_path, disk=HastyDisk()).records("s")
    assert str(file_of(tmp_path)) in str(caught.value)


def test_messages_that_nobody_kept_are_named(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path, disk=HastyDisk())
    with pytest.raises(KeyError, match="abc"):
        kept.get("s", ["abc"])
    put(kept, 1)
    for digest in ("abc", digest_of(text(7))):
        with pytest.raises(KeyError, match=digest):
            kept.get("s", [digest_of(text(1)), digest])
    assert kept.get("s", [digest_of(text(1))] * 2) == [text(1)] * 2
