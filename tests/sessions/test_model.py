"""Both databases against a model that is nothing but lists: whatever is done in whatever order, they agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from compact.errors import NotFound
from compact.sessions import open_store
from compact.sessions.store import DatabaseStore
from tests.sessions.test_store import new, said, summary

WORDS = ("alpha", "beta", "gamma")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)
CHOICES = st.integers(0, 1_000)


@dataclass(slots=True)
class Line:
    id: int
    text: str
    tokens: int
    pinned: bool = False


@dataclass(slots=True)
class Made:
    id: int
    cutoff: int | None
    text: str
    retired: bool = False


@dataclass(slots=True)
class Kept:
    """One session as the model knows it."""

    title: str = ""
    lines: list[Line] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    revision: int = 0

    @property
    def standing(self) -> list[Made]:
        return [one for one in self.made if not one.retired]


class Machine(RuleBasedStateMachine):
    """Does the same to a store and to the model."""

    store: DatabaseStore  # set by the test

    def __init__(self) -> None:
        super().__init__()
        self.run = uuid4().hex[:12]  # a run sees only its own sessions
        self.model: dict[str, Kept] = {}
        self.ids: list[int] = []

    def _one(self, choice: int) -> str:
        return list(self.model)[choice % len(self.model)]

    @initialize()
    def begin(self) -> None:
        self.create()

    @rule()
    def create(self) -> None:
        id = f"{self.run}-{uuid4().hex[:6]}"
        new(self.store, id, self.run)
        self.model[id] = Kept()

    @precondition(lambda self: self.model)
    @rule(choice=CHOICES, texts=st.lists(TEXTS, max_size=4))
    def append(self, choice: int, texts: list[str]) -> None:
        id = self._one(choice)
        stored = self.store.append(id, [said(text) for text in texts])
        self.ids += (one.id for one in stored)
        assert self.ids == sorted(set(self.ids))
        self.model[id].lines += [Line(one.id, text, len(text)) for one, text in zip(stored, texts, strict=True)]

    @precondition(lambda self: any(kept.lines for kept in self.model.values()))
    @rule(choice=CHOICES, which=CHOICES, tokens=st.integers(0, 2**40), pinned=st.booleans())
    def mark(self, choice: int, which: int, tokens: int, pinned: bool) -> None:
        id = [id for id, kept in self.model.items() if kept.lines][
            choice % sum(bool(k.lines) for k in self.model.values())
        ]
        lines = self.model[id].lines
        line = lines[which % len(lines)]
        self.store.recount({line.id: tokens}, "other")
        self.store.pin(id, [line.id], pinned=pinned)
        line.tokens, line.pinned = tokens, pinned

    @precondition(lambda self: self.model)
    @rule(choice=CHOICES, title=st.text(max_size=5).filter(lambda text: "\0" not in text))
    def rename(self, choice: int, title: str) -> None:
        id = self._one(choice)
        self.model[id].title = self.store.change(id, {"title": title}).title
        assert self.model[id].title == title

    @precondition(lambda self: self.model)
    @rule(choice=CHOICES, which=CHOICES, text=TEXTS, replace=st.booleans(), stale=st.booleans())
    def summarize(self, choice: int, which: int, text: str, replace: bool, stale: bool) -> None:
        id = self._one(choice)
        kept = self.model[id]
        standing = kept.standing
        basis = standing[-1].id if standing else None
        taken = {one.cutoff for one in (standing[:-1] if replace else standing)}
        free = [line.id for line in kept.lines if line.id not in taken]
        cutoff = free[which % len(free)] if free else None
        given = (basis or 0) + 1 if stale else basis
        made = self.store.put_snapshot(summary(id, cutoff, text), given, replace=replace)
        assert (made is None) == stale
        if made is not None:
            if replace and standing:
                standing[-1].retired = True
            kept.made.append(Made(made.id, cutoff, text))

    @precondition(lambda self: any(kept.standing for kept in self.model.values()))
    @rule(choice=CHOICES, which=CHOICES)
    def retire(self, choice: int, which: int) -> None:
        ids = [id for id, kept in self.model.items() if kept.standing]
        id = ids[choice % len(ids)]
        standing = self.model[id].standing
        at = which % len(standing)
        self.store.retire(id, standing[at].id)
        for one in standing[at:]:
            one.retired = True

    @precondition(lambda self: len(self.model) > 1)
    @rule(choice=CHOICES)
    def delete(self, choice: int) -> None:
        id = self._one(choice)
        self.store.delete(id)
        del self.model[id]
        with pytest.raises(NotFound):
            self.store.session(id)

    @rule(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2))
    def search(self, words: list[str]) -> None:
        found = self.store.search(" ".join(words), workspace=self.run, limit=1_000)
        lines = [line for kept in self.model.values() for line in kept.lines]
        assert sorted(one.message for one in found) == sorted(
            line.id for line in lines if set(words) <= set(line.text.split())
        )

    @invariant()
    def agrees(self) -> None:
        assert {one.id for one in self.store.sessions(self.run, limit=1_000)} == set(self.model)
        for id, kept in self.model.items():
            session = self.store.session(id)
            assert (session.title, session.messages) == (kept.title, len(kept.lines))
            assert session.revision >= kept.revision
            kept.revision = session.revision
            history = self.store.history(id, limit=1_000)
            assert [(one.id, one.tokens, one.pinned) for one in history] == [
                (line.id, line.tokens, line.pinned) for line in kept.lines
            ]
            snapshots = self.store.snapshots(id, retired=True)
            assert [(one.id, one.cutoff, one.content["summaryText"], one.retired) for one in snapshots] == [
                (one.id, one.cutoff, one.text, one.retired) for one in kept.made
            ]
            self._active_agrees(id, kept)

    def _active_agrees(self, id: str, kept: Kept) -> None:
        active = self.store.active(id)
        last = kept.standing[-1] if kept.standing else None
        assert (active.summary.id if active.summary else None) == (last.id if last else None)
        cutoff = (last.cutoff if last else None) or 0
        assert [one.id for one in active.recent] == [line.id for line in kept.lines if line.id > cutoff]
        assert [one.id for one in active.pinned] == [
            line.id for line in kept.lines if line.pinned and line.id <= cutoff
        ]


@pytest.fixture
def machine(url: str) -> Iterator[type[Machine]]:
    with open_store(url) as store:
        yield type("MachineOnStore", (Machine,), {"store": store})


def test_the_database_agrees_with_plain_lists(machine: type[Machine]) -> None:
    from hypothesis import settings

    run_state_machine_as_test(machine, settings=settings(max_examples=12, stateful_step_count=20))
