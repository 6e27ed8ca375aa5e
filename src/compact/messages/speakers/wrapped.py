"""Who speaks in the blocks that stand between tags of programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from compact.messages.speakers.known import Form, Known, Speaker, known, plain_name
from compact.messages.speakers.tags import Block, blocks_in

TYPED = Form(Speaker.PERSON, "typed")
Span: TypeAlias = tuple[int, int, Form]

_TAGS = Form(Speaker.REMINDER, "a tag of the program")
_ATTACHED = Form(Speaker.PASTED, "a file")
_LOCAL = Form(Speaker.COMMAND, "a command to the program")
_COMMAND = ("commandmessage", "commandname", "commandargs")
_OUTPUTS = ("stdout", "stderr", "output", "observation")
_SENTENCE = 4
"""With so many words, what a command was given is more than an option."""
_BEGINNING = 700
_FIRST = re.compile(r"\s*<([A-Za-z][\w-]{0,60})")
_NESTED = re.compile(r"</?[A-Za-z]")
_WEB = re.compile(r"<([a-z][a-z0-9]{0,12})[\s>/]")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What is wrapped in a text, and the command that was run in it: from `expanded` on stands what it comes to."""

    spans: tuple[Span, ...]
    command: str = ""
    expanded: int = -1


def begins_wrapped(text: str) -> bool:
    """Whether a text begins with a known tag."""
    found = _FIRST.match(text)
    return found is not None and plain_name(found[1]) in {*known().wrappers, *_COMMAND}


def wrapped(text: str, at: int, *, result: bool, asks: bool) -> Wrapped:
    """Finds what is wrapped from `at` on; in a tool's `result` nobody speaks, save, where it `asks`, in an answer."""
    if "</" not in text:
        return Wrapped(())
    forms = known()
    answers = {plain_name(tag) for tag in forms.shapes["answers"]} if asks else set()
    blocks = list(blocks_in(text, at, {*forms.wrappers, *_COMMAND, *answers}))
    commands = [block for block in blocks if block.opening.name in _COMMAND] if not result else []
    typed = bool(commands) and commands[0].opening.name == _COMMAND[0]
    names = {block.opening.name for block in blocks}
    strange = not result and _only_blocks(text, at, blocks, forms)
    spans: list[Span] = []
    for block in blocks:
        if block in commands:
            spans += _of_command(text, block, typed=typed)
        elif block.opening.name in answers:
            spans += _framed(block, TYPED)
        elif (form := _form(text, block, forms, strange=strange)) and (not form.beside or form.beside in names):
            if form.speaker is not Speaker.PERSON:
                spans.append((block.opening.start, block.closing.end, form))
            elif not result:
                spans += _framed(block, TYPED)
    name = next((_inside(text, block).strip() for block in commands if block.opening.name == _COMMAND[1]), "")
    return Wrapped(tuple(spans), name, commands[-1].closing.end) if typed else Wrapped(tuple(spans))


def _inside(text: str, block: Block) -> str:
    return text[block.opening.end : block.closing.start]


def _framed(block: Block, form: Form) -> Iterator[Span]:
    yield block.opening.start, block.opening.end, _TAGS
    yield block.opening.end, block.closing.start, form
    yield block.closing.start, block.closing.end, _TAGS


def _of_command(text: str, block: Block, *, typed: bool) -> Iterator[Span]:
    """A command's name and what it was given are a person's words where it is a prompt, and not for the program alone.

    Claude Code writes the message of such a command before its name, and the name of others first.
    """
    name, inside = block.opening.name, _inside(text, block)
    if name == _COMMAND[0]:
        yield block.opening.start, block.closing.end, _LOCAL
    elif typed or (name == _COMMAND[2] and len(inside.split()) >= _SENTENCE):
        yield from _framed(block, TYPED)
    else:
        yield block.opening.start, block.closing.end, _LOCAL


def _form(text: str, block: Block, forms: Known, *, strange: bool) -> Form | None:
    """Whose a block is; None for one that is a part of what a person wrote."""
    tag = block.opening
    if form := forms.wrappers.get(tag.name):
        beginning = text[tag.end : min(tag.end + _BEGINNING, block.closing.start)]
        if form.speaker is Speaker.PERSON and not tag.bare:
            return None
        own = _NESTED.split(beginning, maxsplit=1)[0]
        if form.speaker is Speaker.REMINDER and any(file in own for file in forms.shapes["rule_files"]):
            return Form(Speaker.RULES, "rules from a file")
        return form
    if not tag.joined:
        return None
    if found := forms.program_tag.search(tag.name):
        speaker = Speaker.OBSERVATION if found[0] in _OUTPUTS else Speaker.REMINDER
        speaker = Speaker.NOTIFICATION if found[0] == "notification" else speaker
        return Form(speaker, f"a block that a program marked {text[tag.start : tag.end]}")
    if forms.pasted_tag.search(tag.name):
        return _ATTACHED
    return Form(Speaker.REMINDER, f"a block that a program marked {text[tag.start : tag.end]}") if strange else None


def _only_blocks(text: str, at: int, blocks: list[Block], forms: Known) -> bool:
    """Whether the text is nothing but blocks, none of which is called as what people write is, or holds a web page."""
    for block in blocks:
        tag = block.opening
        if text[at : tag.start].strip() or (tag.name not in forms.wrappers and forms.person_tag.search(tag.name)):
            return False
        at = block.closing.end
    return not text[at:].strip() and not any(tag in forms.web_tags for tag in _WEB.findall(text))
