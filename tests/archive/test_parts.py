"""Transcripts in parts: an archive grows with what is new, and reads as if every step were written whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact import CompactConfig, CompactManager
from compact.archive import FileArchive, export, show, verify
from compact.archive.parts import Past, Run, join_parts, read_part, write_part
from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies import StorageSettings
from compact.ports import Archive, Export
from tests.crash.faults import HastyDisk
from tests.fixtures.stored.reading import PLACE

A_STEP = 400  # bytes that a step may take besides its messages: a reference, a summary of 20 bytes, checksums
SUMMARY: Json = {"summary": "short"}


def said(number: int, who: str = "") -> Json:
    return {"role": "user" if number % 2 else "assistant", "content": f"{who}{number}: " + "some words " * 30}


def history(count: int, who: str = "") -> list[Json]:
    return [said(number, who) for number in range(count)]


def bytes_of(messages: Sequence[Json]) -> int:
    return sum(len(json.dumps(message, separators=(",", ":"))) + 1 for message in messages)


def grow(archive: Archive, steps: int, *, session: str = "s") -> list[Json]:
    """Archive a session that goes on by 10 messages before each compaction; what it came to."""
    for step in range(1, steps + 1):
        archive.save(Export(session, step, history(10 * step), SUMMARY))
    return history(10 * steps)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check_all(folder: Path, histories: Sequence[Sequence[Json]], *, first: int = 1) -> None:
    """Every step shows its history, to a reader that has not written it."""
    archive = FileArchive(folder)
    assert list(verify(archive)) == []
    steps = {step["step"]: step["transcript"] for step in export(archive, "s")["steps"]}
    for step, messages in enumerate(histories, first):
        assert repr(show(archive, "s", step).transcript) == repr(list(messages))
        assert repr(steps[step]) == repr(list(messages))


@pytest.mark.parametrize("steps", [1, 10, 40])
def test_an_archive_is_as_large_as_its_messages(steps: int, tmp_path: Path) -> None:
    messages = grow(FileArchive(tmp_path, disk=HastyDisk()), steps)
    assert size_of(tmp_path) <= 1.5 * bytes_of(messages) + A_STEP * steps
    check_all(tmp_path, [history(10 * step) for step in range(1, steps + 1)])


def test_a_session_that_is_compacted_again_and_again_is_archived_once(tmp_path: Path) -> None:
    config = CompactConfig(
        model="gpt-4o", max_context_tokens=3500, storage=StorageSettings(path=str(tmp_path)), profile="offline"
    )
    messages: list[Json] = []
    sizes: dict[int, tuple[int, int]] = {}
    with CompactManager(config) as manager:
        while len(sizes) < 12:
            messages += history(len(messages) + 6)[len(messages) :]
            manager.preflight("s", messages)
            if steps := len(list(tmp_path.glob("archive/s/summary-*.json"))):
                sizes.setdefault(steps, (bytes_of(messages), size_of(tmp_path / "archive")))
    for steps, (said_bytes, archived) in sizes.items():
        assert archived <= 1.5 * said_bytes + 14_000 * steps  # the summary, in its file and in an event, and a report
    parts = sum(path.stat().st_size for path in tmp_path.glob("archive/s/transcript-*"))
    assert parts <= 1.05 * bytes_of(messages) + A_STEP * len(sizes)
    assert list(verify(FileArchive(tmp_path))) == []
    assert show(FileArchive(tmp_path), "s", len(sizes)).transcript == messages


def _undone(step: int) -> list[Json]:
    """Every third step goes back by fifteen messages, and on from there in other words."""
    return [*history(10 * step - 15), *history(15, f"again {step} ")] if step % 3 == 0 else history(10 * step)


def _edited(step: int) -> list[Json]:
    """The system prompt says the time, so that each history begins with another message."""
    return [{"role": "system", "content": f"It is {step} o'clock."}, *history(10 * step)]


def _two_agents(step: int) -> list[Json]:
    who = "ab"[step % 2]
    return [{"role": "system", "content": "Be brief. " * 50}, *history(10 * step, who)]


def _many_agents(step: int) -> list[Json]:
    return history(10 * (1 + step // 12), f"agent {step % 12} ")


@pytest.mark.parametrize("told", [_undone, _edited, _two_agents, _many_agents])
def test_what_is_new_is_decided_by_content(told: Callable[[int], list[Json]], tmp_path: Path) -> None:
    steps = 36
    histories = [told(step) for step in range(1, steps + 1)]
    archive = FileArchive(tmp_path, disk=HastyDisk())
    for step, messages in enumerate(histories, 1):
        if step % 10 == 0:  # a restart
            archive = FileArchive(tmp_path, disk=HastyDisk())
        archive.save(Export("s", step, messages, SUMMARY))
    distinct = {json.dumps(message): message for messages in histories for message in messages}
    assert size_of(tmp_path) <= 1.5 * bytes_of(list(distinct.values())) + 2 * A_STEP * steps
    check_all(tmp_path, histories)


_WORDS = st.sampled_from(["ok", "go on", "a long message " * 20, "another long message " * 20])
_MESSAGES = st.one_of(
    st.builds(lambda word, number: {"role": "user", "content": f"{word} {number}"}, _WORDS, st.integers(0, 3)),
    st.just({"compact.archived": {"file": "transcript-pre-compact-001.jsonl", "sha256": "0", "first": 1, "last": 9}}),
    st.just({"compact.archived": {"message": {"role": "user"}}}),
    st.none(),
)


@given(st.data())
def test_every_step_reads_as_it_was_saved(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("archive")
    archive = FileArchive(folder, disk=HastyDisk())
    histories: list[list[Json]] = []
    messages: list[Json] = []
    for step in range(1, data.draw(st.integers(1, 6)) + 1):
        branches: bool = data.draw(st.booleans())
        if histories and branches:
            messages = histories[data.draw(st.integers(0, len(histories) - 1))]
        low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(messages))] * 2), label="replaced"))
        messages = [*messages[:low], *data.draw(st.lists(_MESSAGES, max_size=8)), *messages[high:]]
        if data.draw(st.booleans(), label="a restart"):
            archive = FileArchive(folder, disk=HastyDisk())
        archive.save(Export("s", step, messages, SUMMARY))
        archive.save(Export("s", step, messages, SUMMARY))  # again is no harm
        histories.append(messages)
    check_all(folder, histories)


def test_a_part_that_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    grow(FileArchive(tmp_path), 3)
    folder = tmp_path / "archive" / "s"
    second = folder / "transcript-pre-compact-002.jsonl"
    whole = second.read_bytes()

    second.write_bytes(whole.replace(b"some", b"SOME"))
    with pytest.raises(InvalidInput, match=r"s/transcript-pre-compact-002\.jsonl: is damaged.*003\.jsonl needs it"):
        show(FileArchive(tmp_path), "s", 3)
    sums = (folder / "SHA256SUMS").read_text()
    (folder / "SHA256SUMS").write_text(sums.replace(sha256(whole).hexdigest(), sha256(second.read_bytes()).hexdigest()))
    with pytest.raises(InvalidInput, match=r"s/transcript-pre-compact-002\.jsonl: is damaged.*referred to"):
        show(FileArchive(tmp_path), "s", 3)

    second.unlink()
    with pytest.raises(InvalidInput, match=r"s/transcript-pre-compact-002\.jsonl: is missing.*003\.jsonl needs it"):
        show(FileArchive(tmp_path), "s", 3)
    assert [(problem.name, problem.text) for problem in verify(FileArchive(tmp_path))] == [
        ("transcript-pre-compact-002.jsonl", "missing"),
        ("transcript-pre-compact-003.jsonl", "cannot be joined: transcript-pre-compact-002.jsonl is missing"),
    ]
    assert show(FileArchive(tmp_path), "s", 1).transcript == history(10)


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("damaged", [True, False])
def test_nothing_refers_to_a_part_that_is_broken(restarted: bool, damaged: bool, tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    grow(archive, 3)
    second = tmp_path / "archive" / "s" / "transcript-pre-compact-002.jsonl"
    if not damaged:
        second.unlink()
    elif restarted:  # a running process reads a part once
        second.write_bytes(b"no json\n")
    archive = FileArchive(tmp_path) if restarted else archive
    archive.save(Export("s", 4, history(40), SUMMARY))
    assert show(FileArchive(tmp_path), "s", 4).transcript == history(40)


@pytest.mark.parametrize(
    "line",
    [
        '{"compact.archived":{"file":"../s/transcript-pre-compact-001.jsonl","sha256":"x","first":1,"last":2}}',
        '{"compact.archived":{"file":"summary-001.json","sha256":"x","first":1,"last":2}}',
        '{"compact.archived":{"file":"transcript-pre-compact-002.jsonl","sha256":"x","first":1,"last":2}}',
        '{"compact.archived":{"file":["a"],"sha256":"x","first":1,"last":2}}',
        '{"compact.archived":{"file":"transcript-pre-compact-001.jsonl","sha256":"x","first":2,"last":1}}',
        '{"compact.archived":{"file":"transcript-pre-compact-001.jsonl","sha256":"x","first":1.5,"last":2}}',
        '{"compact.archived":{"of a later version":1}}',
        '{"compact.archived":1}',
        '{"compact.archived":',
    ],
)
def test_a_reference_that_leads_nowhere_is_an_error(line: str, tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    grow(archive, 2)
    (tmp_path / "archive" / "s" / "SHA256SUMS").write_text("")
    (tmp_path / "archive" / "s" / "transcript-pre-compact-002.jsonl").write_text(line + "\n")
    with pytest.raises(InvalidInput, match=r"is damaged|is missing"):
        show(FileArchive(tmp_path), "s", 2)
    assert any("transcript-pre-compact-002" in problem.name for problem in verify(FileArchive(tmp_path)))
    archive.save(Export("s", 3, history(30), SUMMARY))
    assert show(FileArchive(tmp_path), "s", 3).transcript == history(30)


def test_a_reference_beyond_the_end_is_an_error() -> None:
    part = write_part([b'"one"', b'"two"'])
    run = Run("transcript-pre-compact-001.jsonl", sha256(part).hexdigest(), 2, 3)
    with pytest.raises(Exception, match="has 2 messages, and 3 are referred to"):
        join_parts([run], lambda _: read_part(run.file, part))


def test_a_session_may_have_more_parts_than_python_has_frames() -> None:
    past, files = Past(), dict[str, bytes]()
    messages = [json.dumps(said(number)).encode() for number in range(3000)]

    def load(name: str) -> tuple[bytes, str]:
        return files[name], sha256(files[name]).hexdigest()

    for step in range(1, 3001):
        name = f"transcript-pre-compact-{step:03d}.jsonl"
        if step == 1 or step > 2990:  # the rest goes on from each other as divide would have it
            past.refresh(dict.fromkeys(files, ""), load)
            files[name] = write_part(past.divide(messages[:step]))
        else:
            before = f"transcript-pre-compact-{step - 1:03d}.jsonl"
            files[name] = write_part([Run(before, load(before)[1], 1, step - 1), messages[step - 1]])
    last = files["transcript-pre-compact-3000.jsonl"]
    assert len(last) < 1000
    assert join_parts(read_part("", last), lambda run: read_part("", files[run.file])) == messages


def test_an_archive_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    shutil.copytree(PLACE / "archive" / "archive" / "shop", tmp_path / "archive" / "s")
    archive = FileArchive(tmp_path)
    before = show(archive, "s", 3).transcript
    messages = [*before, *history(2)]
    archive.save(Export("s", 4, messages, SUMMARY))
    written = tmp_path / "archive" / "s" / "transcript-pre-compact-004.jsonl"
    assert written.stat().st_size < bytes_of(history(2)) + A_STEP
    check_all(tmp_path, [before, messages], first=3)
