"""What a manager leaves on disk: private, below its folder, never overwritten, and small in memory."""

from __future__ import annotations

import os
import stat
import sys
import tracemalloc
from pathlib import Path

import pytest

from compact.archive import FileArchive, verify
from compact.errors import CompactError, InvalidConfiguration, InvalidInput, StorageError
from compact.messages import Json, digest_of
from compact.originals import FileOriginals
from compact.policies import StorageSettings
from compact.ports import Export, Record
from tests.app.test_manager import Bench, make, talk

__all__ = ["make"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
HELLO: list[Json] = [{"role": "user", "content": "Hello"}]


@posix
def test_folders_that_exist_keep_their_permissions_and_files_are_private(make: Bench) -> None:
    folders = [make.folder / name for name in ("originals", "archive", "archive/s")]
    for folder in folders:
        folder.mkdir()
        folder.chmod(0o755)
    before = os.umask(0)
    try:
        make().preflight("s", talk(20))
    finally:
        os.umask(before)
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o755}
    files = [path for path in make.folder.rglob("*") if path.is_file()]
    assert len(files) >= 6
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


@posix
@pytest.mark.parametrize("place", ["archive", "archive/s", "archive/s/SHA256SUMS", "originals file"])
def test_a_link_below_the_folder_is_refused_and_nothing_is_pruned(make: Bench, tmp_path: Path, place: str) -> None:
    history, elsewhere = talk(20), tmp_path / "elsewhere"
    make().preflight("s", history)
    [log] = (make.folder / "originals").glob("*.log")
    linked = log if place == "originals file" else make.folder / place
    linked.rename(elsewhere)
    linked.symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in [elsewhere, *elsewhere.rglob("*")] if path.is_file()}
    longer = [*history, *talk(20, 20)]
    with pytest.raises(StorageError):
        make().manual_compact("s", longer)
    assert {path: path.read_bytes() for path in [elsewhere, *elsewhere.rglob("*")] if path.is_file()} == before


@posix
def test_the_folder_itself_and_that_of_the_originals_may_be_links(tmp_path: Path) -> None:
    for name in ("drive", "other drive"):
        (tmp_path / name).mkdir()
    (tmp_path / "storage").symlink_to(tmp_path / "drive")
    (tmp_path / "drive" / "originals").symlink_to(tmp_path / "other drive")
    history = talk(20)
    with Bench(tmp_path / "storage")() as manager:
        assert len(manager.preflight("s", history)) < len(history)
        assert manager.undo("s") == history
    assert list((tmp_path / "other drive").glob("*.log"))


@pytest.mark.parametrize("id", ["..", "../up", "a/b", "/etc/up", "C:\\up", "%2e%2e%2fup", "con"])
def test_a_session_id_is_no_path(tmp_path: Path, id: str) -> None:
    make, history = Bench(tmp_path / "a" / "b"), talk(20)
    with make() as manager:
        manager.preflight(id, history)
        assert manager.undo(id) == history
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.relative_to(make.folder).parts[0] for path in written} == {"archive", "originals"}
    assert {len(path.relative_to(make.folder).parts) for path in written} == {2, 3}


@pytest.mark.parametrize("content", [object(), {1, 2}, b"bytes"])
def test_what_is_no_json_is_refused_before_anything_is_written(make: Bench, content: object) -> None:
    history = [*talk(20), {"role": "user", "content": content}]
    with pytest.raises(CompactError):
        make().preflight("s", history)
    log = (digest_of(HELLO[0]),)
    record = Record("s", number=1, parent=0, format="openai-chat", log=log, plan=[], at="2030-01-01T00:00:00Z")
    with pytest.raises(InvalidInput):
        FileOriginals(make.folder / "originals").put([*HELLO, {"content": content}], record)
    assert [path for path in make.folder.rglob("*") if path.is_file() and path.stat().st_size] == []


def test_what_is_archived_is_not_overwritten(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    export = Export("s", step=1, transcript=HELLO, summary={"summary": "They greeted."})
    archive.save(export)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    archive.save(export)
    for other in (Export("s", 1, [], {"summary": "They greeted."}), Export("s", 1, HELLO, {"summary": "Nothing."})):
        with pytest.raises(FileExistsError):
            archive.save(other)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before
    assert list(verify(archive)) == []


def test_a_file_whose_end_is_missing_reads_as_it_was_before(make: Bench) -> None:
    history = talk(20)
    sent = make().preflight("s", history)
    [log] = (make.folder / "originals").glob("*.log")
    size = log.stat().st_size
    longer = [*history, *talk(20, 20)]
    make().preflight("s", longer)
    assert log.stat().st_size > size
    os.truncate(log, size)
    assert FileOriginals(make.folder / "originals").verify("s") == ()
    assert make().preflight("s", history) == sent
    assert make().undo("s") == history
    assert not make.watcher.named("error")


def test_memory_holds_an_index_of_the_sessions_used_last(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)

    def keep(sessions: range) -> int:
        for number in sessions:
            messages = [{"role": "user", "content": f"{number} {line} {'word ' * 200}"} for line in range(50)]
            log = tuple(map(digest_of, messages))
            record = Record(f"s{number}", 1, 0, format="openai-chat", log=log, plan=[], at="2030-01-01T00:00:00Z")
            kept.put(messages, record)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        few, many = keep(range(64)), keep(range(64, 192))
    finally:
        tracemalloc.stop()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) > 9_000_000
    assert few < 3_000_000
    assert many < 1.2 * few
    assert len(kept.records("s0")) == 1


@pytest.mark.parametrize("name", ["access_key_id", "aws_secret_access_key", "session_token", "credentials"])
def test_credentials_are_no_part_of_the_configuration(name: str) -> None:
    storage: dict[str, Json] = {"adapter": "s3", "bucket": "b", "region": "eu-central-1"}
    assert StorageSettings(**storage).bucket == "b"
    storage[name] = "made-up"
    with pytest.raises(InvalidConfiguration, match=name):
        StorageSettings(**storage)
