"""Which cases of the kit get a label, by wording and language; and whether a label is literally true."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.summaries.origin_kit.checks import own_words, share, whole
from tests.summaries.origin_kit.sessions import TONGUES
from tests.summaries.origin_kit.values import Case, Tongue

_ONLY = re.compile(r"only in (?:a result of (?P<tool>[\w.-]+)|(?P<place>.+?))(?:, repeated by the assistant)?")
_MOST = 0.5
"""The share of a statement's words that the place has that a label names, by the words of the kit."""
_BY_CODE = {tongue.code: tongue for tongue in TONGUES}


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the cases got a label."""

    labelled: int
    cases: int

    @property
    def value(self) -> float:
        return self.labelled / self.cases

    def __str__(self) -> str:
        return f"{self.labelled} of {self.cases} ({self.value:.1%})"


def score(cases: Iterable[Case], label_of: Callable[[Case], str]) -> dict[tuple[str, str], Share]:
    """The shares by kind of wording and language; of all languages under the empty one. A false label is an error."""
    found: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for case in cases:
        label = label_of(case)
        assert is_true(case, label), f"{case.id}: [{label}] is not so"
        for language in ("", case.language):
            found[f"{case.id.partition('-')[0]} {case.wording}", language].append(bool(label))
    return {key: Share(sum(labels), len(labels)) for key, labels in found.items()}


def is_true(case: Case, label: str) -> bool:
    """Whether the label says what is so, by a reading of its own."""
    tongue = _BY_CODE[case.language]
    said = case.statement.removeprefix(tongue.quotes[0]).removesuffix(tongue.quotes[1])
    users = [own_words(message) for message in case.messages if message["role"] == "user"]
    if label and any(said in text for text in users):
        return False
    if label == "stands in no message":
        return not any(said in whole(message) for message in case.messages)
    if label == "the assistant's words":
        return any(
            _has(tongue, message["content"], said) for message in case.messages if message["role"] == "assistant"
        )
    if not label:
        return True
    only = _ONLY.fullmatch(label)
    assert only, label
    return any(_has(tongue, text, said) for text in _texts_at(case, only["tool"] or "", only["place"] or ""))


def _texts_at(case: Case, tool: str, place: str) -> list[str]:
    """The texts at the place that a label names."""
    if place and place != "text of tools and programs":
        return [
            message["content"] for message in case.messages if message["role"] == "user" and "<" in message["content"]
        ]
    names = {
        call["id"]: call["function"]["name"] for message in case.messages for call in message.get("tool_calls", ())
    }
    results = [message for message in case.messages if message["role"] == "tool"]
    return [each["content"] for each in results if not tool or names[each["tool_call_id"]] == tool]


def _has(tongue: Tongue, text: str, said: str) -> bool:
    return said in text or share(tongue, said, (text,)) >= _MOST
