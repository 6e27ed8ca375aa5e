"""Makes worlds: scenes interleaved, with filler between them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from compact.errors import InvalidInput
from compact.messages import Json
from compact.testing.generate.dice import Dice
from compact.testing.worlds.beats import Beat
from compact.testing.worlds.phrases import authors as all_authors
from compact.testing.worlds.phrases import languages, load_phrases
from compact.testing.worlds.scenes import SCENES
from compact.testing.worlds.scenes.filler import overview, small_talk
from compact.testing.worlds.scenes.values import catalog, last_request
from compact.testing.worlds.stage import Stage
from compact.testing.worlds.truth import Kind, World
from compact.testing.worlds.wire import FORMATS, Writer

LANGUAGES = ("en", "de", "es", "fr", "ru", "zh", "ja", "ar")
FEWEST, MOST = 2_000, 20_000


def make_world(
    seed: int,
    *,
    tokens: int | None = None,
    kind: Kind | None = None,
    language: str | None = None,
    authors: Sequence[str] = (),
) -> World:
    """A session of about so many tokens, the same for the same arguments, in the words of the authors: usually all."""
    chosen_authors = _authors(authors)
    dice = Dice(Random(seed))  # noqa: S311 - a repeatable one is the point
    chosen = dice.pick(tuple(Kind)), dice.pick([name for name in LANGUAGES if name in languages()])
    kind, language = kind or chosen[0], language or chosen[1]
    size = dice.pick((2_000, 3_000, 4_000, 5_000, 7_000, 10_000, 14_000, 20_000))
    tokens = max(FEWEST, min(MOST, tokens or size))
    stage = Stage(dice, kind, load_phrases(language, chosen_authors))
    turns = _interleave(dice, _play(stage, tokens))
    _fill(stage, turns, tokens)
    format = dice.pick(FORMATS)
    writer = Writer(dice, format, stage.phrases.texts("separator")[0])
    system = stage.pick("system", kind)
    writer.start(system)
    for turn in turns:
        writer.write(turn)
    writer.write(last_request(stage))
    tools = {call.tool for turn in turns for step in turn.steps for call in step.calls}
    truths = tuple(draft.finish() for draft in stage.drafts)
    return World(seed, kind, language, format, writer.body(system, tools), truths, chosen_authors)


def _authors(names: Sequence[str]) -> tuple[str, ...]:
    """The authors of these names, all where none is named."""
    if unknown := set(names) - set(all_authors()):
        known = ", ".join(all_authors())
        raise InvalidInput(f"nobody is called {', '.join(sorted(unknown))}", field="authors", remedy=f"Name {known}.")
    return tuple(name for name in all_authors() if not names or name in names)


def _play(stage: Stage, tokens: int) -> list[list[Beat]]:
    """The turns of each scene; a world that is to be longer has more scenes."""
    pool = SCENES[stage.kind]
    count = min(10 + tokens // 500, 36)
    chosen = [stage.dice.pick(pool) for _ in range(count - 1)]
    return [catalog(stage), *(scene(stage) for scene in chosen)]


def _interleave(dice: Dice, scenes: list[list[Beat]]) -> list[Beat]:
    """All turns: those of a scene in their order, anything between them; some come together in one message."""
    order = [index for index, beats in enumerate(scenes) for _ in beats]
    dice.rng.shuffle(order)
    waiting = [iter(beats) for beats in scenes]
    turns: list[Beat] = []
    playing: set[int] = set()
    for index in order:
        beat = next(waiting[index])
        previous = turns[-1] if turns else None
        # Work comes before answers: in one turn, what was said of a run would follow the run that mends it.
        if previous and index not in playing and _joinable(previous, beat) and dice.chance(0.25):
            previous.join(beat)
        else:
            turns.append(beat)
            playing.clear()
        playing.add(index)
    return turns


def _joinable(first: Beat, second: Beat) -> bool:
    """Whether two turns of different scenes may be one: the message stays short."""
    return len(first.user) < 3 and not first.alone and not second.alone


def _fill(stage: Stage, turns: list[Beat], tokens: int) -> None:
    """Puts filler between the turns until the session is about as long as asked for."""
    dice = stage.dice
    missing = tokens * 4 - sum(map(_length, turns))
    while missing > 200:
        lines = max(4, min(120, missing // 200))
        beat = small_talk(stage) if missing < 1_000 or dice.chance(0.3) else overview(stage, dice.number(4, lines + 4))
        turns.insert(dice.number(0, len(turns)), beat)
        missing -= _length(beat)


def _length(beat: Beat) -> int:
    """About the characters of a turn on the wire."""
    parts = [*beat.user, *beat.answer, *(step.text for step in beat.steps)]
    calls = [call for step in beat.steps for call in step.calls]
    words = sum(len(part.text) for part in parts)
    return words + sum(len(call.result.text) + 150 + sum(map(_size, call.arguments.values())) for call in calls) + 40


def _size(argument: Json) -> int:
    return len(argument) if isinstance(argument, str) else len(str(argument))
