"""What fills real sessions between the things that matter: logs, listings, code, small talk."""

from __future__ import annotations

from compact.testing.worlds.beats import Beat, Call, Part, Step
from compact.testing.worlds.stage import Cast, Stage
from compact.testing.worlds.truth import Kind

_TOOLS = {
    "log": ("bash", "command", "tail -n {n} logs/service-{k}.log"),
    "listing": ("bash", "command", "ls -la exports/{k}"),
    "code": ("read_file", "path", "src/page_{k}.py"),
    "page": ("fetch_page", "url", "https://example.org/read/{k}"),
}


def printed(stage: Stage, style: str, lines: int) -> str:
    """So many lines of one style."""
    dice = stage.dice
    pool = stage.phrases.texts("filler", style)
    random, size = dice.random, len(pool)
    start = int(random() * size)
    numbered = style == "code" and random() < 0.5
    printed = []
    for index in range(lines):
        pattern = pool[(start + index) % size] if style == "code" else pool[int(random() * size)]
        line = pattern.format(d=1 + int(random() * 9), m=10 + int(random() * 50), k=101 + int(random() * 889))
        printed.append(f"{index + 1:6}\t{line}" if numbered else line)
    return "\n".join(printed)


def look(stage: Stage, lines: int = 0) -> Step:
    """A look at something that does not matter, sometimes at several things at once."""
    dice = stage.dice
    calls = []
    for _ in range(dice.pick((1, 1, 1, 2, 3))):
        style = dice.pick(("log", "listing", "code", "code", "page") if stage.kind is Kind.CODING else ("page", "log"))
        tool, key, pattern = _TOOLS[style]
        length = lines or dice.pick((3, 8, 20, 40))
        argument = pattern.format(n=length, k=dice.number(101, 989))
        calls.append(Call(tool, {key: argument}, Part(printed(stage, style, length))))
    return Step(tuple(calls), stage.say("progress") if dice.chance(0.5) else Part(""))


def work(stage: Stage, cast: Cast) -> list[Step]:
    """The steps that fulfil a request: read, edit, look again."""
    dice = stage.dice
    if stage.kind is not Kind.CODING:
        return [look(stage)]
    word = cast.names()[-1].lower()
    path = f"src/{word}_impl.py"
    old = printed(stage, "code", dice.number(2, 5))
    new = f"{old}\n    # {word}\n    return None"
    read = Call("read_file", {"path": path}, Part(f"{old}\n{printed(stage, 'code', dice.pick((5, 20, 50)))}"))
    edit = Call(
        "edit_file",
        {"path": path, "old_string": old, "new_string": new},
        Part(f"The file {path} has been updated."),
    )
    steps = [Step((read,), stage.say("progress")), Step((edit,))]
    return steps if dice.chance(0.6) else [*steps, look(stage)]


def small_talk(stage: Stage) -> Beat:
    """Words that nobody needs later."""
    chosen = stage.dice.pick(stage.phrases.templates("talk", stage.kind))
    return Beat([Part(chosen["user"])], [], [Part(chosen["assistant"])])


def overview(stage: Stage, lines: int) -> Beat:
    """A long look."""
    return Beat([stage.say("ask_look")], [look(stage, lines)], [stage.say("looked")])
