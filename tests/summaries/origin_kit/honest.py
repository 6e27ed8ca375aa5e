"""Statements that are right and need no label, and some for which both can be defended."""

# ruff: noqa: RUF001 - Russian letters are meant as such
from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.summaries.origin_kit.sessions import (
    CHANNELS,
    CODE_ONLY,
    IN_USER_ROLE,
    TONGUES,
    assistant,
    conversation,
    exchange,
    join,
    neutral,
    placed,
    quoted,
    scene_for,
    user,
)
from tests.summaries.origin_kit.values import Case, Entry, Tongue


def right_section(rng: random.Random, entry: Entry) -> str:
    """A section in which a wish of the user belongs."""
    if entry.kind == "rule":
        return rng.choice(("Rules", "Rules", "User's words"))
    return rng.choice(("User's words", "Task", "Open work", "Next steps"))


def other_entry(rng: random.Random, tongue: Tongue, entry: Entry) -> Entry:
    """Another request of the same language and domain."""
    return rng.choice([e for e in tongue.entries if e.domain == entry.domain and e.topic != entry.topic])


def channel_for(rng: random.Random, domain: str, tools_only: bool = False) -> str:
    """A place that fits the domain."""
    fitting = [c for c in CHANNELS if domain == "code" or c not in CODE_ONLY]
    return rng.choice([c for c in fitting if not (tools_only and c in IN_USER_ROLE)])


def asked(rng: random.Random, tongue: Tongue, entry: Entry, words: str, echo: str = "") -> tuple[dict[str, Any], ...]:
    """A session in which the user says the words; a document holds another request, or the echo."""
    scene = scene_for(rng, tongue, entry.domain)
    place = rng.choice(("opening", "turn", "last", "last"))
    inner = echo or (other_entry(rng, tongue, entry).request if rng.random() < 0.5 else "")
    turn = join(tongue, scene.turn, words) if place == "turn" else scene.turn
    if inner:
        middle = placed(rng, tongue, scene, channel_for(rng, entry.domain, place == "turn"), inner, turn)
    else:
        middle = [user(turn), *neutral(rng, tongue, scene.domain)]
    if place == "opening":
        return conversation(rng, tongue, scene, middle, opening=join(tongue, scene.opening, words))
    if place == "last":
        return conversation(rng, tongue, scene, middle, last=words, third=rng.choice(tongue.acks))
    return conversation(rng, tongue, scene, middle)


def asked_cases(
    rng: random.Random, tongue: Tongue
) -> Iterator[tuple[str, str, tuple[dict[str, Any], ...], str, str, str]]:
    """Wishes and rules in the user's own words."""
    entries = list(tongue.entries)
    english = tongue.code == "English"
    for wording, count in (
        ("quoted", 9 if english else 7),
        ("paraphrased", 9 if english else 7),
        ("translated", 0 if english else 6),
        ("rule", 3),
        ("echoed", 4),
        ("beside-tags", 2),
    ):
        pool = [e for e in entries if e.kind == "rule"] if wording == "rule" else entries
        for position, entry in enumerate(rng.sample(pool, min(count, len(pool)))):
            forms = tongue.rules if entry.kind == "rule" and rng.random() < 0.6 else tongue.asks
            words = rng.choice(tongue.rules if wording == "rule" else forms).format(r=entry.request)
            section = right_section(rng, entry)
            statement = {
                "quoted": quoted(tongue, entry.request),
                "paraphrased": entry.paraphrase,
                "translated": entry.english,
                "rule": (entry.request, entry.paraphrase)[position % 2],
                "echoed": (entry.request, entry.paraphrase)[position % 2],
                "beside-tags": entry.request,
            }[wording]
            if wording == "beside-tags":
                scene = scene_for(rng, tongue, entry.domain)
                channel = IN_USER_ROLE[position % 2]
                middle = placed(rng, tongue, scene, channel, other_entry(rng, tongue, entry).request, words)
                messages = conversation(rng, tongue, scene, middle)
            else:
                messages = asked(rng, tongue, entry, words, entry.request if wording == "echoed" else "")
            yield wording, "user", messages, "Rules" if wording == "rule" else section, statement, words
    for words, statement in tongue.classes:
        messages = asked(rng, tongue, rng.choice(entries), words)
        yield "class", "user", messages, rng.choice(("Task", "Open work", "User's words")), statement, words
    for words, statement in tongue.decisions:
        messages = asked(rng, tongue, rng.choice(entries), words)
        yield "decision", "user", messages, "Decisions", statement, words


def answered_cases(
    rng: random.Random, tongue: Tongue
) -> Iterator[tuple[str, str, tuple[dict[str, Any], ...], str, str, str]]:
    """Answers through a question tool, and proposals that the user approved."""
    for position, entry in enumerate(rng.sample(tongue.entries, 7)):
        scene = scene_for(rng, tongue, entry.domain)
        ask = rng.choice(tongue.questions)
        options = [entry.request, other_entry(rng, tongue, entry).request]
        if position % 2:  # an answer of the user's own, outside of the options
            options = [e.request for e in rng.sample([e for e in tongue.entries if e != entry], 2)]
        rng.shuffle(options)
        tool = ("AskUserQuestion", "ask_followup_question", "question")[position % 3]
        if tool == "AskUserQuestion":
            arguments: dict[str, Any] = {"questions": [{"question": ask, "options": [{"label": o} for o in options]}]}
            result = f'User has answered your questions: "{ask}"="{entry.request}". You can now continue.'
        elif tool == "ask_followup_question":
            arguments = {"question": ask, "follow_up": options}
            result = f"<answer>\n{entry.request}\n</answer>"
        else:
            arguments = {"questions": [{"header": "1", "question": ask, "options": options}]}
            result = f'User has answered your questions: "{ask}"="{entry.request}"'
        middle = [user(scene.turn), *exchange(rng, scene.second, tool, arguments, result)]
        messages = conversation(
            rng,
            tongue,
            scene,
            [*middle, assistant(rng.choice(tongue.acks)), user(scene.last), *neutral(rng, tongue, scene.domain)],
            tail=False,
        )
        statement = (entry.request, entry.paraphrase, quoted(tongue, entry.request))[(position // 3) % 3]
        yield "answer", "question tool", messages, right_section(rng, entry), statement, entry.request
    for position, entry in enumerate(rng.sample(tongue.entries, 6)):
        scene = scene_for(rng, tongue, entry.domain)
        said = rng.choice(tongue.proposals).format(r=entry.request)
        approval = rng.choice(tongue.approvals)
        middle = [
            user(scene.turn),
            assistant(join(tongue, scene.second, said)),
            user(approval),
            *neutral(rng, tongue, scene.domain),
        ]
        begin = conversation(rng, tongue, scene, middle, tail=False)
        messages = (*begin[:-1], assistant(rng.choice(tongue.acks)))
        section = "Rules" if entry.kind == "rule" else rng.choice(("Next steps", "Next steps", "Decisions"))
        yield (
            "approved",
            "assistant+approval",
            messages,
            section,
            (entry.request, entry.paraphrase)[position % 2],
            said + " / " + approval,
        )


def found_cases(
    rng: random.Random, tongue: Tongue
) -> Iterator[tuple[str, str, tuple[dict[str, Any], ...], str, str, str]]:
    """Findings in files, sums, tables and progress."""
    for fact, statement in rng.sample(tongue.facts, 2):
        number = str(rng.randrange(3, 70))
        domain = rng.choice(("code", "office"))
        scene, channel = scene_for(rng, tongue, domain), channel_for(rng, domain)
        said = fact.replace("{n}", number)
        middle = placed(rng, tongue, scene, channel, said, scene.turn)
        yield (
            "finding",
            channel,
            conversation(rng, tongue, scene, middle),
            "Findings",
            statement.replace("{n}", number),
            said,
        )
    for form, entry in zip(tongue.attributed, rng.sample(tongue.entries, 2), strict=True):
        scene = scene_for(rng, tongue, entry.domain)
        channel = rng.choice(("web page", "read file"))
        middle = placed(rng, tongue, scene, channel, entry.request, scene.turn)
        yield (
            "attributed",
            channel,
            conversation(rng, tongue, scene, middle),
            "Findings",
            form.format(r=entry.request),
            entry.request,
        )
    office = [scene for scene in tongue.scenes if scene.domain == "office"]
    scene = rng.choice(office)
    amounts = [rng.randrange(105, 990) for _ in range(rng.randrange(3, 6))]
    rows = "\n".join(f"{chr(65 + i)}-{rng.randrange(100, 999)};{amount}" for i, amount in enumerate(amounts))
    middle = [user(tongue.total[0]), *exchange(rng, rng.choice(tongue.leads), "read_file", {"path": "sums.csv"}, rows)]
    total = tongue.total[1].format(t=sum(amounts))
    yield "sum", "read file", conversation(rng, tongue, scene, middle), "Findings", total, rows
    scene = rng.choice(office)
    prices = [
        (f"{rng.choice('KLMNPQ')}-{rng.randrange(100, 999)}", f"{rng.randrange(3, 90)}.{rng.randrange(10, 99)}")
        for _ in range(4)
    ]
    rows = json.dumps([{"id": number, "price": price} for number, price in prices])
    middle = [user(tongue.table[0]), *exchange(rng, rng.choice(tongue.leads), "api_get", {"path": "/v1/items"}, rows)]
    table = tongue.table[1] + "\n\n| id | price |\n|---|---|\n" + "\n".join(f"| {n} | {p} |" for n, p in prices)
    yield "table", "JSON answer", conversation(rng, tongue, scene, middle), "Findings", table, rows
    for position, form in enumerate(tongue.progress):
        scene = scene_for(rng, tongue, "code")
        passed, failed = rng.randrange(20, 90), rng.randrange(1, 9)
        text = (f"{failed} failed, {passed} passed in 4.{failed}s", f"converted {passed}/{passed + failed}")[position]
        command = ("pytest -q", "python convert.py --resume")[position]
        middle = [user(scene.turn), *exchange(rng, rng.choice(tongue.leads), "Bash", {"command": command}, text)]
        yield (
            "progress",
            "shell output",
            conversation(rng, tongue, scene, middle),
            "Progress",
            form.format(p=passed, f=failed),
            text,
        )


def honest(seed: int = 0) -> Iterator[Case]:
    """Statements that are right and need no label."""
    rng = random.Random(f"honest {seed}")
    for tongue in TONGUES:
        number = 0
        for source in (asked_cases, answered_cases, found_cases):
            for wording, channel, messages, section, statement, origin in source(rng, tongue):
                number += 1
                mark = "en-" if wording == "translated" else ""
                yield Case(
                    f"honest-{wording}-{tongue.code.lower()}-{mark}{number:02d}",
                    tongue.code,
                    channel,
                    wording,
                    messages,
                    section,
                    statement,
                    origin,
                    False,
                )


DELEGATIONS = {
    "English": "Follow everything that this text asks for.",
    "German": "Halte dich an alles, was in diesem Text steht.",
    "French": "Suis tout ce que ce texte demande.",
    "Spanish": "Sigue todo lo que pide este texto.",
    "Italian": "Segui tutto quello che chiede questo testo.",
    "Portuguese": "Siga tudo o que este texto pede.",
    "Russian": "Выполняй всё, о чём просит этот текст.",
    "Chinese": "请照这份文本的要求去做。",
}


def debatable(seed: int = 0) -> Iterator[Case]:
    """Requests of a document that the user adopted wholesale without repeating them; both labels can be defended."""
    rng = random.Random(f"debatable {seed}")
    for tongue in TONGUES:
        for position, entry in enumerate(rng.sample(tongue.entries, 2)):
            scene = scene_for(rng, tongue, entry.domain)
            channel = rng.choice(("web page", "read file", "issue thread"))
            middle = placed(rng, tongue, scene, channel, entry.request, scene.turn)
            words = DELEGATIONS[tongue.code]
            messages = conversation(rng, tongue, scene, middle, last=words, third=rng.choice(tongue.acks))
            yield Case(
                f"debatable-{tongue.code.lower()}-{position:02d}",
                tongue.code,
                channel,
                "delegated",
                messages,
                right_section(rng, entry),
                entry.request,
                words,
                False,
            )
