"""Scenes: each contributes turns and the truths they make."""

from __future__ import annotations

from collections.abc import Callable

from compact.testing.worlds.beats import Beat
from compact.testing.worlds.scenes import orders, others, requests, runs, values
from compact.testing.worlds.stage import Stage
from compact.testing.worlds.truth import Kind

Scene = Callable[[Stage], list[Beat]]

_EVERYWHERE: list[Scene] = [
    orders.standing_order,
    orders.prohibition,
    orders.prohibition,
    orders.rule_list,
    orders.several,
    orders.conditional,
    orders.changed_mind,
    orders.changed_mind,
    requests.done,
    requests.done,
    requests.open_one,
    requests.refused,
    requests.withdrawn,
    requests.replaced,
    requests.decision,
    runs.record,
    runs.record,
    values.catalog,
    others.in_tool,
    others.impostor,
    others.pasted,
    others.wrapped,
]
_CODING: list[Scene] = [runs.run, runs.run, runs.run, runs.run, requests.task_list, others.project_rules]

SCENES: dict[Kind, list[Scene]] = {
    Kind.CODING: [*_EVERYWHERE, *_CODING],
    Kind.CHAT: _EVERYWHERE,
    Kind.SERVICE: [*_EVERYWHERE, runs.record],
}
