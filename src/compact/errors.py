"""Everything Compact raises, in one tree.

CompactError
├── InvalidInput (ValueError)            your mistake: what was given cannot be read
│   ├── InvalidConversation              a message, block or request has the wrong shape
│   ├── UnknownFormat                    no wire format of that name, or none recognised
│   ├── InvalidConfiguration             a setting is out of range or unknown
│   └── NotFound (LookupError)           there is no such session, message, snapshot or model
├── ConversionError (ValueError)         cannot be done: the other format has no place for it
├── EditError (ValueError)               cannot be done: an edit addresses nothing, or something it may not touch
├── InsufficientBudget (RuntimeError)    cannot be done: what must stay takes more than the window has
├── CompactionBlocked (RuntimeError)     cannot be done: there is no summary, and the policy forbids to prune without
│   └── NothingToCompact                 everything is pinned or recent
├── CondensationStalled (RuntimeError)   cannot be done: condensing again and again freed next to nothing
├── StoredPlanMismatch (ValueError)      cannot be done: what was stored of a compaction does not fit any more
│   └── NewerVersion                     what was stored was written by a newer Compact: upgrade
├── TokenCountError (RuntimeError)       the world's: the tokenizer failed; retry, nothing was approximated
└── StorageError (OSError)               the world's: what things are kept in cannot be reached, or cannot be written
    └── DamagedOriginals                 what was kept of a session is not as it was written: repair it
"""

from __future__ import annotations

__all__ = [
    "CompactError",
    "CompactionBlocked",
    "CondensationStalled",
    "ConversionError",
    "DamagedOriginals",
    "EditError",
    "InsufficientBudget",
    "InvalidConfiguration",
    "InvalidConversation",
    "InvalidInput",
    "NewerVersion",
    "NotFound",
    "NothingToCompact",
    "StorageError",
    "StoredPlanMismatch",
    "TokenCountError",
    "UnknownFormat",
]


class CompactError(Exception):
    """The base of every error Compact raises."""


class InvalidInput(CompactError, ValueError):
    """What was given cannot be read; the message names the field and the remedy."""

    def __init__(self, problem: str, *, field: str = "", remedy: str = "") -> None:
        self.problem, self.field, self.remedy = problem, field, remedy
        text = f"{field}: {problem}" if field else problem
        super().__init__(f"{text}. {remedy}" if remedy else text)


class InvalidConversation(InvalidInput):
    """A message, block or request has the wrong shape."""


class UnknownFormat(InvalidInput):
    """No wire format of that name exists, or none was recognised."""


class InvalidConfiguration(InvalidInput):
    """A setting is unknown or out of its range."""


class NotFound(InvalidInput, LookupError):
    """There is no such session, message, snapshot or model."""


class ConversionError(CompactError, ValueError):
    """The target format has no place for something the conversation holds."""


class EditError(CompactError, ValueError):
    """An edit addresses nothing, or something it may not touch."""


class InsufficientBudget(CompactError, RuntimeError):
    """The messages that must stay have `needed` tokens, and only `budget` may be used for them.

    Where they would fit without an answer, `answer` is the limit that the request sets for it, else 0: `budget` is then
    what both may use together.
    """

    def __init__(self, problem: str, *, needed: int, budget: int, answer: int = 0) -> None:
        self.needed, self.budget, self.answer = needed, budget, answer
        super().__init__(problem)


class CompactionBlocked(CompactError, RuntimeError):
    """No summary could be had, and the policy forbids to prune without one; nothing was changed."""


class NothingToCompact(CompactionBlocked):
    """Nothing could go: everything is pinned or recent, or the recipe's provider failed and nothing did its work."""


class CondensationStalled(CompactError, RuntimeError):
    """Several condensations in a row freed next to nothing; none is tried again for `retry_after` seconds."""

    def __init__(self, problem: str, *, attempts: int, retry_after: float) -> None:
        self.attempts, self.retry_after = attempts, retry_after
        super().__init__(problem)


class StoredPlanMismatch(CompactError, ValueError):
    """What was stored of a compaction does not fit what was stored with it; the message names the remedy."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem}. {remedy}")


class NewerVersion(StoredPlanMismatch):
    """What was stored was written by a newer Compact, which this one cannot read."""


class TokenCountError(CompactError, RuntimeError):
    """The tokenizer failed; nothing was approximated, so the count may be retried."""


class StorageError(CompactError, OSError):
    """A database, an archive or a folder cannot be reached or written; what was stored before is safe."""


class DamagedOriginals(StorageError):
    """What was kept of a session is not as it was written; `whole` says what of it can still be read.

    `session` is empty where the damage hides whose file it is; `line` is 0 where it is about the whole file.
    """

    def __init__(self, session: str, place: tuple[str, int], problem: str, *, whole: str, remedy: str) -> None:
        self.session, (self.path, self.line), self.problem = session, place, problem
        self.whole, self.remedy = whole, remedy
        whose = f"of session {session}" if session else "of a session"
        where = f"{self.path}, line {self.line}" if self.line else self.path
        super().__init__(f"the originals {whose} are damaged: {where}: {problem}. {whole}. {remedy}")
