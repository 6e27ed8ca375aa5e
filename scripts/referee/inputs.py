"""All tasks, made once by the tree that runs the comparison, so that both trees get the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import compact
from scripts.referee import bodies, served_inputs
from scripts.referee.bodies import Body, world_body
from scripts.referee.tasks import Task

RECIPES: Final = (
    *("auto", "layers", "native", "lossless:verbatim", "lossless:formatting", "lossless:superseded"),
    *("speed", "quality", "cost", "balanced", "v1", "v2", "v3", "truncation", "smart"),
)
ASKING: Final = ("auto", "layers", "native", "quality", "v3")
"""Recipes that are also run with a model to ask."""
TARGETS: Final = (0.5, 0.25, 0.1)
QUICK, FULL = 40, 160
"""Worlds of a quick run, and of a full one."""
_SIZES: Final = (3_000, 5_000, 8_000)
"""Tokens of the worlds of a quick run; those of a full one have up to 20,000."""
_AT_ONCE: Final = 10
"""Sessions of a task: each task is a process of its own."""
POLICIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "auto": {},
    "auto early": {"policy": {"trigger_pct": 0.6, "target_pct": 0.3, "keep_recent_turns": 2, "keep_tool_io_pairs": 2}},
    "auto recall": {"recall": True},
    "auto sealed": {"seal_key": "a key for the seals of accounts"},
    "auto redacted": {"originals": "redact"},
    **{name: {"policy": {"recipe": name}} for name in ("layers", "native", "balanced", "quality", "v2")},
    "lossless": {"policy": {"recipe": "lossless:superseded"}},
    "auto asking": {},
    "layers asking": {"policy": {"recipe": "layers", "strategy": "decision_log"}},
}
"""Configurations of managers; with a model to ask where the name says so."""


_COMMANDS: Final = (
    "condense chat.json --json --target 30% --output small.json --plan plan.json --receipt",
    "condense chat.json --json --recipe balanced --target 800 --set summary_tokens=300",
    "condense more.json --recipe lossless --json",
    "condense missing.json --json",
    "condense chat.json --target 0",
    "diff chat.json small.json --json",
    "diff small.json --plan plan.json --json",
    "restore small.json --plan plan.json --output restored.json",
    "plan chat.json --json --target 30%",
    "cost chat.json --json --turns 5",
    "replay chat.json --json --recipe auto --recipe layers --window 3000",
    "tokens chat.json --json",
    "check chat.json --json",
    "convert more.json --to openai-responses --lossy",
    "prompt --json",
    "prompt task_state --preview chat.json --json",
    "models gpt-4o --json",
    "models claude-sonnet --json",
    "presets --json",
    "presets balanced --json",
    "recipes --json",
    "profiles add local --vendor compatible --model small --url http://127.0.0.1:9/v1",
    "profiles --json",
    "calibrate chat.json --model claude-sonnet-4-5 --reported 6000 --json",
    "config show --json",
    "config schema",
    "sessions import chat.json --id one --model gpt-4 --json",
    "sessions list --json",
    "sessions compact one --offline --json",
    "sessions show one --json",
    "sessions history one --limit 5 --json",
    "sessions search the --json",
    "sessions undo one --json",
    "sessions export one",
    "archive list --json",
    "originals verify --json",
    "recipes use balanced",
    "batch chat.json more.json --target 50% --out results --jobs 1 --json",
)
_SLOW_COMMANDS: Final = ("evaluate chat.json --recipe auto --rounds 2 --worlds 2 --json", "demo")


def worlds(*, quick: bool) -> Iterator[Task]:
    """Worlds by all recipes: in a full run to all targets, in a quick one to one target each."""
    sessions = []
    for seed in range(QUICK if quick else FULL):
        runs = [
            (recipe, target, False)
            for number, recipe in enumerate(RECIPES)
            for place, target in enumerate(TARGETS)
            if not quick or (seed + number) % len(TARGETS) == place
        ]
        runs.append((ASKING[seed % len(ASKING)], TARGETS[seed % len(TARGETS)], True))
        sessions.append(
            {"name": f"{seed:03}", "body": world_body(seed, _SIZES[seed % 3] if quick else None), "runs": runs}
        )
    yield from _tasks("worlds", "condense", sessions)


def managers(*, quick: bool) -> Iterator[Task]:
    """Growing worlds, with each configuration of a manager once, or in a full run four times."""
    played = []
    for number in range(len(POLICIES) * (1 if quick else 4)):
        tokens = 20_000 if number % 5 == 4 and not quick else 7_000
        played.append(_grown(number, f"{number:03}", world_body(1_000 + number, tokens)))
    yield from _tasks("managers", "manage", played)


def help_texts(*, quick: bool) -> Iterator[Task]:  # noqa: ARG001 - it is as quick as can be
    """The help of all commands."""
    yield Task("help", "help", {})


def commands(*, quick: bool) -> Iterator[Task]:
    """The commands that print JSON, on worlds of all formats."""
    for number, format in enumerate(bodies.FORMATS[: 1 if quick else None]):
        files = {"chat.json": world_body(4_000 + number, 5_000, format), "more.json": world_body(4_100 + number, 3_000)}
        # Each costs seconds, and what they put out follows from what the others do.
        slow = () if quick else _SLOW_COMMANDS
        lines = [line.split() for line in (*_COMMANDS, *slow)]
        yield Task("commands", "commands", {"name": format, "files": files, "commands": lines})


def transcripts(data: Path) -> Iterator[Task]:
    """Real transcripts by all recipes and to all targets."""
    runs = [(recipe, target, False) for recipe in RECIPES for target in TARGETS]
    for name, body in bodies.transcripts(data):
        yield Task("transcripts", "condense", {"sessions": [{"name": name, "body": body, "runs": runs}]})


def sessions(data: Path) -> Iterator[Task]:
    """Real transcripts that grow, each with one configuration of a manager."""
    for number, (name, body) in enumerate(bodies.transcripts(data)):
        yield Task("sessions", "manage", {"sessions": [_grown(number, name, body)]})


def _tasks(area: str, kind: str, sessions: Sequence[Any]) -> Iterator[Task]:
    for start in range(0, len(sessions), _AT_ONCE):
        yield Task(area, kind, {"sessions": sessions[start : start + _AT_ONCE]})


def _grown(number: int, name: str, body: Body) -> Mapping[str, Any]:
    policy = list(POLICIES)[number % len(POLICIES)]
    key = bodies.key_of(body)
    return {
        "name": f"{policy}/{name}",
        "config": {
            "model": "gpt-4o",
            "max_context_tokens": max(2_500, compact.count_tokens(body) * (40 + number % 3 * 10) // 100),
            **POLICIES[policy],
        },
        "asks": policy.endswith("asking"),
        "hands_back": number % 3 == 1,
        "key": key,
        "body": bodies.limited(body, 400) if number % 2 else body,
        "lengths": bodies.lengths(body[key]),
        "word": bodies.frequent_word(body[key]),
    }


_GENERATED: Final[Mapping[str, Callable[..., Iterator[Task]]]] = {
    "worlds": worlds,
    "managers": managers,
    "gateway": served_inputs.gateway,
    "stored": served_inputs.stored,
    "openapi": served_inputs.openapi,
    "help": help_texts,
    "commands": commands,
}
_READ: Final[Mapping[str, Callable[[Path], Iterator[Task]]]] = {"transcripts": transcripts, "sessions": sessions}
AREAS: Final = (*_GENERATED, *_READ)
RECORDED: Final = ("worlds", "managers", "gateway", "stored")
"""Areas whose digests are committed: all of them made of worlds."""


def tasks(data: Path | None, *, quick: bool, areas: Collection[str]) -> list[Task]:
    """The tasks of these areas; real transcripts are read from `data`."""
    found = [task for area, make in _GENERATED.items() if area in areas for task in make(quick=quick)]
    return found + [task for area, make in _READ.items() if data and area in areas for task in make(data)]
