"""`compact cost`: recipes and models side by side."""

from __future__ import annotations

import json
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest

from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors
from tests.cli.conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes((files("compact.cli") / "transcripts" / "session.anthropic-messages.json").read_bytes())
    return path


def test_recipes_and_models_stand_side_by_side(run: Run, file: Path) -> None:
    told = run("cost", file, "--target", "30%")
    assert told.status == 0
    assert "tokens of claude-sonnet-4-5, to come down to" in told.out
    assert all(f"\n{name} " in told.out for name in ("auto", "layers", "speed", "quality", "v2", "v3", "native"))
    pause = "After a pause that outlasts it (5 minutes or 1 hour) that costs nothing extra."
    assert pause in " ".join(told.out.split())
    assert " would cost $" in told.out
    assert "By money alone, " in told.out
    assert told.err == ""


def test_cost_for_programs(run: Run, file: Path) -> None:
    told = json.loads(run("cost", file, "--target", "30%", "--turns", "50", "--json").out)
    assert (told["model"], told["model_source"], told["turns"]) == ("claude-sonnet-4-5", "request", 50)
    assert told["cache"] == {"minimum": 1024, "lifetimes": [300, 3600]}
    assert told["history"] == {"condensations": 0, "within_a_fifth": 0, "median_miss": None, "spent": "0"}
    native = [each for each in told["options"] if each["way"] == "native"]
    assert [each["profile"] for each in native] == ["claude-sonnet-4-5", "openai", "anthropic", "gemini"]
    assert Decimal(native[1]["condensing"]) < Decimal(native[0]["condensing"])
    (cut,) = [each for each in told["options"] if each["way"] == "v2"]
    assert (cut["profile"], cut["condensing"], cut["questions"]) == (None, "0", 0)
    assert cut["turns"] > 1
    assert len(told["recommendations"]) == 2


def test_the_configured_profiles_are_compared_with_the_model_itself(run: Run, file: Path) -> None:
    run("profiles")  # sets COMPACT_HOME
    save_profiles(Profiles(profiles=(Profile(name="mine", vendor="openai", model="gpt-4.1-nano"),)))
    told = json.loads(run("cost", file, "--json").out)
    names = [each["profile"] for each in told["options"] if each["way"] == "native"]
    assert names == ["mine", "claude-sonnet-4-5"]
    chosen = json.loads(run("cost", file, "--profile", "gemini", "--profile", "mine", "--json").out)
    names = [each["profile"] for each in chosen["options"] if each["way"] == "native"]
    assert names == ["gemini", "mine", "claude-sonnet-4-5"]


def test_below_the_smallest_cached_prefix_nothing_is_saved(run: Run, tmp_path: Path) -> None:
    talk = [
        {"role": role, "content": " ".join(f"{role} speaks of point {number}.{part}," for part in range(9))}
        for number in range(8)
        for role in ("user", "assistant")
    ]
    short = tmp_path / "short.json"
    short.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [*talk, talk[0]]}))
    told = json.loads(run("cost", short, "--target", "40%", "--json").out)
    assert told["tokens"] > 1024
    (auto,) = [each for each in told["options"] if each["way"] == "auto"]
    assert auto["tokens_after"] < 1024
    assert Decimal(auto["saved_per_request"]) < 0
    assert auto["turns"] is None
    assert " never\n" in run("cost", short, "--target", "40%").out


def test_after_a_pause_the_rewrite_costs_nothing_extra(run: Run, file: Path) -> None:
    told = json.loads(run("cost", file, "--target", "30%", "--json").out)
    free = [each for each in told["options"] if each["condensing"] == "0"]
    assert {each["turns_after_pause"] for each in free} == {1}
    assert all(each["turns"] > 1 for each in free)


def test_no_model_is_called_for_an_estimate(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with FakeVendors() as vendor:
        run("profiles", "add", "mine", "--vendor", "openai", "--model", "gpt-4o-mini", "--url", f"{vendor.url}/v1")
        costs = json.loads(run("cost", file, "--json").out)
        plan = run("plan", file)
        assert not vendor.requests
    assert any(each["profile"] == "mine" and each["questions"] for each in costs["options"])
    assert (plan.status, plan.err) == (0, "")


def test_the_record_of_what_was_spent_has_sizes_names_and_money_alone(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with FakeVendors() as vendor:
        vendor.reply(lambda _: "## Findings\n- The work on the counting of tokens goes on")
        run("profiles", "add", "mine", "--vendor", "openai", "--model", "gpt-4o-mini", "--url", f"{vendor.url}/v1")
        run("condense", file, "--recipe", "native", "-o", tmp_path / "small.json")
    kept = json.loads((tmp_path / "home" / "spending.jsonl").read_text())
    texts = {name: value for name, value in kept.items() if isinstance(value, str)}
    named = {"at": kept["at"], "way": "native", "profile": "mine", "model": "gpt-4o-mini"}
    assert texts == {**named, "compaction": kept["facts"]["id"]}
    assert not any(kept["facts"][name] for name in ("why_offline", "failure"))
    assert "counting of tokens" not in json.dumps(kept)
    assert set(kept["estimated"]) == set(kept["actual"]) == {"questions", "input", "output", "cost", "low", "high"}
    assert kept["estimated"]["low"] < kept["estimated"]["cost"] < kept["estimated"]["high"]
    assert set(kept) - set(texts) == {"estimated", "actual", "limit", "tokens_before", "tokens_after", "facts"}


def test_without_the_cache_every_request_is_read_at_the_full_price(run: Run, file: Path) -> None:
    told = json.loads(run("cost", file, "--no-cache", "--json").out)
    assert told["cache"] is None
    assert {each["rewrite"] for each in told["options"]} <= {"0", "0E-6", "0.000000"}
    assert "Priced without a prompt cache" in run("cost", file, "--no-cache").out


def test_a_model_without_a_price_is_not_guessed(run: Run, file: Path) -> None:
    told = run("cost", file, "--model", "a-model-of-my-own", "--profile", "openai")
    assert told.status == 0
    assert "?" in told.out
    assert "What pays cannot be told" in told.out


def test_mistakes_are_told(run: Run, file: Path) -> None:
    assert "there is no profile 'nobody'" in run("cost", file, "--profile", "nobody").err
    assert "'x' is no target" in run("cost", file, "--target", "x").err
    assert run("cost", file, "--turns", "0").status == 2
