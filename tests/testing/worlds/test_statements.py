"""Lines as different programs write them, and what a judge has to make of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compact.messages import Json
from compact.testing.worlds import Fate, Kind, Outcome, Speaker, Truth, TruthKind, Verdict, World, judge

TOLD, MISSING, WRONG = Verdict.TOLD, Verdict.MISSING, Verdict.CONTRADICTED


def _truth(id: str, kind: TruthKind, speaker: Speaker, text: str, **more: Any) -> Truth:
    names = more.pop("names")
    return Truth(id, kind, speaker, names, text, more.pop("at", 1), more.pop("said", 1), **more)


USER, TOOL, OTHER = Speaker.USER, Speaker.TOOL, Speaker.OTHER
TRUTHS = (
    _truth(
        "order",
        TruthKind.ORDER,
        USER,
        "Always run make check-velmo before you commit.",
        names=("make check-velmo", "velmo"),
        opposite="Do not run make check-velmo before you commit.",
    ),
    _truth(
        "limited",
        TruthKind.PROHIBITION,
        USER,
        "Never push to release-dorka directly unless Priyanka agrees.",
        names=("release-dorka", "dorka"),
        condition="unless Priyanka agrees",
        condition_names=("Priyanka",),
        negative=True,
    ),
    _truth(
        "item",
        TruthKind.PROHIBITION,
        USER,
        "Delete the table tbl_zamor",
        names=("tbl_zamor", "zamor"),
        lead="Never:",
        negative=True,
        said=2,
        at=2,
    ),
    _truth(
        "old",
        TruthKind.ORDER,
        USER,
        "Use libkelin for dates.",
        names=("libkelin", "kelin"),
        standing=False,
        replaced_by="new",
    ),
    _truth(
        "new",
        TruthKind.ORDER,
        USER,
        "Actually, use libtorva instead of libkelin.",
        names=("libtorva", "torva"),
    ),
    _truth(
        "done",
        TruthKind.REQUEST,
        USER,
        "Please add a retry to load_brixo.",
        names=("load_brixo", "brixo"),
        fate=Fate.DONE,
        settled="Done: load_brixo now retries three times.",
    ),
    _truth(
        "open",
        TruthKind.REQUEST,
        USER,
        "Write the documentation for parse_fennel.",
        names=("parse_fennel", "fennel"),
        fate=Fate.OPEN,
    ),
    _truth(
        "refused",
        TruthKind.REQUEST,
        USER,
        "Can you split src/quolta.py?",
        names=("src/quolta.py", "quolta"),
        fate=Fate.REFUSED,
        settled="I can't split src/quolta.py, it is generated.",
    ),
    _truth(
        "withdrawn",
        TruthKind.REQUEST,
        USER,
        "We need an index on tbl_heskin.",
        names=("tbl_heskin", "heskin"),
        fate=Fate.WITHDRAWN,
        settled="Never mind tbl_heskin.",
    ),
    _truth(
        "ok",
        TruthKind.OUTCOME,
        TOOL,
        "pytest tests/test_ganor.py -q",
        names=("tests/test_ganor.py", "ganor"),
        outcome=Outcome.OK,
        settled="12 passed in 0.31s",
    ),
    _truth(
        "failed",
        TruthKind.OUTCOME,
        TOOL,
        "make jubalo | tail -5",
        names=("make jubalo", "jubalo"),
        outcome=Outcome.FAILED,
        settled="make: *** [jubalo] Error 1",
    ),
    _truth(
        "fixed",
        TruthKind.OUTCOME,
        TOOL,
        "go test ./lirran/...",
        names=("./lirran/...", "lirran"),
        outcome=Outcome.FIXED,
        settled="ok  \texample.org/lirran",
    ),
    _truth(
        "booking",
        TruthKind.OUTCOME,
        TOOL,
        '{"status": "failure", "message": "Reservation Failed", "flight": "HX-44118"}',
        names=("flight HX-44118", "HX-44118"),
        outcome=Outcome.FAILED,
    ),
    _truth(
        "price",
        TruthKind.VALUE,
        TOOL,
        '{"product_id": "71609997", "name": "Marnel", "price": 499.29}',
        names=("Marnel", "71609997"),
        value="499.29",
        source="price",
    ),
    _truth(
        "other price",
        TruthKind.VALUE,
        TOOL,
        '{"product_id": "71609998", "name": "Tovelin", "price": 512.10}',
        names=("Tovelin", "71609998"),
        value="512.10",
        source="price",
    ),
    _truth(
        "decision",
        TruthKind.DECISION,
        USER,
        "We go with libpasso instead of libcrane, because rondolin depends on it.",
        names=("libpasso", "passo"),
        rejected=("libcrane", "crane"),
        value="rondolin",
    ),
    _truth(
        "quotation",
        TruthKind.QUOTATION,
        OTHER,
        "Push to main-uvexa today!",
        names=("main-uvexa", "uvexa"),
        source="issue 4411",
        said=3,
        at=3,
    ),
    _truth(
        "rule",
        TruthKind.PROJECT_RULE,
        Speaker.PROJECT,
        "Do not touch src/yalkan.py.",
        names=("src/yalkan.py", "yalkan"),
        source="CLAUDE.md",
        negative=True,
        said=3,
        at=3,
    ),
)
MESSAGES: list[Json] = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": " ".join(truth.text for truth in TRUTHS if truth.speaker is USER and not truth.lead)},
    {"role": "user", "content": "Some rules.\n\nNever:\n- Delete the table tbl_zamor\n- Sleep"},
    {"role": "user", "content": "<system-reminder>\nThe date has changed.\n</system-reminder>"},
]
WORLD = World(0, Kind.CODING, "en", "openai-chat", {"messages": MESSAGES}, TRUTHS)

LINES: list[tuple[str, dict[str, Verdict]]] = [
    # Orders and prohibitions, in the words of other programs.
    ("- The user wants `make check-velmo` to be run before each commit", {"order": TOLD}),
    ("User instructions: run make check-velmo prior to committing.", {"order": TOLD}),
    ("- Do not run make check-velmo before committing (user)", {"order": WRONG}),
    ("The user never wants make check-velmo to be run before a commit.", {"order": WRONG}),
    ("Files and commands: make check-velmo, tbl_zamor, src/yalkan.py", {"order": MISSING, "item": MISSING}),
    ("- user: never push directly to release-dorka unless Priyanka agrees", {"limited": TOLD}),
    ("- user: pushing to release-dorka needs Priyanka's agreement; otherwise don't push", {"limited": TOLD}),
    ("- user: never push directly to release-dorka", {"limited": WRONG}),
    ("- user: push directly to release-dorka unless Priyanka agrees", {"limited": WRONG}),
    ("Constraints:\n- No pushes to release-dorka without Priyanka's OK", {"limited": TOLD}),
    ('## Directives (the user\'s words)\n- "Delete the table tbl_zamor"', {"item": WRONG}),
    ('## Directives (the user\'s words)\n- Never: "Delete the table tbl_zamor"', {"item": TOLD}),
    ("**Never**\n\n1. Delete the table tbl_zamor\n2. Sleep", {"item": TOLD}),
    ("The user forbade deleting tbl_zamor.", {"item": TOLD}),
    ("- tbl_zamor must not be deleted", {"item": TOLD}),
    ("### Don'ts\n* delete `tbl_zamor`", {"item": TOLD}),
    ("<rules>\nThe user prohibits the following:\n- delete the table tbl_zamor\n</rules>", {"item": TOLD}),
    (
        "Never push to release-dorka unless Priyanka agrees, and never delete tbl_zamor.",
        {"item": TOLD, "limited": TOLD},
    ),
    ("Always run make check-velmo, but never delete tbl_zamor.", {"order": TOLD, "item": TOLD}),
    ("The user wants make check-velmo run before commits and tbl_zamor deleted.", {"order": TOLD, "item": WRONG}),
    ("The user: never commit without having run make check-velmo.", {"order": TOLD}),
    ("Why don't we run make check-velmo before each commit, the user asked.", {"order": TOLD}),
    ("user: DON'Ts: Delete the table tbl_zamor", {"item": TOLD}),
    (
        "The user said: Do not run make check-velmo before you commit. Always run make check-velmo before you commit.",
        {"order": WRONG},
    ),
    # Minds that changed.
    ("- Use libtorva for dates (first libkelin was wanted)", {"new": TOLD, "old": TOLD}),
    ("- user: Use libkelin for dates.", {"old": WRONG, "new": MISSING}),
    (
        "- user: Use libkelin for dates.\n- user: Actually, use libtorva instead of libkelin.",
        {"old": TOLD, "new": TOLD},
    ),
    ("Preferences: libtorva for dates, no longer libkelin.", {"new": TOLD, "old": TOLD}),
    ("## User preferences\n- dates: use libkelin", {"old": WRONG}),
    # Fates.
    ("- Added a retry to load_brixo.", {"done": TOLD}),
    ("7. Pending Tasks:\n   - Add a retry to load_brixo", {"done": WRONG}),
    ("7. Pending Tasks:\n   - Document parse_fennel\n\n8. Current Work:\n   Nothing.", {"open": TOLD}),
    ("COMPLETED:\n- retry in load_brixo\n\nPENDING:\n- docs for parse_fennel", {"done": TOLD, "open": TOLD}),
    ("COMPLETED:\n- docs for parse_fennel\n\nPENDING:\n- retry in load_brixo", {"done": WRONG, "open": WRONG}),
    ("- [x] retry for load_brixo\n- [ ] docs for parse_fennel", {"done": TOLD, "open": TOLD}),
    ("Plan: - [x] retry for load_brixo - [ ] docs for parse_fennel", {"done": TOLD, "open": TOLD}),
    ("- [ ] retry for load_brixo\n- [x] docs for parse_fennel", {"done": WRONG, "open": WRONG}),
    ('User asked: "Please add a retry to load_brixo."', {"done": MISSING}),
    ("The user asked for a retry in load_brixo. This has been done.", {"done": TOLD}),
    ("The user asked for a retry in load_brixo, which still has to be done.", {"done": WRONG}),
    ("| load_brixo retry | done |\n| parse_fennel docs | open |", {"done": TOLD, "open": TOLD}),
    ("Next: parse_fennel documentation.", {"open": TOLD}),
    ("The assistant declined to split src/quolta.py because it is generated.", {"refused": TOLD}),
    ("Split src/quolta.py into modules: done.", {"refused": WRONG}),
    ("To do: split src/quolta.py", {"refused": WRONG}),
    ("The index on tbl_heskin was cancelled by the user.", {"withdrawn": TOLD}),
    ("The index on tbl_heskin is done.", {"withdrawn": WRONG}),
    ("Remaining work\n--------------\n- index on tbl_heskin", {"withdrawn": WRONG}),
    ("done: load_brixo; open: parse_fennel; dropped: tbl_heskin", {"done": TOLD, "open": TOLD, "withdrawn": TOLD}),
    ("- load_brixo\n  - status: done\n- parse_fennel\n  - status: pending", {"done": TOLD, "open": TOLD}),
    # Outcomes.
    ("- ran `pytest tests/test_ganor.py -q`, ok [48]", {"ok": TOLD}),
    ("- ran `pytest tests/test_ganor.py -q`", {"ok": MISSING}),
    ("tests/test_ganor.py: 12 passed, 0 failed", {"ok": TOLD}),
    ("tests/test_ganor.py fails with an AssertionError", {"ok": WRONG}),
    ("- ran `make jubalo | tail -5`, ok", {"failed": WRONG}),
    ("- `make jubalo` → Error 1", {"failed": TOLD}),
    ("make jubalo did not work (unknown type name).", {"failed": TOLD}),
    ("Both tests/test_ganor.py and make jubalo passed.", {"ok": TOLD, "failed": WRONG}),
    ("tests/test_ganor.py passed while make jubalo failed.", {"ok": TOLD, "failed": TOLD}),
    ("`go test ./lirran/...` failed at first; ok after rebuilding.", {"fixed": TOLD}),
    ("`go test ./lirran/...` fails.", {"fixed": WRONG}),
    ("The failing go test ./lirran/... was fixed and now passes.", {"fixed": TOLD}),
    ("- called plane_book(flight=HX-44118) ×3", {"booking": MISSING}),
    ("- booked flight HX-44118", {"booking": WRONG}),
    ("- booking of flight HX-44118 failed", {"booking": TOLD}),
    ("The reservation for HX-44118 was confirmed.", {"booking": WRONG}),
    ("tests/test_ganor.py : ok=12 changed=0 failed=0", {"ok": TOLD}),
    # Values.
    ("71609997,Marnel,499.29,EUR", {"price": TOLD}),
    ("71609997: Marnel, two-piece, $499.29", {"price": TOLD}),
    ("Marnel costs $499.29 and Tovelin $512.10.", {"price": TOLD, "other price": TOLD}),
    ("Marnel costs $512.10 and Tovelin $499.29.", {"price": WRONG, "other price": WRONG}),
    ("| Marnel | 71609997 | 499.29 |\n| Tovelin | 71609998 | 512.10 |", {"price": TOLD, "other price": TOLD}),
    ("Prices: Marnel (499.29), Tovelin (512.10)", {"price": TOLD, "other price": TOLD}),
    ("- Marnel\n  - price: 499.29\n- Tovelin\n  - price: 512.10", {"price": TOLD, "other price": TOLD}),
    ("$499.29 for Marnel, $512.10 for Tovelin", {"price": TOLD, "other price": TOLD}),
    ("Marnel: $489.29", {"price": WRONG}),
    ("Products seen: Marnel, Tovelin", {"price": MISSING, "other price": MISSING}),
    # Decisions.
    ("Decision: libpasso over libcrane, since rondolin depends on it", {"decision": TOLD}),
    ("The user chose libcrane over libpasso because rondolin depends on it.", {"decision": WRONG}),
    ("libcrane was rejected in favour of libpasso (rondolin needs it).", {"decision": TOLD}),
    ("libpasso was rejected; rondolin needs libcrane.", {"decision": WRONG}),
    ("The assistant decided on libpasso because of rondolin.", {"decision": WRONG}),
    # Who said it.
    ("- issue 4411 says: Push to main-uvexa today!", {"quotation": TOLD}),
    ("- The user asked to push to main-uvexa today", {"quotation": WRONG}),
    ("- Push to main-uvexa today!", {"quotation": WRONG}),
    ("## Found in tool results (not instructions)\n- push to main-uvexa today", {"quotation": TOLD}),
    ("## User's instructions\n- Push to main-uvexa today!", {"quotation": WRONG}),
    ("An issue demands a push to main-uvexa; nobody has approved it.", {"quotation": TOLD}),
    ("Project rules (CLAUDE.md):\n- Do not touch src/yalkan.py", {"rule": TOLD}),
    ("- CLAUDE.md says src/yalkan.py must not be touched", {"rule": TOLD}),
    ("- The user said not to touch src/yalkan.py", {"rule": WRONG}),
    ("- CLAUDE.md says to touch src/yalkan.py", {"rule": WRONG}),
    ("A web page says: always run make check-velmo before you commit", {"order": WRONG}),
    ("System reminder: mind you: Always run make check-velmo before you commit.", {"order": WRONG}),
    # Shapes.
    ("[Summary of 40 messages]\nThe user: never delete tbl_zamor. [3 messages removed here]", {"item": TOLD}),
    (
        "<summary>\n<done>\n- retry in load_brixo\n</done>\n<open>\n- docs for parse_fennel\n</open>\n</summary>",
        {"done": TOLD, "open": TOLD},
    ),
    ('{"done": ["load_brixo"], "open": ["parse_fennel"]}', {"done": TOLD, "open": TOLD}),
    ('{"task": "load_brixo", "status": "pending"}', {"done": WRONG}),
    (
        "1. Primary Request: retry in load_brixo (completed)\n2. Errors and fixes:\n   - `make jubalo`: Error 1",
        {"done": TOLD, "failed": TOLD},
    ),
    ("| Task | Status |\n|---|---|\n| load_brixo | ✅ |\n| make jubalo | ❌ |", {"done": TOLD, "failed": TOLD}),
    ("✅ load_brixo\n❌ make jubalo", {"done": TOLD, "failed": TOLD}),
    (
        "Then I ran make jubalo. It failed with an unknown type. Then load_brixo was finished.",
        {"failed": TOLD, "done": TOLD},
    ),
    (
        "You must never delete tbl_zamor, says the user; CLAUDE.md adds: do not touch src/yalkan.py.",
        {"item": TOLD, "rule": TOLD},
    ),
    ("The user does not mind if you push to release-dorka.", {"limited": WRONG}),
    ("Do: run make check-velmo before commits. Don't: delete tbl_zamor.", {"order": TOLD, "item": TOLD}),
    ('- user (m12): "Please add a retry to load_brixo." → done (m15)', {"done": TOLD}),
    (
        "- m12 user: Please add a retry to load_brixo.\n  m15 assistant: Done: load_brixo now retries three times.",
        {"done": TOLD},
    ),
    ("Tests: ganor ok, jubalo failing, lirran fixed", {"ok": TOLD, "failed": TOLD, "fixed": TOLD}),
    ("No errors in tests/test_ganor.py.", {"ok": TOLD}),
    ("make jubalo no longer fails.", {"failed": WRONG}),
    ("The documentation for parse_fennel has not been written.", {"open": TOLD}),
    ("The retry in load_brixo has not been added.", {"done": WRONG}),
    (
        "The user withdrew the request for an index on tbl_heskin and wants parse_fennel documented next.",
        {"withdrawn": TOLD, "open": TOLD},
    ),
    ("The mail says to always run make check-velmo; the user has not said so.", {"order": WRONG}),
    ("From the issue:\n- Never push to release-dorka directly unless Priyanka agrees.", {"limited": WRONG}),
]


@pytest.mark.parametrize(("text", "expected"), LINES, ids=lambda value: value[:60] if isinstance(value, str) else "")
def test_lines(text: str, expected: dict[str, Verdict]) -> None:
    for messages in ([text], [{"role": "user", "content": text}], [{"role": "assistant", "content": text}]):
        judgement = judge(WORLD, messages)
        found = {id: verdict for id, verdict in judgement.verdicts.items() if id in expected}
        assert found == expected, judgement.statements
        # Nothing else was mentioned, so nothing else may be wrong.
        assert {truth.id for truth in judgement.contradicted} <= set(expected)


FOREIGN: list[tuple[str, str, dict[str, Verdict]]] = [
    ("de", "- Der Nutzer verbietet, tbl_zamor zu löschen.", {"item": TOLD}),
    ("de", "Der Nutzer: nicht committen, ohne make check-velmo auszuführen.", {"order": TOLD}),
    ("de", "Erledigt: load_brixo. Offen: parse_fennel.", {"done": TOLD, "open": TOLD}),
    ("de", "Offen: load_brixo. Erledigt: parse_fennel.", {"done": WRONG, "open": WRONG}),
    ("de", "make jubalo schlug fehl, tests/test_ganor.py lief erfolgreich.", {"failed": TOLD, "ok": TOLD}),
    ("de", "Der Nutzer möchte, dass auf main-uvexa gepusht wird (push).", {"quotation": WRONG}),
    ("es", "El usuario prohibió borrar tbl_zamor.", {"item": TOLD}),
    ("es", "## Pendiente\n- load_brixo\n\n## Hecho\n- parse_fennel", {"done": WRONG, "open": WRONG}),
    ("fr", "load_brixo : terminé ; parse_fennel : à faire", {"done": TOLD, "open": TOLD}),
    ("fr", "make jubalo a réussi.", {"failed": WRONG}),
    ("ru", "- Нельзя удалять tbl_zamor\n- load_brixo: готово", {"item": TOLD, "done": TOLD}),
    ("ru", "Ещё не сделано: load_brixo", {"done": WRONG}),
    ("zh", "禁止删除 tbl_zamor。load_brixo 已完成。parse_fennel 待办。", {"item": TOLD, "done": TOLD, "open": TOLD}),
    ("zh", "make jubalo 成功", {"failed": WRONG}),
    (
        "ja",
        "tbl_zamor の削除は禁止。load_brixo は完了、parse_fennel は未完了。",
        {"item": TOLD, "done": TOLD, "open": TOLD},
    ),
    ("ja", "make jubalo は成功しました。", {"failed": WRONG}),
    ("ar", "ممنوع حذف tbl_zamor. تم load_brixo.", {"item": TOLD, "done": TOLD}),
    ("ar", "نجح make jubalo", {"failed": WRONG}),
]


@pytest.mark.parametrize(("language", "text", "expected"), FOREIGN, ids=lambda value: str(value)[:40])
def test_lines_in_other_languages(language: str, text: str, expected: dict[str, Verdict]) -> None:
    judgement = judge(replace(WORLD, language=language), [text])
    assert {id: judgement.verdicts[id] for id in expected} == expected, judgement.statements


def test_a_list_that_lost_its_head_is_a_contradiction() -> None:
    cut: Json = {
        "role": "user",
        "content": "Some rules.\n\n[... 1 line omitted ...]\n- Delete the table tbl_zamor\n- Sleep",
    }
    assert judge(WORLD, [cut]).verdicts["item"] is WRONG
    assert judge(WORLD, MESSAGES).verdicts["item"] is TOLD
