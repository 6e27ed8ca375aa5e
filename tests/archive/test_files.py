"""The archive in a folder: the promised layout, never overwritten, never led astray."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.archive import FileArchive, S3Archive, export, open_archive, show, verify
from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies.session_ids import file_name
from compact.ports import Archive, Export
from tests.crash.faults import HastyDisk
from tests.originals.test_originals import MESSAGES

HELLO: list[Json] = [{"role": "user", "content": "hello\n\ud800"}, {"role": "assistant", "n": 10**40}]
SUMMARY: Json = {"summary": "they greeted"}

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions and links")


def test_files_are_where_they_are_promised_to_be(tmp_path: Path) -> None:
    archive: Archive = FileArchive(tmp_path / ".compact")
    places = archive.save(Export("session-1", 3, HELLO, SUMMARY))
    archive.note("session-1", [{"event": "compact.archival"}])
    folder = tmp_path / ".compact" / "archive" / "session-1"
    assert places == (str(folder / "transcript-pre-compact-003.jsonl"), str(folder / "summary-003.json"))
    assert sorted(path.name for path in folder.iterdir()) == [
        "SHA256SUMS", "events.jsonl", "summary-003.json", "transcript-pre-compact-003.jsonl",
    ]  # fmt: skip
    lines = (folder / "transcript-pre-compact-003.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == HELLO
    assert json.loads((folder / "summary-003.json").read_text()) == SUMMARY
    assert archive.adapter == "fs"


@given(st.lists(MESSAGES, max_size=5), MESSAGES, st.integers(0, 2000))
def test_what_is_saved_comes_back(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Json], summary: Json, step: int
) -> None:
    archive = FileArchive(tmp_path_factory.mktemp("archive"), disk=HastyDisk())
    archive.save(Export("s", step, messages, summary))
    found = show(archive, "s", step)
    assert (repr(found.transcript), repr(found.summary)) == (repr(messages), repr(summary))
    assert list(verify(archive)) == []


def test_saving_the_same_again_is_no_harm_and_saving_something_else_is_refused(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    archive.save(Export("s", 1, HELLO, SUMMARY))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    archive.save(Export("s", 1, HELLO, SUMMARY))
    for other in (Export("s", 1, HELLO[:1], SUMMARY), Export("s", 1, HELLO, {})):
        with pytest.raises(FileExistsError, match="save it as a later step"):
            archive.save(other)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


class Forgetful(HastyDisk):
    """A drive that writes something else than it was given."""

    def write(self, file: int, data: memoryview) -> int:
        return super().write(file, memoryview(bytes(data).replace(b"greeted", b"parted!")))


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="what was written reads differently"):
        FileArchive(tmp_path, disk=Forgetful()).save(Export("s", 1, HELLO, SUMMARY))


@posix
def test_only_the_owner_can_read(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        archive = FileArchive(tmp_path / "new")
        archive.save(Export("s", 1, HELLO, SUMMARY))
        archive.note("s", [{}])
    finally:
        os.umask(before)
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    modes = (
        {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()},
        {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()},
    )
    assert modes == ({0o700}, {0o600})


@posix
def test_folders_that_exist_keep_their_permissions_and_the_files_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "archive" / "s"
    folder.mkdir(parents=True)
    for each in (folder.parent, folder):
        each.chmod(0o755)
    before = os.umask(0)
    try:
        FileArchive(tmp_path).save(Export("s", 1, HELLO, SUMMARY))
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder.parent, folder)} == {0o755}
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


@posix
@pytest.mark.parametrize("name", ["events.jsonl", "SHA256SUMS", "summary-001.json", ".summary-001.json.tmp"])
def test_a_link_in_the_place_of_a_file_is_not_followed(name: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    archive = FileArchive(tmp_path / "root")
    folder = tmp_path / "root" / "archive" / "s"
    folder.mkdir(parents=True)
    (folder / name).symlink_to(precious)
    if name.endswith(".tmp"):
        archive.save(Export("s", 1, HELLO, SUMMARY))  # what a killed process left is removed, link or not
    else:
        with pytest.raises(OSError, match="symbolic links"):
            archive.note("s", [{}]) if name == "events.jsonl" else archive.save(Export("s", 1, HELLO, SUMMARY))
    assert precious.read_bytes() == b"precious"


@posix
@pytest.mark.parametrize("which", ["archive", "archive/s"])
def test_a_link_in_the_place_of_a_folder_is_not_followed(which: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "s").mkdir(parents=True)
    (tmp_path / "root" / which).parent.mkdir(parents=True)
    (tmp_path / "root" / which).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    archive = FileArchive(tmp_path / "root")
    for attempt in (lambda: archive.save(Export("s", 1, HELLO, SUMMARY)), lambda: archive.note("s", [{}])):
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            attempt()
    assert [path for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "session", ["..", "../up", "a/b", "a\\b", "/etc", "con", "user:42", "\N{LATIN SMALL LETTER U WITH DIAERESIS}" * 256]
)
def test_any_session_has_a_folder_of_its_own_inside_the_archive(session: str, tmp_path: Path) -> None:
    archive = FileArchive(tmp_path / "root")
    archive.save(Export("plain", 1, HELLO, SUMMARY))
    archive.save(Export(session, 1, HELLO, SUMMARY))
    archive.note(session, [{"name": "e"}])
    assert {path.name for path in (tmp_path / "root" / "archive").iterdir()} == {"plain", file_name(session)}
    assert {path.parent.parent for path in tmp_path.rglob("*.json*")} == {tmp_path / "root" / "archive"}
    assert show(archive, session, 1).transcript == HELLO
    assert [entry.session for entry in archive.entries(session)] == [session] * 3
    assert list(verify(archive)) == []
    short = len(session) < 100
    assert {entry.session for entry in archive.entries()} == {"plain", session if short else file_name(session)}


@pytest.mark.parametrize("session", ["", "a\0", "a\n", "x" * 257])
def test_what_is_no_session_id_is_refused(session: str, tmp_path: Path) -> None:
    archive = FileArchive(tmp_path / "root")
    for attempt in (
        lambda: archive.save(Export(session, 1, HELLO, SUMMARY)),
        lambda: archive.note(session, [{}]),
        lambda: show(archive, session, 1),
        lambda: export(archive, session),
    ):
        with pytest.raises(InvalidInput, match="session_id"):
            attempt()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_json_or_no_step_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path / "root")
    with pytest.raises(InvalidInput, match=r"transcript\[1\]"):
        archive.save(Export("s", 1, [{}, {"n": {1}}], SUMMARY))
    with pytest.raises(InvalidInput, match="summary"):
        archive.save(Export("s", 1, [], b"raw"))
    with pytest.raises(InvalidInput, match="event"):
        archive.note("s", [{"n": object()}])
    with pytest.raises(InvalidInput, match="step"):
        archive.save(Export("s", -1, [], None))
    assert list(tmp_path.iterdir()) == []


def test_an_event_that_was_cut_short_is_dropped_and_the_next_one_is_whole(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    archive.note("s", [{"number": 1}])
    file = tmp_path / "archive" / "s" / "events.jsonl"
    file.write_bytes(file.read_bytes() + b'{"number": "' + b"x" * 100_000)
    assert export(archive, "s")["events"] == [{"number": 1}]
    assert list(verify(archive)) == []
    archive.note("s", [{"number": 2}])
    assert file.read_bytes() == b'{"number":1}\n{"number":2}\n'


def test_verify_tells_what_is_damaged_missing_or_unfinished(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    for step in (1, 2, 3):
        archive.save(Export("s", step, HELLO, SUMMARY))
    archive.note("s", [{}])
    folder = tmp_path / "archive" / "s"
    (folder / "transcript-pre-compact-001.jsonl").write_bytes(b"no json\n")
    (folder / "summary-002.json").unlink()
    sums = (folder / "SHA256SUMS").read_text().splitlines(keepends=True)
    (folder / "SHA256SUMS").write_text("".join(line for line in sums if "summary-003" not in line))
    (folder / "events.jsonl").write_bytes(b"{}\nbroken\n")
    (folder / "notes.txt").write_bytes(b"somebody's own")
    assert [(problem.name, problem.text) for problem in verify(archive, "s")] == [
        ("events.jsonl", "line 2 is no JSON"),
        ("summary-002.json", "missing"),
        ("summary-003.json", "unfinished: no checksum was written"),
        ("transcript-pre-compact-001.jsonl", "damaged: its SHA-256 is not the one it was saved with"),
        ("transcript-pre-compact-001.jsonl", "line 1 is no JSON"),
    ]
    with pytest.raises(InvalidInput, match=r"is not archived whole.*Archived steps: 1, 3"):
        show(archive, "s", 2)
    with pytest.raises(InvalidInput, match="is damaged"):
        show(archive, "s", 1)


def test_what_cannot_be_read_hides_nothing_else(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    for session in ("a", "b", "c"):
        archive.save(Export(session, 1, HELLO, SUMMARY))
    linked = tmp_path / "archive" / "a" / "summary-001.json"
    linked.unlink()
    linked.symlink_to(tmp_path / "archive" / "c" / "summary-001.json")
    folder = tmp_path / "archive" / "b" / "summary-001.json"
    folder.unlink()
    folder.mkdir()
    assert len(archive.entries()) == 6
    problems = [problem for problem in verify(archive) if problem.name == "summary-001.json"]
    assert [problem.session for problem in problems] == ["a", "b"]
    assert all(problem.text.startswith("cannot be read: ") for problem in problems)
    with pytest.raises(InvalidInput, match="not archived whole"):
        show(archive, "a", 1)
    with pytest.raises(InvalidInput, match="cannot be read"):
        export(archive, "b")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_the_checksums_can_be_checked_with_the_usual_tool(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    for step in (1, 2):
        archive.save(Export("s", step, HELLO, SUMMARY))
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(command, cwd=tmp_path / "archive" / "s", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK") == 4


def test_everything_of_a_session_can_be_exported(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    archive.save(Export("s", 2, HELLO, SUMMARY))
    archive.save(Export("s", 1, HELLO[:1], None))
    archive.note("s", [{"a": 1}])
    assert export(archive, "s") == {
        "session": "s",
        "steps": [
            {"step": 1, "transcript": HELLO[:1], "summary": None},
            {"step": 2, "transcript": HELLO, "summary": SUMMARY},
        ],
        "events": [{"a": 1}],
    }
    with pytest.raises(InvalidInput, match="nothing is archived of nobody"):
        export(archive, "nobody")


def test_what_is_not_an_archive_is_empty(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "file").write_bytes(b"")
    (tmp_path / "archive" / ".hidden").mkdir()
    assert FileArchive(tmp_path).entries() == ()
    assert FileArchive(tmp_path / "missing").entries() == ()
    assert FileArchive(tmp_path / "missing").entries("s") == ()


def test_threads_may_use_one_archive(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path, disk=HastyDisk())

    def work(first: int) -> None:
        for step in range(first, first + 10):
            archive.save(Export("s", step, HELLO, {"step": step}))
            archive.save(Export("s", 999, HELLO, {}))
            archive.note("s", [{"step": step}])

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 101, 201)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = export(archive, "s")
    assert len(found["steps"]) == 31
    assert len(found["events"]) == 30
    assert list(verify(archive)) == []


def test_a_place_is_a_folder_or_a_bucket(tmp_path: Path) -> None:
    assert isinstance(open_archive(str(tmp_path)), FileArchive)
    assert isinstance(open_archive("s3://bucket/some/prefix"), S3Archive)
