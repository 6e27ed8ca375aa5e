"""Judges what remains of a world's conversation: what is told, what is missing, what is wrong.

It reads any messages: kept ones, cut ones, and accounts in any wording, list or prose. Words that stand where they
stood are true as long as what governs them stands there too; everything else is read line by line, by names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from compact.messages import Json
from compact.testing.worlds.fates import read_fate
from compact.testing.worlds.figures import read_value
from compact.testing.worlds.judgement import Judgement, Reading, Reason, Statement, Verdict
from compact.testing.worlds.lexicon import Lexicon, load_lexicon
from compact.testing.worlds.mentions import Mention, Names, note_behind, quoted_around, share
from compact.testing.worlds.originals import Originals, originals_of
from compact.testing.worlds.passages import Line, Passage, read_messages, split_lines
from compact.testing.worlds.polarity import is_order, read_decision, read_order
from compact.testing.worlds.speakers import is_quoted_from, speaks_rightly
from compact.testing.worlds.truth import Fate, Outcome, Speaker, Truth, TruthKind, World
from compact.testing.worlds.views import View, blank, content, mask, speaks_of_other

_ROLES = {Speaker.USER: "user", Speaker.ASSISTANT: "assistant", Speaker.TOOL: "tool", Speaker.PROJECT: "tool"}
_ELSEWHERE = ((Reading.FALSE, Reason.FATE), (Reading.FALSE, Reason.OUTCOME))
"""What a word about something else may look like."""


def judge(world: World, messages: Sequence[Json]) -> Judgement:
    """Judges messages in the world's format, or plain texts."""
    court = _Court(world)
    for passage in read_messages(messages):
        court.hear(passage)
    return court.decide()


def _is_plan(passage: Passage) -> bool:
    """Whether it is a list of tasks with their states: a later one changes what an earlier one says."""
    if passage.kind == "call":
        return '"todos"' in passage.text
    return passage.role == "assistant" and ("- [ ] " in passage.text or "- [x] " in passage.text)


def _is_speech(passage: Passage) -> bool:
    """Whether the assistant says it."""
    return passage.role == "assistant" and passage.kind == "text"


class _Court:
    def __init__(self, world: World) -> None:
        self.world = world
        self.lexicon: Lexicon = load_lexicon(world.language)
        self.originals: Originals = originals_of(world)
        self.names = Names(world.truths)
        self.statements: list[Statement] = []
        self.calls: dict[str, str] = {}
        """The arguments of the calls heard so far."""
        self.place = 0
        before = {truth.replaced_by: truth.text for truth in world.truths if truth.replaced_by}
        self.meant = {
            truth.id: content(f"{truth.text} {truth.opposite} {before.get(truth.id, '')}", truth.names)
            for truth in world.truths
            if is_order(truth.kind)
        }

    def hear(self, passage: Passage) -> None:
        """Takes down what a passage says."""
        self.place += 1
        if passage.kind == "call":
            self.calls[passage.call] = passage.text
        known = (passage.role, passage.kind, passage.text) in self.originals.passages
        lowered = passage.text.lower()
        places = self.names.find(lowered)
        lines = [] if known or not places else split_lines(passage.text)
        quoted = self._hear_originals(passage, places, lines)
        if (known and not _is_plan(passage) and not _is_speech(passage)) or not places:
            self._hear_rerun(passage)
            return
        self._hear_lines(passage, lines or split_lines(passage.text), places, quoted)

    def _hear_originals(self, passage: Passage, places: list[tuple[int, int, Truth]], lines: list[Line]) -> set[str]:
        """Words that stand where they stood, with what governs them. Gives the truths they say or settle."""
        told = set()
        named = {truth.id: truth for _, _, truth in places}
        at = self.originals.results.get(passage.call) if passage.kind == "result" else None
        if at is not None:
            named |= {truth.id: truth for truth in self.world.truths if truth.at == at}
        for truth in named.values():
            said = self._says(passage, truth, at) and self._stands_alone(passage, truth.text, lines)
            settled = truth.settled or truth.deferred
            if said or (self._settles(passage, truth, at) and self._stands_alone(passage, settled, lines)):
                told.add(truth.id)
                found = (Reading.TRUE, Reason.NOTHING) if truth.standing else (Reading.FALSE, Reason.STALE)
                self._note(truth, passage, truth.text if said else settled, found)
        return told

    def _says(self, passage: Passage, truth: Truth, at: int | None) -> bool:
        """Whether the role says the truth's text, below what governs it; of requests, only open ones are told so."""
        if truth.outcome is not None and truth.settled:
            return False
        if truth.fate not in (None, Fate.OPEN) or (truth.fate and truth.speaker is not Speaker.USER):
            return False
        in_user_role = bool(truth.lead) and truth.speaker is Speaker.OTHER
        role = "user" if in_user_role else _ROLES.get(truth.speaker, "tool")
        if passage.role != role or passage.kind == "call":
            return False
        place = passage.text.find(truth.text)
        if (
            place < 0
            or passage.text[:place].rstrip(" ")[-1:].isalnum()
            or (passage.kind == "result" and at is not None and at != truth.said)
        ):
            return False
        if truth.condition_names and truth.condition not in truth.text:
            return False
        lead = passage.text.rfind(truth.lead, 0, place) if truth.lead else 0
        if lead < 0:
            return False
        between = passage.text[lead + len(truth.lead) : place]
        listed = truth.lead and truth.speaker is Speaker.USER
        return not listed or not any(line.rstrip().endswith(":") for line in between.split("\n"))

    def _stands_alone(self, passage: Passage, text: str, lines: list[Line]) -> bool:
        """Whether the line of the text is the role's own, and what is above it, too: an account may quote and go on."""
        if passage.kind == "result":
            return True
        place = passage.text.find(text)
        return all(self.originals.original(passage, line) for line in lines if line.start <= place < line.end)

    def _settles(self, passage: Passage, truth: Truth, at: int | None) -> bool:
        if truth.fate is Fate.OPEN and truth.deferred:
            return _is_speech(passage) and truth.deferred in passage.text
        if not truth.settled or not truth.standing or passage.kind == "call":
            return False
        if truth.outcome is not None:
            return at == truth.at and truth.settled in passage.text
        role = "user" if truth.fate in (Fate.WITHDRAWN, Fate.REPLACED) else "assistant"
        return passage.role == role and passage.kind == "text" and truth.settled in passage.text

    def _hear_rerun(self, passage: Passage) -> None:
        """A result without names, of a call that has one: an earlier run, or a result put in other words."""
        if passage.kind != "result":
            return
        call = self.calls.get(passage.call, "").lower()
        if not call:
            return
        at = self.originals.results.get(passage.call)
        for truth in {truth.id: truth for _, _, truth in self.names.find(call)}.values():
            if truth.outcome is None or at is None:
                continue
            earlier = truth.outcome is Outcome.FIXED and at < truth.at
            if earlier or (at == truth.at and truth.settled not in passage.text):
                text = passage.text.replace("\n", " ; ")
                mention = Mention(truth, 0, 0, 0, len(text))
                low, ends = text.lower(), partial(self.originals.ends_line, "tool")
                view = View(mention, [mention], low, low, (), "", "tool", self.lexicon, set(), ends)
                reading, reason = read_fate(view)
                if at < truth.at and reading is Reading.TRUE:
                    continue
                self._note(truth, passage, passage.text, (reading, reason))

    def _hear_lines(
        self, passage: Passage, lines: list[Line], places: list[tuple[int, int, Truth]], quoted: set[str]
    ) -> None:
        lowered = passage.text.lower()
        plan = _is_plan(passage)
        for line in lines:
            here = [place for place in places if line.start <= place[0] < line.end]
            if not here:
                continue
            task = plan and (passage.kind == "call" or "[" in line.text[:6])
            original = not task and self.originals.original(passage, line)
            text = lowered[line.start : line.end]
            mentions = share(line, text, here, self.lexicon)
            clean = mask(text, [(start - line.start, end - line.start) for start, end, _ in here])
            for mention in mentions:
                truth = mention.truth
                report = original and truth.outcome is not None and _is_speech(passage)
                if truth.id in quoted or (original and not report and not self._cut(line, truth)):
                    continue
                if task and truth.fate is None:
                    continue
                view = self._view(passage, line, lowered, places, (mention, mentions, text, clean))
                found = self._read(view)
                # What the assistant said of a run was so then: it may be all that is left of it.
                if not report or found[0] is Reading.TRUE or found[1] is Reason.STALE:
                    self._note(truth, passage, line.text, found)

    def _cut(self, line: Line, truth: Truth) -> bool:
        """Whether the line is an original's, yet without what governs it."""
        if truth.lead and truth.text in line.text:
            return True
        return bool(truth.condition) and truth.condition not in line.text

    def _view(
        self,
        passage: Passage,
        line: Line,
        lowered: str,
        places: list[tuple[int, int, Truth]],
        shared: tuple[Mention, list[Mention], str, str],
    ) -> View:
        mention, mentions, text, clean = shared
        truth = mention.truth
        if truth.kind is TruthKind.REQUEST and truth.speaker is Speaker.USER and truth.text.lower() in text:
            for sentence in self.originals.beside(truth):
                clean = blank(clean, text, sentence)
        silent = not any(line.end <= start < line.below for start, _, _ in places)
        below = (lowered[line.end : line.below] if silent else "") + note_behind(lowered, line, places)
        heads = tuple(head for head in map(str.lower, line.heads) if not speaks_of_other(self.names, head, truth))
        return View(
            mention,
            mentions,
            text,
            clean,
            heads,
            below,
            passage.role,
            self.lexicon,
            self.meant.get(truth.id, set()),
            partial(self.originals.ends_line, _ROLES.get(truth.speaker, "tool")),
        )

    def _read(self, view: View) -> tuple[Reading, Reason]:
        truth = view.truth
        if truth.kind is TruthKind.VALUE:
            return read_value(view)
        if truth.kind is TruthKind.DECISION:
            found = read_decision(view)
        elif is_order(truth.kind):
            found = read_order(view)
        else:
            found = read_fate(view)
        if found in _ELSEWHERE and self._is_quotation(view):
            return Reading.MENTION, Reason.NOTHING  # a word about something else, in the same answer
        if found[0] is Reading.MENTION and truth.fate is Fate.OPEN and is_quoted_from(view, truth.speaker):
            return Reading.TRUE, Reason.NOTHING  # as the message that asks
        if found[0] is Reading.MENTION and not (truth.kind is TruthKind.REQUEST and view.verbatim):
            return found
        if not speaks_rightly(view):
            return Reading.WRONG_SPEAKER, Reason.SPEAKER
        return found

    def _is_quotation(self, view: View) -> bool:
        """Whether the mention and what is said of it stand in words that the assistant said, quoted without a gap."""
        quote = quoted_around(view.line, view.mention.start)
        around = blank(view.clean, view.line, quote)[view.mention.first : view.mention.last]
        if view.lexicon.states(around):
            return False
        return "assistant" in view.lexicon.speakers.groups(view.label) and self.originals.quotes("assistant", quote)

    def _note(self, truth: Truth, passage: Passage, text: str, found: tuple[Reading, Reason]) -> None:
        if found[0] is not Reading.MENTION or not text:
            self.statements.append(Statement(truth.id, *found, text, passage.message, self.place))

    def decide(self) -> Judgement:
        """The verdicts, and the statements with what turned out to be history."""
        by_truth: dict[str, list[Statement]] = {truth.id: [] for truth in self.world.truths}
        for statement in self.statements:
            by_truth[statement.truth].append(statement)
        verdicts, kept = {}, []
        for truth in self.world.truths:
            statements = list(self._settle(truth, by_truth))
            kept += statements
            wrong = any(each.reading is not Reading.TRUE for each in statements)
            verdicts[truth.id] = Verdict.CONTRADICTED if wrong else Verdict.TOLD if statements else Verdict.MISSING
        kept.sort(key=lambda each: each.place)
        return Judgement(self.world, verdicts, tuple(kept))

    def _settle(self, truth: Truth, by_truth: dict[str, list[Statement]]) -> Iterator[Statement]:
        """The statements about a truth; what was so before and is followed by what came of it is no error."""
        said = by_truth[truth.id]
        for statement in said:
            if statement.reason is Reason.STALE:
                later = said if truth.standing else by_truth.get(truth.replaced_by, [])
                if any(each.reading is Reading.TRUE and each.place >= statement.place for each in later):
                    yield replace(statement, reading=Reading.TRUE, reason=Reason.NOTHING)
                    continue
            yield statement
