"""A message in the user's role, split by who speaks in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from compact.messages.blocks import Text
from compact.messages.conversation import Message
from compact.messages.speakers.known import Form, Passage, Speaker, known
from compact.messages.speakers.pasted import LONG, mail_spans, pasted_spans
from compact.messages.speakers.shapes import OUTPUT, data_form, is_output, prompt_in
from compact.messages.speakers.wrapped import TYPED, Span, Wrapped, begins_wrapped, wrapped

_PASTED = Form(Speaker.PASTED, "a pasted text")
_MAIL = Form(Speaker.PASTED, "a mail that was passed on")
_INSTRUCTIONS = Form(Speaker.RULES, "instructions by the program")
_ANSWERED = Form(Speaker.OBSERVATION, "the answer of a tool")
_RESULT = re.compile(r"\[([a-z][a-z0-9_]{1,40})(?: for '[^\n]{0,1000}')?\] Result:")
_DENIED = re.compile(r"\s*The user denied this operation and provided the following feedback:")


@dataclass(frozen=True, slots=True)
class Carried:
    """What goes on in the next text: up to `form.until`, `once` to its end, or to the end of the message.

    With `asks`, what a person answered may stand in it.
    """

    form: Form
    once: bool = False
    asks: bool = False


@dataclass(slots=True)
class _Cover:
    """A text, how much of it has been told apart, and as what."""

    text: str
    at: int = 0
    passages: list[Passage] = field(default_factory=list)

    def take(self, end: int, form: Form) -> None:
        if end > self.at:
            self.passages.append(Passage(form.speaker, self.text[self.at : end], form.label))
            self.at = end

    def content(self) -> int:
        """Where something stands in the rest."""
        at = self.at
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at


@dataclass(frozen=True, slots=True)
class _Later:
    """The texts of a message that follow the one at a position."""

    texts: Sequence[str]
    position: int

    def __bool__(self) -> bool:
        return self.position < len(self.texts) - 1

    def hold(self, until: str) -> bool:
        # The last text is looked at first: there it stands, or nearly always nowhere.
        return any(until in self.texts[at] for at in range(len(self.texts) - 1, self.position, -1))


def read_message(message: Message, carried: Carried | None = None) -> tuple[tuple[Passage, ...], Carried | None]:
    """The passages of a message, and what goes on in the next one; their texts joined are the text of the message."""
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    found: list[Passage] = []
    for position, text in enumerate(texts):
        if carried is None and _is_plain(text):
            found.append(Passage(TYPED.speaker, text, TYPED.label))
        else:
            cover = _Cover(text)
            carried = _read_text(cover, carried, _Later(texts, position))
            found += cover.passages or [Passage(TYPED.speaker, "", TYPED.label)]
        if position < len(texts) - 1:
            found[-1] = replace(found[-1], text=found[-1].text + "\n")
    if carried is not None and not carried.once:
        carried = None
    return tuple(found) if len(found) == 1 else tuple(_joined(found)), carried


def _joined(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages with neighbours of one kind as one, and without any that are nothing but space."""
    kind: Passage | None = None
    texts: list[str] = []
    for passage in passages:
        if not passage.text.strip():
            texts.append(passage.text)
            continue
        if kind is not None and (kind.speaker, kind.label) != (passage.speaker, passage.label):
            yield replace(kind, text="".join(texts))
            texts = []
        kind = passage
        texts.append(passage.text)
    if texts:
        yield replace(kind or passages[0], text="".join(texts))


def _is_plain(text: str) -> bool:
    """Whether a look at a text is enough: it is short, and nothing in it tells of a program."""
    if len(text) > LONG or "</" in text or "--- " in text or "bash-$" in text or "] Result:" in text:
        return False
    forms = known()
    head = text.lstrip()
    if head.startswith(forms.hints) or any(start in text for start in forms.line_starts):
        return False
    if mail_spans(text):
        return False
    return "code" not in text or not is_output(text, len(text) - len(head))


def _read_text(cover: _Cover, carried: Carried | None, later: _Later) -> Carried | None:
    """Tells one text of a message apart; what goes on in the next one."""
    scope = _go_on(cover, carried)
    asks = False
    if scope is None:
        if going_on := _sections(cover, later):
            return going_on
        if result := _RESULT.match(cover.text, cover.content()):
            scope = Carried(_ANSWERED, asks=result[1] in known().shapes["asking"])
            asks = _DENIED.match(cover.text, result.end()) is not None
        else:
            _take_shape(cover)
    elif cover.at == len(cover.text):
        return scope
    else:
        asks = _DENIED.match(cover.text) is not None
    return _walk(cover, scope, later, asks=asks)


def _go_on(cover: _Cover, carried: Carried | None) -> Carried | None:
    """Takes what is carried into a text; it again, where it goes on."""
    if carried is None:
        return None
    if until := carried.form.until:
        end = cover.text.find(until)
        cover.take(len(cover.text) if end < 0 else end + len(until), carried.form)
        return carried if end < 0 else None
    if carried.once and not begins_wrapped(cover.text):
        cover.take(len(cover.text), carried.form)
    return None if carried.once else carried


def _sections(cover: _Cover, later: _Later) -> Carried | None:
    """Takes what is known by how it begins from the beginning of a text; what of it goes on."""
    forms, text = known(), cover.text
    begin = cover.content()
    while text.startswith(forms.starts, begin):
        form = next(filter(None, (_begun(text, begin, form) for form in forms.sections)), None)
        if form is None:
            return None
        end = text.find(form.until, begin) + len(form.until) if form.until else len(text)
        cover.take(end, form)
        if form.next and later:
            return Carried(Form(form.speaker, form.label), once=True)
        begin = cover.content()
    return None


def _begun(text: str, begin: int, form: Form) -> Form | None:
    return form if text.startswith(form.starts, begin) and text.find(form.until, begin) >= 0 else None


def _take_shape(cover: _Cover) -> None:
    """Takes all of the rest, where its shape tells who speaks in it."""
    text, begin = cover.text, cover.content()
    if begin == len(text):
        return
    if (prompt := prompt_in(text)) >= begin:
        if text.startswith(known().shapes["tasks"], begin):
            for start in known().shapes["task_rules"]:
                cover.take(text.find(start, begin, prompt), TYPED)
            cover.take(prompt, _INSTRUCTIONS if cover.at > begin else TYPED)
        cover.take(len(text), OUTPUT)
    elif is_output(text, begin):
        cover.take(len(text), OUTPUT)
    elif text[begin] in "{[" and (form := data_form(text[begin:], known())):
        cover.take(len(text), form)


def _walk(cover: _Cover, scope: Carried | None, later: _Later, *, asks: bool) -> Carried | None:
    """Takes the rest: what is wrapped, what begins with a known line, and what stands between; what of it goes on."""
    text, default = cover.text, scope.form if scope else TYPED
    found = wrapped(text, cover.at, result=scope is not None, asks=asks or (scope is not None and scope.asks))
    lines, going_on = _lines(text, cover.at, later) if scope is None else ([], None)
    for start, end, form in sorted((*found.spans, *lines), key=lambda span: span[:2]):
        if start >= cover.at:
            _take_between(cover, start, _expansion(found, cover.at) or default)
            cover.take(end, form)
    if expansion := _expansion(found, cover.at):
        default = expansion
        going_on = None if text[cover.at :].strip() else Carried(default, once=True)
    _take_between(cover, len(text), default)
    return scope or going_on


def _expansion(found: Wrapped, at: int) -> Form | None:
    """What stands behind the tags of a command is what it was expanded to."""
    return Form(Speaker.COMMAND, f"the command {found.command}") if found.command and at >= found.expanded else None


def _lines(text: str, at: int, later: _Later) -> tuple[list[Span], Carried | None]:
    """What begins with a known line; and the one that ends only in a later text."""
    spans: list[Span] = []
    for form in known().lines:
        for start in form.starts:
            place = text.find(start, at)
            while place >= 0:
                if place and text[place - 1] != "\n":
                    place = text.find(start, place + 1)
                    continue
                end = text.find(form.until, place) if form.until else len(text)
                if end < 0:
                    if later.hold(form.until):
                        return [*spans, (place, len(text), form)], Carried(form)
                    break
                spans.append((place, end + len(form.until), form))
                place = text.find(start, end + len(form.until))
    return spans, None


def _take_between(cover: _Cover, end: int, form: Form) -> None:
    """Takes a stretch that nothing wraps; of what a person typed, what they pasted apart."""
    if form is TYPED:
        begin = cover.at
        stretch = cover.text[begin:end]
        pasted = [(span, _PASTED) for span in pasted_spans(stretch)] if len(stretch) > LONG else []
        for (start, stop), kind in pasted or [(span, _MAIL) for span in mail_spans(stretch)]:
            cover.take(begin + start, TYPED)
            cover.take(begin + stop, kind)
    cover.take(end, form)
