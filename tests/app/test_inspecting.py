"""How edits are shown."""

from __future__ import annotations

import pytest

from compact.app.inspecting import effect_of
from compact.messages import Drop, EditKind, Fold, Replace, Where

KNOWN = ("layout", "superseded", "truncated", "suppressed", "summarized")


@pytest.mark.parametrize("kind", EditKind)
def test_every_kind_of_edit_is_shown_as_something(kind: EditKind) -> None:
    here = Where("1", 0)
    references = {EditKind.SHOWN_BEFORE, EditKind.SOURCE_REMOVED}
    effect = "reference" if kind in references else kind.value if kind.value in KNOWN else "changed"
    assert effect_of(Replace(here, "x", kind)) == effect
    assert effect_of(Fold(("1",), None, kind)) == "folded"
    assert effect_of(Drop(here, kind)) == "reasoning"
