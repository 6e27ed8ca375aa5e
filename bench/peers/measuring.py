"""What a way leaves of a session that was cut: how much, whether a vendor takes it, and which facts it still has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.catalogue import Way
from bench.peers.environments import ROOT, Adapter
from bench.peers.relations import Relation, missing_relations, used_together
from compact import formats
from compact.app.counting import count
from compact.app.transcripts import read_transcript
from compact.facts import Fact
from compact.lab.retention import missing, text_of, used_again
from compact.messages import Conversation
from scripts.fit_relevance import is_held_out

FORMAT = "openai-chat"
CUTS = (0.5, 0.75)
SHARES = (0.50, 0.25, 0.10)
LARGE = 100_000
_BUNDLED = ROOT / "src" / "compact" / "cli" / "transcripts" / "session.openai-chat.json"


@dataclass(frozen=True, slots=True)
class Session:
    """A recorded session in the format that all adapters speak."""

    name: str
    whole: Conversation
    tokens: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A session as far as it had come when the model was asked, and what was seen by then that it writes later.

    That is facts, and the relations among them: a name with its value or its file.
    `floor` is what nobody can do without: the instructions, the first request and the newest exchange.
    """

    session: str
    before: Conversation
    tokens: int
    floor: int
    needed: frozenset[Fact]
    related: frozenset[Relation]

    def budgets(self) -> Iterator[tuple[float, int]]:
        """The shares that can be reached, with the tokens they come to."""
        for share in SHARES:
            if (budget := int(self.tokens * share)) >= self.floor:
                yield share, budget


@dataclass(frozen=True, slots=True)
class Sources:
    """The sessions that are measured, and what was left out of them and why.

    `held_out` are those to which no weight of Compact's was fitted, all those of some sources.
    """

    sessions: tuple[Session, ...]
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]
    held_out: tuple[str, ...]


def read_sources(most: int | None) -> Sources:
    """Sessions spread evenly over all there are, each cut at a half and at three quarters."""
    sessions, notes = [], []
    found = _files()
    paths = found if most is None else [found[index * len(found) // most] for index in range(min(most, len(found)))]
    reasoning: list[str] = []
    for path in paths:
        whole = formats.convert(read_transcript(path.read_bytes()), FORMAT, lossy=True, note=reasoning.append)
        sessions.append(Session(path.stem, whole, count(whole).total))
    if reasoning:
        notes.append(f"{len(reasoning):,} blocks of reasoning were left out, which no other vendor accepts")
    cuts = [cut for session in sessions for cut in _cuts(session)]
    valid = [cut for cut in cuts if not formats.violations(cut.before)]
    if len(valid) < len(cuts):
        notes.append(f"{len(cuts) - len(valid)} cuts were left out because the recording itself is invalid there")
    notes.insert(0, f"{len(sessions)} of {len(found)} sessions, {len(valid)} cuts")
    beyond = {share: sum(share not in dict(cut.budgets()) for cut in valid) for share in SHARES}
    notes += [f"{left} cannot come down to {share:.0%}, as what must stay takes more" for share, left in beyond.items()]
    held_out = [path.stem for path in paths if path == _BUNDLED or is_held_out(path)]
    return Sources(tuple(sessions), tuple(valid), tuple(notes), tuple(held_out))


def _files() -> list[Path]:
    if folder := os.environ.get("COMPACT_TRANSCRIPTS"):
        return sorted(Path(folder, "coding").glob("*.json"))
    return [_BUNDLED]


def _cuts(session: Session) -> Iterator[Cut]:
    messages = session.whole.messages
    for share in CUTS:
        at = next_request(session.whole, int(len(messages) * share))
        before = session.whole.with_messages(messages[:at])
        if needed := used_again(before.messages, messages[at:]):
            related = used_together(before.messages, messages[at:], needed)
            yield Cut(session.name, before, count(before).total, _floor(before), needed, related)


def _floor(conversation: Conversation) -> int:
    messages = conversation.messages
    first = next((index for index, message in enumerate(messages) if message.from_user), 0)
    last = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=first)
    return count(conversation.with_messages((*messages[: first + 1], *messages[max(last, first + 1) :]))).total


def next_request(conversation: Conversation, at: int) -> int:
    """The first place from there on at which the model answers, so that what is before it is a whole request."""
    messages = conversation.messages
    while at < len(messages) and not (messages[at].role == "assistant" and messages[at - 1].role != "assistant"):
        at += 1
    return at


def measure(way: Way, cuts: Sequence[Cut]) -> list[dict[str, Any]]:
    """A row for every cut and budget."""
    rows = []
    with Adapter(way) as adapter:
        # The first call of a process loads what is loaded late; it is nobody's time.
        adapter.ask(formats.render(cuts[0].before), cuts[0].tokens // 2)
        for cut in cuts:
            for share, budget in cut.budgets():
                answer = adapter.ask(formats.render(cut.before), budget)
                row = {"way": way.key, "session": cut.session, "share": share, "before": cut.tokens}
                rows.append({**row, "start": adapter.memory, **judge(cut, budget, answer)})
    return rows


def judge(cut: Cut, budget: int, answer: dict[str, Any]) -> dict[str, Any]:
    """What an answer is worth; one that is an error leaves the conversation as it was, and counts as not valid."""
    if "error" in answer:
        nothing = {"after": cut.tokens, "met": False, "valid": False, "missing": 0, "lost": 0, "parted": 0}
        needed = {"needed": len(cut.needed), "related": len(cut.related)}
        return {**nothing, **needed, "seconds": None, "peak": None, "error": answer["error"]}
    after = formats.parse(answer["messages"], format=FORMAT)
    tokens = count(after).total
    context = "\n".join(map(text_of, after.messages))
    gone = missing(cut.needed, context)
    lost = missing(frozenset(gone), kept) if (kept := "\n".join(answer["recoverable"])) else gone
    broken = formats.violations(after, origin=cut.before) if answer["messages"] else ["nothing is left"]
    return {
        "after": tokens,
        "met": tokens <= budget,
        "valid": not broken,
        "needed": len(cut.needed),
        "missing": len(gone),
        "lost": len(lost),
        "related": len(cut.related),
        "parted": len(missing_relations(cut.related, context)),
        "seconds": answer["seconds"],
        "peak": answer["peak"],
        "asked": sum(asked for asked, _ in answer["asked"]),
        "broken": str(broken[0])[:200] if broken else "",
    }
