"""Telling an error or a refusal from a summary: both come as text, and neither may stand for what was said."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

# Longer texts are no complaints, whatever they begin with.
_LONGEST = 1500
_LOOK = 240
_FIRST = r"\A[\s\"'`*_#>-]{0,8}"
_REFUSING = re.compile(
    _FIRST + r"(?:(?:i[’']?m|i am|we[’']?re|we are)(?: very| really| so| truly)? sorry\b|sorry[,.!]|my apologies"
    r"|(?:i|we) (?:deeply )?apologi[sz]e|(?:unfortunately,? )?(?:i|we) (?:can[’']?t|cannot|can not|could not|am unable"
    r"|am not able|won[’']?t|will not|must decline|have to decline|do not feel comfortable)\b"
    r"|(?:unfortunately,? )?i[’']m (?:unable|not able|afraid)|as an? (?:ai|language model)"
    r"|(?:this|the|your) (?:request|content|prompt)\b.{0,40}\b(?:violates|flagged|against|blocked|filtered)"
    r"|(?:the )?response was filtered|content (?:policy|filter)|\[?content removed)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = r"(?:[\w.]{0,60}(?:error|exception|fault)\b|request failed|api (?:error|call failed)|failure|fatal|failed)"
_STATUS = r"(?:(?:http|status|code|error)[\s/.:=\d]{0,8})*[\s:=(\[]{0,3}[45]\d\d\b"
_VENDOR = (
    r"(?:you (?:have )?exceeded your"
    r"|(?:the )?(?:rate|token|usage|request|quota)[ _-]?(?:limit|quota)s?[ _](?:reached|hit|exceeded|error)"
    r"|too many requests|insufficient[ _](?:quota|credit|balance)|your credit balance"
    r"|(?:overloaded|unauthorized|forbidden|permission denied|authentication (?:error|failed|required))(?=\W*\Z|[:.,-])"
    r"|the (?:server|engine|model|service)\b.{0,40}\b(?:error|overloaded|unavailable|not exist|not found)"
    r"|this model[’']s maximum context|maximum context length|context[ _]length[ _]exceeded"
    r"|(?:prompt|input|request|context)\b.{0,20}\btoo (?:long|large|many)"
    r"|(?:incorrect|invalid|missing) api[ _-]key"
    r"|internal server error|bad gateway|service unavailable|gateway time-?out|upstream (?:connect|request)"
    r"|no healthy upstream|(?:request|connection|read|operation)\b.{0,12}\b(?:timed out|timeout|refused|reset|aborted)"
    r"|resource[ _](?:has been )?exhausted|model[ _]not[ _]found|service is (?:currently|temporarily))"
)
_FAILING = re.compile(
    _FIRST + rf"(?:<!doctype|<html|<\?xml|{_NAMED}[^\w\n]{{1,6}}(?:code)?[\s:=]*{_STATUS}"
    r"|(?:http[\s/\d.]*|status(?: code)?[\s:=]*)?[45]\d\d[\s:,-]+(?:[a-z]+ ){0,2}"
    r"(?:request|required|found|requests|error|gateway|unavailable|timeout|entity|unauthorized|forbidden|allowed|conflict)\b"
    rf"|(?:{_NAMED}[^\w\n]{{0,6}}(?:code[\s:=]*)?(?:\d{{3}})?[\s:,()-]*)?{_VENDOR})",
    re.IGNORECASE,
)
# Reported by a program, or by the summarizer: which of the two, only the sources can tell.
_REPORTING = re.compile(_FIRST + r"(?:[\w.]{0,60}(?:error|exception):\s*\S|traceback \(most recent)", re.IGNORECASE)
_BARE_ERROR = re.compile(_FIRST + r"(?:errors?|failed|null|undefined|none|n/a|nan)\W*\Z", re.IGNORECASE)
_ENVELOPE = re.compile(r"\A\s*[\[{]\s*\"(?:error|errors|fault|detail|exception)\"\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a text is instead of a summary, and the beginning of it.

    `maybe`: a report of an error that was read would look the same.
    """

    kind: Literal["error", "refusal"]
    text: str
    maybe: bool = False


def find_complaint(text: str) -> Complaint | None:
    """The error or the refusal that the text is, if it is one."""
    text = text.strip()
    head = " ".join(text[:_LOOK].split())
    if _ENVELOPE.match(text) or _is_envelope(text):
        return Complaint("error", head)
    if len(text) > _LONGEST:
        return None
    if _REFUSING.match(head):
        return Complaint("refusal", head)
    if _FAILING.match(head) or _BARE_ERROR.match(text):
        return Complaint("error", head)
    return Complaint("error", head, maybe=True) if _REPORTING.match(head) else None


def _is_envelope(text: str) -> bool:
    """Whether it is a vendor's error as JSON: an object with an error in it, or one that calls itself so."""
    if not text.startswith("{") or len(text) > 20 * _LONGEST:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(value.get("error")) or value.get("type") == "error" or {"message", "code"} <= value.keys()
