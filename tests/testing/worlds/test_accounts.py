"""Lines as accounts of what was said and done write them: quotations, steps with arrows, plans, notes at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from compact.messages import Json
from compact.testing.worlds import Fate, Outcome, Speaker, Truth, TruthKind, Verdict, judge, make_world, plant
from tests.testing.worlds.test_statements import MESSAGES, MISSING, TOLD, TRUTHS, USER, WORLD, WRONG
from tests.testing.worlds.trials import SHARES, leave

_REQUEST, _RUN = TruthKind.REQUEST, TruthKind.OUTCOME
_BAD, _GOOD = "elmo: ok=21 skipped=0 failed=1", "elmo: ok=22 skipped=0 failed=0"
_STORED = "stored 12 pages of orvi, all of them complete"
MORE = (
    Truth(
        "note",
        TruthKind.QUOTATION,
        Speaker.OTHER,
        ("gavo",),
        "Close gavo.",
        4,
        4,
        source="letter of Ann",
        lead="Ann asks me:",
    ),
    Truth("start", _RUN, Speaker.TOOL, ("elmo",), "start elmo", 1, 1, settled=_BAD, outcome=Outcome.FAILED),
    Truth("store", _RUN, Speaker.TOOL, ("orvi",), "store orvi", 1, 1, settled=_STORED, outcome=Outcome.OK),
    Truth("vesk", _REQUEST, USER, ("vesk",), "Sort vesk.", 1, 1, deferred="vesk comes on Friday.", fate=Fate.OPEN),
    Truth(
        *("garo", _REQUEST, USER, ("garo",), "Index tbl_garo.", 1, 1),
        settled="Hm. tbl_garo is not worth it. Please tidy load_pelu instead.",
        deferred="tbl_garo comes on Friday.",
        fate=Fate.REPLACED,
    ),
    Truth("pelu", _REQUEST, USER, ("pelu",), "Please tidy load_pelu.", 5, 5, fate=Fate.OPEN),
    Truth("task", _REQUEST, Speaker.ASSISTANT, ("hilo",), "trim hilo()", 1, 1, settled="trim hilo()", fate=Fate.DONE),
)
SAID: list[Json] = [
    {"role": "user", "content": "Ann asks me:\n\nClose gavo."},
    {"role": "user", "content": "libpasso has moved, never mind the rest\nPlease tidy load_pelu."},
    {"role": "assistant", "content": "ok, seen\n\n- one\n- two\n\nload_pelu has its turn."},
    {"role": "assistant", "content": "elmo fails."},
]
WITH_MORE = replace(WORLD, truths=(*TRUTHS, *MORE), body={"messages": [*MESSAGES, *SAID]})

LINES: list[tuple[str, dict[str, Verdict]]] = [
    # Words that the user hands over, with what hands them over.
    ('- user: "Ann asks me: > Close gavo. > And so on. no need to act"', {"note": TOLD}),
    ('- user: "Close gavo. And so on."', {"note": WRONG}),
    ('- user: "Ann asks me: nothing" → user: "Close gavo."', {"note": WRONG}),
    # Results.
    (f'- ran `start elmo`: "{_BAD}"', {"start": TOLD}),
    (f'- ran `start elmo`: "{_GOOD}"', {"start": WRONG}),
    ('- ran `start elmo`: failed: "no host"; ok later', {"start": WRONG}),
    ('- ran `go test ./lirran/...`: failed: "FAIL"; ok later', {"fixed": TOLD}),
    ('- ran `go test ./lirran/...`: failed: "FAIL"', {"fixed": WRONG}),
    ('- ran `check ganor --stop-on-failure`: "12 passed in 0.31s"', {"ok": TOLD}),
    ('- ran `store orvi`: "stored 12 pages of orvi, all of…"', {"store": TOLD}),
    ('- ran `store orvi`: "stored 12…"', {"store": MISSING}),
    # Steps after each other: each is about its own thing.
    ('- edited src/brixo.py → deploy(env=test): failed: "state: FAILURE" → answered', {"done": MISSING}),
    ('- edited src/brixo.py → read notes.md: "much is still to be done" → answered', {"done": MISSING}),
    # Plans, and what is cut off at their end.
    ('- planned: "open: `vesk`: less memory; sort parse_fennel. done: load_brixo; trim hilo()"', {"open": TOLD}),
    ('- planned: "open: `vesk`: less memory; sort parse_fennel. done: add…"', {"open": TOLD}),
    ('- planned: "open: sort vesk. done: load_brixo; trim hilo()"', {"done": TOLD, "task": TOLD}),
    ('- planned: "done: load_brixo; parse_fennel"', {"done": TOLD, "open": WRONG}),
    ('- planned: "trim hilo()"', {"task": MISSING}),
    ('- assistant: "ok, seen" - assistant: "load_pelu has its turn." - assistant: "done with one"', {"pelu": MISSING}),
    ('- assistant: "ok, seen"; assistant: "load_pelu has its turn."; assistant: "done with one"', {"pelu": MISSING}),
    ('- user: "Please add a retry to load_brixo." → assistant: "load_brixo" — withdrawn', {"done": WRONG}),
    ('- user: "Please add a retry to load_brixo." → assistant: "All right." — still open', {"done": WRONG}),
    # What was put off, and what became of it.
    ('- assistant: "vesk comes on Friday."', {"vesk": TOLD}),
    ('- user: "Index tbl_garo." → assistant: "tbl_garo comes on Friday."', {"garo": WRONG}),
    ('- assistant: "tbl_garo comes on Friday."\n- user: "tbl_garo is not worth it." → answered', {"garo": TOLD}),
    ('- user: "Index tbl_garo." → answered', {"garo": MISSING}),
    # Sentences beside the one that asks, which no mark separates from it.
    ('- user: "libpasso has moved, never mind the rest Please tidy load_pelu." → answered', {"pelu": TOLD}),
    ('- assistant: "ok, seen load_pelu has its turn."', {"pelu": MISSING}),
    ('- assistant: "ok, load_pelu is done."', {"pelu": WRONG}),
]


@pytest.mark.parametrize(("text", "expected"), LINES, ids=lambda value: value[-60:] if isinstance(value, str) else "")
def test_lines(text: str, expected: dict[str, Verdict]) -> None:
    judgement = judge(WITH_MORE, [{"role": "assistant", "content": text}])
    assert {id: judgement.verdicts[id] for id in expected} == expected, judgement.statements


def test_what_the_assistant_said_of_a_run_may_be_all_that_is_left_of_it() -> None:
    assert judge(WITH_MORE, SAID[3:]).verdicts["start"] is TOLD
    assert judge(WITH_MORE, SAID[:3]).verdicts["start"] is MISSING


def test_words_that_only_look_english_say_nothing() -> None:
    spanish = replace(WITH_MORE, language="es")
    assert judge(spanish, ["- assistant: todo bien con tests/test_ganor.py"]).verdicts["ok"] is TOLD
    assert judge(WITH_MORE, ["- todo: load_brixo"]).verdicts["done"] is WRONG


@pytest.mark.laws
@pytest.mark.parametrize("share", SHARES)
def test_errors_planted_in_what_auto_leaves_are_found(share: float) -> None:
    found: Counter[bool] = Counter()
    for seed in range(50):
        world = make_world(seed, tokens=8_000)
        left = leave(world, share)
        before = judge(world, left).verdicts
        for planted in (plant(world, left, 7 * seed + number) for number in range(3)):
            if before[planted.truth] is not WRONG:
                found[judge(world, planted.messages).verdicts[planted.truth] is WRONG] += 1
    assert found.total() > 140
    assert found[False] / found.total() <= 0.01
