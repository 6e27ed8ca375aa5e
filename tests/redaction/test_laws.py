"""Laws of redaction, for any text and any JSON."""

from __future__ import annotations

import copy
import json
import random

from hypothesis import given
from hypothesis import strategies as st

from compact.messages import Json
from compact.redaction import MARK, Redactor
from compact.redaction.prefilter import with_automaton, with_expressions
from compact.redaction.rules import built_in
from compact.redaction.scan import Scanner
from tests.redaction.secrets import FORMS, KINDS

REDACTOR = Redactor()
RULES = built_in()[0]
ANCHORS = sorted({anchor for rule in RULES for anchor in rule.anchors})

pieces = st.one_of(
    st.sampled_from(ANCHORS),
    st.sampled_from(
        [
            "=",
            ": ",
            '"',
            "'",
            "\\",
            "\\n",
            "\n",
            " ",
            "%3D",
            "%",
            "&",
            MARK,
            MARK[:5],
            "{",
            "}",
            "kind: Secret",
            "data:\n  ",
        ]
    ),
    st.builds(
        lambda kind, form, seed: FORMS[form](KINDS[kind](random.Random(seed))),
        st.sampled_from(sorted(KINDS)),
        st.sampled_from(sorted(FORMS)),
        st.integers(0, 9),
    ),
    st.text(st.characters(exclude_categories=()), max_size=20),
)
texts = st.lists(pieces, max_size=12).map("".join)
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["password", "apiKey", "text", "type", "name", "value", "data", "kind"]) | texts,
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def shape(value: Json) -> Json:
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value)


@given(texts)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) is once


@given(values)
def test_json_keeps_its_shape_and_the_original_its_content(value: Json) -> None:
    before = copy.deepcopy(value)
    redacted = REDACTOR.json(value)
    assert value == before
    assert shape(redacted) == shape(value)
    assert REDACTOR.json(redacted) is redacted


@given(values, st.sampled_from([None, 2]))
def test_json_text_stays_json_of_the_same_shape(value: Json, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert shape(json.loads(REDACTOR.text(text))) == shape(value)


@given(texts)
def test_findings_are_in_order_and_do_not_overlap(text: str) -> None:
    ends = 0
    for finding in REDACTOR.findings(text):
        assert ends <= finding.start < finding.end <= len(text)
        ends = finding.end


@given(texts)
def test_every_prefilter_finds_the_same(text: str) -> None:
    automaton, expressions = Scanner(with_automaton(RULES)), Scanner(with_expressions(RULES))
    assert automaton.findings(text) == expressions.findings(text)
