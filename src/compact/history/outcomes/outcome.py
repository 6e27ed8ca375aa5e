"""What came of an action, as its result says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from compact.history.quoting import quote


class Verdict(StrEnum):
    """How an action went; `UNKNOWN` wherever its result does not say so."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


_NOTICE = re.compile(r"\s*(?:WARNING: Running pip as|\[notice\]|npm (?:warn|WARN|notice)\b)")
"""What package managers say of themselves."""
_JOIN = " / "


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an action went, and the words that tell it.

    `text` has one statement a line. Of a failure the first says most, of any other result the last. Of a refusal it is
    all that the person said with it, word for word; it is only `claimed` where the program that runs the calls did not
    flag the result: then a page or a script may have written it.
    """

    kind: Verdict = Verdict.UNKNOWN
    text: str = ""
    claimed: bool = False

    @property
    def failed(self) -> bool:
        """Whether it failed; what a person refused did not."""
        return self.kind is Verdict.FAILED

    def shorten(self, longest: int) -> str:
        """As many of the statements as fit on one line, those first that say most."""
        lines = [line for line in self.text.split("\n") if line.strip() and (self.failed or not _NOTICE.match(line))]
        if self.kind is Verdict.REFUSED:
            return quote(self.text, longest)
        backwards = not self.failed
        joint = len(_JOIN) if backwards else 0  # the end, which would be cut, tells most
        chosen: list[str] = []
        for line in reversed(lines) if backwards else lines:
            if chosen and sum(len(one) + joint for one in chosen) + len(line) > longest:
                break
            chosen.append(line)
        return quote(_JOIN.join(reversed(chosen) if backwards else chosen), longest)


NOTHING = Outcome()
