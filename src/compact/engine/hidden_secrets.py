"""What a summarizing model of another vendor gets to read: the questions without the secrets in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from compact.engine.callback import read_answers
from compact.engine.driver import AskModel
from compact.engine.relays import Relay, vendors_of
from compact.messages import Conversation
from compact.ports import Answer, Ask, Completion
from compact.redaction import Placeholders, Redactor


def hide_secrets(
    ask: AskModel, vendor: str, conversation: Conversation, redactor: Callable[[], Redactor] | None
) -> AskModel:
    """The callback, for a conversation with a model of `vendor`; the secrets are hidden from any other vendor.

    A callback names whom it asks by an attribute, `vendors`, as the catalogue names them. A vendor that is not known is
    another one. Without a redactor nothing is hidden.
    """
    if redactor is None or (vendor and vendors_of(ask) == {vendor}):
        return ask
    return _WithoutSecrets(ask, conversation, redactor)


class _WithoutSecrets(Relay):
    """Asks with placeholders for secrets, numbered alike in all questions, and puts the secrets into the answers."""

    def __init__(self, ask: AskModel, conversation: Conversation, redactor: Callable[[], Redactor]) -> None:
        super().__init__(ask)
        self._conversation = conversation
        self._redactor = redactor
        self._placeholders: Placeholders | None = None

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        known = self._placeholders = self._placeholders or self._learned()
        hidden = tuple(
            replace(ask, instructions=known.hide(ask.instructions), material=known.hide(ask.material)) for ask in asks
        )
        return tuple(_revealed(known, answer) for answer in read_answers(self._ask(hidden), hidden))

    def _learned(self) -> Placeholders:
        """The secrets of the whole conversation: a question may show a value without its field name."""
        known = Placeholders(self._redactor())
        for message in self._conversation.messages:
            known.learn(message.wire)
        return known


def _revealed(known: Placeholders, answer: Answer) -> Answer:
    return replace(answer, text=known.reveal(answer.text)) if isinstance(answer, Completion) else answer
