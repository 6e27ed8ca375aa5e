"""Files of the project's rules in an account: each a statement of its own, by its path, and the last to leave it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from compact.history.quoting import enclose, in_quotes
from compact.history.reading import read
from compact.history.rules import RulesFile, newest
from compact.messages import AccountItem, Message
from compact.summaries.offline.quotations import Speech

SHARE = 0.15
"""The part of the target that all files of rules may take whole; where they are longer, what directs in them."""
_MOST = 0.4
"""The part of the target that what directs in them may take."""
_PER_TOKEN, _LEAST = 4, 160
"""Characters that a token has, roughly; and those of the shortest quote."""
_SHORTER = (4, 2)
"""How many times less the shorter quotes may take."""
_RULES = "- rules of the project"
_LINE = re.compile(rf"{_RULES}(?:, read in (?:`(?P<quoted>[^`]+)`|(?P<path>\S+)))?: [\"“](?P<text>.*)[\"”]", re.DOTALL)
_RANKED = re.compile(r"^(?:- )?rules(?= of the project)", re.MULTILINE)
_REMEMBERED = 16


def is_rules(text: str) -> bool:
    """Whether a statement of an account quotes a file of rules."""
    return text.startswith(_RULES)


def without_rank(summary: str) -> str:
    """A model's summary, in which no line passes for our quote of a file of rules: it may repeat what a page said."""
    return _RANKED.sub("- Rules", summary)


def rules_to_quote(
    earlier: Sequence[AccountItem], shown: Iterable[RulesFile], originals: Mapping[str, Message]
) -> tuple[list[RulesFile], list[AccountItem]]:
    """The files that an account is to quote, those of earlier ones first, and what else the earlier ones say.

    What an earlier account quotes is read again where the messages are known that it is from.
    """
    known = [file for item in earlier if is_rules(item.text) for file in _read_again(item, originals)]
    others = [item for item in earlier if not is_rules(item.text)]
    return newest([*known, *shown]), others


def quotes_of(file: RulesFile, room: int) -> tuple[str, ...]:
    """The statement that quotes a file, in each of its lengths, where so many tokens are the target for each file."""
    whole = int(room * SHARE) * _PER_TOKEN
    rooms = [*((whole // times, whole // times) for times in _SHORTER), (int(room * _MOST) * _PER_TOKEN, whole)]
    speech = _speech(file.text)
    where = f", read in {enclose(file.path)}" if file.path else ""
    return tuple(
        f"{_RULES}{where}: {in_quotes(speech.quote_rules(max(longest, _LEAST), rest))}" for longest, rest in rooms
    )


def _read_again(item: AccountItem, originals: Mapping[str, Message]) -> Iterator[RulesFile]:
    """The file that a statement quotes, as its messages have it, or else as it is quoted."""
    found = _LINE.fullmatch(item.text)
    path = (found["quoted"] or found["path"] or "") if found else ""
    if item.sources and all(id in originals for id in item.sources):
        files = [file for file in read([originals[id] for id in item.sources]).rules if file.path == path]
        if files:
            yield replace(files[-1], index=-1, sources=item.sources)
            return
    text = found["text"] if found else item.text.removeprefix(_RULES)
    yield RulesFile(path, text, sources=item.sources)


@lru_cache(_REMEMBERED)
def _speech(text: str) -> Speech:
    """A file of rules, to be quoted; the same one is read before every compaction."""
    return Speech(text)
