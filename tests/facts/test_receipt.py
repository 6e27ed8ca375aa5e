"""The receipt: every fact is retained, recoverable or lost, and is counted once."""

from __future__ import annotations

import json
import random
from time import process_time

import pytest

import compact
from compact.facts import Fact, Kind, Readable, facts_of, receipt
from compact.formats import FORMATS, parse
from compact.messages import Conversation, EditKind, Fold, Json, Pass, Replace, Where, apply
from compact.testing.generate import random_body

OUTPUT = (
    "src/app/server.py:12: in handle_request\n"
    "FAILED tests/test_server.py::test_timeout - TimeoutError: took 450 ms\n"
    "see https://example.com/docs/timeouts\n"
)


def talk() -> list[Json]:
    arguments = json.dumps({"command": "cd /srv/shop && pytest -x tests/test_server.py 2>&1 | tail -5"})
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return [
        {"role": "user", "content": "Fix the server."},
        {"role": "user", "content": "Never touch the file config/prod.yaml."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": OUTPUT},
        {"role": "assistant", "content": "The timeout is too short."},
        {"role": "user", "content": "Go on."},
    ]


def texts_of(kind: Kind, facts: tuple[Fact, ...]) -> set[str]:
    return {fact.text for fact in facts if fact.kind is kind}


def test_nothing_is_missing_where_nothing_changed() -> None:
    whole = receipt(parse(talk()), parse(talk()))
    assert whole.missing == ()
    assert whole.total.retained == whole.total.total == len(set(facts_of(parse(talk()).messages)))
    assert {kind: tally.total > 0 for kind, tally in whole.tallies.items()} == dict.fromkeys(Kind, True)


def test_what_was_cut_is_recoverable_with_the_plan_and_lost_without() -> None:
    before = parse(talk())
    cut = Pass("cut", (Replace(Where(before.messages[3].id, 0, (0,)), "⟨ Content suppressed ⟩", EditKind.SUPPRESSED),))
    after, done = apply(before, cut)
    told = receipt(before, after, (done,))
    assert "TimeoutError: took 450 ms" in " ".join(texts_of(Kind.ERROR, told.missing))
    assert texts_of(Kind.URL, told.missing) == {"https://example.com/docs/timeouts"}
    assert texts_of(Kind.NUMBER, told.missing) == {"450ms"}
    assert "src/app/server.py" in texts_of(Kind.PATH, told.missing)
    assert "tests/test_server.py" not in texts_of(Kind.PATH, told.missing)  # the command names it
    assert told.total.lost == 0
    assert told.total.recoverable == len(told.missing)
    alone = receipt(before, after)
    assert alone.total.lost == len(alone.missing) == len(told.missing)
    assert alone.total.recoverable == 0


def test_a_reference_makes_recoverable_what_it_stands_for() -> None:
    lines = "\n".join(f"value_{number} = compute_value({number + 100})" for number in range(60))
    messages = [{"role": "user", "content": "a"}, *({"role": "assistant", "content": f"{n}\n{lines}"} for n in "xy")]
    result = compact.condense([*messages, {"role": "user", "content": "b"}], provider="lossless")
    assert "[same as " in result.conversation.messages[2].text
    assert result.receipt().missing == ()  # the source of the reference can be read
    before = parse([*messages[:1], *messages[2:], {"role": "user", "content": "b"}])
    unreadable = result.conversation.with_messages(result.conversation.messages[2:])
    assert receipt(before, unreadable).total.lost > 60


def test_a_summary_retains_what_it_spells_out() -> None:
    before = parse(talk())
    text = (
        'The user said "Never touch the file config/prod.yaml." and `pytest -x tests/test_server.py` '
        "failed in app/server.py, handle_request, after timeout=450 ms."
    )
    fold = Fold(tuple(message.id for message in before.messages[1:5]), text, EditKind.SUMMARIZED)
    after, done = apply(before, Pass("fold", (fold,)))
    told = receipt(before, after, (done,))
    assert texts_of(Kind.DIRECTIVE, told.missing) == set()
    assert texts_of(Kind.COMMAND, told.missing) == set()  # where it runs and what is done with its output is no matter
    assert "src/app/server.py" not in texts_of(Kind.PATH, told.missing)  # its last two parts can be read
    assert "handle_request" not in texts_of(Kind.IDENTIFIER, told.missing)
    assert texts_of(Kind.NUMBER, told.missing) == set()
    assert texts_of(Kind.URL, told.missing) == {"https://example.com/docs/timeouts"}


def test_words_inside_other_words_do_not_count() -> None:
    shown = Readable(parse([{"role": "user", "content": "handle_requests and 4500 in my_server.py"}]))
    assert Fact(Kind.IDENTIFIER, "handle_requests", "") in shown
    assert Fact(Kind.IDENTIFIER, "handle_request", "") not in shown
    assert Fact(Kind.NUMBER, "450", "") not in shown
    assert Fact(Kind.PATH, "server.py", "") not in shown


def test_it_is_readable_for_people_and_for_programs() -> None:
    messages = talk()
    result = compact.condense([*messages[:2], *messages[2:5] * 1, *messages[5:]], provider="native", target=1)
    told = result.receipt()
    plain = json.loads(json.dumps(told.to_json()))
    assert set(plain) == {"facts", "total", "missing"}
    assert set(plain["facts"]) == {kind.value for kind in Kind}
    assert plain["total"]["retained"] == told.total.retained
    shown = str(told)
    assert shown.startswith(f"Facts retained in context: {told.total.retained} of {told.total.total} (")
    assert "file paths: " in shown


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_fact_is_counted_once(format: str) -> None:
    rng = random.Random(f"receipt {format}")
    for _ in range(20):
        before = parse(random_body(rng, format, size=20), format=format)
        result = compact.condense(before, preset=rng.choice(("v1", "balanced")), target=rng.choice((0.2, 0.6)))
        told = result.receipt()
        facts = set(facts_of(before.messages))
        assert told.total.total == len(facts)
        assert told.total.lost == 0
        assert set(told.missing) <= facts
        assert len(told.missing) == told.total.recoverable
        alone = result.receipt(with_plan=False)
        assert alone.total.retained == told.total.retained
        assert alone.missing == told.missing


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
def test_it_takes_linear_time() -> None:
    def seconds(steps: int) -> float:
        before = _long(steps)
        after = before.with_messages([before.messages[0], *before.messages[-3:]])
        began = process_time()
        assert receipt(before, after).total.lost > steps
        return process_time() - began

    seconds(50)
    small, large = min(seconds(100) for _ in range(3)), min(seconds(400) for _ in range(3))
    assert large < 10 * small


def _long(steps: int) -> Conversation:
    messages = [{"role": "user", "content": "begin"}]
    for step in range(steps):
        lines = (f"src/part_{step}/file_{line}.py: error: value_{step}_{line} took {step}.{line}s" for line in range(9))
        messages.append({"role": "assistant", "content": "\n".join(lines)})
    return parse([*messages, {"role": "user", "content": "end"}])
