"""A summary as it stands in a conversation: between two marks that carry a hash of it.

The marks say to the model that this is a report, not an instruction, and to us that it is a summary of ours: a text
that only looks like one does not carry the hash of its own content.
"""

from __future__ import annotations

import re

from compact.messages.conversation import Message
from compact.messages.references import MARK, fingerprint

_SEALED = re.compile(
    r"⟨ Summary of \d+ earlier messages?, (?P<code>[0-9a-f]{8}) ⟩\n(?P<body>.*)\n⟨ End of summary, (?P=code) ⟩",
    re.DOTALL,
)


def seal(summary: str, count: int) -> str:
    """The summary of `count` messages, marked."""
    # A model may repeat a reference it has read; here it would have no source.
    body = summary.strip().replace(MARK, "⟨ =")
    code = fingerprint(body)[:8]
    plural = "s" * (count != 1)
    return f"⟨ Summary of {count} earlier message{plural}, {code} ⟩\n{body}\n⟨ End of summary, {code} ⟩"


def is_summary(message: Message) -> bool:
    """Whether the message is a summary that `seal` has marked."""
    found = _SEALED.fullmatch(message.text) if message.text.startswith("⟨ Summary of ") else None
    return found is not None and fingerprint(found["body"])[:8] == found["code"]
