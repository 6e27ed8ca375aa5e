"""References to other texts, where truncation cuts."""

from __future__ import annotations

from typing import Any

from compact.formats import parse
from compact.messages import Conversation, has_references, restore
from compact.providers.lossless import LosslessProvider, LosslessSettings
from compact.providers.truncation import TruncationProvider, TruncationSettings
from compact.providers.truncation.cutting import SUPPRESSED, is_condensed
from tests.providers.conversations import LONG, changed, contents, drive, numbered_lines, step, tokens_of, user

PROVIDER = TruncationProvider()
V1 = TruncationSettings(mode="mechanical", markers="s3")
V2 = TruncationSettings(markers="s3")


def with_references(*steps: list[dict[str, Any]]) -> Conversation:
    """The steps with references for what they repeat."""
    conversation = parse([user("go"), *(message for each in steps for message in each), user("and?"), user("now?")])
    found = drive(LosslessProvider(), LosslessSettings(level="verbatim"), conversation).conversation
    assert has_references(found)
    return found


def test_what_recent_messages_refer_to_stays() -> None:
    before = with_references(
        step("c1", "read", {"path": "a"}, LONG),
        step("c2", "run", {}, numbered_lines(60, "something else")),
        step("c3", "read", {"path": "b"}, LONG),
    )
    for settings, target in ((V1, None), (V2, 500)):
        outcome = drive(PROVIDER, settings.model_copy(update={"preserve_recent": 4}), before, target)
        assert changed(before, outcome.conversation) == [4]


def test_references_are_cut_with_what_they_stand_for() -> None:
    other = numbered_lines(30, "something else")
    before = with_references(
        step("c1", "read", {"path": "a"}, LONG),
        step("c2", "read", {"path": "b"}, LONG),
        step("c3", "run", {}, f"{other}\n{LONG}"),
        step("c4", "run", {}, "ok"),
    )
    kept = V1.model_copy(update={"preserve_recent": 4})
    outcome = drive(PROVIDER, kept, before)
    assert [report.skipped for report in outcome.passes] == [""]
    now = contents(outcome.conversation)
    cut = numbered_lines(5) + "\n\n⟨ Truncated: 55 more lines ⟩\n⟨ Tool: read ⟩"
    assert [now[2], now[4]] == [cut, cut]
    assert now[6].startswith(numbered_lines(5, "something else") + "\n\n⟨ Truncated: 85 more lines ⟩")
    assert restore(outcome.conversation, outcome.plan) == before
    assert drive(PROVIDER, kept, outcome.conversation).plan == ()


def test_a_reference_stays_where_only_a_later_text_of_the_same_words_is_cut() -> None:
    other = numbered_lines(30, "something else")
    steps = [*step("c1", "run", {}, f"{other}\n{LONG}"), *step("c2", "write", {"content": LONG}, "ok")]
    conversation = parse([user(LONG), *steps, user("and?"), user("now?")])
    before = drive(LosslessProvider(), LosslessSettings(level="verbatim"), conversation).conversation
    assert has_references(before)
    outcome = drive(PROVIDER, V1.model_copy(update={"preserve_recent": 2}), before)
    assert changed(before, outcome.conversation) == [3]
    assert drive(PROVIDER, V1.model_copy(update={"preserve_recent": 2}), outcome.conversation).plan == ()


def test_with_a_target_only_the_references_go_with_what_they_stand_for() -> None:
    other = numbered_lines(30, "something else")
    before = with_references(
        step("c1", "read", {"path": "a"}, LONG), step("c2", "run", {}, f"{other}\n{LONG}"), step("c3", "run", {}, "ok")
    )
    settings = V2.model_copy(update={"preserve_recent": 4})
    outcome = drive(PROVIDER, settings, before, tokens_of(before) - 300)
    now = contents(outcome.conversation)
    assert is_condensed(now[2])
    assert now[4] == f"{other}\n⟨ Truncated: 60 more lines ⟩"
    assert tokens_of(outcome.conversation) <= tokens_of(before) - 300
    assert restore(outcome.conversation, outcome.plan) == before
    # If that does not suffice, the text around them goes as well.
    outcome = drive(PROVIDER, settings, before, 1)
    assert contents(outcome.conversation)[4] == SUPPRESSED
