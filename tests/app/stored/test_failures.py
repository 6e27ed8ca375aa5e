"""The requirements on settings, models and failures of stored sessions, each as a test that names it (FR-3 to FR-5)."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from compact.app.stored import StoredSessions
from compact.engine.stored.service import Wish
from compact.errors import CompactionBlocked, InsufficientBudget, InvalidConfiguration, NotFound, TokenCountError
from compact.models import find_model
from compact.ports import Completion, Failure, ModelConfig, StoredSession
from compact.tokens import Counter
from tests.app.stored.conftest import THRESHOLD, WINDOW, Desk, account_in, fill, user


def test_fr_3_1_1_and_2_settings_are_kept_in_the_database(desk: Desk) -> None:
    desk.sessions.preferences.change({"threshold": 0.9, "retention_tokens": 500, "notify": False})
    with StoredSessions(desk.url) as others:
        settings = others.preferences.effective(others.session("a")).settings
    assert (settings.threshold, settings.retention_tokens, settings.notify) == (0.9, 500, False)


@pytest.mark.parametrize("name", ["recipe", "strategy", "profile"])
def test_fr_3_1_1_a_name_of_something_there_is_not_is_refused_with_those_there_are(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidConfiguration, match=r"nonsense") as caught:
        desk.sessions.preferences.change({name: "nonsense"})
    assert caught.value.remedy
    assert name not in desk.sessions.preferences.settings()
    desk.sessions.preferences.change({"recipe": "layers", "strategy": "code", "profile": "offline"})
    assert desk.sessions.preferences.settings()["recipe"] == "layers"


def test_fr_3_1_a_workspace_may_have_settings_of_its_own(desk: Desk) -> None:
    desk.sessions.create(StoredSession(id="w", model="gpt-4o", format="openai-chat", workspace="team"))
    desk.sessions.preferences.change({"retention_tokens": 500})
    desk.sessions.preferences.change({"retention_tokens": 50}, "team")
    effective = {id: desk.sessions.preferences.effective(desk.sessions.session(id)) for id in ("a", "w")}
    assert {id: one.settings.retention_tokens for id, one in effective.items()} == {"a": 500, "w": 50}
    assert {id: one.origins["retention_tokens"] for id, one in effective.items()} == {"a": "global", "w": "workspace"}


def test_fr_3_1_1_automatic_compaction_is_turned_off_for_one_session_alone(desk: Desk) -> None:
    desk.sessions.create(StoredSession(id="b", model="gpt-4o", format="openai-chat"))
    desk.sessions.set_automatic("a", automatic=False)
    fill(desk)
    fill(desk, "b")
    with StoredSessions(desk.url, ask=desk.model) as restarted:
        kept = restarted.prepare("a", [user("Go on.")])
        assert (kept.compression, kept.automatic, len(kept.messages)) == (None, False, kept.session.messages + 1)
        assert restarted.prepare("b", [user("Go on.")]).compression is not None
        effective = restarted.preferences.effective(restarted.session("a"))
    assert (effective.settings.automatic, effective.origins["automatic"]) == (False, "session")


def test_fr_3_1_1_with_automatic_compaction_off_what_does_not_fit_is_refused_until_compacted_by_hand(
    desk: Desk,
) -> None:
    desk.sessions.set_automatic("a", automatic=False)
    fill(desk)
    desk.say(5)
    with pytest.raises(InsufficientBudget, match=r"is off for this session.* by hand, turn automatic compaction on"):
        desk.sessions.prepare("a", [user("Go on.")])
    assert desk.model.asked == []
    assert desk.sessions.session("a").blocked == ""
    desk.sessions.compress("a")
    assert "What was said" in account_in(desk.sessions.prepare("a", [user("Go on.")]).messages)


def test_fr_3_1_1_a_session_turns_on_what_its_settings_turn_off_and_goes_back_to_them(desk: Desk) -> None:
    desk.sessions.preferences.change({"automatic": False})
    fill(desk)
    desk.say(5)
    with pytest.raises(InsufficientBudget, match="is off in the settings"):
        desk.sessions.prepare("a")
    desk.sessions.set_automatic("a", automatic=True)
    assert desk.sessions.prepare("a").compression is not None
    desk.sessions.set_automatic("a", automatic=None)
    assert not desk.sessions.context("a").automatic


def test_settings_of_older_versions_are_read(desk: Desk) -> None:
    desk.sessions.store.set("global", {"autoCondenseContextPercent": 80, "retentionTokenCount": 300, "gone": 1})
    settings = desk.sessions.preferences.effective(desk.sessions.session("a")).settings
    assert (settings.threshold, settings.retention_tokens) == (0.8, 300)


def test_fr_3_2_1_and_4_1_3_model_configurations_are_in_the_database(desk: Desk) -> None:
    (config,) = desk.sessions.models()
    assert config.id == "openai:gpt-4o"
    named = {field.name for field in fields(ModelConfig)}
    assert {"max_input", "max_output", "threshold", "retention", "source", "updated", "created"} <= named


def test_fr_3_2_2_a_new_model_gets_what_is_known_or_128000(desk: Desk) -> None:
    desk.sessions.create(StoredSession(id="n", model="nobody-knows-it", format="openai-chat"))
    desk.sessions.create(StoredSession(id="c", model="claude-sonnet-4-5", format="anthropic-messages"))
    known = {config.model: config for config in desk.sessions.models()}
    assert known["nobody-knows-it"].max_input == 128_000
    assert known["claude-sonnet-4-5"].max_input == find_model("claude-sonnet-4-5").max_input
    assert {known[name].source for name in ("nobody-knows-it", "claude-sonnet-4-5")} == {"default"}


def test_fr_3_2_2_what_a_vendor_tells_is_taken_and_a_persons_word_stays(desk: Desk) -> None:
    told = [ModelConfig("openai", "gpt-4o", 1_000_000), ModelConfig("google", "gemini-2.5-pro", 1_048_576, 65_536)]
    assert [config.model for config in desk.sessions.preferences.detected(told)] == ["gemini-2.5-pro"]
    known = {config.model: config for config in desk.sessions.models()}
    assert known["gpt-4o"].max_input == WINDOW
    assert known["gemini-2.5-pro"].source == "api"


def test_fr_3_2_3_and_4_models_can_be_added_changed_and_reset(desk: Desk) -> None:
    preferences = desk.sessions.preferences
    added = preferences.put_model(ModelConfig("mine", "local-1", 8000, 1000, threshold=0.5, retention=200))
    assert added.source == "manual"
    changed = preferences.put_model(replace(added, max_input=16_000))
    assert changed.max_input == 16_000
    assert preferences.reset_model("mine:local-1").source == "default"
    preferences.delete_model("mine:local-1")
    with pytest.raises(NotFound):
        preferences.reset_model("mine:local-1")


def test_fr_3_2_5_a_change_counts_at_once(desk: Desk) -> None:
    desk.say(45)
    assert desk.sessions.prepare("a").compression is None
    with StoredSessions(desk.url) as others:
        others.preferences.put_model(ModelConfig("openai", "gpt-4o", 2100))
    assert desk.sessions.prepare("a", [user("Go on.")]).compression is not None


def test_fr_4_2_1_the_content_has_text_and_range(desk: Desk) -> None:
    said = desk.say(30)
    desk.sessions.compress("a", Wish(retention=0))
    (snapshot,) = desk.sessions.summaries.standing("a")
    stored = desk.sessions.history("a", limit=1000)
    assert snapshot.content["messageRange"] == {"first": stored[1].id, "last": stored[len(said) - 1].id}
    assert "What was said" in str(snapshot.content["summaryText"])


def test_fr_5_1_1_a_failed_summary_blocks_until_retried_or_acknowledged(desk: Desk) -> None:
    fill(desk)
    desk.model.answer = lambda _: Failure("the server is down")
    before = desk.sessions.context("a").messages
    with pytest.raises(CompactionBlocked, match="the server is down"):
        desk.sessions.prepare("a", [user("Go on.")])
    assert desk.told("compression_failed")
    desk.model.asked.clear()
    with pytest.raises(CompactionBlocked, match="acknowledge"):
        desk.sessions.prepare("a", [user("Go on.")])
    assert desk.model.asked == []
    assert desk.sessions.context("a").messages == before
    desk.model.answer = lambda _: Completion("Fine.", trusted=True)
    desk.sessions.compress("a")
    assert "Fine." in account_in(desk.sessions.prepare("a", [user("Go on.")]).messages)


def test_a_session_whose_summary_fails_is_compacted_without_a_model_by_one_call(desk: Desk) -> None:
    fill(desk)
    desk.model.answer = lambda _: Failure("the server is down")
    with pytest.raises(CompactionBlocked, match="the server is down"):
        desk.sessions.prepare("a", [user("Go on.")])
    desk.model.asked.clear()
    desk.sessions.compress("a", Wish(offline=True))
    assert desk.model.asked == []
    assert "src/mod_" in account_in(desk.sessions.prepare("a", [user("Go on.")]).messages)


def test_fr_5_1_1_who_acknowledges_may_go_on_while_it_fits(desk: Desk) -> None:
    fill(desk)
    desk.model.answer = lambda _: Failure("down")
    with pytest.raises(CompactionBlocked):
        desk.sessions.prepare("a", [user("Go on.")])
    desk.sessions.acknowledge("a")
    assert desk.sessions.prepare("a", [user("Go on.")]).tokens >= THRESHOLD
    desk.say(20, 900)
    with pytest.raises(InsufficientBudget, match=r"failed: .*down.* without a model. .* larger context window"):
        desk.sessions.prepare("a", [user("Go on.")])


def test_after_an_acknowledgement_a_compression_is_tried_again_and_a_success_lifts_the_block(desk: Desk) -> None:
    fill(desk)
    desk.model.answer = lambda _: Failure("down")
    with pytest.raises(CompactionBlocked):
        desk.sessions.prepare("a", [user("Go on.")])
    desk.sessions.acknowledge("a")
    desk.model.asked.clear()
    going_on = desk.sessions.prepare("a", [user("Go on.")])
    assert desk.model.asked
    assert (going_on.compression, "down" in going_on.failure) == (None, True)
    assert desk.sessions.session("a").acknowledged
    desk.model.answer = lambda _: Completion("Fine.", trusted=True)
    done = desk.sessions.prepare("a", [user("Go on.")])
    assert "Fine." in account_in(done.messages)
    session = desk.sessions.session("a")
    assert (done.failure, session.blocked, session.acknowledged) == ("", "", False)


def test_an_acknowledgement_before_any_failure_takes_no_risk(desk: Desk) -> None:
    fill(desk)
    desk.sessions.acknowledge("a")
    desk.model.answer = lambda _: Failure("down")
    with pytest.raises(CompactionBlocked):
        desk.sessions.prepare("a", [user("Go on.")])
    assert not desk.sessions.session("a").acknowledged


def test_fr_5_1_2_after_a_failed_manual_compression_one_may_go_on(desk: Desk) -> None:
    desk.say(30)
    desk.model.answer = lambda _: Failure("down")
    with pytest.raises(CompactionBlocked):
        desk.sessions.compress("a")
    assert desk.sessions.prepare("a").tokens > 0


def test_fr_5_2_1_and_3_3_1_nothing_is_approximated_where_counting_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.say(2)

    def broken(self: Counter, text: str) -> int:
        raise TokenCountError("the tokenizer failed. Try again.")

    monkeypatch.setattr(Counter, "text", broken)
    with pytest.raises(TokenCountError, match="Try again"):
        desk.sessions.append("a", [user("more")])
    monkeypatch.undo()
    assert len(desk.sessions.history("a")) == 4
    desk.sessions.append("a", [user("more")])


def test_fr_5_3_1_what_is_still_too_much_is_compressed_harder_with_a_warning(desk: Desk) -> None:
    desk.sessions.preferences.change({"retention_tokens": 3900})
    fill(desk)
    done = desk.sessions.prepare("a", [user("word " * 300)]).compression
    assert done is not None
    assert done.tokens_after < THRESHOLD
    assert any("of recent messages were kept, not 3,900" in warning for warning in done.warnings)


def test_fr_5_3_1_what_can_never_fit_is_refused_with_the_numbers(desk: Desk) -> None:
    fill(desk)
    with pytest.raises(InsufficientBudget, match="4,000"):
        desk.sessions.prepare("a", [user("word " * 6000)])


def test_fr_5_4_1_nothing_is_compressed_below_the_minimum(desk: Desk) -> None:
    desk.sessions.preferences.change({"threshold": 0.1})
    desk.say(10)
    assert 0.1 * WINDOW < desk.sessions.context("a").tokens < 2000
    assert desk.sessions.prepare("a").compression is None


def test_fr_5_4_2_by_hand_it_is_with_a_warning(desk: Desk) -> None:
    desk.say(10)
    assert any("below the minimum" in warning for warning in desk.sessions.preview("a", Wish(retention=0)).warnings)
    done = desk.sessions.compress("a", Wish(retention=0))
    assert any("below the minimum" in warning for warning in done.warnings)
