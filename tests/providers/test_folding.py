"""What a summary, or the lack of one, makes of messages."""

from __future__ import annotations

from compact.formats import parse
from compact.messages import Fold, Pass, count_of, is_summary, plan_from_json, plan_to_json
from compact.providers.folding import Declined, fold
from compact.summaries.model.summarize import NoSummary, Summary
from tests.providers.conversations import LONG, assistant, gauge_for, user


def test_a_summary_of_a_summary_counts_what_that_stood_for() -> None:
    conversation = parse([user("go"), *(assistant(f"{n} {LONG}") for n in range(8)), user("so?")])
    gauge = gauge_for(conversation)
    first = fold(conversation.messages[1:5], Summary("They talked."), gauge)
    assert isinstance(first, Fold)
    folded = parse([user("go"), assistant(first.text), assistant(LONG), assistant(f"more {LONG}")]).messages
    assert [is_summary(folded[1]), count_of(folded[1])] == [True, 4]
    again = fold(folded[1:], Summary("They talked on."), gauge, version=2)
    assert isinstance(again, Fold)
    assert "Summary of 6 earlier messages" in again.text
    pruned = fold(folded[1:], NoSummary("failure", "busy", prune=True), gauge)
    assert isinstance(pruned, Fold)
    assert pruned.text.startswith("⟨ 6 earlier messages removed")
    assert plan_from_json(plan_to_json((Pass("prune", (pruned,)),)))[0].edits == (pruned,)


def test_messages_stay_without_a_summary_and_where_it_would_be_no_shorter() -> None:
    conversation = parse([user("go"), assistant("yes"), user("so?")])
    gauge = gauge_for(conversation)
    assert fold(conversation.messages[1:2], NoSummary("refusal", "no", prune=False), gauge) == Declined("refusal", "no")
    grown = fold(conversation.messages[1:2], Summary("They said yes."), gauge)
    assert isinstance(grown, Declined)
    assert grown.cause == "grew"
