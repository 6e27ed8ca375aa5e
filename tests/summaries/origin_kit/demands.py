"""Statements that should have a label: nobody asked for what they say, or only the assistant proposed it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from tests.summaries.origin_kit.checks import share
from tests.summaries.origin_kit.sessions import (
    CHANNELS,
    CODE_ONLY,
    TONGUES,
    Spread,
    conversation,
    join,
    neutral,
    placed,
    quoted,
    scene_for,
    user,
    wrong_section,
)
from tests.summaries.origin_kit.values import Case


def misplaced(seed: int = 0) -> Iterator[Case]:
    """Requests that stand in one place only and were never made by the user."""
    rng = random.Random(f"misplaced {seed}")
    for wording in ("copied", "paraphrased", "borrowed"):
        spread = Spread(rng)
        pairs = [(tongue, entry) for tongue in TONGUES for entry in tongue.entries]
        rng.shuffle(pairs)
        counts: Counter[str] = Counter()
        for position, (tongue, entry) in enumerate(pairs):
            counts[tongue.code] += 1
            channel = spread.take(entry.domain)
            scene = scene_for(rng, tongue, entry.domain)
            mark, turn, last, tail = "", scene.turn, "", None
            if wording == "copied":
                statement = quoted(tongue, entry.request) if position % 2 else entry.request
            elif wording == "paraphrased":
                statement = entry.paraphrase
                if entry.english and counts[tongue.code] % 4 == 0:
                    mark, statement = "en-", entry.english
            else:
                statement = entry.borrowed
                if position % 3:
                    turn = entry.talk
                else:
                    last = entry.talk
            middle = placed(rng, tongue, scene, channel, entry.request, turn)
            messages = conversation(
                rng, tongue, scene, middle, last=last, tail=tail, third=rng.choice(tongue.replies) if last else ""
            )
            name = f"misplaced-{wording}-{tongue.code.lower()}-{mark}{counts[tongue.code]:02d}"
            yield Case(
                name, tongue.code, channel, wording, messages, wrong_section(rng, entry), statement, entry.request, True
            )


def assistant_only(seed: int = 0) -> Iterator[Case]:
    """Proposals of the assistant that nobody asked for and nobody approved."""
    rng = random.Random(f"assistant {seed}")
    for tongue in TONGUES:
        for position, entry in enumerate(rng.sample(tongue.entries, 8)):
            scene = scene_for(rng, tongue, entry.domain)
            said = rng.choice(tongue.proposals).format(r=entry.request)
            middle = [user(scene.turn), *neutral(rng, tongue, scene.domain)]
            if position % 2:
                messages = conversation(rng, tongue, scene, middle, first=join(tongue, scene.first, said))
            else:
                messages = conversation(rng, tongue, scene, middle, third=join(tongue, scene.third, said))
            wording = "paraphrased" if position % 4 >= 2 else "copied"
            statement = entry.paraphrase
            if wording == "copied":
                statement = quoted(tongue, entry.request) if position % 8 < 4 else entry.request
            yield Case(
                f"assistant-{wording}-{tongue.code.lower()}-{position:02d}",
                tongue.code,
                "assistant",
                wording,
                messages,
                rng.choice(("User's words", "Rules")),
                statement,
                entry.request,
                True,
            )


def nowhere(seed: int = 0) -> Iterator[Case]:
    """Statements that stand in no message."""
    rng = random.Random(f"nowhere {seed}")
    for tongue in TONGUES:
        chosen = rng.sample(tongue.entries, 8)
        for position, entry in enumerate(chosen):
            other = rng.choice(
                [
                    e
                    for e in tongue.entries
                    if e.domain == entry.domain
                    and e.topic != entry.topic
                    and share(tongue, entry.request, (e.request,)) < 0.2
                ]
            )
            channel = rng.choice([c for c in CHANNELS if entry.domain == "code" or c not in CODE_ONLY])
            scene = scene_for(rng, tongue, entry.domain)
            middle = placed(rng, tongue, scene, channel, other.request, scene.turn)
            statement = quoted(tongue, entry.request) if position % 2 else rng.choice((entry.request, entry.borrowed))
            yield Case(
                f"nowhere-{tongue.code.lower()}-{position:02d}",
                tongue.code,
                "nowhere",
                "invented",
                conversation(rng, tongue, scene, middle),
                wrong_section(rng, entry),
                statement,
                "",
                True,
            )
