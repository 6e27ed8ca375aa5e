"""Lines are read back as they were written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compact.summaries.items import Item, Section, citation, parse, render

words = st.from_regex(r"[a-z\"`×:,;.]{1,12}( [a-z\"`×:,;.]{1,12}){0,3}", fullmatch=True)
ids = st.lists(st.from_regex(r"[0-9]{1,3}|fold-[0-9a-f]{12}", fullmatch=True), max_size=3, unique=True).map(tuple)
items = st.builds(Item, st.sampled_from(Section), words, ids, st.integers(0, 50).map(float), st.just(1.0))


@given(st.lists(items, max_size=8))
def test_parse_reads_what_render_writes(items: list[Item]) -> None:
    expected = [
        (item.section, item.text, item.ids)
        for section in Section
        for item in sorted((one for one in items if one.section is section), key=lambda one: one.order)
    ]
    assert list(parse(render(items))) == expected


def test_of_many_ids_the_first_and_the_last_ones_are_named() -> None:
    assert citation(["1", "2", "3", "4", "5"]) == " [1,4,5]"
    assert citation(["1", "1", "2"]) == " [1,2]"
    assert citation(["no id\n", "7"]) == " [7]"
    assert citation([]) == ""
