"""What an SDK raises, brought to a few kinds of failure, and whether it is worth trying again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compact.errors import CompactError, InvalidConfiguration
from compact.ports import Answer, Failure, FailureKind, Refusal

_LONGEST: Final = 300
# How servers that give no code for it say that a question is too long: llama.cpp, Ollama, LM Studio, vLLM, TGI.
TOO_LONG: Final = re.compile(
    r"exceeds? the available context|exceed_context_size|context (?:length|size|window|limit)|prompt is too long"
    r"|input is too long|too many (?:input )?tokens|maximum (?:context|model|prompt) length"
    r"|must have less than \d+ tokens",
    re.IGNORECASE,
)
_SPENT: Final = re.compile(
    r"credit balance|exceeded your current quota|billing|insufficient (?:funds|balance)", re.IGNORECASE
)
_FILTERED: Final = re.compile(r"blocked by content filter|content[_ ]filter|content management policy", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|r8|pplx)[-_][\w*-]{6,}|\bAIza[\w*-]{6,}|\bABSK[\w+/=*-]{6,}|(?i:bearer\s+)\S+"
)
_DELAY: Final = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")
_TRANSIENT: Final[frozenset[FailureKind]] = frozenset(
    {"connection", "malformed", "rate_limited", "timeout", "unavailable"}
)


class Trouble(CompactError):
    """An attempt that failed; it does not leave this package.

    `after` is how many seconds the vendor asked to wait, if it did. `filtered`: it is the vendor's filter that spoke.
    """

    def __init__(self, kind: FailureKind, reason: str, after: float | None = None, *, filtered: bool = False) -> None:
        self.kind, self.reason, self.after, self.filtered = kind, reason, after, filtered
        super().__init__(reason)

    @property
    def transient(self) -> bool:
        """Whether the same question may be answered if it is asked again."""
        return self.kind in _TRANSIENT

    @property
    def answer(self) -> Answer:
        """The answer that the caller gets; a content filter counts as a refusal."""
        return Refusal(self.reason) if self.filtered else Failure(self.reason, self.kind)


def trouble(error: Exception, key: str) -> Trouble:
    """What went wrong, told without the key."""
    from pydantic_ai.exceptions import ModelAPIError

    if refused := next((cause for cause in _causes(error) if isinstance(cause, InvalidConfiguration)), None):
        return Trouble("unconfigured", str(refused))
    said = _said(error)
    text = without_key(said, key)
    if not isinstance(error, ModelAPIError):
        return _strange(error, text)
    kind = _kind(error, said)
    status = getattr(error, "status_code", None)
    reason = f"{kind.replace('_', ' ')}{f' ({status})' if status else ''}: {text}"[:_LONGEST]
    return Trouble(kind, reason, _wait(error), filtered=kind == "rejected" and bool(_FILTERED.search(said)))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and those that led to it; an SDK raises its own where no connection may be made."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _strange(error: Exception, text: str) -> Trouble:
    """What no SDK means to raise: an answer it stumbled over, or a setting it found wrong only now."""
    from pydantic_ai.exceptions import UnexpectedModelBehavior

    name = type(error).__name__
    if "Credential" in name or name == "RefreshError":
        return Trouble("authentication", f"{name}: {text}")
    if isinstance(error, UnexpectedModelBehavior | ValueError | TypeError | LookupError | AttributeError):
        return Trouble("malformed", f"the answer cannot be read: {name}: {text}")
    return Trouble("unknown", f"{name}: {text}")


def without_key(text: str, key: str) -> str:
    """The text on one line, without the key or what looks like one."""
    return " ".join(_SECRET.sub("[key]", text.replace(key, "[key]") if key else text).split())[:_LONGEST]


def _kind(error: Exception, said: str) -> FailureKind:
    from pydantic_ai import exceptions as known

    kinds: tuple[tuple[type[Exception], FailureKind], ...] = (
        (known.ModelContextWindowExceededError, "overflow"),
        (known.ModelAuthenticationError, "authentication"),
        (known.ModelQuotaExceededError, "quota"),
        (known.ModelRateLimitError, "rate_limited"),
        (known.ModelUnavailableError, "unavailable"),
        (known.ModelServerError, "unavailable"),
        (known.ModelTimeoutError, "timeout"),
        (known.ModelRequestTimeout, "timeout"),
        (known.ModelConnectionError, "connection"),
        (known.ModelRequestRejectedError, "rejected"),
        (known.ModelHTTPError, "rejected"),
    )
    kind: FailureKind = next((kind for category, kind in kinds if isinstance(error, category)), "malformed")
    if kind in ("rejected", "unavailable") and TOO_LONG.search(said):
        return "overflow"
    if kind == "rejected" and _SPENT.search(said):
        return "quota"
    # Gemini has one status for a busy minute and a spent budget; only the former comes with a time to wait.
    if kind == "rate_limited" and _SPENT.search(said) and _wait(error) is None:
        return "quota"
    if kind == "rejected" and getattr(error, "status_code", 0) in (408, 409, 425):
        return "unavailable"
    return kind


def _said(error: Exception) -> str:
    """The vendor's own words, or those of the SDK."""
    body = getattr(error, "body", None)
    for told in _objects(body):
        if isinstance(message := told.get("message"), str) and message:
            return message
    if isinstance(body, str) and body:
        return body
    # What a validator says after its first line is the answer itself.
    return next(iter(str(error).splitlines()), "")


def _wait(error: Exception) -> float | None:
    after = getattr(error, "retry_after", None)
    if isinstance(after, int | float):
        return float(after)
    for body in _objects(getattr(error, "body", None)):
        details = body.get("details")
        for detail in details if isinstance(details, list) else ():
            delay = detail.get("retryDelay") if isinstance(detail, dict) else None
            if isinstance(delay, str) and (found := _DELAY.fullmatch(delay)):
                return float(found[1])
    return None


def _objects(body: Any) -> Iterator[Mapping[str, Any]]:
    """The error object of a vendor's answer, wherever in the answer it is."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, Mapping):
        if isinstance(inner := body.get("error"), Mapping):
            yield inner
        yield body
