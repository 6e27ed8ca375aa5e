"""Strategies: what a summary is to keep, and in which sections.

A strategy is a file in `prompts`: its first paragraph describes it to people, the rest up to the first heading tells
the model what to keep, and each heading with the words below it is a section. `compact.summaries.model.instructions`
makes the request of it, `compact.summaries.model.statements` holds what comes back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

from compact.errors import InvalidConfiguration
from compact.history.headings import OTHERS_WORDS, USERS_WORDS

NAMES = ("task_state", "decision_log", "code_delta", "brief", "general", "code")
DEFAULT = "task_state"
LONGEST_PROMPT = 20_000
LONGEST_FOCUS = 2_000
# What may stand in braces in a custom prompt, and what stands there in the request.
PLACEHOLDERS = {"budget": "the tokens that the summary may take", "sections": "the sections with what belongs in them"}

_PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_SECTION = re.compile(
    r"^## (?P<title>.+?)(?: \((?P<flags>[a-z, ]+)\))?\n(?P<about>.+?)(?=\n## |\Z)", re.MULTILINE | re.DOTALL
)
_MORE = re.compile(r"\s*[:(–—/,]")
"""The separator between the title of a section and the rest of a heading."""
_USERS = re.compile(
    r"\b(?:user|human|person|customer|rule|constraint|instruction|requirement|directive|task|goal|request|order|wish"
    r"|preference|demand|permission|approval|polic)(?:e?s|y|ies)?\b",
    re.IGNORECASE,
)
"""Headings under which the user's words are expected."""
_OPEN = re.compile(r"\b(?:open|pending|next|remaining|outstanding|to-?do)\b", re.IGNORECASE)
"""Headings of work that is not done: the assistant may have planned it."""
_TOLD = re.compile(
    r"\b(?:finding|fact|result|progress|state|status|file|code|change|decision|error|problem|note|test|log|history|context"
    r"|background|summary|done|completed|name)s?\b",
    re.IGNORECASE,
)
"""Headings under which nothing is asked for."""
_THE_CONVERSATION = frozenset({"conversation", "conversation_history", "history", "messages", "transcript"})
_FOLLOWS = "(it follows below)"
Claim: TypeAlias = Literal["user", "open", "told", "free"]
"""The standing of a statement: the user's words, their rules or their task; open work; what was found or done; or
neither, where its heading does not say."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the summary and what belongs under it.

    `standing`: each item is active, blocked or completed. `instructs`: the section may hold what the user demands, so
    its items must come from what a user wrote.
    """

    title: str
    about: str
    standing: bool = False
    instructs: bool = False


@dataclass(frozen=True, slots=True)
class Strategy:
    """What to keep and where. `custom`: the prompt is a person's own, the sections are those of a built-in strategy."""

    name: str
    description: str
    sections: tuple[Section, ...]
    prompt: str
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """How to write it. `focus` is a person's note on what matters, as given with a condensation by hand."""

    detail: Literal["detailed", "concise"] = "detailed"
    examples: bool = True
    focus: str = ""

    def __post_init__(self) -> None:
        if self.detail not in ("detailed", "concise"):
            raise InvalidConfiguration(
                f"there is no {self.detail!r}", field="detail", remedy="Use 'detailed' or 'concise'."
            )
        if len(self.focus) > LONGEST_FOCUS:
            raise InvalidConfiguration(
                f"has {len(self.focus):,} characters",
                field="focus",
                remedy=f"At most {LONGEST_FOCUS:,} are taken; use a custom prompt for more.",
            )


def strategies() -> tuple[Strategy, ...]:
    """The built-in strategies."""
    return tuple(map(find_strategy, NAMES))


def find_strategy(name: str) -> Strategy:
    """The built-in strategy of that name."""
    if name not in NAMES:
        raise InvalidConfiguration(
            f"there is no strategy {name!r}", field="strategy", remedy=f"Known strategies: {', '.join(NAMES)}."
        )
    return _load(name)


def custom_strategy(prompt: str, base: Strategy) -> Strategy:
    """The base with a person's own prompt in place of its own; the sections and the form of the answer stay."""
    if not prompt.strip():
        raise InvalidConfiguration("is blank", field="prompt", remedy="Leave it out for the strategy's own prompt.")
    if len(prompt) > LONGEST_PROMPT:
        raise InvalidConfiguration(
            f"has {len(prompt):,} characters", field="prompt", remedy=f"Shorten it to at most {LONGEST_PROMPT:,}."
        )
    # Templates of other tools say where the conversation goes; here it always follows the prompt.
    prompt = _PLACEHOLDER.sub(lambda found: _FOLLOWS if found[1] in _THE_CONVERSATION else found[0], prompt)
    if unknown := sorted(set(_PLACEHOLDER.findall(prompt)) - PLACEHOLDERS.keys()):
        raise InvalidConfiguration(f"{{{unknown[0]}}} is not a placeholder", field="prompt", remedy=_remedy(unknown[0]))
    return replace(base, prompt=prompt.strip(), custom=True)


def fill(template: str, values: dict[str, str]) -> str:
    """The template with each `{name}` that has a value replaced by it, once; `{{name}}` gives `{name}`."""
    text = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
    return re.sub(r"\{(\{[A-Za-z_]\w*\})\}", r"\1", text)


def known_sections(strategy: Strategy) -> dict[str, Section]:
    """Every section a summary may have been written with, by its title in small letters.

    An earlier summary may come from another strategy, or from a version that made them offline.
    """
    return _built_in() | {section.title.casefold(): section for section in strategy.sections}


def claim_of(title: str, sections: Mapping[str, Section] | None = None) -> Claim:
    """Return the standing of a statement under that heading, by the known sections or else by its words."""
    known = find_section(title, _built_in() if sections is None else sections)
    if not title:
        return "free"
    if _OPEN.search(known.title if known else title):
        return "open"
    if known:
        return "user" if known.instructs else "open" if known.standing else "told"
    return "user" if _USERS.search(title) else "told" if _TOLD.search(title) else "free"


def find_section(title: str, sections: Mapping[str, Section]) -> Section | None:
    """The section of a heading, which may say more than its title."""
    name = title.casefold()
    return sections.get(name) or sections.get(_MORE.split(name, maxsplit=1)[0])


@cache
def prompt_text(name: str) -> str:
    """The text of a file in `prompts`."""
    return (files("compact.summaries.model") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def _remedy(placeholder: str) -> str:
    known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    return f"Known placeholders: {known}; write {{{{{placeholder}}}}} if the braces are meant as such."


@cache
def _built_in() -> dict[str, Section]:
    sections = [Section(title, "", instructs=title in USERS_WORDS) for title in (*USERS_WORDS, *OTHERS_WORDS)]
    sections += [section for strategy in strategies() for section in strategy.sections]
    return {section.title.casefold(): section for section in sections}


@cache
def _load(name: str) -> Strategy:
    text = prompt_text(name)
    head, _, _ = text.partition("\n## ")
    description, _, prompt = head.partition("\n\n")
    return Strategy(name, description, tuple(map(_section, _SECTION.finditer(text))), prompt.strip())


def _section(found: re.Match[str]) -> Section:
    flags = found["flags"].split(", ") if found["flags"] else []
    return Section(found["title"], found["about"].strip(), **dict.fromkeys(flags, True))
