"""Condensing from the command line: before, during and after."""

from __future__ import annotations

import json
import os
import re
from importlib.resources import files
from pathlib import Path

import pytest

from compact.cli.options import read_settings, read_target
from compact.errors import InvalidInput
from tests.app.test_variants import talk
from tests.cli.conftest import Run

REPORT = re.compile(
    r"""Context condensed using Lossless strategy:
 - Repeated text: [\d,]+ → [\d,]+ tokens \(-\d+%\)
 - Total reduction: \d+% \(saved \$\d\.\d{4}\)
 - Time: \d+\.\d (?:milli)?seconds
"""
)
VERBATIM = ("--provider", "lossless", "--set", "level=verbatim")


@pytest.fixture(scope="module")
def session() -> bytes:
    return (files("compact.cli") / "transcripts" / "session.anthropic-messages.json").read_bytes()


@pytest.fixture
def file(tmp_path: Path, session: bytes) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes(session)
    return path


def test_the_condensed_file_goes_to_one_stream_and_the_report_to_the_other(run: Run, file: Path) -> None:
    piped = run("condense", file, *VERBATIM)
    assert piped.status == 0
    assert REPORT.fullmatch(piped.err)
    small = json.loads(piped.out)
    assert list(small) == list(json.loads(file.read_text()))
    target = file.with_name("small.json")
    written = run("condense", file, *VERBATIM, "-o", target)
    assert REPORT.fullmatch(written.out)
    assert written.err == f"wrote {target}\n"
    assert json.loads(target.read_text()) == small
    assert run("check", target).status == 0


def test_a_plan_brings_back_every_byte(run: Run, file: Path, session: bytes) -> None:
    small, plan, back = (file.with_name(name) for name in ("small.json", "plan.json", "back.json"))
    assert run("condense", file, "-p", "balanced", "-t", "20%", "-o", small, "--plan", plan).status == 0
    assert len(small.read_bytes()) < len(session) / 2
    assert run("restore", small, "--plan", plan, "-o", back).err == f"wrote {back}\n"
    assert back.read_bytes() == session == file.read_bytes()
    assert run("restore", "-", "--plan", plan, stdin=small.read_bytes()).out.encode() == session


def test_verbatim_needs_no_plan(run: Run, file: Path, session: bytes) -> None:
    small = run("condense", "-", *VERBATIM, stdin=session).out
    assert run("restore", "-", stdin=small.encode()).out.encode() == session


def test_references_that_lead_nowhere_are_told(run: Run, file: Path) -> None:
    small = json.loads(run("condense", file, *VERBATIM).out)
    marked = next(index for index, message in enumerate(small["messages"]) if "[same as " in str(message))
    told = run("restore", "-", stdin=json.dumps(small["messages"][marked:]).encode())
    assert told.status == 0
    assert "Some references lead nowhere" in told.err


def test_condense_for_programs(run: Run, file: Path) -> None:
    told = json.loads(run("condense", file, "-t", "30k", "--json").out)
    assert told["report"]["tokens_after"] <= 30_000
    assert told["report"]["target_met"] is True
    assert told["format"] == "anthropic-messages"
    small = file.with_name("small.json")
    written = json.loads(run("condense", file, "-t", "30k", "--json", "-o", small).out)
    assert "messages" not in written
    assert json.loads(small.read_text())["messages"] == told["messages"]


def test_a_target_out_of_reach_is_said_to_be(run: Run, file: Path) -> None:
    told = run("condense", file, "-t", "10", "-o", file.with_name("small.json"))
    assert told.status == 0
    assert "Target of 10 tokens missed by " in told.out
    assert " tokens cannot be condensed: " in told.out


def test_a_plan_needs_a_file(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    refused = run("condense", file, "--plan", "-")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("error: --plan: cannot go to standard output")
    assert not Path("-").exists()


def test_nothing_is_neither_more_nor_less(run: Run) -> None:
    chat = json.dumps([{"role": "user", "content": "hi"}]).encode()
    assert " - Total reduction: 0% " in run("condense", "-", stdin=chat).err
    shown = run("plan", "-", stdin=chat).out
    assert " 0% " in shown
    assert "+0%" not in shown


def test_the_input_is_never_overwritten(run: Run, file: Path, session: bytes) -> None:
    link = file.with_name("link.json")
    link.symlink_to(file)
    for output in (file, link, file.parent / "." / "x" / ".." / file.name):
        refused = run("condense", file, "-o", output)
        assert refused.status == 2
        assert "--output: is FILE itself, which would be overwritten. Name another file." in refused.err
    assert run("condense", file, "--plan", file).status == 2
    assert run("condense", file, "-o", "new.json", "--plan", "new.json").status == 2
    plan, small = file.with_name("plan.json"), file.with_name("small.json")
    run("condense", file, "-o", small, "--plan", plan)
    assert run("restore", small, "--plan", plan, "-o", small).status == 2
    assert run("restore", small, "--plan", plan, "-o", plan).status == 2
    assert file.read_bytes() == session


def test_files_are_replaced_whole(run: Run, file: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.json"
    small.write_text("old")
    small.chmod(0o640)
    before = set(tmp_path.iterdir())
    assert run("condense", file, "-o", tmp_path / "no" / "place.json").status == 2
    assert "cannot be written: No such file" in run("condense", file, "-o", tmp_path / "no" / "place.json").err
    assert run("condense", file, "-o", small).status == 0
    assert set(tmp_path.iterdir()) == before
    assert small.stat().st_mode & 0o777 == 0o640
    assert json.loads(small.read_text())
    assert run("condense", file, "-o", os.devnull).status == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-t", "much"), "--target: 'much' is no target. Give tokens (8000, 8k) or a share (0.5, 50%)."),
        (("-t", "100%"), "--target: '100%' is no target"),
        (("-t", "0"), "--target: '0' is no target"),
        (("-p", "nope"), "recipe: 'nope' is unknown. Known recipes: auto, "),
        (("--preset", "nope"), "preset: 'nope' is unknown. Known presets: speed"),
        (("--provider", "nope"), "provider: 'nope' is unknown"),
        (("--provider", "smart", "--preset", "v2"), "provider: cannot be given beside a preset"),
        (("--provider", "smart", "-p", "v2"), "recipe: cannot be given beside a provider"),
        (("--set", "level"), "--set: 'level' sets nothing. Write key=value or group.key=value."),
        (("--provider", "lossless", "--set", "level=most"), "config.level: "),
    ],
)
def test_mistakes_end_in_one_line(run: Run, file: Path, arguments: tuple[str, ...], says: str) -> None:
    failed = run("condense", file, *arguments)
    assert failed.status == 2
    assert failed.err.startswith(f"error: {says}")
    assert failed.err.count("\n") == 1
    assert failed.out == ""


def test_a_wrong_plan_is_told(run: Run, file: Path) -> None:
    plan = file.with_name("plan.json")
    run("condense", file, "--plan", plan)
    assert "error: plan: was written for another file" in run("restore", file, "--plan", plan).err
    assert "error: plan: is no plan file" in run("restore", file, "--plan", file).err
    assert "cannot be read" in run("restore", file, "--plan", file.with_name("none.json")).err


def test_targets_and_settings_as_people_write_them() -> None:
    written = ("0.5", ".5", "50%", "12.5 %", "8000", "8,000", "1_000_000", "8k", "1.5K")
    assert [read_target(text) for text in written] == [0.5, 0.5, 0.5, 0.125, 8000, 8000, 1_000_000, 8000, 1500]
    assert read_target(None) is None
    for text in ("", "-1", "nan", "inf", "1e3", "%", "9" * 400, "0,5", "0,500", "1,5", "80,00", "1.5", "8000.0"):
        with pytest.raises(InvalidInput):
            read_target(text)
    assert read_settings(["a.b=1", "a.c=x", "d=true", "e={}", "f=a=b", "g="]) == {
        "a": {"b": 1, "c": "x"},
        "d": True,
        "e": {},
        "f": "a=b",
        "g": "",
    }


def test_set_changes_one_setting_of_a_preset(run: Run, file: Path) -> None:
    def passes(*arguments: str) -> list[str]:
        told = json.loads(run("condense", file, "-p", "balanced", "--json", *arguments).out)
        return [done["name"] for done in told["report"]["passes"]]

    assert "Superseded answers" in passes()
    assert "Superseded answers" not in passes("--set", "lossless_prelude.level=verbatim")
    assert set(passes("--set", "lossless_prelude.level=verbatim")) & set(passes())


def test_set_switches_single_operations_of_lossless(run: Run, file: Path) -> None:
    def passes(*arguments: str) -> list[str]:
        told = json.loads(run("condense", file, "--provider", "lossless", "--json", *arguments).out)
        return [done["name"] for done in told["report"]["passes"]]

    assert {"Superseded answers", "Repeated text"} <= set(passes())
    assert "Superseded answers" not in passes("--set", "remove_obsolete_state=false")
    assert "Repeated text" not in passes("--set", "deduplicate_file_reads=false")


def test_plan_compares_every_recipe(run: Run, file: Path, session: bytes) -> None:
    names = [
        *("auto", "layers", "native", "lossless:verbatim", "lossless:formatting", "lossless:superseded"),
        *("speed", "quality", "cost", "balanced", "v1", "v2", "v3"),
    ]
    told = json.loads(run("plan", file, "-t", "50%", "--show", "v1", "--json").out)
    assert list(told["recipes"]) == names
    removed = sum(each["tokens_before"] - each["tokens_after"] for each in told["removals"])
    assert removed == told["tokens"] - told["recipes"]["v1"]["tokens"]
    assert told["recipes"]["quality"]["summaries"] > 0
    shown = run("plan", file, "-t", "50%", "--show", "lossless:verbatim")
    assert shown.status == 0
    assert f"{told['tokens']:,} tokens of claude-sonnet-4-5 in" in shown.out
    assert "missed" in shown.out
    assert "With lossless:verbatim this would go:" in shown.out
    assert "shown before" in shown.out
    assert re.search(r"and [\d,]+ tokens in \d+ other messages", shown.out)
    assert file.read_bytes() == session


def test_plan_fits_a_narrow_terminal(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("plan", file).out
    assert "lossless:superseded" in shown
    assert "prefix kept" not in shown.split("Saved:")[0]
    assert max(map(len, shown.splitlines())) <= 80


def test_plan_of_what_is_small_already(run: Run) -> None:
    chat = json.dumps([{"role": "user", "content": "hi"}]).encode()
    assert "With auto every message stays as it is." in run("plan", "-", stdin=chat).out
    assert "--show: 'x' is not compared. Choose among: auto, layers" in run("plan", "-", "-s", "x", stdin=chat).err


def test_presets_are_listed_and_shown(run: Run) -> None:
    listed = run("presets").out
    assert all(name in listed for name in ("speed", "quality", "cost", "balanced", "v1", "v2", "v3"))
    (told,) = json.loads(run("presets", "cost", "--json").out)
    assert told["provider"] == "smart"
    assert f'"level": "{told["settings"]["lossless_prelude"]["level"]}"' in run("presets", "cost").out
    assert "preset: 'x' is unknown" in run("presets", "x").err


def test_presets_travel_in_files(run: Run, file: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    assert run("presets", "cost", "--export", mine).status == 0
    same = run("presets", "--import", mine)
    assert (same.status, same.err) == (0, "nothing to keep: the file has no preset that is not built in\n")
    assert not (tmp_path / "home" / "presets.json").exists()
    original = mine.read_text()
    mine.write_text(original.replace('"description": "', '"description": "Mine. '))
    taken = run("presets", "--import", mine)
    assert "presets.cost: is built in. Choose another name." in taken.err
    mine.write_text(original)
    mine.write_text(mine.read_text().replace('"cost"', '"mine"'))
    assert "mine" in run("presets", "--import", mine).out
    assert run("presets", "--import", mine).status == 0
    assert [preset["name"] for preset in json.loads(run("presets", "--json").out)][-1] == "mine"
    ours, theirs = (
        json.loads(run("condense", file, "-p", name, "--json").out)["messages"] for name in ("mine", "cost")
    )
    assert ours == theirs
    assert "mine" in json.loads(run("plan", file, "--json").out)["recipes"]


@pytest.mark.parametrize("name", ["all.yaml", "all.json"])
def test_what_is_exported_can_be_imported(run: Run, tmp_path: Path, name: str) -> None:
    everything = tmp_path / name
    assert run("presets", "--export", everything).status == 0
    assert run("presets", "--import", everything).status == 0
    text = everything.read_text().replace("speed:", "haste:").replace('"speed":', '"haste":')
    everything.write_text(text)
    assert [kept["name"] for kept in json.loads(run("presets", "--import", everything, "--json").out)] == ["haste"]


def test_presets_say_which_file_is_wrong(run: Run, tmp_path: Path) -> None:
    missing = run("presets", "--import", tmp_path / "none.json")
    assert missing.status == 2
    assert "none.json: cannot be read: No such file or directory" in missing.err
    assert "is of no known kind" in run("presets", "--import", tmp_path / "x.toml").err
    assert "x.toml: is of no known kind" in run("presets", "--export", tmp_path / "x.toml").err
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "presets.json").write_text("{")
    assert f"error: {tmp_path / 'home' / 'presets.json'}: is not valid JSON" in run("presets").err
    chat = json.dumps([{"role": "user", "content": "hi"}]).encode()
    assert run("condense", "-", "-p", "v1", stdin=chat).status == 0


@pytest.mark.parametrize("command", ["condense", "plan", "restore", "diff", "presets", "recipes"])
def test_help_has_examples(run: Run, command: str) -> None:
    shown = run(command, "--help")
    assert shown.status == 0
    assert f"Examples: compact {command}" in shown.out


def test_a_receipt_tells_what_can_still_be_read(run: Run, file: Path) -> None:
    small, plan = file.with_name("small.json"), file.with_name("plan.json")
    shown = run("condense", file, "-t", "20%", "--receipt", "--plan", plan, "-o", small).out
    assert "Facts retained in context: " in shown
    assert re.search(r"file paths: [\d,]+ of [\d,]+ \(\d+%\), [\d,]+ recoverable, 0 lost", shown)
    assert "Missing, the likeliest to be needed first:" in shown
    safe = json.loads(run("condense", file, "-t", "20%", "--receipt", "--plan", plan, "--json").out)["receipt"]
    alone = json.loads(run("condense", file, "-t", "20%", "--receipt", "--json").out)["receipt"]
    assert safe["total"]["lost"] == 0 < safe["total"]["recoverable"]
    assert alone["total"]["retained"] == safe["total"]["retained"]
    assert alone["total"]["lost"] > 0
    assert "receipt" not in json.loads(run("condense", file, "-t", "20%", "--json").out)


def test_without_a_name_it_is_the_default_recipe(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*arguments: str) -> tuple[str, str]:
        answer = json.loads(run("condense", file, "--json", *arguments).out)
        return answer["recipe"], answer["report"]["recipe"]

    assert told() == ("auto", "auto")
    assert told("--recipe", "lossless:verbatim") == ("lossless:verbatim", "lossless:verbatim")
    assert run("recipes", "use", "v2").out == "The default is v2 now.\n"
    assert told() == ("v2", "v2")
    monkeypatch.setenv("COMPACT_RECIPE", "v1")
    assert told() == ("v1", "v1")
    assert "COMPACT_RECIPE goes before it, and is v1.\n" in run("recipes", "use", "auto").out


def test_recipes_are_listed(run: Run) -> None:
    told = json.loads(run("recipes", "--json").out)
    assert told["default"] == "auto"
    found = {each["name"]: each for each in told["recipes"]}
    assert {"auto", "layers", "native", "lossless:verbatim", "balanced", "v3"} <= found.keys()
    assert (found["v2"]["provider"], found["v2"]["when_missed"]) == ("truncation", "stop")
    assert found["balanced"]["when_missed"] == "continue"
    shown = run("recipes").out
    assert all(name in shown for name in found)
    assert shown.splitlines()[-1].startswith("The default is auto.")
    wrong = run("recipes", "use", "nope")
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.startswith("error: recipe: 'nope' is unknown. Known recipes: auto, ")


def test_a_recipe_that_stops_says_by_how_much_it_missed(run: Run, file: Path) -> None:
    told = run("condense", file, "-p", "lossless:verbatim", "-t", "10%", "-o", file.with_name("small.json"))
    assert told.status == 0
    assert re.search(r" - Target of [\d,]+ tokens missed by [\d,]+, [\d,]+ remain; ", told.out)
    assert " - lossless:verbatim does only what it is named for; the recipe auto comes down to a target\n" in told.out


def test_only_a_summary_that_was_made_is_told_of(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "short.json"
    said = ["hello there", "hi, how are you", "fine, and what is the plan?", "none at all", "go"]
    turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    file.write_text(json.dumps(turns))
    told = json.loads(run("condense", file, "-p", "balanced", "-t", "50%", "--json").out)
    assert told["summaries"] is None
    assert "⟨ Summary" not in json.dumps(told["messages"], ensure_ascii=False)
    assert "Written offline" not in run("condense", file, "-p", "balanced", "-t", "50%", "-o", tmp_path / "x.json").out


def test_presets_overwrite_nothing_without_a_word(run: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    assert run("presets", "cost", "--export", mine).status == 0
    mine.write_text(mine.read_text().replace('"cost"', '"mine"'))
    text = mine.read_text()
    again = run("presets", "--export", mine)
    assert (again.status, mine.read_text()) == (2, text)
    assert "mine.json: exists, and is not overwritten." in again.err
    assert run("presets", "--import", mine).err == run("presets", "--import", mine).err == ""
    mine.write_text(text.replace('"description": "', '"description": "Mine. '))
    assert run("presets", "--import", mine).err == "replaced your preset mine\n"


def test_a_condensed_file_is_valid_for_the_server_that_is_named(run: Run, tmp_path: Path) -> None:
    file, small, plan = (tmp_path / name for name in ("talk.json", "small.json", "plan.json"))
    file.write_text(json.dumps(talk(30)))
    options = ("--recipe", "balanced", "--target", "50%", "-o", small, "--plan", plan)
    assert run("condense", file, *options).status == 0
    assert run("check", "--variant", "vllm", small).status == 1
    assert run("condense", file, *options, "--variant", "vllm").status == 0
    assert run("check", "--variant", "vllm", small).status == 0
    assert json.loads(run("restore", small, "--plan", plan).out) == talk(30)
    refused = run("condense", file, "--variant", "bedrock")
    assert refused.status != 0
    assert "openai-chat has no variant 'bedrock'" in refused.err
