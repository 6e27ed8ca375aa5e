"""Who may be asked, whether they can be, and who takes over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from compact.app.profiles import (
    OFFLINE,
    ask_with,
    examine,
    find_profile,
    list_profiles,
    probe,
)
from compact.app.summarizers import choose_summarizers
from compact.errors import InvalidConfiguration
from compact.policies import CHEAP, Profile, Profiles
from compact.ports import Ask, Completion, Event, Failure
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors, Fault

SECRET = "sk-made-up-0123456789abcdef"
VARIABLES = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AZURE_OPENAI_API_KEY",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        yield running


def profile(name: str, server: FakeVendors | None = None, **values: object) -> Profile:
    url = f"{server.url}/v1" if server else "http://localhost:9/v1"
    given = {"vendor": "compatible", "model": "gpt-4o-mini", "url": url, "attempts": 1, **values}
    return Profile.model_validate({"name": name, **given})


def configure(*profiles: Profile) -> None:
    save_profiles(Profiles(profiles=profiles))


def test_without_configuration_or_a_vendor_of_its_own_no_model_is_called_whatever_keys_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert not choose_summarizers()
    assert not choose_summarizers(OFFLINE)
    assert {standing.source for standing in list_profiles()} == {"vendor"}


def test_a_vendor_is_asked_when_it_is_named_and_its_key_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidConfiguration, match="profile openai: OPENAI_API_KEY is not set"):
        choose_summarizers("openai")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    (chosen,) = choose_summarizers("openai").profiles
    assert (chosen.vendor, chosen.model) == ("openai", CHEAP["openai"])


def test_the_one_that_is_named_comes_first_then_the_configured_by_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    configure(
        profile("talk", use="conversation", priority=-5),
        profile("second", priority=2),
        profile("first", priority=1),
        profile("keyless", vendor="openai", url="", key="env:NOT_THERE"),
    )
    assert [each.name for each in choose_summarizers().profiles] == ["first", "second", "talk"]
    assert [each.name for each in choose_summarizers("talk").profiles] == ["talk", "first", "second"]
    assert [each.name for each in choose_summarizers("anthropic").profiles] == ["anthropic", "first", "second", "talk"]
    assert not choose_summarizers(OFFLINE)


def test_where_none_that_is_configured_can_be_asked_it_says_so_for_each() -> None:
    configure(profile("a", vendor="openai", url="", key="env:NOT_A"), profile("b", vendor="anthropic", url=""))
    with pytest.raises(InvalidConfiguration, match=r"profile a: NOT_A is not set.*profile b: ANTHROPIC_API_KEY is not"):
        choose_summarizers()


def test_a_configured_profile_takes_the_place_of_a_vendor_of_its_name() -> None:
    own = profile("openai", model="mine")
    configure(own)
    assert find_profile("openai") == own
    assert [standing.profile.name for standing in list_profiles()].count("openai") == 1
    assert list_profiles()[0].source == "configured"


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    configure(profile("mine"))
    with pytest.raises(InvalidConfiguration, match=r"no profile 'nobody'. Known: mine, openai, anthropic"):
        find_profile("nobody")
    with pytest.raises(InvalidConfiguration, match="url: is needed for azure"):
        find_profile("azure")


def test_what_can_be_told_without_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    unset = examine(Profile(name="x", vendor="openai", model="gpt-4o-mini"))
    assert not unset.ready
    assert unset.problems == ("OPENAI_API_KEY is not set. Set it to the key for openai.",)
    assert unset.remarks == ()
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    there = examine(Profile(name="x", vendor="openai", model="gpt-4o-mini"))
    assert there.ready
    assert there.key == "env:OPENAI_API_KEY (set)"
    assert SECRET not in repr(there)
    strange = examine(profile("x", model="a model of my own"))
    assert strange.ready
    assert [remark.partition(":")[0] for remark in strange.remarks] == [
        "the model is not in the catalogue",
        "its price is unknown",
    ]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"strategy": "bogus"}, "strategy: there is no strategy 'bogus'. "),
        ({"prompt": "file:nope"}, "prompt: there is no prompt 'nope'. "),
        ({"prompt": "hello {bogus}"}, "prompt: {bogus} is not a placeholder. "),
    ],
)
def test_what_a_summary_could_not_be_written_by_is_a_problem(values: dict[str, str], told: str) -> None:
    (problem,) = examine(profile("x", None, **values)).problems
    assert problem.startswith(told)


def test_a_probe_really_asks(server: FakeVendors) -> None:
    server.reply("Yes.")
    found = probe(profile("x", server))
    assert isinstance(found.answer, Completion)
    assert found.answer.text == "Yes."
    assert found.seconds > 0
    assert len(server.requests) == 1


def test_a_probe_tells_what_is_wrong(server: FakeVendors) -> None:
    server.fail(Fault("server_error"))
    found = probe(profile("x", server))
    assert isinstance(found.answer, Failure)
    assert len(server.requests) == 1


def test_where_one_fails_the_next_is_asked(server: FakeVendors) -> None:
    server.reply("a summary")
    events: list[Event] = []
    with ask_with([profile("broken"), profile("good", server)], events.append) as ask:
        (answer,) = ask([Ask("Summarize.", "text", 100)])
    assert isinstance(answer, Completion)
    assert answer.text == "a summary"
    assert [(event.name, event.properties["profile"]) for event in events] == [
        ("handler_selected", "broken"),
        ("handler_failed", "broken"),
        ("handler_selected", "good"),
    ]
