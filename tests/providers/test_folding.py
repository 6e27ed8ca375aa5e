"""What a summary, or the lack of one, makes of messages."""

from __future__ import annotations

from compact.formats import parse
from compact.messages import Fold, Pass, apply, count_of, plan_from_json, plan_to_json
from compact.providers.folding import Declined, fold
from compact.summaries.model.summarize import NoSummary, Summary
from tests.providers.conversations import LONG, assistant, task_for, user


def test_a_summary_of_a_summary_counts_what_that_stood_for() -> None:
    conversation = parse([user("go"), *(assistant(f"{n} {LONG}") for n in range(8)), user("so?")])
    task = task_for(conversation)
    first = fold(task, conversation.messages[1:5], Summary("They talked."))
    assert isinstance(first, Fold)
    folded = apply(conversation, Pass("fold", (first,)))[0].messages
    assert count_of(folded[1]) == 4
    again = fold(task, folded[1:4], Summary("They talked on."), version=2)
    assert isinstance(again, Fold)
    assert "6 messages were removed here" in again.text
    pruned = fold(task, folded[1:4], NoSummary("failure", "busy", prune=True))
    assert isinstance(pruned, Fold)
    assert pruned.text == "[6 earlier messages removed here]"
    assert plan_from_json(plan_to_json((Pass("prune", (pruned,)),)))[0].edits == (pruned,)


def test_messages_stay_without_a_summary_and_where_it_would_be_no_shorter() -> None:
    conversation = parse([user("go"), assistant("yes"), user("so?")])
    task = task_for(conversation)
    assert fold(task, conversation.messages[1:2], NoSummary("refusal", "no", prune=False)) == Declined("refusal", "no")
    grown = fold(task, conversation.messages[1:2], Summary("They said yes."))
    assert isinstance(grown, Declined)
    assert grown.cause == "grew"
