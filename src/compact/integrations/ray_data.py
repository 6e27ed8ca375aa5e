"""For Ray Data: a step of a pipeline that condenses the conversations in a column.

small = condense(ray.data.read_parquet("chats/"), column="messages", target=0.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from compact.app.bulk import Job, JobOptions, Outcome, Place, condense_file, options_for
from compact.app.recipes import resolve_recipe
from compact.app.transcripts import dump_json
from compact.errors import InvalidInput
from compact.messages import Json

if TYPE_CHECKING:
    from ray.data import Dataset

Table: TypeAlias = Any
"""An Arrow table; pyarrow tells no types."""

_TOGETHER = 16  # a conversation may be large, and others wait for the slowest of a batch


def condense(
    dataset: Dataset,
    *,
    column: str = "messages",
    recipe: str | None = None,
    target: float | None = None,
    model: str | None = None,
    variant: str = "",
) -> Dataset:
    """The dataset with further columns: `condensed`, `plan`, `tokens_before`, `tokens_after`, `target_met`, and more.

    A conversation is JSON text, as a file holds it, or a list of messages. Text is the better choice: Arrow gives each
    message of a list the keys of all, and the nulls that it puts there are taken out again with all others. A
    row that cannot be condensed has an `error`, and does not stop the others; `failure` says how the recipe's own
    provider failed where `auto` did its work. `variant` is the deployment whose rules
    the results keep.
    """
    options = options_for(resolve_recipe(recipe), target, model, variant)

    def condense_conversations(table: Table) -> Table:
        return condense_rows(table, column, options)

    return dataset.map_batches(condense_conversations, batch_size=_TOGETHER, batch_format="pyarrow")


def condense_rows(table: Table, column: str, options: JobOptions) -> Table:
    """The rows of an Arrow table with what became of the conversation in each."""
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no stubs

    if column not in table.column_names:
        remedy = f"Name one of: {', '.join(table.column_names)}."
        raise InvalidInput("is not there", field=f"column {column!r}", remedy=remedy)
    done = [_condensed(value, column, options) for value in table.column(column).to_pylist()]
    new = {
        "condensed": pa.array([one.condensed for one in done], pa.large_string()),
        "plan": pa.array([one.plan for one in done], pa.large_string()),
        "tokens_before": pa.array([one.tokens_before for one in done], pa.int64()),
        "tokens_after": pa.array([one.tokens_after for one in done], pa.int64()),
        "target_met": pa.array([one.target_met for one in done], pa.bool_()),
        "error": pa.array([one.error or None for one in done], pa.string()),
        "failure": pa.array([one.failure or None for one in done], pa.string()),
    }
    kept = table.drop_columns([name for name in table.column_names if name in new])
    for name, values in new.items():
        kept = kept.append_column(name, values)
    return kept


def _condensed(value: Json, column: str, options: JobOptions) -> Outcome:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    text = value if isinstance(value, str) else dump_json(_without_nulls(value))
    return condense_file(Job(Place(column, column), options, content=text))


def _without_nulls(value: Json) -> Json:
    """The value without what Arrow filled in; only a call without words has a null of its own."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return {"content": None, **kept} if kept.get("tool_calls") and "content" not in kept else kept
