"""What tools other than a shell answer: JSON, sentences, and the refusal of a person."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from compact.history.outcomes.outcome import Outcome, Verdict
from compact.messages import Json

_LONGEST_JSON = 60_000
_LONGEST_UNREAD = 500
_LONGEST_TEXT = 400
_HEAD = 300
_FIRST_FAULT = 400
_ODD = re.compile(r"[^a-z0-9]")
_NONE = re.compile(
    r"\b(?:0|no|without(?: any)?|zero) (?:errors?|failures?|failed)\b|\b(?:errors?|failed|failures?)[:=] ?0\b",
    re.IGNORECASE,
)
_VERB = re.compile(r"[a-z]{4,}")
_STEM = 5
_PARTICIPLES = ("ed", "en")
_FEW = 160
_COLUMNS, _COLUMN, _LONGEST_TABLE = ";|\t,", re.compile(r"[A-Za-z][\w -]{0,30}"), 600
_LONGEST_PAGE = 2_000
_TAG, _PAGE = re.compile(r"<[^<>]{1,200}>"), re.compile(r"\s*<(?:!doctype html|html|body)\b", re.IGNORECASE)
_PAYMENTS = ("payments", "paymenthistory", "transactions", "refunds", "charges")


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The patterns and names of fields that stand beside this module."""

    refusals: tuple[re.Pattern[str], ...]
    frame: re.Pattern[str]
    failed: re.Pattern[str]
    unread: re.Pattern[str]
    unchanged: re.Pattern[str]
    negative: re.Pattern[str]
    positive: re.Pattern[str]
    fields: dict[str, frozenset[str]]


@cache
def _phrases() -> _Phrases:
    data = tomllib.loads((files("compact.history.outcomes") / "answers.toml").read_text(encoding="utf-8"))
    said = data["said"]

    def phrase(key: str, flags: int = 0) -> re.Pattern[str]:
        return re.compile(said[key], re.VERBOSE | flags)

    return _Phrases(
        refusals=tuple(re.compile(pattern, re.VERBOSE | re.DOTALL) for pattern in data["refusal"]["patterns"]),
        frame=re.compile(data["refusal"]["frame"], re.VERBOSE | re.DOTALL),
        failed=phrase("failed"),
        unread=phrase("unread"),
        unchanged=phrase("unchanged", re.IGNORECASE),
        negative=phrase("negative", re.IGNORECASE),
        positive=phrase("positive", re.IGNORECASE),
        fields={key: frozenset(words.split()) for key, words in data["fields"].items()},
    )


def refused(text: str) -> Outcome | None:
    """The refusal of a person, with all that was said with it; None where the answer is no refusal."""
    if "ser" not in text[:_HEAD]:
        return None
    known = _phrases()
    bare = text.strip().removeprefix("<tool_use_error>").removeprefix("Error: ").strip()
    for pattern in known.refusals:
        if found := pattern.match(bare):
            words = known.frame.sub("", known.frame.sub("", found["words"] or "").strip())
            return Outcome(Verdict.REFUSED, words.strip())
    return None


def says_no(line: str) -> bool:
    """Whether a line says that something was not done."""
    return bool(_phrases().negative.search(line)) and not _NONE.search(line)


def judge_answer(name: str, text: str, *, error: bool, reads: bool) -> Outcome:
    """How a call went that is neither a command nor an edit; one that `reads` shows what others wrote."""
    # A table that is read is others' words.
    value = _decoded(text) if reads else _decoded(text) or _tabled(text.strip())
    if isinstance(value, dict):
        return _judge_record(name, value, text, error=error, reads=reads)
    known = _phrases()
    text = _untagged(text)
    bare = text.strip()
    if error:
        return Outcome(Verdict.FAILED, beginning(text))
    if reads:
        short = len(bare) <= _LONGEST_UNREAD and known.unread.match(bare)
        return Outcome(Verdict.FAILED if short else Verdict.UNKNOWN, beginning(text))
    if known.failed.match(bare):
        return Outcome(Verdict.FAILED, beginning(text))
    first = bare[:_HEAD].partition("\n")[0]
    done, undone = known.positive.search(first), known.negative.search(first)
    fine = done is not None and (undone is None or done.start() < undone.start())
    # A few words that name a failure tell of this call; in a longer text they may be about anything.
    failed = not fine and len(bare) <= _FEW and says_no(bare)
    return Outcome(Verdict.OK if fine else Verdict.FAILED if failed else Verdict.UNKNOWN, beginning(text))


def judge_edit(text: str, *, error: bool, writes: bool) -> Outcome:
    """How a change of a file went; a file that is written need not have been there."""
    known = _phrases()
    value = _decoded(text)
    if isinstance(value, dict):
        return _judge_record("", value, text, error=error, reads=False)
    first = "\n".join(text.lstrip()[:_HEAD].split("\n")[:2])
    said = known.positive.search(first)
    undone = None if writes else known.unchanged.search(first)
    if error or known.failed.match(text.lstrip()) or (undone and not (said and said.start() < undone.start())):
        return Outcome(Verdict.FAILED, beginning(text))
    return Outcome(Verdict.OK if said else Verdict.UNKNOWN, beginning(text))


def beginning(text: str) -> str:
    """The first lines of an answer, as one statement."""
    return " ".join(text[:_LONGEST_TEXT].split())


def _decoded(text: str) -> Json:
    bare = text.strip()
    if bare[:1] not in "{[" or bare[-1:] not in "}]" or len(bare) > _LONGEST_JSON:
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _tabled(text: str) -> Json:
    """The record of a table with one row below the names of its columns."""
    lines = text.split("\n") if len(text) <= _LONGEST_TABLE else []
    if len(lines) != 2:
        return None
    for mark in _COLUMNS:
        names, values = ([cell.strip() for cell in line.strip(mark).split(mark)] for line in lines)
        if len(names) == len(values) > 1 and all(map(_COLUMN.fullmatch, names)) and len(set(names)) == len(names):
            return dict(zip(names, values, strict=True))
    return None


def _untagged(text: str) -> str:
    """What a page says, without its tags."""
    return " ".join(_TAG.sub(" ", text).split()) if len(text) <= _LONGEST_PAGE and _PAGE.match(text) else text


def _judge_record(name: str, value: dict[str, Any], text: str, *, error: bool, reads: bool) -> Outcome:
    """By its fields; what was read may tell of other things that failed."""
    fields = list(_fields(value))
    if fault := _fault(fields, name, reads=reads):
        return Outcome(Verdict.FAILED, _told(fields, fault))
    if error:
        return Outcome(Verdict.FAILED, _told(fields, ""))
    if reads:
        return Outcome(Verdict.UNKNOWN, beginning(text))
    done = _succeeds(fields, name)
    return Outcome(Verdict.UNKNOWN, beginning(text)) if done is None else Outcome(Verdict.OK, _told(fields, done))


def _fields(value: dict[str, Any]) -> Iterator[tuple[str, str, Json]]:
    """Each field with its plain name, also those of the one object that holds the answer."""
    inside = _phrases().fields["inside"]
    for key, entry in value.items():
        plain = _ODD.sub("", key.lower())
        if isinstance(entry, dict) and plain in inside:
            yield from ((other, _ODD.sub("", other.lower()), held) for other, held in entry.items())
        else:
            yield key, plain, entry


def _fault(fields: list[tuple[str, str, Json]], name: str, *, reads: bool) -> str:
    """The words that say that it failed; none where nothing does."""
    known = _phrases()
    names = known.fields
    for key, plain, entry in fields:
        if plain in names["error"] and _says_something(entry):
            return _shown(entry)
        # `created: false` beside `updated: true` is no failure.
        deed = not reads and _is_deed(plain, name) and not any(other is True for _, _, other in fields)
        did = plain in names["success"] or deed
        if (did and entry is False) or (plain in names["trouble"] and entry is True):
            telling = (names["error"], names["message"])
            said = (_shown(other) for kind in telling for _, name, other in fields if name in kind and other)
            return next(said, "") or f"{key}: {_shown(entry)}"
        if plain in names["code"] and isinstance(entry, int) and not isinstance(entry, bool) and 400 <= entry < 600:
            return f"{key}: {entry}"
    if reads:
        return ""
    for key, plain, entry in _words_first(fields):
        if isinstance(entry, str) and (_is_state(plain, names) and known.negative.search(entry[:_HEAD])):
            return entry[:_FIRST_FAULT] if plain in names["message"] else f"{key}: {entry[:_FIRST_FAULT]}"
    return ""


def _succeeds(fields: list[tuple[str, str, Json]], name: str) -> str | None:
    """The words that say that it was done; None where nothing does."""
    known = _phrases()
    names = known.fields
    # `return_items` is answered by "return requested".
    stems = _stems(name)
    for key, plain, entry in _words_first(fields):
        if isinstance(entry, str) and _is_state(plain, names):
            says = entry[:_HEAD].lower()
            if known.positive.search(says) or any(stem in says for stem in stems):
                return entry[:_FIRST_FAULT] if plain in names["message"] else f"{key}: {entry[:_FIRST_FAULT]}"
    for _, plain, entry in fields:
        if entry is True and (plain in names["success"] or _is_deed(plain, name)):
            return "ok"
        if plain in names["code"] and isinstance(entry, int) and 200 <= entry < 300:
            return "ok"
    return None


def _stems(name: str) -> list[str]:
    """The beginning of the verb that a tool is named by."""
    return [verb[:_STEM] for verb in _VERB.findall(name.rpartition("__")[2].lower())[:1]]


def _is_deed(plain: str, name: str) -> bool:
    """Whether a field says that what the tool is for was done: `created` of `create_ticket`."""
    return plain.endswith(_PARTICIPLES) and any(plain.startswith(stem) for stem in _stems(name))


def _is_state(plain: str, names: dict[str, frozenset[str]]) -> bool:
    return plain in names["status"] or plain in names["message"] or plain.endswith(("status", "message"))


def _words_first(fields: list[tuple[str, str, Json]]) -> list[tuple[str, str, Json]]:
    """The fields, a message before a status."""
    messages = _phrases().fields["message"]
    return sorted(fields, key=lambda field: field[1] not in messages)


def _told(fields: list[tuple[str, str, Json]], first: str) -> str:
    """The words that decide, then the ids, amounts and names that the answer gives."""
    known = _phrases().fields
    told = [first] if first else []
    size = len(first)
    for key, plain, entry in fields:
        if isinstance(entry, list) and entry and isinstance(entry[-1], dict) and plain.endswith(_PAYMENTS):
            told.append(f"{key}: {', '.join(_shown(value) for value in entry[-1].values() if value)}"[:160])
        if isinstance(entry, dict | list) or entry in (None, "", -1) or (first and _shown(entry) in first):
            continue
        telling = any(plain.endswith(end) for end in known["telling"]) or (not first and _is_state(plain, known))
        if telling and size < _LONGEST_TEXT and len(shown := _shown(entry)) <= 160:
            told.append(f"{key}: {shown}")
            size += len(told[-1])
    return "; ".join(told)


def _says_something(entry: Json) -> bool:
    return bool(entry) and str(entry).lower() not in ("none", "null", "false", "0", "no")


def _shown(entry: Json) -> str:
    if isinstance(entry, dict):
        return str(next((entry[key] for key in ("message", "detail", "reason", "type") if entry.get(key)), entry))[
            :_FIRST_FAULT
        ]
    if isinstance(entry, list):
        return "; ".join(map(_shown, entry[:3]))[:_FIRST_FAULT]
    if isinstance(entry, float):
        return f"{entry:.2f}"
    return entry[:_FIRST_FAULT] if isinstance(entry, str) else json.dumps(entry)
