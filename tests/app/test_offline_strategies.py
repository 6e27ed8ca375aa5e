"""What a strategy changes where no model writes, and what the report says where it changes nothing."""

from __future__ import annotations

import pytest

import compact
from compact.summaries.offline.emphasis import emphasis_of
from compact.summaries.offline.summarize import summarize_offline
from tests.summaries.talks import Wire, assistant, chat, count, user
from tests.summaries.test_emphasis import session

CHOICES = {
    "SQLite": "one file is easier to copy",
    "Celery": "the team has run it for years",
    "Argon2": "bcrypt cuts passwords at 72 bytes",
    "Terraform": "the auditors read its plans",
    "Vite": "the other one needs four plugins",
    "Sentry": "its quota covers both apps",
    "gRPC": "the two services share types",
    "UTC": "two offices change their clocks on other days",
}
FILLER = (
    "There are {0} endpoints and {1} tables. Requests arrive mostly in the morning. I read the loader and the parser."
)
FORMS = {
    "in one sentence": "We go with {0}, because {1}.",
    "in the next sentence": "I decided on {0}. The reason is that {1}.",
    "after a while": f"Decision: {{0}}. {FILLER.format(9, 8)} The reason is that {{1}}.",
    "in a list": "\n\n**Decision**\n- Use {0} from now on\n- Rationale: {1}\n",
}


def decisions(form: str) -> list[Wire]:
    talk = [user("We rebuild our order service. Please say at each point what to take.")]
    for number, (choice, reason) in enumerate(CHOICES.items()):
        before, after_it = (FILLER.format(number + least, number + least + 7) for least in (20, 40))
        talk += [user(f"What about point {number}?")]
        talk += [assistant(f"{before} {FORMS[form].format(choice, reason)} {after_it}"), user("Fine.")]
        talk += [assistant(FILLER.format(number + 60, number + 70))]
    return [*talk, user("What is next?")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", [520, 700, 900])
def test_a_log_of_decisions_keeps_each_decision_with_its_reason(form: str, target: int) -> None:
    result = compact.condense(decisions(form), config={"strategy": "decision_log"}, target=target)
    text = "\n".join(str(message["content"]) for message in result.messages).replace("\n- Rationale", "; Rationale")
    assert [choice for choice, reason in CHOICES.items() if choice not in text or reason not in text] == []


@pytest.mark.parametrize("strategy", ["decision_log", "general"])
def test_a_decision_is_not_told_without_its_reason(strategy: str) -> None:
    messages = chat(*decisions("after a while"))
    for budget in range(60, 900, 30):
        told = summarize_offline(messages, budget=budget, count=count, emphasis=emphasis_of(strategy))
        assert [choice for choice in CHOICES if f"Decision: {choice}" in told and CHOICES[choice] not in told] == []


@pytest.mark.parametrize("provider", ["auto", "layers", "native"])
def test_the_report_says_where_a_strategy_has_no_effect_without_a_model(provider: str) -> None:
    config = {"strategy": "decision_log"} | ({"recent_turns": 1, "tool_pairs": 1} if provider != "native" else {})
    talk = [*session(), assistant("Done."), user("What is next?")]

    def noted(messages: list[Wire], *, target: int | None, **more: str) -> str:
        return str(compact.condense(messages, provider=provider, config={**config, **more}, target=target).report)

    short = [
        user("Please wait."),
        *(assistant(f"I wait, {n}. " + "Nothing new here. " * 40) for n in range(9)),
        user("Go."),
    ]
    assert "the strategy decision_log had no effect" in noted(short, target=None)
    least = 330 if provider == "auto" else None
    more = {} if provider == "auto" else {"max_summary_tokens": 128}
    result = compact.condense(talk, provider=provider, config={**config, **more}, target=least)
    assert "had no effect" not in str(result.report)
    assert "the prompt had no effect: no model wrote the summary" in noted(talk, target=least, prompt="For a lawyer.")


def test_the_default_strategy_says_nothing_of_its_effect() -> None:
    assert "no effect" not in str(compact.condense(session(), config={"strategy": "task_state"}).report)
