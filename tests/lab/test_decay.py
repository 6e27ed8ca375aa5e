"""A session that is compacted again and again: what is needed of its beginning is counted, and all of it comes back."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import chain

import pytest

from compact.app.condensing import Condensation, Result
from compact.app.counting import count
from compact.app.recipes import resolve_recipe
from compact.formats import FORMATS, convert, parse, violations
from compact.lab.decay import average, decay
from compact.lab.evaluating import Means, cases
from compact.lab.findings import Experiment, measure
from compact.lab.growing import ROUNDS, Growth, growth
from compact.lab.retention import missing, text_of
from compact.messages import Conversation, Json
from compact.providers import Recipe
from tests.lab.test_evaluating import named

MEANS = Means("gpt-4o")


def long(turns: int = 40) -> Conversation:
    """A session that names at its end what it read at its beginning."""
    messages: list[Json] = [{"role": "user", "content": "Look at request_of_mine everywhere."}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {number}}}'}}
        listing = "\n".join(f"def parse_line_{number}_{line}(text): return {line + 1000}" for line in range(30))
        messages += [
            {"role": "assistant", "content": f"On to part {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": listing},
        ]
    messages += [
        {"role": "assistant", "content": f"request_of_mine is in parse_line_0_{line} and parse_line_1_{line}."}
        for line in range(30)
    ]
    return parse(messages)


def grown(session: Conversation, rounds: int = ROUNDS) -> Growth:
    found = growth(session, "gpt-4o", rounds)
    assert found is not None
    return found


def test_a_long_session_grows_by_its_own_messages_and_its_end_tells_what_is_needed() -> None:
    session = long()
    found = grown(session)
    assert (len(found.parts), found.made_up) == (20, False)
    fed = tuple(chain.from_iterable(found.parts))
    assert fed == session.messages[: len(fed)]
    assert len(session) // 2 < len(fed) <= len(session) * 3 // 4
    first = "\n".join(map(text_of, found.parts[0]))
    assert missing(found.needed, first) == set()
    names = {fact.text for fact in found.needed}
    assert "parse_line_0_7" in names
    assert "request_of_mine" not in names
    sizes = [count(session.with_messages(part), model="gpt-4o").total for part in found.parts]
    assert 1.5 < sizes[0] / sizes[10] < 3


def test_no_part_divides_a_call_from_its_result() -> None:
    for part in grown(long()).parts:
        assert {call.id for message in part for call in message.calls} == {
            result.call_id for message in part for result in message.results
        }


@pytest.mark.parametrize("format", list(FORMATS))
def test_a_short_session_grows_by_turns_that_are_made_up_in_its_own_format(format: str) -> None:
    session = convert(named(), format)
    found = grown(session)
    assert (len(found.parts), found.made_up) == (20, True)
    fed = tuple(chain.from_iterable(found.parts))
    assert len({message.id for message in fed}) == len(fed)
    added = "\n".join(map(text_of, chain.from_iterable(found.parts[1:])))
    assert missing(found.needed, added) == found.needed
    assert [broken.rule for broken in violations(session.with_messages(fed))] == []
    texts = [message.text for message in chain.from_iterable(found.parts[1:]) if message.from_user]
    assert len(set(texts)) == len(texts)


def test_a_session_that_needs_nothing_of_its_beginning_tells_nothing() -> None:
    assert growth(parse([{"role": "user", "content": "Hi"}]), "gpt-4o") is None
    assert growth(parse([{"role": "user", "content": "Hi"}]).with_messages(()), "gpt-4o") is None
    assert growth(long().with_messages(long().messages[:81]), "gpt-4o") is None


@pytest.mark.parametrize("preset", ["balanced", "quality", "v2"])
@pytest.mark.parametrize("session", [named(), long()], ids=["made up", "its own"])
def test_nothing_is_lost_in_twenty_compactions(preset: str, session: Conversation) -> None:
    rounds = list(decay(grown(session), resolve_recipe(preset), MEANS))
    assert [one.number for one in rounds] == list(range(1, 21))
    for one in rounds:
        assert one.in_context + one.recoverable == pytest.approx(1)
        assert (one.lost, one.valid) == (0, 1)
    assert rounds[0].in_context >= rounds[-1].in_context


def forget(condensation: Condensation, recipe: Recipe) -> Result:
    done = condensation.run(recipe)
    return Result(done.conversation, (), done.report)


def test_what_no_plan_brings_back_is_lost() -> None:
    last = list(decay(grown(named()), resolve_recipe("v2"), Means("gpt-4o", run=forget)))[-1]
    assert last.lost > 0
    assert last.recoverable == 0
    assert last.in_context + last.lost == pytest.approx(1)


@pytest.mark.parametrize("rounds", [0, 2])
def test_findings_with_something_lost_are_not_flawless(rounds: int) -> None:
    session = named()
    for means, flawless in ((MEANS, True), (Means("gpt-4o", run=forget), False)):
        trial = Experiment([resolve_recipe("v2")], [0.25], means, rounds, [None])
        assert measure([session], list(cases(session)), trial, lambda _: nullcontext()).flawless is flawless


def test_the_rounds_of_several_sessions_are_averaged() -> None:
    one, other = (list(decay(grown(session, 3), resolve_recipe("v2"), MEANS)) for session in (named(), long()))
    both = average([one, other])
    assert [each.number for each in both] == [1, 2, 3]
    assert both[2].in_context == pytest.approx((one[2].in_context + other[2].in_context) / 2)
    assert both[2].tokens == (one[2].tokens + other[2].tokens) / 2
