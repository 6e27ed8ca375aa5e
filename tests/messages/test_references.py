"""References: written, read, followed, mended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import parse
from compact.messages import (
    Codes,
    EditKind,
    Numbering,
    Pass,
    Reference,
    Replace,
    Source,
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
from compact.messages.references import code_of, parse_reference

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


def pointing(text: str, first: int, last: int, before: str = "") -> str:
    """The reference to lines of a text, written with a number or a sign before them."""
    found = Source(text).refer(
        first - 1, text.split("\n")[first - 1 : last], "user message", code_of(fingerprint(text))[:6]
    )
    assert found is not None
    return before + found.render()


def earlier(text: str, first: int, last: int, shown: list[str], code: str = "") -> str:
    """The same as version 0.1 wrote it."""
    place = f"lines {first}-{last} of the 2nd user message"
    told = f", numbered from {code[1:].partition('→')[0]}" if "→" in code else ""
    return f"[same as {place} above{told} #{fingerprint(text)[:6]}:{checksum(shown)}{code}]"


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


@given(
    st.integers(1, 10**8),
    st.integers(0, 10**8),
    st.booleans(),
    numberings | st.none(),
    st.text("abc /.…,#[]", max_size=40),
)
def test_a_reference_reads_back_as_it_was_written(
    first: int, more: int, bare: bool, numbering: Numbering | None, what: str
) -> None:
    for reference in (
        Reference(what, "481207", first, first + more, bare, numbering),
        Reference(what, "481207112358", 0, 0, bare, numbering),
    ):
        found = parse_reference(reference.render())
        assert found is not None
        assert found.render() == reference.render()
        assert (found.what, found.source, found.first, found.last, found.bare) == (
            *(reference.what, reference.source, reference.first, reference.last, reference.bare),
        )
        # A width that pads nothing is not seen.
        assert (found.numbering and found.numbering.prefix(7)) == (numbering and numbering.prefix(7))


@given(
    st.lists(st.sampled_from(["a", "bc ", "", "12→x", "+y", " z"]), min_size=2, max_size=9),
    st.data(),
)
def test_whatever_a_text_refers_to_is_what_is_found_there(lines: list[str], data: st.DataObject) -> None:
    style = data.draw(numberings | st.none())
    text = "\n".join(["head", *(style.put_before(lines) if style else lines), "tail"])
    source, raw = Source(text), text.split("\n")
    at = data.draw(st.integers(0, len(raw) - 1))
    end = data.draw(st.integers(at + 1, len(raw)))
    before = data.draw(numberings | st.none())
    bare = source.bare(at, end)
    for wanted in (raw[at:end], bare, before.put_before(bare) if before else bare):
        reference = source.refer(at, wanted, "Read a.py", "481207")
        if reference is not None:
            assert source.follow(reference) == wanted
            again = parse_reference(reference.render())
            assert again is not None
            assert source.follow(again) == wanted


@pytest.mark.parametrize(
    ("text", "at", "lines", "said"),
    [
        ("a\nb\nc", 0, ["a", "b", "c"], "[same as x above #481207]"),
        ("a\nb\nc", 1, ["b", "c"], "[same as x:2-3 above #481207]"),
        ("a\nb\nc", 1, ["b"], "[same as x:2 above #481207]"),
        ("head\n 9→a\n10→b\n11→c", 2, ["10→b", "11→c"], "[same as x:10-11 above #481207]"),
        ("head\n 9→a\n10→b\n11→c", 2, ["b", "c"], "[same text as x:10-11 above #481207]"),
        ("head\n 9→a\n10→b\n11→c", 2, ["  20→b", "  21→c"], "  20→[same as x:10-11 above #481207]"),
        ("head\n 9→a\n10→b\n11→c", 0, ["head", " 9→a"], "[same as x:1-2 above #481207]"),
        ("a\nb\nc", 1, ["+b", "+c"], "+[same as x:2-3 above #481207]"),
        ("@@\n+a\n b", 1, ["a", "b"], "[same text as x:2-3 above #481207]"),
        ("@@\n+a\n b", 1, ["7:a", "8:b"], "7:[same text as x:2-3 above #481207]"),
        ("1: a\n2:\n3: b", 0, ["1: a", "2:"], "[same as x:1-2 above #481207]"),
    ],
)
def test_a_reference_says_which_lines_it_means_as_they_are_shown(
    text: str, at: int, lines: list[str], said: str
) -> None:
    source = Source(text)
    reference = source.refer(at, lines, "x", "481207")
    assert reference is not None
    assert reference.render() == said
    assert parse_reference(said) == reference
    assert source.follow(reference) == lines


@pytest.mark.parametrize(
    ("text", "at", "lines"),
    [
        ("head\n1→a\n2→b", 0, ["head"]),  # line 1 is the one that has the number
        ("a\nb", 0, ["a", "c"]),
        ("a\nb", 0, ["x a", "x b"]),
        ("a\nb", 0, ["+a", "-b"]),
    ],
)
def test_what_cannot_be_said_is_not_referred_to(text: str, at: int, lines: list[str]) -> None:
    assert Source(text).refer(at, lines, "x", "481207") is None


def test_texts_whose_codes_begin_alike_have_longer_ones() -> None:
    first, second = (f"{number:016x}" + "00" * 24 for number in (481_207_000_001, 481_207_000_002))
    codes = Codes()
    codes.add(first)
    assert codes.of(second) == "481207000002"
    codes.add(second)
    assert (codes.of(first), codes.of(second)) == ("481207", "481207000002")


def test_unfold_follows_references_in_order() -> None:
    first = "\n".join(LINES)
    second = "\n".join(["new", pointing(first, 3, 8), "end"])
    whole = "\n".join(["new", *LINES[2:8], "end"])
    third = pointing(whole, 2, 4, "     7\t")
    restored = unfold(parse(chat(first, second, third)))
    shown = [text for _, text in texts(restored)]
    assert shown[2] == whole
    assert shown[3].split("\n")[0] == "     7\t" + LINES[2]


def test_a_reference_that_leads_nowhere_is_left_as_it_is() -> None:
    first = "\n".join(LINES)
    good = pointing(first, 3, 8)
    for bad in (
        good.replace(":3-8", ":400-500"),
        f"{good[:-7]}000000]",
        "⟨=lines 1-2 of x #000000:0000⟩",
        earlier(first, 3, 8, LINES[2:9]),
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
    signed = pointing(first, 1, 9, "+")
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


def test_a_reference_is_mended_where_another_text_has_the_same_digits() -> None:
    known: dict[str, str] = {}
    other = text = ""
    while other == text:
        text = f"{len(known)} is where it begins\n" + "\n".join(LINES)
        other = known.setdefault(code_of(fingerprint(text))[:6], text)
    line = pointing(text, 2, 9)
    assert pointing(other, 2, 9) == line
    before = parse(chat(text, line, "between"))
    after, _ = apply(before, Pass("cut", (Replace(Where("1", 0), other.replace("text", "word"), EditKind.OTHER),)))
    assert unresolved(after).total() == 1
    after, _ = apply(before, Pass("swap", (Replace(Where("1", 0), other, EditKind.OTHER),)))
    assert unresolved(after).total() == 0
    mending = mend(before, after)
    assert mending is not None
    assert [edit.with_ for edit in mending.edits if isinstance(edit, Replace)] == ["\n".join(LINES[:8])]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("", LINES[1:5]),
        ("@40→6", [f"{number:6}→{line}" for number, line in enumerate(LINES[1:5], 40)]),
        ("@40s03", [f"{number:03}: {line}" for number, line in enumerate(LINES[1:5], 40)]),
        ("@+", [f"+{line}" for line in LINES[1:5]]),
        ("@=", [f" {line}" for line in LINES[1:5]]),
    ],
)
@pytest.mark.parametrize("source", ["\n".join(LINES), "\n".join(f"{at}\t{line}" for at, line in enumerate(LINES, 7))])
def test_references_of_earlier_versions_are_followed_and_mended(source: str, code: str, shown: list[str]) -> None:
    words = earlier(source, 2, 5, shown, code)
    signs = f"⟨=lines 2-5 of user message #{fingerprint(source)[:6]}:{checksum(shown)}{code}⟩"
    before = parse(chat(source, words, signs, words))
    assert [text for _, text in texts(unfold(before))][2:5] == ["\n".join(shown)] * 3
    after, _ = apply(before, Pass("cut", (Replace(Where("1", 0), "⟨ gone ⟩", EditKind.OTHER),)))
    mending = mend(before, after)
    assert mending is not None
    mended, _ = apply(after, mending)
    assert unresolved(mended).total() == 0
    assert [text for _, text in texts(unfold(mended))][2:5] == ["\n".join(shown)] * 3


def test_earlier_versions_took_numbers_with_a_colon_for_others() -> None:
    source = "1: one line\n2: two lines\n3:\n4: four lines"
    digest = fingerprint(source)[:6]
    first = f"[same as lines 1-2 of x above #{digest}:{checksum(['one line', 'two lines'])}]"
    last = f"⟨=lines 3-4 of x #{digest}:{checksum(['7:', '8: four lines'])}@7c1⟩"
    assert [part.numbering and part.numbering.mark for part in segments(source)] == [":"]
    shown = [text for _, text in texts(unfold(parse(chat(source, first, last))))]
    assert shown[2:4] == ["one line\ntwo lines", "7:\n8: four lines"]


def test_what_names_a_source_may_hold_brackets_and_signs() -> None:
    reference = pointing("\n".join(LINES), 1, 9).replace("as ", "as gh issue #12 above app/[id]/page.tsx: ", 1)
    found = parse_reference(reference)
    assert found is not None
    assert found.what == "gh issue #12 above app/[id]/page.tsx: user message"
