"""Truthful writers: they render all truths of a world as an account, each in its own style."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from compact.testing.worlds import Fate, Outcome, Speaker, Truth, TruthKind, World
from tests.testing.worlds.tongues import FATES as TONGUES
from tests.testing.worlds.tongues import WORDS

FATES = {
    Fate.DONE: ["done", "completed", "finished"],
    Fate.OPEN: ["still open", "pending", "not done yet", "to do"],
    Fate.REFUSED: ["refused", "declined by the assistant"],
    Fate.WITHDRAWN: ["taken back by the user", "cancelled", "no longer wanted"],
    Fate.REPLACED: ["replaced by a later request", "superseded"],
}
OUTCOMES = {
    Outcome.OK: ["ok", "passed", "succeeded"],
    Outcome.FAILED: ["failed", "error", "did not succeed"],
    Outcome.FIXED: ["failed at first, ok after a fix", "failed, then passed", "fixed: passes now"],
}


def said(truth: Truth) -> str:
    """The words with the head that governs them, where these are the user's."""
    return f"{truth.lead} {truth.text}" if truth.lead and truth.speaker is Speaker.USER else truth.text


def state(truth: Truth, rng: Random) -> str:
    if truth.fate:
        return rng.choice(FATES[truth.fate])
    return rng.choice(OUTCOMES[truth.outcome]) if truth.outcome else ""


def ordered(world: World) -> list[Truth]:
    return sorted(world.truths, key=lambda truth: truth.at)


def bullets(world: World, rng: Random) -> str:
    """One line a truth, in order."""
    lines = ["Summary of the conversation so far:", ""]
    for truth in ordered(world):
        match truth.kind:
            case TruthKind.ORDER | TruthKind.PROHIBITION if not truth.standing:
                lines.append(f'- At first the user said "{truth.text}"; this no longer holds.')
            case TruthKind.ORDER | TruthKind.PROHIBITION:
                lines.append(f"- {rng.choice(['The user said', 'User', 'The user wants'])}: {said(truth)}")
            case TruthKind.REQUEST:
                who = "The user asked" if truth.speaker is Speaker.USER else "Plan of the assistant"
                lines.append(f'- {who}: "{truth.text}" — {state(truth, rng)}')
            case TruthKind.OUTCOME:
                lines.append(f"- {truth.names[0]}: {state(truth, rng)}")
            case TruthKind.VALUE:
                lines.append(f"- {truth.names[0]} ({truth.names[1]}): {truth.value}")
            case TruthKind.DECISION:
                lines.append(f"- Decided by the {truth.speaker}: {truth.text}")
            case TruthKind.QUOTATION:
                lines.append(f'- Quoted from {truth.source}, not the user\'s words: "{truth.text}"')
            case TruthKind.PROJECT_RULE:
                lines.append(f"- Rule of the project ({truth.source}): {truth.text}")
    return "\n".join(lines)


def headings(world: World, rng: Random) -> str:
    """Sections by kind and state, items without words of their own."""
    parts: dict[str, list[str]] = {}
    for truth in ordered(world):
        match truth.kind:
            case TruthKind.ORDER | TruthKind.PROHIBITION if not truth.standing:
                parts.setdefault("Earlier, no longer valid", []).append(truth.text)
            case TruthKind.PROHIBITION if truth.lead:
                parts.setdefault(rng.choice(["Prohibitions", "What the user forbids"]), []).append(truth.text)
            case TruthKind.ORDER | TruthKind.PROHIBITION:
                parts.setdefault("User's instructions", []).append(truth.text)
            case TruthKind.REQUEST:
                heads = {
                    Fate.DONE: "Completed",
                    Fate.OPEN: "Next steps",
                    Fate.REFUSED: "Refused requests",
                    Fate.WITHDRAWN: "Cancelled by the user",
                    Fate.REPLACED: "Superseded requests",
                }
                assert truth.fate
                parts.setdefault(heads[truth.fate], []).append(truth.text)
            case TruthKind.OUTCOME:
                heads_of = {Outcome.OK: "Succeeded", Outcome.FAILED: "Failed", Outcome.FIXED: "Failed first, now fixed"}
                assert truth.outcome
                word = f" ({state(truth, rng)})" if truth.outcome is Outcome.FIXED else ""
                parts.setdefault(heads_of[truth.outcome], []).append(f"`{truth.names[0]}`{word}")
            case TruthKind.VALUE:
                parts.setdefault("Values", []).append(f"{truth.names[1]}: {truth.names[0]}, {truth.value}")
            case TruthKind.DECISION:
                parts.setdefault("Decisions", []).append(truth.text)
            case TruthKind.QUOTATION:
                parts.setdefault("Quoted from others", []).append(f"{truth.source}: {truth.text}")
            case TruthKind.PROJECT_RULE:
                parts.setdefault(f"Project rules from {truth.source}", []).append(truth.text)
    sections = [f"## {head}\n" + "\n".join(f"- {item}" for item in items) for head, items in parts.items()]
    return "# Account\n\n" + "\n\n".join(sections)


def prose(world: World, rng: Random) -> str:
    """Paragraphs of several sentences."""
    sentences = []
    for truth in ordered(world):
        name = truth.names[0]
        match truth.kind:
            case TruthKind.ORDER | TruthKind.PROHIBITION if not truth.standing:
                sentences.append(f"The user first wanted {name}, which was replaced later.")
            case TruthKind.ORDER | TruthKind.PROHIBITION:
                sentences.append(f'The user said "{said(truth)}".')
            case TruthKind.REQUEST if truth.speaker is Speaker.USER:
                sentences.append(f"The user made a request about {name}, and it is {state(truth, rng)}.")
            case TruthKind.REQUEST:
                sentences.append(f"The task about {name} is {state(truth, rng)}.")
            case TruthKind.OUTCOME:
                sentences.append(f"The assistant ran {name}, result: {state(truth, rng)}.")
            case TruthKind.VALUE:
                sentences.append(f"For {name} the value is {truth.value}.")
            case TruthKind.DECISION:
                sentences.append(f'It was decided: "{truth.text}".')
            case TruthKind.QUOTATION:
                sentences.append(f'The {truth.source} says "{truth.text}".')
            case TruthKind.PROJECT_RULE:
                sentences.append(f'The project\'s {truth.source} says "{truth.text}".')
    lines = []
    while sentences:
        count = rng.randint(1, 3)
        lines.append(" ".join(sentences[:count]))
        sentences = sentences[count:]
    return "\n\n".join(lines)


def terse(world: World, rng: Random) -> str:
    """Lists on one line, labels, no sentences."""
    lines = []
    for truth in ordered(world):
        match truth.kind:
            case TruthKind.ORDER | TruthKind.PROHIBITION if truth.standing:
                lines.append(f"user: {said(truth)}")
            case TruthKind.DECISION:
                lines.append(f"decision: {truth.text}")
            case TruthKind.QUOTATION:
                lines.append(f"[{truth.source}] {truth.text}")
            case TruthKind.PROJECT_RULE:
                lines.append(f"{truth.source}: {truth.text}")
            case _:
                pass
    for kind, words in ((TruthKind.REQUEST, FATES), (TruthKind.OUTCOME, OUTCOMES)):
        groups = []
        for key, labels in words.items():
            names = [t.names[0] for t in world.truths if t.kind is kind and key in (t.fate, t.outcome)]
            if names and key is not Outcome.FIXED:
                groups.append(f"{labels[0]}: {', '.join(names)}")
            elif names:
                groups += [f"{name} failed, then ok" for name in names]
        lines.append("; ".join(groups))
    lines += ["; ".join(f"{t.names[0]} {t.value}" for t in world.truths if t.kind is TruthKind.VALUE)]
    return "\n".join(line for line in lines if line)


def native(world: World, rng: Random) -> str:
    """A list in the world's own language."""
    words, states = WORDS[world.language], TONGUES[world.language]
    lines = []
    for truth in ordered(world):
        name = truth.names[0]
        match truth.kind:
            case TruthKind.ORDER | TruthKind.PROHIBITION if not truth.standing:
                lines.append(f"- {words['user']} ({words['past']}): {truth.text}")
            case TruthKind.ORDER | TruthKind.PROHIBITION:
                lines.append(f"- {words['user']}: {said(truth)}")
            case TruthKind.REQUEST:
                assert truth.fate
                lines.append(f"- {name}: {rng.choice(states[truth.fate])}")
            case TruthKind.OUTCOME:
                assert truth.outcome
                lines.append(f"* {name} – {rng.choice(states[truth.outcome])}")
            case TruthKind.VALUE:
                lines.append(f"- {name} = {truth.value}")
            case TruthKind.DECISION:
                lines.append(f"- {truth.text}")
            case TruthKind.QUOTATION:
                lines.append(f"- {words['quoted']} ({truth.source}): {truth.text}")
            case TruthKind.PROJECT_RULE:
                lines.append(f"- {words['project']} ({truth.source}): {truth.text}")
    return "\n".join(lines)


def paraphrase(world: World, rng: Random) -> str:
    """Nothing word for word: forbidden acts below a heading, names first, sentences turned round."""
    words = WORDS[world.language]
    lines, forbidden = [], []
    for truth in ordered(world):
        name, core = truth.names[0], truth.text
        for each in truth.names:
            core = core.replace(f"`{each}`", "…").replace(each, "…")
        core = core.rstrip(".!。\uff01")
        match truth.kind:
            case TruthKind.ORDER | TruthKind.PROHIBITION | TruthKind.QUOTATION if not truth.standing:
                lines.append(f"- {name}: {rng.choice(['superseded', 'no longer valid', words['past']])}")
            case TruthKind.PROHIBITION if not truth.condition:
                forbidden.append(truth.opposite.rstrip(".。"))
            case TruthKind.ORDER | TruthKind.PROHIBITION:
                lines.append(f"- Instruction of the user about {name}: {core}")
            case TruthKind.REQUEST:
                lines.append(f"- {name} ({state(truth, rng)})")
            case TruthKind.OUTCOME:
                lines.append(f"- {state(truth, rng)}: {name}")
            case TruthKind.VALUE:
                lines.append(f"| {name} | {truth.names[1]} | {truth.value} |")
            case TruthKind.DECISION:
                reject = truth.rejected[0]
                lines.append(f"- Chosen: {name}, not {reject}; reason: {truth.value}")
            case TruthKind.QUOTATION:
                lines.append(f"- Text from {truth.source} about {name}: {core}")
            case TruthKind.PROJECT_RULE:
                lines.append(f"- {truth.source} on {name}: {core}")
    head = rng.choice([words["forbidden"], "Forbidden by the user", "Never"])
    start = [f"{head}:", *(f"  - {item}" for item in forbidden), "", "Notes"] if forbidden else ["Notes"]
    return "\n".join([*start, *lines])


WRITERS: list[Callable[[World, Random], str]] = [bullets, headings, prose, terse, native, paraphrase]
