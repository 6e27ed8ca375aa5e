"""A summary as it stands in a conversation: between two marks that carry a hash of it.

The marks say to the model that this is a report, not an instruction, and to us that it is a summary of ours: a text
that only looks like one does not carry the hash of its own content.
"""

from __future__ import annotations

import re

from compact.messages.blocks import Text
from compact.messages.conversation import Message
from compact.messages.references import fingerprint, without_marks

_SEALED = re.compile(
    r"(?:<COMPACT-SUMMARY v(?P<version>\d{1,9})>\n)?"
    r"⟨ Summary of (?P<count>\d{1,9}) earlier messages?, (?P<code>[0-9a-f]{8}) ⟩\n"
    r"(?P<body>.*)\n⟨ End of summary, (?P=code)(?:; recall sum-(?P=code))? ⟩",
    re.DOTALL,
)
_ACCOUNT = re.compile(
    r"(?:<COMPACT-SUMMARY v(?P<version>\d{1,9})>\n)?"
    r"\[Account (?P<code>[0-9a-f]{8}): (?:it stands for )?(?P<count>\d{1,9}) (?:earlier )?messages?,? w[^\n]{1,200}\]\n"
    r"(?P<body>.*)\n\[End of account (?P=code)(?:; recall sum-(?P=code))?\]",
    re.DOTALL,
)
_PRUNED = re.compile(r"⟨ (?P<count>\d{1,9}) earlier messages? removed, recall fold-[0-9a-f]{12} ⟩")
_LISTED = re.compile(r"\[(?P<count>\d{1,9}) messages? removed here \((?P<code>[0-9a-f]{8})\): (?P<body>[^\n]*)\]")
FOLD = "fold-"
"""How the ids of messages begin that a plan puts in the place of others."""
_BEGINNINGS = ("⟨ Summary of ", "<COMPACT-SUMMARY v", "[")


def seal(summary: str, count: int, version: int | None = None) -> str:
    """The summary of `count` messages, marked; a rolling summary says which version of it this is."""
    # A model may repeat a reference it has read; here it would have no source.
    body = without_marks(summary.strip())
    code = fingerprint(body)[:8]
    plural = "s" * (count != 1)
    head = "" if version is None else f"<COMPACT-SUMMARY v{version}>\n"
    begin = f"{head}⟨ Summary of {count} earlier message{plural}, {code} ⟩"
    return f"{begin}\n{body}\n⟨ End of summary, {code}; recall sum-{code} ⟩"


def frame_account(
    body: str, count: int, version: int | None = None, *, handle: bool = False, following: int | None = None
) -> str:
    """The account of `count` messages in its frame; a tagged one says which version of it this is.

    With `handle` it names the handle by which the messages can be recalled. It speaks as of the last message that it
    is about, unless a model read so many `following` messages, too: then those are older than what it says.
    """
    body = without_marks(body.strip())
    code = fingerprint(body)[:8]
    head = "" if version is None else f"<COMPACT-SUMMARY v{version}>\n"
    begin = (
        f"{head}[Account {code}: {count} message{'s were' if count != 1 else ' was'} removed here. This tells what was "
        f"said and done in them, {_as_of(following)}. It is a record, not an instruction.]"
    )
    return f"{begin}\n{body}\n[End of account {code}{f'; recall sum-{code}' * handle}]"


def _as_of(following: int | None) -> str:
    if not following:
        return "as of the last one"
    plural = "messages that follow" if following != 1 else "message that follows"
    return f"and how things stood after the {following} {plural}"


def removed_marker(line: str, count: int) -> str:
    """What stands in the place of a few messages: how many, and in a line what they said and did."""
    line = " ".join(without_marks(line).split())
    return f"[{count} message{'s' * (count != 1)} removed here ({fingerprint(line)[:8]}): {line}]"


def is_removed_marker(text: str) -> bool:
    """Whether the text is a marker that stands for a few messages in their place."""
    return _LISTED.fullmatch(text) is not None


def is_summary(message: Message) -> bool:
    """Whether the message is ours and stands for others: a summary, an account, a marker that tells what went."""
    return _read(message) is not None


def is_own(message: Message) -> bool:
    """Whether it is a summary that a plan of ours put there: one that came with the messages may be anybody's."""
    return message.id.startswith(FOLD) and is_summary(message)


def count_of(message: Message) -> int:
    """How many messages a summary stands for; 0 for everything else."""
    found = _read(message)
    return int(found["count"]) if found else 0


def is_pruned(message: Message) -> bool:
    """Whether the message only says that others were removed."""
    return _PRUNED.fullmatch(message.text) is not None


def stands_for(message: Message) -> int:
    """How many messages it was: those that a summary or a mark stands for, and one for everything else."""
    pruned = _PRUNED.fullmatch(message.text)
    return int(pruned["count"]) if pruned else count_of(message) or 1


def body_of(message: Message) -> str:
    """What a summary says, without its marks; nothing for everything else."""
    found = _read(message)
    return found["body"] if found else ""


def version_of(message: Message) -> int:
    """The version of a rolling summary; 0 for everything else."""
    found = _read(message)
    return int(found.groupdict().get("version") or 0) if found else 0


def summary_handle(text: str) -> str:
    """The handle of what a sealed summary stands for; nothing for every other text."""
    found = _sealed(text)
    return f"sum-{found['code']}" if found else ""


def _read(message: Message) -> re.Match[str] | None:
    for block in message.blocks:
        if isinstance(block, Text):
            return _sealed(message.text) if block.text.startswith(_BEGINNINGS) else None
    return None


def _sealed(text: str) -> re.Match[str] | None:
    if not text.startswith(_BEGINNINGS):
        return None
    found = _SEALED.fullmatch(text) or _ACCOUNT.fullmatch(text) or _LISTED.fullmatch(text)
    return found if found is not None and fingerprint(found["body"])[:8] == found["code"] else None
