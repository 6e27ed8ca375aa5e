"""References: written, read, followed, mended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import parse
from compact.messages import (
    EditKind,
    Numbering,
    Pass,
    Reference,
    Replace,
    Where,
    apply,
    checksum,
    fingerprint,
    mend,
    segments,
    texts,
    unfold,
    unresolved,
)
from compact.messages.references import parse_reference

LINES = [f"line {index} of a text that is long enough to be worth a reference" for index in range(20)]
numberings = st.builds(
    Numbering,
    st.integers(0, 10**6),
    st.sampled_from(["→", "\t", ":", ": ", "| ", "|"]),
    st.integers(1, 8),
    st.booleans(),
) | st.sampled_from([Numbering(0, sign, 0, zeros=False) for sign in "+- "])


def chat(*contents: str) -> list[dict[str, Any]]:
    said = [{"role": "user" if index % 2 == 0 else "assistant", "content": text} for index, text in enumerate(contents)]
    return [{"role": "user", "content": "begin"}, *said, {"role": "user", "content": "end"}]


def pointing(text: str, first: int, last: int, numbering: Numbering | None = None) -> str:
    reference = Reference("user message", fingerprint(text)[:6], first, last, "0000", numbering)
    bare = [line for segment in segments(text) for line in segment.lines]
    return reference.like(reference, reference.numbered(bare[first - 1 : last])).render()


@given(st.text("ab 0123\n\t:|→", max_size=200))
def test_segments_put_together_are_the_text(text: str) -> None:
    out: list[str] = []
    for segment in segments(text):
        assert segment.first == len(out)
        prefix = segment.numbering.prefix if segment.numbering else lambda _: ""
        out += [prefix(at) + line for at, line in enumerate(segment.lines)]
    assert "\n".join(out) == text


def test_line_numbers_are_told_from_lines() -> None:
    numbered = "\n".join(f"{number:6}→{line}" for number, line in enumerate(LINES, 98))
    (segment,) = segments(numbered)
    assert segment.lines == LINES
    assert segment.numbering == Numbering(98, "→", 6, zeros=False)
    assert [part.numbering for part in segments("12: one\n15: two")] == [None]


@given(st.integers(1, 10**8), st.integers(1, 10**8), numberings | st.none(), st.text("abc /.…,", max_size=40))
def test_a_reference_reads_back_as_it_was_written(
    first: int, last: int, numbering: Numbering | None, what: str
) -> None:
    reference = Reference(what, "0a1b2c", first, last, "3d4e", numbering)
    assert parse_reference(reference.render()) == reference


def test_unfold_follows_references_in_order() -> None:
    first = "\n".join(LINES)
    second = "\n".join(["new", pointing(first, 3, 8), "end"])
    whole = "\n".join(["new", *LINES[2:8], "end"])
    third = pointing(whole, 2, 4, Numbering(7, "\t", 6, zeros=False))
    restored = unfold(parse(chat(first, second, third)))
    shown = [text for _, text in texts(restored)]
    assert shown[2] == whole
    assert shown[3].split("\n")[0] == "     7\t" + LINES[2]


def test_a_reference_that_does_not_verify_is_left_as_it_is() -> None:
    first = "\n".join(LINES)
    good = pointing(first, 3, 8)
    for bad in (
        good.replace("3-8", "3-9"),
        good.replace("lines 3-8", "lines 400-500"),
        "⟨=lines 1-2 of x #000000:0000⟩",
    ):
        conversation = parse(chat(first, bad))
        assert unfold(conversation) == conversation
        assert list(unresolved(conversation)) == [bad]


def test_when_a_source_goes_the_first_reference_shows_it_and_the_others_point_there() -> None:
    first = "\n".join(LINES)
    before = parse(chat(first, pointing(first, 1, 9), pointing(first, 1, 9), "between"))
    after, _ = apply(before, Pass("cut", (Replace(Where("1", 0), "⟨ gone ⟩", EditKind.OTHER),)))
    mending = mend(before, after)
    assert mending is not None
    mended, _ = apply(after, mending)
    shown = [text for _, text in texts(mended)]
    assert shown[2] == "\n".join(LINES[:9])
    assert parse_reference(shown[3]) is not None
    assert [text for _, text in texts(unfold(mended))][3] == "\n".join(LINES[:9])
    assert unresolved(mended).total() == 0


def test_lines_shown_again_in_a_diff_are_found_with_their_signs() -> None:
    first = "\n".join(LINES)
    signed = pointing(first, 1, 9, Numbering(0, "+", 0, zeros=False))
    plus = "\n".join(f"+{line}" for line in LINES[:9])
    before = parse(chat(first, f"@@ -1 +1 @@\n{signed}", pointing(first, 1, 9), pointing(first, 1, 9), signed))
    after, _ = apply(before, Pass("cut", (Replace(Where("1", 0), "⟨ gone ⟩", EditKind.OTHER),)))
    mending = mend(before, after)
    assert mending is not None
    mended, _ = apply(after, mending)
    shown = [text for _, text in texts(mended)]
    assert shown[2:4] == [f"@@ -1 +1 @@\n{plus}", "\n".join(LINES[:9])]
    assert all(parse_reference(text) for text in shown[4:6])
    whole = [text for _, text in texts(unfold(mended))]
    assert whole[4:6] == ["\n".join(LINES[:9]), plus]
    assert unresolved(mended).total() == 0


def test_nothing_is_mended_where_nothing_broke() -> None:
    first = "\n".join(LINES)
    before = parse(chat(first, pointing(first, 1, 9), "something long that goes away"))
    after, _ = apply(before, Pass("cut", (Replace(Where("3", 0), "short", EditKind.OTHER),)))
    assert mend(before, after) is None


def test_a_checksum_is_of_the_lines_as_shown() -> None:
    assert checksum(["a", "b"]) == fingerprint("a\nb")[:4]


@pytest.mark.parametrize("end", ["", "@40→6", "@+"])
def test_references_of_earlier_versions_are_read(end: str) -> None:
    earlier = parse_reference(f"⟨=lines 2-5 of read a.py #abcdef:0123{end}⟩")
    assert earlier is not None
    assert earlier.what == "read a.py"
    assert parse_reference(earlier.render()) == earlier
    assert earlier.render().startswith("[same as lines 2-5 of read a.py above")


def test_what_names_a_source_may_hold_brackets_and_signs() -> None:
    reference = pointing("\n".join(LINES), 1, 9).replace("of ", "of the result of gh issue #12 app/[id]/page.tsx: ", 1)
    found = parse_reference(reference)
    assert found is not None
    assert "#12 app/[id]/page.tsx" in found.what
