"""Whose words a fact is: in the user's role a person speaks, and programs do."""

from __future__ import annotations

from compact import formats
from compact.facts import Kind, Source, facts_of, mentions_of
from compact.messages import Message

_REMINDER = "<system-reminder>\nNever touch `src/legacy.py`.\n</system-reminder>"
_PERSON = "Always run the tests before you commit to `src/app.py`."


def _messages(*texts: str) -> tuple[Message, ...]:
    sent = [{"role": "user", "content": text} for text in texts]
    return formats.parse({"messages": sent}, format="openai-chat").messages


def test_a_program_in_the_users_role_gives_no_directives() -> None:
    directives = {fact.text for fact in facts_of(_messages(f"{_PERSON}\n\n{_REMINDER}")) if fact.kind is Kind.DIRECTIVE}
    assert directives == {_PERSON}


def test_what_a_program_names_is_shown_and_not_said() -> None:
    said = {(mention.fact.text, mention.source) for mention in mentions_of(_messages(f"{_PERSON}\n\n{_REMINDER}"))}
    assert ("src/app.py", Source.USER) in said
    assert ("src/legacy.py", Source.TOOL) in said
