"""Sessions in parts, to be compacted each time a part is added: their own messages, or turns that are made up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compact.app.counting import counter_for
from compact.engine import Gauge
from compact.facts import Fact
from compact.formats import convert, parse, tools_of
from compact.lab.retention import missing, text_of, used_again
from compact.messages import Conversation, Json, Message, exchanges

ROUNDS = 20
LEAST_NEEDED = 3
"""A session that needs fewer facts of its first part tells nothing about how they fare."""
ENOUGH = 16_000
"""So many tokens of a session are enough before it is grown by turns that are made up."""
LEAST_ADDED = 1_000
_HELD_BACK = 0.75
_LINES = 25
_FAR = 73_000_000


@dataclass(frozen=True, slots=True)
class Growth:
    """A session in parts, one for each round; `needed` are the facts of the first that are used after the last.

    What uses them is no part of it, and what the first request says is not among them: that stays anyway. `session` is
    an empty conversation in its dialect.
    """

    session: Conversation
    parts: tuple[tuple[Message, ...], ...]
    needed: frozenset[Fact]
    made_up: bool


def growth(session: Conversation, model: str, rounds: int = ROUNDS) -> Growth | None:
    """How the session grows in so many rounds; None where it needs too little of its beginning to tell."""
    gauge = Gauge(counter_for(model), tools_of(session))
    return _by_itself(session, gauge, rounds) or _made_up(session, gauge, rounds)


def _by_itself(session: Conversation, gauge: Gauge, rounds: int) -> Growth | None:
    """The first three quarters in parts of one size, the first of twice that; the last quarter tells what is needed."""
    messages = session.messages
    held = int(len(messages) * _HELD_BACK)
    ends = [end for end in _ends(messages) if end <= held]
    if len(ends) < rounds:
        return None
    cuts = _cuts(ends, _sizes(messages, ends, gauge), rounds)
    needed = _needed(messages[: cuts[0]], messages[held:])
    if len(needed) < LEAST_NEEDED:
        return None
    parts = tuple(messages[start:end] for start, end in zip([0, *cuts], cuts, strict=False))
    return Growth(session.with_messages(()), parts, needed, made_up=False)


def _made_up(session: Conversation, gauge: Gauge, rounds: int) -> Growth | None:
    """The first half, or enough of it; then turns about other things, half as much in each round."""
    messages = session.messages
    ends = [end for end in _ends(messages) if end <= max(len(messages) // 2, 1)]
    if not ends:
        return None
    sizes = _sizes(messages, ends, gauge)
    at = min(bisect_left(sizes, ENOUGH), len(ends) - 1)
    first = messages[: ends[at]]
    needed = _needed(first, messages[ends[at] :])
    if len(needed) < LEAST_NEEDED:
        return None
    turns = _turns(session)
    size = max(sizes[at] // 2, LEAST_ADDED)
    parts = (first, *(_filled(turns, size, gauge) for _ in range(rounds - 1)))
    return Growth(session.with_messages(()), parts, needed, made_up=True)


def _needed(seen: Sequence[Message], following: Sequence[Message]) -> frozenset[Fact]:
    request = next((message for message in seen if message.from_user), None)
    used = used_again(seen, following)
    return used if request is None else frozenset(missing(used, text_of(request)))


def _ends(messages: Sequence[Message]) -> Iterator[int]:
    """Where the messages can be parted: every exchange is whole on one side."""
    spans = {group[0]: group[-1] for group in exchanges(messages)}
    reach = -1
    for index in range(len(messages)):
        reach = max(reach, spans.get(index, index))
        if reach == index:
            yield index + 1


def _sizes(messages: Sequence[Message], ends: Sequence[int], gauge: Gauge) -> list[int]:
    """The tokens up to each of the ends."""
    totals = list(accumulate(map(gauge.message, messages[: ends[-1]])))
    return [totals[end - 1] for end in ends]


def _cuts(ends: Sequence[int], sizes: Sequence[int], rounds: int) -> list[int]:
    """Where the rounds end, as evenly as exchanges allow; there are ends enough."""
    at, cuts = -1, []
    for number in range(rounds):
        goal = sizes[-1] * (number + 2) // (rounds + 1)
        # The rounds to come need an end each.
        at = min(bisect_left(sizes, goal, lo=at + 1), len(ends) - (rounds - number))
        cuts.append(ends[at])
    return cuts


def _filled(turns: Iterator[tuple[Message, ...]], size: int, gauge: Gauge) -> tuple[Message, ...]:
    part: list[Message] = []
    while size > 0:
        turn = next(turns)
        size -= sum(map(gauge.message, turn))
        part += turn
    return tuple(part)


def _turns(session: Conversation) -> Iterator[tuple[Message, ...]]:
    """Turns without end in the session's dialect, each about a file with names and numbers of its own."""
    number, position = 0, len(session)
    while True:
        number += 1
        said = convert(parse(_turn(number), format="openai-chat"), session.format).messages
        yield tuple(session.dialect.parse_message(one.wire, str(position + index)) for index, one in enumerate(said))
        position += len(said)


def _turn(number: int) -> list[Json]:
    path, name = f"src/added_{number % 7}/module_{number}.py", f"measure_{number}"
    # No session is likely to speak of such numbers, so none of its facts comes back by chance.
    factors = [_FAR + number * _LINES + line for line in range(_LINES)]
    call = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
    asked = number % _LINES
    return [
        {"role": "user", "content": f"What does {name}_{asked} in {path} return?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"made_up_{number}", "type": "function", "function": call}],
        },
        {
            "role": "tool",
            "tool_call_id": f"made_up_{number}",
            "content": "\n".join(
                f"def {name}_{line}(rows): return sum(rows) * {factor}" for line, factor in enumerate(factors)
            ),
        },
        {"role": "assistant", "content": f"It multiplies by {factors[asked]}; {path} is fine."},
    ]
