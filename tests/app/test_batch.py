"""Many transcripts at once: finding them, condensing each, and remembering what is done."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app.bulk import Job, JobOptions, Outcome, Place, Results, Sources, condense_all, condense_file, options_for
from compact.app.planfile import load_plan, restore_file
from compact.app.recipes import resolve_recipe
from compact.app.transcripts import read_transcript
from compact.errors import InvalidConfiguration, InvalidInput

OPTIONS = options_for(resolve_recipe("balanced"), 0.5)


def chat(seed: str = "", rounds: int = 8) -> list[Mapping[str, Any]]:
    """A conversation with old output of tools, of which most can go."""
    messages: list[Mapping[str, Any]] = [{"role": "user", "content": f"Read the logs {seed}."}]
    for number in range(rounds):
        call = {"id": f"call-{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        lines = "\n".join(f"line {line} of log {number} {seed}" for line in range(150))
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call-{number}", "content": lines},
        ]
    return [*messages, {"role": "assistant", "content": "They are long."}, {"role": "user", "content": "Thanks."}]


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def names(found: Sources) -> list[str]:
    return [place.name for place in found]


class Deadly(Place):
    """A transcript that ends the process which reads it."""

    __slots__ = ()

    def read(self) -> bytes:
        os._exit(9)


class Endless(Place):
    """A transcript that never comes to its end; a file says that it was begun."""

    __slots__ = ()

    def read(self) -> bytes:
        Path(self.path).touch()
        time.sleep(600)
        return b""


class Faulty(Place):
    """A transcript that meets a fault in the code."""

    __slots__ = ()

    def read(self) -> bytes:
        raise LookupError("nobody thought of this")


def test_folders_are_mirrored_and_what_is_no_transcript_is_left_out(tmp_path: Path) -> None:
    for name in ("b/2.json", "b/1.json", "a.json", ".git/x.json", "b/1.plan.json", "notes.txt", "out/b/1.json"):
        write(tmp_path / name, chat(rounds=1))
    out = tmp_path / "out"
    assert names(Sources.of([str(tmp_path)], out)) == ["a.json", "b/1.json", "b/2.json"]
    assert names(Sources.of([f"{tmp_path}/**/*.json"], out)) == ["a.json", "b/1.json", "b/2.json"]
    assert names(Sources.of([f"{tmp_path}/b", f"{tmp_path}/a.json"], out)) == ["b/1.json", "b/2.json", "a.json"]
    assert names(Sources.of([f"{tmp_path}/b", f"{tmp_path}/b/[12].json"], out)) == ["1.json", "2.json"]
    assert names(Sources.of([f"{tmp_path}/notes.txt"], out)) == ["notes.txt"]


def test_a_file_of_transcripts_is_split_and_a_transcript_of_lines_is_not(tmp_path: Path) -> None:
    lines = [json.dumps(chat("ä")), "", "{broken", json.dumps({"model": "gpt-4o", "messages": chat("b")})]
    many = write(tmp_path / "many.jsonl", "\ufeff" + "\r\n".join(lines))
    write(tmp_path / "one.jsonl", "\n".join(map(json.dumps, chat())))
    places = list(Sources.of([str(tmp_path)], tmp_path / "out"))
    assert [place.name for place in places] == [f"many.jsonl/{n:06}.json" for n in (1, 3, 4)] + ["one.jsonl"]
    assert [str(place) for place in places[:3]] == [f"{many}:{n}" for n in (1, 3, 4)]
    outcomes = [condense_file(Job(place, OPTIONS, str(tmp_path / "out"))) for place in places]
    assert [bool(outcome.error) for outcome in outcomes] == [False, True, False, False]
    assert outcomes[1].error.startswith(f"{many}:3: is not valid JSON")
    assert json.loads((tmp_path / "out" / "many.jsonl" / "000004.json").read_bytes())["model"] == "gpt-4o"
    assert len((tmp_path / "out" / "one.jsonl").read_text(encoding="utf-8").splitlines()) == len(chat())


def test_no_result_takes_the_place_of_another(tmp_path: Path) -> None:
    many, lines = "\n".join(json.dumps(chat(word)) for word in "ab"), "\n".join(map(json.dumps, chat()))
    for name in ("many.jsonl", "many.ndjson"):
        write(tmp_path / "in" / name, many)
    write(tmp_path / "in" / "results.jsonl", lines)
    for name in ("many/000001.json", "a.json", "a.plan.json"):
        write(tmp_path / "in" / name, chat(name))
    out = tmp_path / "out"
    named = [str(tmp_path / "in" / name) for name in ("a.json", "a.plan.json", "many", "results.jsonl")]
    places = [*Sources.of([*named, f"{tmp_path}/in/*.*json*"], out)]
    done = {place.name: condense_file(Job(place, OPTIONS, str(out))) for place in places}
    assert len(done) == len(places) == 8
    own, taken = "its result would take the place of the batch's own", "its result would overwrite"
    assert {name: one.error.removeprefix(f"{one.source}: ") for name, one in done.items() if one.error} == {
        "a.plan.json": f"{taken} a.plan.json, which is another transcript's; rename it, or condense it apart",
        "results.jsonl": f"{own} results.jsonl; rename it",
    }
    for name in done.keys() - {"a.plan.json", "results.jsonl"}:
        plan = load_plan((out / f"{name.removesuffix('.json')}.plan.json").read_bytes())
        source = next(place for place in places if place.name == name)
        assert restore_file(read_transcript((out / name).read_bytes()), plan) == source.read()


def test_the_result_of_a_log_is_json(tmp_path: Path) -> None:
    rows = [{"type": "response_item", "payload": {"type": "message", **message}} for message in chat()[:1] * 2]
    write(tmp_path / "log.jsonl", "\n".join(json.dumps(row) for row in [{"type": "event_msg", "payload": {}}, *rows]))
    (place,) = Sources.of([str(tmp_path)], tmp_path / "out")
    assert place.name == "log.json"
    assert condense_file(Job(place, OPTIONS, str(tmp_path / "out"))).error == ""
    json.loads((tmp_path / "out" / "log.json").read_bytes())
    write(tmp_path / "log.json", chat())
    assert [place.name for place in Sources.of([str(tmp_path)], tmp_path / "out") if place.problem] == ["log.jsonl"]


def test_results_never_take_the_place_of_sources(tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.json", chat())
    for sources, out in ((f"{tmp_path}/in", "in"), (f"{tmp_path}/in/a.json", "in"), (f"{tmp_path}/in/*.json", ".")):
        with pytest.raises(InvalidInput, match=r"which results would overwrite\. Choose another folder"):
            Sources.of([sources], tmp_path / out)
    assert names(Sources.of([f"{tmp_path}/in"], tmp_path / "in" / "small")) == ["a.json"]


@pytest.mark.parametrize(("name", "problem"), [("no.json", "does not exist"), ("no*.json", "matches no file")])
def test_a_source_that_is_not_there_is_told(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Sources.of([str(tmp_path / name)], tmp_path / "out")


def test_a_result_comes_with_the_plan_that_takes_it_back(tmp_path: Path) -> None:
    source = write(tmp_path / "in" / "a.json", json.dumps(chat(), indent=3))
    out = tmp_path / "out"
    done = condense_file(Job(Place("deep/a.json", str(source)), OPTIONS, str(out)))
    assert (done.error, done.target_met, done.skipped) == ("", True, False)
    assert done.tokens_after <= done.tokens_before / 2
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")) == ["deep/a.json", "deep/a.plan.json"]
    small = read_transcript((out / "deep" / "a.json").read_bytes())
    assert restore_file(small, load_plan((out / "deep" / "a.plan.json").read_bytes())) == source.read_bytes()


def test_what_is_done_is_left_alone_while_its_files_are_there(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", chat())
    job = Job(Place("a.json", str(source)), OPTIONS, str(tmp_path / "out"))
    first = condense_file(job)
    again = replace(job, known=first.sha256)
    assert condense_file(again).skipped
    (tmp_path / "out" / "a.plan.json").unlink()
    assert not condense_file(again).skipped
    write(source, chat("changed"))
    assert not condense_file(again).skipped


def test_without_a_folder_the_outcome_has_the_contents(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", chat())
    there = Job.from_json(
        json.loads(json.dumps(Job(Place("a.json", str(source)), OPTIONS, "x").with_content().to_json()))
    )
    source.unlink()
    done = condense_file(there)
    assert done.condensed is not None
    assert done.plan is not None
    assert restore_file(read_transcript(done.condensed.encode()), load_plan(done.plan)) == json.dumps(chat()).encode()


@given(st.binary(max_size=40))
def test_a_job_carries_any_bytes(data: bytes) -> None:
    job = Job(Place("a", "b"), OPTIONS, content=data.decode("utf-8", "surrogateescape"))
    carried = Job.from_json(json.loads(json.dumps(job.to_json())))
    assert carried == job
    assert carried.read() == data


def test_a_payload_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is no job of this version"):
        Job.from_json({"place": {"name": "a", "file": "b"}, "options": {}})


def test_an_error_that_may_pass_is_told_from_one_that_stays(tmp_path: Path) -> None:
    missing = condense_file(Job(Place("a", str(tmp_path / "a.json")), OPTIONS))
    assert (missing.error, missing.passing) == (f"{tmp_path}/a.json: No such file or directory", True)
    wrong = condense_file(Job(Place("a", "b"), OPTIONS, content='{"role": 1}'))
    assert wrong.error
    assert not wrong.passing


def test_options_are_known_by_all_that_they_hold() -> None:
    others = [
        options_for(resolve_recipe("balanced")),
        options_for(resolve_recipe("balanced"), 0.4),
        options_for(resolve_recipe("balanced"), 0.5, "gpt-4o"),
        options_for(resolve_recipe("v2"), 0.5),
    ]
    assert len({options.digest for options in (OPTIONS, *others)}) == 5
    assert (
        JobOptions(**json.loads(json.dumps(Job(Place("", ""), OPTIONS).to_json()))["options"]).digest == OPTIONS.digest
    )
    with pytest.raises(InvalidConfiguration, match="nonsense"):
        resolve_recipe("nonsense")


def test_lines_are_read_again_without_what_a_crash_cut(tmp_path: Path) -> None:
    first = Outcome("a.json", "in/a.json", OPTIONS.digest, "balanced", "1" * 64, 100, 40, seconds=0.5)
    with Results(tmp_path) as results:
        results.add(first)
        results.add(replace(first, name="b.json", error="broken"))
    with results.path.open("a") as file:
        file.write('[]\n{"file": "c.json", "sour')
    with Results(tmp_path) as results:
        assert results.known("a.json", OPTIONS.digest) == first.sha256
        assert results.known("a.json", "other options") == ""
        assert results.known("b.json", OPTIONS.digest) == ""
        assert results.add(replace(first, tokens_before=0, skipped=True)) == replace(first, skipped=True)
        results.add(replace(first, name="b.json"))
    lines = [json.loads(line) for line in results.path.read_text().splitlines()]
    assert [(line["file"], line["percent"], line["error"]) for line in lines] == [
        ("a.json", 60, None),
        ("b.json", 60, None),
    ]
    with Results(tmp_path, resume=False) as results:
        assert results.known("a.json", OPTIONS.digest) == ""


def test_jobs_are_found_as_they_are_needed(tmp_path: Path) -> None:
    found: list[int] = []

    def jobs() -> Iterator[Job]:
        for number in range(50):
            found.append(number)
            yield Job(Place(f"{number}.json", "made up"), OPTIONS, content=json.dumps(chat(str(number), 2)))

    outcomes = condense_all(jobs(), processes=2)
    assert not next(outcomes).error
    assert len(found) <= 10
    assert sum(1 for _ in outcomes) == 49


def test_a_process_that_dies_takes_no_other_transcript_with_it(tmp_path: Path) -> None:
    places = [
        Deadly("deadly.json", "nowhere") if number == 2
        else Faulty("faulty.json", "nowhere") if number == 4
        else Place(f"{number}.json", str(write(tmp_path / f"{number}.json", chat(str(number), 3))))
        for number in range(6)
    ]  # fmt: skip
    outcomes = list(condense_all((Job(place, OPTIONS, str(tmp_path / "out")) for place in places), 2))
    failed = {outcome.name: outcome.error for outcome in outcomes if outcome.error}
    assert sorted(outcome.name for outcome in outcomes) == sorted(place.name for place in places)
    assert failed == {
        "deadly.json": "nowhere: the process that condensed it died; it may need more memory than there is",
        "faulty.json": "nowhere: LookupError: nobody thought of this",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a group of processes are POSIX")
def test_a_second_interrupt_ends_what_is_at_work(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    script = f"""if 1:
        from compact.app.bulk import Job, condense_all
        from tests.app.test_batch import OPTIONS, Endless
        try:
            list(condense_all([Job(Endless("a", {str(begun)!r}), OPTIONS)], 2))
        except KeyboardInterrupt:
            print("left")
    """
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", script], **pipes, start_new_session=True) as batch:
        try:
            deadline = time.monotonic() + 60
            while not begun.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            for _ in range(2):
                os.killpg(batch.pid, signal.SIGINT)
                time.sleep(1)
            assert batch.communicate(timeout=60) == ("left\n", "")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(batch.pid, signal.SIGKILL)
