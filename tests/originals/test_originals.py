"""What is kept comes back as it was, whoever kept it and whoever asks."""

from __future__ import annotations

import math
import os
import shutil
import stat
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import DamagedOriginals, InvalidInput
from compact.messages import Json, digest_of
from compact.originals import FileOriginals, store
from compact.originals.lines import write_message
from compact.originals.survey import segment_name
from compact.ports import Originals, Record
from tests.crash.faults import HastyDisk

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**64, max_value=2**200)
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.just("\ud800 alone")
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)
MESSAGES = st.dictionaries(st.text(max_size=5), _VALUES, max_size=3)


def record(number: int, messages: list[Json], session: str = "s", plan: Json = None) -> Record:
    log = tuple(map(digest_of, messages))
    return Record(session, number, number - 1, "openai-chat", log, plan, "2030-01-01T00:00:00Z")


def text(number: int, size: int = 10) -> Json:
    return {"role": "user", "content": f"{number} " + "x" * size}


PUT = st.tuples(st.just("put"), st.sampled_from(["a", "b"]), st.integers(1, 4), st.lists(MESSAGES, max_size=4), _VALUES)
RETRACT = st.tuples(st.just("retract"), st.sampled_from(["a", "b"]), st.integers(1, 4))
REOPEN = st.tuples(st.just("reopen"))


@given(st.lists(PUT | RETRACT | REOPEN, max_size=12))
def test_it_behaves_like_a_dictionary_of_records_and_one_of_messages(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = [FileOriginals(folder, disk=HastyDisk()), FileOriginals(folder, disk=HastyDisk())]
        records: dict[str, dict[int, Record]] = {"a": {}, "b": {}}
        messages: dict[str, dict[str, Json]] = {"a": {}, "b": {}}
        for turn, step in enumerate(steps):
            kept = stores[turn % 2]  # two of them on one folder see each other's work
            match step:
                case ("put", session, number, given, plan):
                    made = record(number, given, session, plan)
                    kept.put(given, made)
                    records[session][number] = made
                    messages[session] |= zip(made.log, given, strict=True)
                case ("retract", session, number):
                    kept.retract(session, number)
                    records[session].pop(number, None)
                case _:
                    stores[turn % 2] = FileOriginals(folder, disk=HastyDisk())
        for kept in stores:
            for session in "ab":
                assert kept.records(session) == tuple(value for _, value in sorted(records[session].items()))
                found = kept.get(session, list(messages[session]))
                assert [repr(each) for each in found] == [repr(each) for each in messages[session].values()]
            assert set(kept.sessions()) >= {session for session in "ab" if records[session]}


def test_it_is_what_the_port_asks_for(tmp_path: Path) -> None:
    kept: Originals = FileOriginals(tmp_path / "originals")
    assert kept.records("nobody") == ()
    assert kept.sessions() == ()
    assert kept.get("nobody", []) == []
    kept.retract("nobody", 1)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_a_number_comes_back_as_such(tmp_path: Path) -> None:
    messages: list[Json] = [{"n": math.nan, "i": -math.inf, "z": -0.0}]
    FileOriginals(tmp_path).put(messages, record(1, messages))
    (found,) = FileOriginals(tmp_path).get("s", [digest_of(messages[0])])
    assert repr(found) == repr(messages[0])


def _nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (_nested(200_000), "nested too deeply"),
        ({"n": 10**5000}, "cannot be written as JSON"),
        ({"n": {1, 2}}, "cannot be written as JSON"),
        ({"n": b"raw"}, "cannot be written as JSON"),
    ],
    ids=["deep", "long number", "set", "bytes"],
)
def test_what_is_no_json_is_refused_and_leaves_nothing(value: Json, problem: str, tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path / "originals")
    with pytest.raises(InvalidInput, match=rf"messages\[1\]: .*{problem}"):
        kept.put([text(1), value], record(1, [text(1)]))
    with pytest.raises(InvalidInput, match=rf"record\.plan: .*{problem}"):
        kept.put([text(1)], record(1, [text(1)], plan=value))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_message_is_named(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    kept.put([text(1)], record(1, [text(1)]))
    for digest in ("0" * 64, "no digest"):
        with pytest.raises(KeyError, match=digest):
            kept.get("s", [digest_of(text(1)), digest])


def test_sessions_do_not_see_each_others_messages(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    kept.put([text(1)], record(1, [text(1)], "one"))
    kept.put([text(2)], record(1, [text(2)], "two"))
    with pytest.raises(KeyError):
        kept.get("one", [digest_of(text(2))])
    assert kept.sessions() == ("one", "two")


@pytest.mark.parametrize("session", ["../up", "a/b", "a\\b", "nul", "x" * 256, "ümlaut"])
def test_a_session_may_be_called_anything(session: str, tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    kept.put([], record(1, [], session))
    assert FileOriginals(tmp_path).records(session) == (record(1, [], session),)
    assert kept.sessions() == (session,)
    assert {path.parent for path in tmp_path.rglob("*")} == {tmp_path}


@pytest.mark.parametrize("session", ["", "x" * 257, "a\0b"])
def test_what_is_no_session_id_is_refused(session: str, tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    with pytest.raises(InvalidInput, match="session_id"):
        kept.put([], record(1, [], session))
    with pytest.raises(InvalidInput, match="session_id"):
        kept.records(session)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_the_owner_can_read_and_names_tell_nothing(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        FileOriginals(tmp_path / "new" / "originals").put([text(1)], record(1, [text(1)], "alice"))
    finally:
        os.umask(before)
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o700, 0o700, 0o600]
    assert not [path for path in paths if "alice" in path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs a privilege there")
def test_a_link_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"precious")
    (tmp_path / "originals").mkdir()
    (tmp_path / "originals" / segment_name("s", 0)).symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        FileOriginals(tmp_path / "originals").put([text(1)], record(1, [text(1)]))
    assert target.read_bytes() == b"precious"


def test_messages_are_written_once_and_logs_only_where_they_differ(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path, disk=HastyDisk())
    messages = [text(number, 1000) for number in range(100)]
    for number in range(1, 101):
        kept.put(messages[:number], record(number, messages[:number]))
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 100 * 1000 * 1.5
    assert kept.records("s")[-1] == record(100, messages)


def test_a_file_is_only_appended_to_and_nothing_is_written_twice(tmp_path: Path) -> None:
    kept, written = FileOriginals(tmp_path), b""
    messages = [text(number) for number in range(6)]
    for number in (1, 2, 3):
        for retract in (False, True):
            if retract:
                kept.retract("s", number - 1)
            else:
                kept.put(messages[: 2 * number], record(number, messages[: 2 * number]))
            now = (tmp_path / segment_name("s", 0)).read_bytes()
            assert now.startswith(written)
            written = now
    kept.put(messages, record(3, messages))  # again
    added = (tmp_path / segment_name("s", 0)).read_bytes().removeprefix(written)
    assert not any(message["content"].encode() in added for message in messages)
    assert kept.records("s") == (record(3, messages),)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_folder_that_exists_keeps_its_permissions_and_the_files_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "originals"
    folder.mkdir()
    folder.chmod(0o755)
    before = os.umask(0)
    try:
        FileOriginals(folder).put([text(1)], record(1, [text(1)]))
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())] == [0o755, 0o600]


def test_cut_anywhere_the_file_holds_the_records_that_were_whole_and_takes_more(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path / "whole", disk=HastyDisk())
    sizes: list[int] = [0]
    states: list[tuple[Record, ...]] = [()]
    for number in range(1, 4):
        messages = [text(each) for each in range(number + 1)]
        kept.put(messages, record(number, messages))
        written = next((tmp_path / "whole").iterdir()).read_bytes()
        sizes.append(written.rindex(b"\n", 0, -1) + 1)  # where the record ends; a check line follows
        states.append(kept.records("s"))
    data = next((tmp_path / "whole").iterdir()).read_bytes()
    (tmp_path / "cut").mkdir()
    file = tmp_path / "cut" / segment_name("s", 0)
    for size in range(len(data) + 1):
        damage = (b"", b"\0" * 7, b"\xff\n")[size % 3]
        file.write_bytes(data[:size] + damage)
        again = FileOriginals(tmp_path / "cut", disk=HastyDisk())
        expected = states[max(place for place, known in enumerate(sizes) if known <= size)]
        if damage.endswith(b"\n"):  # no write that was cut short ends with a line break
            with pytest.raises(DamagedOriginals):
                again.records("s")
            assert again.repair("s") is not None
        assert again.records("s") == expected, (size, damage)
        if size % 10 == 0 or size in sizes:
            again.put([text(99)], record(9, [text(99)]))
            fresh = FileOriginals(tmp_path / "cut", disk=HastyDisk())
            assert fresh.records("s") == (*expected, record(9, [text(99)]))


def test_damage_in_the_middle_is_no_reason_to_delete_what_follows(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    kept.put([text(1)], record(1, [text(1)]))
    whole = tmp_path / segment_name("s", 0)
    size = whole.stat().st_size
    kept.put([text(2)], record(2, [text(2)]))
    kept.put([text(3)], record(3, [text(3)]))
    data = bytearray(whole.read_bytes())
    data[size + 20] ^= 1
    whole.write_bytes(data)
    again = FileOriginals(tmp_path)
    for act in (again.records, again.last, again.with_meta, lambda session: again.put([], record(4, [], session))):
        with pytest.raises(DamagedOriginals, match=f"session s are damaged: {whole}, line 5: it is not as it was"):
            act("s")
    assert whole.read_bytes() == data
    done = again.repair("s")
    assert done is not None
    assert (done.messages, done.compactions, done.lost) == (2, (1, 3), (2,))
    assert Path(*done.aside).read_bytes() == data
    again.put([text(4)], record(4, [text(4)]))
    for each_store in (again, kept, FileOriginals(tmp_path)):
        assert [each.number for each in each_store.records("s")] == [1, 3, 4]
        assert each_store.get("s", [digest_of(text(number)) for number in (1, 3, 4)]) == [text(1), text(3), text(4)]
        assert each_store.verify("s") == ()
        assert each_store.set_aside("s") == done.aside


def test_damage_that_comes_later_is_reported(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    kept.put([text(1)], record(1, [text(1)]))
    file = tmp_path / segment_name("s", 0)
    file.write_bytes(file.read_bytes().replace(b"xxx", b"xyx"))
    with pytest.raises(
        DamagedOriginals, match=r"line 2: it is not as it was written\. 0 messages and no compaction can"
    ):
        kept.get("s", [digest_of(text(1))])


def test_the_highest_number_counts_however_the_records_are_ordered(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    for number in (5, 2):
        kept.put([text(number)], record(number, [text(number)]))
    assert kept.last("s") == 5
    assert FileOriginals(tmp_path).last("s") == 5
    kept.retract("s", 5)
    assert FileOriginals(tmp_path).last("s") == 5


def test_a_message_is_compared_with_its_digest(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)
    kept.put([text(1)], record(1, [text(1)]))
    file = tmp_path / segment_name("s", 0)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = write_message(digest_of(text(1)), b'{"role": "user", "content": "other"}')
    file.write_bytes(b"".join(lines[:-1]))  # without its check line, as earlier versions wrote it
    again = FileOriginals(tmp_path)
    assert again.last("s") == 1
    with pytest.raises(DamagedOriginals, match=f"message {digest_of(text(1))[:12]} is not the one that was written"):
        again.get("s", [digest_of(text(1))])


def test_a_folder_that_somebody_removed_is_made_again(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path / "originals")
    kept.put([text(1)], record(1, [text(1)]))
    shutil.rmtree(tmp_path / "originals")
    assert kept.records("s") == ()
    kept.put([text(2)], record(2, [text(2)]))
    assert kept.records("s") == (record(2, [text(2)]),)
    assert kept.get("s", [digest_of(text(2))]) == [text(2)]


def test_a_message_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    messages = [text(1, 5_000_000), text(2), text(3, 3_000_000)]
    FileOriginals(tmp_path, disk=HastyDisk()).put(messages, record(1, messages))
    again = FileOriginals(tmp_path, disk=HastyDisk())
    assert again.get("s", record(1, messages).log) == messages


def test_many_sessions_take_turns_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_REMEMBERED", 3)
    kept = FileOriginals(tmp_path, disk=HastyDisk())
    for turn in range(1, 3):
        for number in range(10):
            kept.put([text(turn)], record(turn, [text(turn)], f"s{number}"))
    assert len(kept._logs) == 3
    assert all(len(kept.records(f"s{number}")) == 2 for number in range(10))


def test_threads_may_use_one_store(tmp_path: Path) -> None:
    kept = FileOriginals(tmp_path)

    def work(first: int) -> None:
        for number in range(first, first + 10):
            kept.put([text(number), text(0)], record(number, [text(number), text(0)]))
            assert kept.get("s", [digest_of(text(number))]) == [text(number)]

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 101, 201, 301)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.records("s")) == 40
    assert FileOriginals(tmp_path).records("s") == kept.records("s")


def test_the_highest_number_stays_where_a_lower_one_is_written_again(tmp_path: Path) -> None:
    messages = [text(1)]
    for number in (3, 1):
        FileOriginals(tmp_path).put(messages, record(number, messages))
    assert FileOriginals(tmp_path).last("s") == 3
    FileOriginals(tmp_path).retract("s", 3)
    assert FileOriginals(tmp_path).last("s") == 3
