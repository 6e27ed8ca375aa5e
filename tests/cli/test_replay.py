"""`compact replay` as people call it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from compact.app import count_tokens, write_transcript
from compact.app.manager import CompactManager
from compact.lab import tuning
from compact.messages import Json
from compact.models import find_model
from compact.policies import CompactConfig, Policy
from tests.cli.conftest import Run
from tests.lab.test_replaying import session
from tests.lab.test_tuning import recalling


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(write_transcript(session(20)))
    return path


def test_every_recipe_stands_beside_doing_nothing(run: Run, file: Path) -> None:
    told = run("replay", file, "--window", "8000")
    assert told.status == 0
    assert "40 requests to gpt-4o, which reads 8,000 tokens" in told.out
    assert all(
        f"\n{name} " in told.out for name in ("no compaction", "naive truncation", "layers", "auto", "balanced", "v2")
    )
    assert "requests would have been refused" in " ".join(told.out.split())


def test_replay_for_programs(run: Run, file: Path) -> None:
    told = json.loads(
        run("replay", file, "--window", "8000", "--preset", "v2", "-m", "claude-sonnet-4-5", "--json").out
    )
    assert [one["recipe"] for one in told["recipes"]] == ["no compaction", "naive truncation", "v2"]
    assert told["recipes"][2]["overflows"] == 0 < told["recipes"][0]["overflows"]
    assert len(told["recipes"][2]["requests"]) == 40
    assert told["summarizer"] == "claude-haiku-4-5"


def test_what_costs_more_is_not_said_to_cost_less(run: Run, file: Path) -> None:
    told = run("replay", file, "--window", "16000", "-m", "claude-sonnet-4-5", "--preset", "balanced").out
    says = r"Cheapest: balanced, [1-9]\d*% more than with no compaction, of which 1 request would have been refused\."
    assert re.search(says, " ".join(told.split()))


def test_imported_presets_are_played_too(run: Run, tmp_path: Path) -> None:
    mine, short = tmp_path / "mine.json", tmp_path / "short.json"
    mine.write_text(json.dumps({"presets": {"mine": {"description": "", "provider": "truncation", "settings": {}}}}))
    short.write_text(write_transcript(session(2)))
    assert run("presets", "--import", mine).status == 0
    told = json.loads(run("replay", short, "--json").out)
    assert told["recipes"][-1]["recipe"] == "mine"


def test_a_model_without_prices_is_played_all_the_same(run: Run, file: Path) -> None:
    told = run("replay", file, "-m", "nobody-knows-it", "--preset", "v2")
    assert told.status == 0
    assert "Its prices are not known." in told.out


def test_a_trigger_below_the_usual_target_brings_its_own(run: Run, file: Path) -> None:
    told = json.loads(run("replay", file, "--trigger", "0.4", "--recipe", "lossless", "--json").out)
    assert (told["trigger"], told["target"]) == (0.4, 0.235)


def test_a_target_above_the_trigger_is_refused(run: Run, file: Path) -> None:
    told = run("replay", file, "--target", "0.9")
    assert told.status == 2
    assert "--target" in told.err


def logged(tmp_path: Path, requests: int = 6, frame: int = 20_000) -> Path:
    """A log of Claude Code whose requests took so many tokens beside their messages."""
    rows: list[dict[str, Any]] = []
    said: list[dict[str, Any]] = []

    def add(kind: str, content: str, **more: Json) -> None:
        said.append({"role": kind, "content": content})
        message = {"role": kind, "content": content, **more}
        rows.append({"type": kind, "sessionId": "s", "uuid": str(len(rows)), "message": message})

    for number in range(requests):
        add("user", f"Look at file {number}. " + f"Line {number} says so. " * 200)
        taken = frame + count_tokens(said, model="claude-sonnet-4-5")
        usage: Json = {"input_tokens": 3, "cache_creation_input_tokens": taken - 3, "output_tokens": 9}
        add("assistant", f"File {number} is fine.", id=f"m{number}", model="claude-sonnet-4-5", usage=usage)
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_what_a_log_says_that_its_requests_took_is_counted(run: Run, tmp_path: Path) -> None:
    file = logged(tmp_path)
    told = json.loads(run("replay", file, "--recipe", "auto", "--json").out)
    assert told["log"]["requests"] == 6
    assert told["log"]["unseen"] == pytest.approx(20_000, abs=20)
    assert told["log"]["unknown"] == []
    nothing, *_, auto = told["recipes"]
    assert nothing["tokens"] == pytest.approx(told["log"]["tokens"], rel=0.01)
    assert auto["requests"][0]["tokens"] > 20_000
    assert auto["compactions"] > 0
    for_people = " ".join(run("replay", file, "--recipe", "auto").out.split())
    assert f"The log's own usage: 6 requests took {told['log']['tokens']:,} tokens, $" in for_people
    assert "tokens of each request are not in the log: system prompt and tools, counted with every" in for_people


def test_what_a_file_does_not_say_is_listed(run: Run, file: Path) -> None:
    told = json.loads(run("replay", file, "--recipe", "auto", "--json").out)
    assert (told["log"]["requests"], told["log"]["dollars"]) == (0, None)
    assert told["log"]["unknown"][0] == "the file does not say what its requests took"
    assert "Not known: the file does not say what its requests took" in " ".join(
        run("replay", file, "--recipe", "auto").out.split()
    )


def test_without_a_window_one_is_chosen_in_which_something_happens(run: Run, file: Path) -> None:
    told = json.loads(run("replay", file, "--recipe", "auto", "--recipe", "v2", "--json").out)
    assert told["window"] < 128_000
    for recipe in told["recipes"][2:]:
        assert recipe["compactions"] > 0
    assert len({recipe["dollars"] for recipe in told["recipes"]}) == len(told["recipes"])
    own = json.loads(run("replay", file, "-m", "gpt-3.5-turbo", "--recipe", "v2", "--json").out)
    assert own["window"] == find_model("gpt-3.5-turbo").max_input
    assert "gpt-4o reads 111,616 tokens; --window says how many are played with." in " ".join(
        run("replay", file, "--recipe", "v2").out.split()
    )


@pytest.fixture
def looking_back(tmp_path: Path) -> Path:
    path = tmp_path / "looking-back.json"
    path.write_text(write_transcript(recalling(24)))
    return path


TUNE = ("--tune", "--window", "12000", "-m", "claude-sonnet-4-5", "--preset", "v2")


def test_tuning_writes_a_configuration_that_a_manager_takes(run: Run, looking_back: Path, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    told = run("replay", looking_back, *TUNE, "--retention", "0.4", "-o", file)
    assert told.status == 0, told.err
    assert "→" in told.out
    assert "Chosen: v2 at" in told.out
    assert "plays in all" in told.out
    assert run("config", "check", file).status == 0
    config = CompactConfig.load(file, profile="offline", storage={"path": str(tmp_path / "kept")})
    assert (config.model, config.max_context_tokens, config.policy.recipe) == ("claude-sonnet-4-5", 12_000, "v2")
    messages = [dict(message.wire) for message in recalling(24).messages]
    with CompactManager(config) as manager:
        assert len(json.dumps(manager.preflight("s", messages))) < len(json.dumps(messages))
    again = run("replay", looking_back, *TUNE, "-o", file)
    assert again.status == 2
    assert "is not overwritten" in again.err
    to_pipe = run("replay", looking_back, *TUNE, "--retention", "0.4", "-o", "-")
    assert to_pipe.out == file.read_text()
    assert "Chosen: v2 at" in to_pipe.err


def test_where_a_policy_cannot_go_is_told_before_the_search(run: Run, looking_back: Path, tmp_path: Path) -> None:
    nowhere = run("replay", looking_back, *TUNE, "-o", tmp_path / "no" / "found.yaml")
    both = run("replay", looking_back, *TUNE, "-o", "-", "--json")
    assert (nowhere.status, nowhere.out, both.status) == (2, "", 2)
    assert "cannot be written: there is no folder for it that you may write to. Make the folder" in nowhere.err
    assert "--output: cannot go to standard output, which --json takes." in both.err


def test_tuning_for_programs_and_where_nothing_keeps_enough(run: Run, looking_back: Path, tmp_path: Path) -> None:
    file = tmp_path / "none.yaml"
    told = run("replay", looking_back, *TUNE[:-1], "v1", "--retention", "1", "-o", file, "--json")
    assert told.status == 1
    found = json.loads(told.out)
    assert found["chosen"] is None
    assert found["plays"] == len(found["trials"]) + 1
    assert found["interrupted"] is False
    assert all(trial["policy"]["target_pct"] < trial["policy"]["trigger_pct"] for trial in found["trials"])
    assert not file.exists()


def test_an_interrupted_search_tells_the_best_so_far(
    run: Run, looking_back: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial, played = tuning.Rehearsal.trial, 0

    def interrupted(rehearsal: tuning.Rehearsal, policy: Policy) -> tuning.Trial:
        nonlocal played
        played += 1
        if played == 4:
            raise KeyboardInterrupt
        return trial(rehearsal, policy)

    monkeypatch.setattr(tuning.Rehearsal, "trial", interrupted)
    told = run("replay", looking_back, *TUNE, "--retention", "0")
    assert told.status == 130
    assert "Chosen: v2" in told.out
    assert "4 plays before the search was interrupted" in told.out


@pytest.mark.parametrize(
    ("given", "named"),
    [(("--retention", "0.5"), "--retention"), (("--tune", "--trigger", "0.5"), "--trigger"), (("-o", "x"), "--output")],
)
def test_options_that_say_nothing_together_are_refused(
    run: Run, file: Path, given: tuple[str, ...], named: str
) -> None:
    told = run("replay", file, *given)
    assert told.status == 2
    assert named in told.err
