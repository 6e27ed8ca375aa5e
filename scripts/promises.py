"""Lists the promises of the documentation that no test shows: `python -m scripts.promises [PAGE ...]`.

A promise is a sentence with a word such as "always" or "never". `tests/promises/PAGE.toml` names for each one the tests
that show it from outside: through the library, the command line, HTTP or a browser. A sentence with such a word that
promises nothing says there what it is about instead.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
MAPS = TESTS / "promises"
OUTSIDE = frozenset(
    {"app", "attacks", "bench", "cli", "crash", "integrations", "lab", "page", "server", "soak", "testing"}
)
"""Folders whose tests go through public entry points; so do those right below `tests`."""

_PROMISES = re.compile(
    r"\b(?:always|never|nothing|nobody|no one|guarantee[sd]?|at once|byte for byte|bytes? by byte|in any case|whatever"
    r"|cannot (?:be|get|go|happen|reach|take|lose)|(?:is|are) (?:told|reported|logged|refused|restored|announced)"
    r"|survives?|exactly|holds?|no \w+ (?:is|are|leaves|goes)|without (?:loss|exception)|every time|in every)\b",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"^```.*?^```$|<!--.*?-->|^#.*?$|^\|[ |:-]+\|$", re.MULTILINE | re.DOTALL)
_PARTS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)|(?<=\|)\n")
_SENTENCES = re.compile(r"(?<=[.!?])[)\"*_]*\s+(?=[^a-z\s])|\s\|\s")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a sentence: the tests that show it, or what it is about where it promises nothing."""

    says: str
    shown_by: tuple[str, ...] = ()
    about: str = ""


def pages() -> list[Path]:
    """The pages that speak of what Compact does; decisions are records, and requirements have a map of their own."""
    found = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "providers").glob("*.md")]
    return sorted(page for page in found if page.name != "requirements.md")


def promises_in(text: str) -> Iterator[str]:
    """The sentences of a page that promise something, in order, with single spaces."""
    for part in _PARTS.split(_LEFT_OUT.sub("\n", text)):
        for sentence in _SENTENCES.split(" ".join(part.split())):
            if _PROMISES.search(sentence):
                yield sentence.strip("|-* ")


def map_of(page: Path) -> Path:
    """The file with what is known of a page's promises."""
    return MAPS / "-".join(page.relative_to(ROOT).with_suffix(".toml").parts)


def entries_of(page: Path) -> list[Entry]:
    """What is known of a page's promises."""
    path = map_of(page)
    known = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return [
        Entry(each["says"], tuple(each.get("shown_by", ())), each.get("about", "")) for each in known.get("promise", ())
    ]


def faults(promises: Iterable[str], entries: Iterable[Entry]) -> list[str]:
    """What is wrong between a page's promises and what is known of them."""
    said, known = list(promises), {entry.says: entry for entry in entries}
    found = [f"nothing shows it: {each}" for each in said if each not in known]
    for entry in known.values():
        if entry.says not in said:
            found.append(f"the page does not say it: {entry.says}")
        elif bool(entry.shown_by) is bool(entry.about):
            found.append(f"wants either shown_by or about: {entry.says}")
        found += [f"no test from outside: {test}" for test in entry.shown_by if not is_outside(test)]
        found += [f"no such test: {test}" for test in entry.shown_by if not _exists(test)]
    return found


def is_outside(test: str) -> bool:
    """Whether a test goes through a public entry point, by where it stands."""
    folder, *rest = test.partition("::")[0].split("/")
    return not rest or folder in OUTSIDE


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    return name in _tests_in(TESTS / file)


@cache
def _tests_in(path: Path) -> frozenset[str]:
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def main(names: list[str]) -> int:
    """Print the faults of the pages, or of those that are named; the status tells whether there are any."""
    chosen = [page for page in pages() if not names or str(page.relative_to(ROOT)) in names]
    count = 0
    for page in chosen:
        found = faults(promises_in(page.read_text(encoding="utf-8")), entries_of(page))
        count += len(found)
        for fault in found:
            print(f"{page.relative_to(ROOT)}: {fault}")
    print(f"{count} faults in {len(chosen)} pages")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
