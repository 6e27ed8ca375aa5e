"""Summaries of stored sessions as values: the one module that reads and writes the content of snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from compact.errors import NewerVersion, StoredPlanMismatch
from compact.messages import (
    Drop,
    Edit,
    EditKind,
    Fold,
    Frame,
    Json,
    Message,
    Pass,
    Plan,
    Replace,
    Seal,
    Text,
    Where,
    body_of,
    frame_account,
    plan_from_json,
    plan_to_json,
    summary_handle,
)
from compact.ports import SNAPSHOT_VERSION, CompactionFacts, Snapshot

_REVISIONS = ("edited", "imported")
_PASS = "Summary"  # noqa: S105 - a pass of a plan
_OLDER = {
    "trigger": "trigger",
    "recipe": "recipe",
    "strategy": "strategy",
    "tokensBefore": "tokens_before",
    "tokensAfter": "tokens_after",
    "writtenBy": "written_by",
    "whyOffline": "why_offline",
    "cost": "cost",
}
"""Facts that earlier versions read, by the names they look for."""


@dataclass(frozen=True, slots=True)
class SummarySnapshot:
    """A summary: the plan that makes what is sent of the stored messages, and what it did.

    `view` is what stands of the messages up to `cutoff`, in order: ids of stored messages, and handles of folds.
    The plan names messages by their positions; it has the folds and edits that still stand, those of earlier summaries
    included. `messages` is how many messages the folds stand for, `number` how many summaries there were with this one.

    `facts` are the record of the compaction that made it; None where a person wrote it, or it was taken over from
    another session: then `revised` says so.

    Before version 3 there was no plan. Such a summary is one fold whose place depends on the pins (`placed` is False),
    and reasoning up to the position `thoughtless` is left out.
    """

    plan: Plan = ()
    view: tuple[int | str, ...] = ()
    cutoff: int | None = None
    first: int | None = None
    messages: int = 0
    number: int = 0
    words: str = ""
    role: str = "system"
    revised: str = ""
    facts: CompactionFacts | None = None
    replaces: int | None = None
    source: str = ""
    placed: bool = True
    thoughtless: int | None = None

    @property
    def trigger(self) -> str:
        """The trigger: automatic, manual, regenerated, edited or imported."""
        return self.facts.trigger if self.facts else self.revised

    @property
    def folds(self) -> dict[str, Fold]:
        """The folds of the plan by their handles."""
        return {edit.handle: edit for step in self.plan for edit in step.edits if isinstance(edit, Fold)}

    @property
    def account(self) -> Fold | None:
        """The fold that tells most: the account, else a marker; None where texts were only shortened."""
        folds = sorted(self.folds.values(), key=lambda fold: (bool(summary_handle(fold.text)), len(fold.messages)))
        return folds[-1] if folds else None

    @property
    def text(self) -> str:
        """The account as it is sent."""
        return self.account.text if self.account else ""

    @property
    def kept(self) -> list[int]:
        """The ids of the messages up to the cutoff that are still sent."""
        return [entry for entry in self.view if isinstance(entry, int)]

    def reworded(self, words: str, revised: str, seal: Seal | None = None) -> SummarySnapshot:
        """The summary with other words in the account, or with an account if it had none; no compaction made it."""
        old = self.account
        text = frame_account(words, self.messages, Frame(seal=seal))
        new = Fold(old.messages if old else (), text, EditKind.SUMMARIZED, old.role if old else self.role)
        plan = tuple(_filtered(self.plan, lambda edit: old is None or _of(edit) != old.handle))
        view = tuple(new.handle if old and entry == old.handle else entry for entry in self.view)
        return replace(
            self,
            plan=(*plan, Pass(_PASS, (new,))),
            view=view if old else (new.handle, *view),
            words=words,
            number=self.number + 1,
            revised=revised,
            facts=None,
        )

    def stored(self, session: str, count: Callable[[str], int]) -> Snapshot:
        """The snapshot to be stored."""
        content: dict[str, Json] = {
            "summaryText": self.text,
            "messageRange": {"first": self.first, "last": self.cutoff},
            "words": self.words,
            "version": self.number,
            "messages": self.messages,
            "view": list(self.view),
            "plan": plan_to_json(self.plan),
            "role": self.role,
            "trigger": self.trigger,
        }
        if self.facts is not None:
            content |= {"facts": self.facts.to_json()}
            content |= {old: content["facts"][name] for old, name in _OLDER.items()}
        content |= {"replaces": self.replaces} if self.replaces is not None else {}
        content |= {"from": self.source} if self.source else {}
        return Snapshot(session, "summary", content, self.cutoff, count(self.text))


def describe_summary(snapshot: Snapshot) -> SummarySnapshot:
    """What a stored summary says and did, without its plan: of every version, and even if the plan is damaged."""
    content = snapshot.content
    span, facts = content.get("messageRange"), _facts(content, snapshot.created)
    return SummarySnapshot(
        cutoff=snapshot.cutoff,
        first=_number(span.get("first")) if isinstance(span, dict) else None,
        messages=_number(content.get("messages")) or 0,
        number=_number(content.get("version")) or 0,
        words=str(content.get("words") or content.get("summaryText", "")),
        role=str(content.get("role", "system")),
        revised="" if facts else str(content.get("trigger", "")),
        facts=facts,
        replaces=_number(content.get("replaces")),
        source=str(content.get("from", "")),
    )


def read_summary(snapshot: Snapshot) -> SummarySnapshot:
    """The summary that was stored, by this version or an earlier one; NewerVersion where it is by a later one."""
    require_known(snapshot)
    read, content = describe_summary(snapshot), snapshot.content
    if "plan" not in content:
        return _read_old(read, content)
    try:
        plan, view = plan_from_json(content["plan"]), tuple(_entry(entry) for entry in content["view"])
    except (KeyError, TypeError, ValueError) as error:
        raise unfit(snapshot, f"its plan is damaged ({type(error).__name__}: {error})") from None
    read = replace(read, plan=plan, view=view)
    if missing := [entry for entry in view if isinstance(entry, str) and entry not in read.folds]:
        raise unfit(snapshot, f"its plan has no {missing[0]}")
    return read


def require_known(snapshot: Snapshot) -> Snapshot:
    """The snapshot, if this version can read it."""
    if snapshot.version <= SNAPSHOT_VERSION:
        return snapshot
    raise NewerVersion(
        f"{_named(snapshot)} is of version {snapshot.version}, and this Compact reads version {SNAPSHOT_VERSION}",
        remedy="Upgrade Compact.",
    )


def unfit(snapshot: Snapshot, problem: str) -> StoredPlanMismatch:
    """The error that says what is wrong with the summary."""
    remedy = "Undo the summary: the messages are stored, and what stood before it stands again."
    return StoredPlanMismatch(f"{_named(snapshot)} cannot be used: {problem}", remedy=remedy)


def standing_edits(plan: Iterable[Pass], standing: AbstractSet[str]) -> Plan:
    """The passes with those edits alone whose results are still there: of messages with these ids, or such folds."""
    return tuple(reversed(list(_last(tuple(_filtered(plan, lambda edit: _of(edit) in standing))))))


def words_of(account: str) -> str:
    """What an account says, without its frame."""
    return body_of(Message("account", "assistant", (Text(account, ()),), None)) or account


def _read_old(read: SummarySnapshot, content: Json) -> SummarySnapshot:
    fold = Fold(("summarized",), str(content.get("summaryText", "")), EditKind.SUMMARIZED, read.role)
    kept = content.get("kept")
    return replace(
        read,
        plan=(Pass(_PASS, (fold,), merges=False),),
        view=tuple(id for id in kept if isinstance(id, int)) if isinstance(kept, list) else (),
        placed=False,
        thoughtless=_number(content.get("thoughtless")),
    )


def _filtered(plan: Iterable[Pass], wanted: Callable[[Edit], bool]) -> Iterator[Pass]:
    for step in plan:
        if edits := tuple(filter(wanted, step.edits)):
            yield replace(step, edits=edits, originals=(), added=())


def _last(plan: Plan) -> Iterator[Pass]:
    """The passes from the last to the first, without edits of texts that a later one replaces as a whole."""
    # Where a block was dropped, the same place may be another one later.
    dropped = {edit.where.message for step in plan for edit in step.edits if isinstance(edit, Drop)}
    replaced: set[Where] = set()
    for step in reversed(plan):
        edits = [one for one in step.edits if isinstance(one, Fold) or one.where._replace(lines=None) not in replaced]
        places = {edit.where for edit in edits if isinstance(edit, Replace)}
        replaced |= {where for where in places if where.lines is None and where.message not in dropped}
        if edits:
            yield replace(step, edits=tuple(edits))


def _of(edit: Edit) -> str:
    """The id of what the edit makes or changes."""
    return edit.handle if isinstance(edit, Fold) else edit.where.message


def _entry(entry: Json) -> int | str:
    if isinstance(entry, bool) or not isinstance(entry, int | str):
        raise TypeError(f"{entry!r} is no entry of a view"[:100])
    return entry


def _facts(content: Json, created: str) -> CompactionFacts | None:
    """The record of the compaction, or what a version without records stored of it; None where a person wrote it."""
    if isinstance(content.get("facts"), dict):
        return CompactionFacts.from_json(content["facts"])
    if content.get("trigger") in (None, "", *_REVISIONS):
        return None
    return CompactionFacts.from_json(
        {"ended_at": created, **{name: content.get(old, "") for old, name in _OLDER.items()}}
    )


def _number(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _named(snapshot: Snapshot) -> str:
    return f"summary {snapshot.id} of session {snapshot.session}"
