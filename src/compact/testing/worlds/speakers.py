"""Whom a line attributes its words to."""

from __future__ import annotations

import re

from compact.testing.worlds.lexicon import SPACELESS
from compact.testing.worlds.truth import Speaker, TruthKind
from compact.testing.worlds.views import View

_TAIL = re.compile(r"(?:[(\[（【]([^)\]）】]*)[)\]）】]|\s[—–]\s([^—–]*))[\s.。\"”»]*$")  # noqa: RUF001 - the marks themselves
_QUOTE = re.compile(r"[\"“”«»「」„『]")
_CALL = re.compile(r"[\w./-]+\([^()\"]*\): ?[\"“]")
"""A call whose result is quoted: `read_mail(folder=inbox): "…"`."""
_FIRST_WORDS, _FIRST_LETTERS = 6, 14


def speaks_rightly(view: View) -> bool:
    """Whether the line leaves the words with whoever said them."""
    truth = view.truth
    match truth.speaker:
        case Speaker.OTHER:
            return _is_of_others(view)
        case Speaker.PROJECT:
            return _is_of_project(view)
        case Speaker.USER | Speaker.ASSISTANT:
            if truth.kind is TruthKind.REQUEST and not view.verbatim:
                return True
            return _is_own(view, truth.speaker)
        case _:
            return True


def _is_of_others(view: View) -> bool:
    """Another's order needs its source: by itself it reads as the user's."""
    if view.role == "tool" or _is_result(view):
        return True
    line = f"{view.label} | {_without_text(view)[view.sentence : view.mention.last]}"
    source = view.truth.source.lower()
    here = view.lexicon.speakers.groups(line)
    if here & {"other", "project"} or source in line or _is_led(view):
        return True
    if "user" in here:
        return False
    above = [view.lexicon.speakers.groups(head) | ({"other"} if source in head else set()) for head in view.heads]
    found = next((groups for groups in reversed(above) if groups), set())
    return bool(found & {"other", "project"})


def _is_led(view: View) -> bool:
    """Whether the words that hand it over stand before it, in the same quotation: `user: "From Ann: …"`."""
    lead = view.truth.lead.lower().rstrip(" :：")  # noqa: RUF001 - the marks themselves
    at = view.line.rfind(lead, 0, view.mention.start) if lead else -1
    return at >= 0 and not _QUOTE.search(view.line, at + len(lead), view.mention.start)


def _is_result(view: View) -> bool:
    """Whether the mention stands inside the quoted result of a call."""
    calls = [match.end() for match in _CALL.finditer(view.line, 0, view.mention.start)]
    return bool(calls) and not _QUOTE.search(view.line, calls[-1], view.mention.start)


def is_quoted_from(view: View, speaker: Speaker) -> bool:
    """Whether the line gives the truth's own words to that speaker."""
    return view.verbatim and speaker in view.lexicon.speakers.groups(_labels(view))


def _is_of_project(view: View) -> bool:
    line = f"{view.label} | {_without_text(view)[view.sentence : view.mention.last]}"
    here = view.lexicon.speakers.groups(line)
    source = view.truth.source.lower()
    if "project" in here or source in line:
        return True
    if "user" in here:
        return False
    above = [view.lexicon.speakers.groups(head) for head in view.heads]
    found = next((groups for groups in reversed(above) if groups), set())
    return not ("user" in found and "project" not in found)


def _is_own(view: View, speaker: Speaker) -> bool:
    """The user's words, and the assistant's: wrong only where the line gives them to somebody else."""
    strangers = {"other", "project", "user" if speaker is Speaker.ASSISTANT else "assistant"}
    found = view.lexicon.speakers.groups(_labels(view))
    if found:
        return speaker in found or not found & strangers
    for head in reversed(view.heads):
        if found := view.lexicon.speakers.groups(head):
            return speaker in found or not found & strangers
    return True


def _without_text(view: View) -> str:
    return view.clean if not view.verbatim else _blank(view)


def _blank(view: View) -> str:
    at = view.line.find(view.truth.text.lower())
    return view.clean[:at] + " " * len(view.truth.text) + view.clean[at + len(view.truth.text) :]


def _labels(view: View) -> str:
    """Where lines say whose words they hold: the label, the first words, what stands in brackets at the end."""
    line = _without_text(view)[view.sentence :]
    until = _QUOTE.search(line)
    start = line[: min(until.start() if until else len(line), view.mention.start - view.sentence)]
    if ";" in start and ":" in start:
        start = start[: start.index(":")]  # the other items of a list do not say whose words this one holds
    words = start.split()[:_FIRST_WORDS]
    first = start[:_FIRST_LETTERS] if len(words) <= 2 and SPACELESS.search(start) else " ".join(words)
    tail = _TAIL.search(line)
    ending = (tail[1] or tail[2] or "") if tail else ""
    return f"{view.label} | {first} | {ending}"
