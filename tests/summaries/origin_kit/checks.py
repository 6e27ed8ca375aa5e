"""What each case promises: how many words it shares with whom, and where its words stand."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tests.summaries.origin_kit.sessions import SECTIONS, TONGUES
from tests.summaries.origin_kit.values import Case, Tongue


def content_words(tongue: Tongue, text: str) -> list[str]:
    """Content words; for Chinese, pairs of characters and numbers."""
    text = text.casefold()
    if tongue.code == "Chinese":
        found: list[str] = []
        for piece in re.findall(r"[\u4e00-\u9fff]+|\d+", text):
            for part in re.split("[的了是在把要请可以]+", piece):
                found += (
                    [part[i : i + 2] for i in range(len(part) - 1)]
                    if len(part) > 1 and not part.isdigit()
                    else ([part] if part else [])
                )
        return found
    stop = set(tongue.stop.split())
    return [word for word in re.findall(r"\w+", text) if word not in stop]


def share(tongue: Tongue, statement: str, texts: tuple[str, ...]) -> float:
    """Share of the statement's content words that also occur, in the same form, in the texts."""
    words = content_words(tongue, statement)
    seen = {word for text in texts for word in content_words(tongue, text)}
    return sum(word in seen for word in words) / max(1, len(words))


def own_words(message: dict[str, Any]) -> str:
    """A user's message without its blocks between tags."""
    return re.sub(r"<([\w-]+)>.*?</\1>", " ", message["content"], flags=re.DOTALL)


def whole(message: dict[str, Any]) -> str:
    """All texts of a message, arguments included."""
    calls = " ".join(call["function"]["arguments"] for call in message.get("tool_calls", ()))
    return f"{message['content']} {calls}"


def complaints(cases: list[Case]) -> list[str]:  # noqa: PLR0912 - a promise each
    """The cases that break a promise of the kit, and which."""
    by_code = {tongue.code: tongue for tongue in TONGUES}
    bad: list[str] = []
    for what, values in (("id", [c.id for c in cases]), ("text", [f"{c.statement}{c.messages}" for c in cases])):
        bad += [f"{what} twice: {value[:60]}" for value, times in Counter(values).items() if times > 1]
    for case in cases:
        tongue = by_code[case.language]
        users = tuple(own_words(m) for m in case.messages if m["role"] == "user")
        plain = case.statement.removeprefix(tongue.quotes[0]).removesuffix(tongue.quotes[1])
        holders = [m for m in case.messages if plain in whole(m)]
        if not 8 <= len(case.messages) <= 14:
            bad.append(f"{case.id}: {len(case.messages)} messages")
        if case.section not in SECTIONS:
            bad.append(f"{case.id}: section {case.section}")
        if any(re.search(r"\{(n|r|t|p|f|file)\}", m["content"]) for m in case.messages):
            bad.append(f"{case.id}: unfilled template")
        if re.search(r"\{\w+\}", case.statement):
            bad.append(f"{case.id}: unfilled statement")
        open_calls: set[str] = set()
        for before, message in zip((None, *case.messages), case.messages, strict=False):
            if message["role"] == "tool" and message["tool_call_id"] not in open_calls:
                bad.append(f"{case.id}: result without call")
            if before and before["role"] == message["role"]:
                bad.append(f"{case.id}: two {message['role']} messages in a row")
            open_calls = {call["id"] for call in message.get("tool_calls", ())}
        kind = case.id.split("-")[0]
        if kind == "misplaced":
            origins = [m for m in case.messages if case.origin in whole(m)]
            role = {"reminder": "user", "pasted document": "user"}.get(case.channel, "tool")
            if len(origins) != 1 or origins[0]["content"].count(case.origin) != 1:
                bad.append(f"{case.id}: request stands in {len(origins)} messages")
            elif origins[0]["role"] != role and case.channel != "agent report":
                bad.append(f"{case.id}: request in role {origins[0]['role']}")
            if any(case.origin in text for text in users):
                bad.append(f"{case.id}: the user says it")
            if case.wording == "copied" and len(holders) != 1:
                bad.append(f"{case.id}: statement stands in {len(holders)} messages")
            if case.wording == "borrowed" and share(tongue, plain, users) < 0.6:
                bad.append(f"{case.id}: borrowed share {share(tongue, plain, users):.2f}: {plain}")
            if case.wording == "borrowed" and content_words(tongue, plain) == content_words(tongue, case.origin):
                bad.append(f"{case.id}: borrowed is the request itself")
            if case.wording != "borrowed" and share(tongue, plain, users) > 0.4:
                bad.append(f"{case.id}: shares {share(tongue, plain, users):.2f} with the user: {plain}")
            if case.wording == "paraphrased" and (share(tongue, plain, (case.origin,)) > 0.34 or holders):
                bad.append(f"{case.id}: paraphrase too close ({share(tongue, plain, (case.origin,)):.2f}): {plain}")
        if kind == "nowhere":
            part = share(tongue, plain, tuple(whole(m) for m in case.messages))
            if holders or part > 0.5:
                bad.append(f"{case.id}: stands in {len(holders)} messages, share {part:.2f}: {plain}")
        if kind == "assistant":
            origins = [m for m in case.messages if case.origin in whole(m)]
            if len(origins) != 1 or origins[0]["role"] != "assistant":
                bad.append(f"{case.id}: origin in {[m['role'] for m in origins]}")
        if kind == "honest" and case.channel == "user" and not any(case.origin in text for text in users):
            bad.append(f"{case.id}: the user does not say it")
        if kind == "honest" and case.wording in ("quoted", "beside-tags") and not any(plain in t for t in users):
            bad.append(f"{case.id}: not in the user's words")
    return bad
