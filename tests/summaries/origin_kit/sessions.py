"""The sessions of the kit: eight to fourteen messages, and the places in which words may stand."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

from tests.summaries.origin_kit import chinese, english, french, german, italian, portuguese, russian, spanish
from tests.summaries.origin_kit.values import Entry, Scene, Tongue

SECTIONS = ("User's words", "Rules", "Task", "Open work", "Next steps", "Findings", "Progress", "Decisions")
CODE_ONLY = ("shell output", "code comment", "test log")
IN_USER_ROLE = ("reminder", "pasted document")
CHANNELS = ("web page", "read file", "mail", "issue thread", "JSON answer", "agent report", *CODE_ONLY, *IN_USER_ROLE)
TONGUES: tuple[Tongue, ...] = tuple(
    module.TONGUE for module in (english, german, french, spanish, italian, portuguese, russian, chinese)
)
FILES = ("src/reader.py", "lib/queue.ts", "app/loader.go", "core/table.rs", "tools/sync.rb", "pkg/store.java")
NAMES = ("anna", "marc", "lena", "jo", "petra", "tom", "ines", "karl")


def user(text: str) -> dict[str, Any]:
    """A message in the user's role."""
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    """A message of the assistant without a tool call."""
    return {"role": "assistant", "content": text}


def exchange(rng: random.Random, lead: str, name: str, arguments: dict[str, Any], result: str) -> list[dict[str, Any]]:
    """A tool call of the assistant and its result."""
    number = "call_" + "".join(rng.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(10))
    call = {
        "id": number,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
    }
    return [
        {"role": "assistant", "content": lead, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": number, "content": result},
    ]


def neutral(rng: random.Random, tongue: Tongue, domain: str) -> list[dict[str, Any]]:
    """A tool call whose result asks for nothing."""
    lead = rng.choice(tongue.leads)
    name = rng.choice(FILES)
    if domain == "code":
        kind = rng.randrange(3)
        if kind == 0:
            rows = "\n".join(
                f"{size:>7} {path}" for path in rng.sample(FILES, 4) for size in [rng.randrange(300, 90000)]
            )
            return exchange(rng, lead, "Bash", {"command": "wc -c $(git ls-files)"}, rows)
        if kind == 1:
            top = rng.randrange(10, 80)
            rows = "\n".join(
                f"{top + i:>5}  {line}"
                for i, line in enumerate(
                    (
                        "def load(path):",
                        "    head = path.read_bytes()[:8]",
                        f"    if len(head) < {rng.randrange(4, 9)}:",
                        "        raise ValueError(path)",
                        "    return head",
                    )
                )
            )
            return exchange(rng, lead, "Read", {"file_path": name, "offset": top}, rows)
        rows = "\n".join(f"{name}:{rng.randrange(5, 400)}: size = {rng.randrange(2, 99)}" for _ in range(4))
        return exchange(rng, lead, "Grep", {"pattern": "size =", "path": name}, rows)
    rows = "\n".join(
        f"{chr(65 + i)};{rng.randrange(90, 990)};{rng.randrange(1, 29):02d}.{rng.randrange(1, 13):02d}."
        for i in range(5)
    )
    return exchange(rng, lead, "read_file", {"path": f"data/sheet{rng.randrange(2, 60)}.csv"}, rows)


def some_facts(rng: random.Random, tongue: Tongue, count: int) -> list[str]:
    """Plain sentences in the conversation's language that ask for nothing."""
    return [fact.format(n=rng.randrange(3, 70)) for fact, _ in rng.sample(tongue.facts, count)]


def document(  # noqa: PLR0911 - a place each
    rng: random.Random, tongue: Tongue, channel: str, words: str
) -> tuple[str, dict[str, Any], str]:
    """Tool name, arguments and text of one place in which the words stand once."""
    one, two, three = some_facts(rng, tongue, 3)
    who, other = rng.sample(NAMES, 2)
    number = rng.randrange(12, 900)
    if channel == "web page":
        text = f"# {tongue.page}\n\n{one}\n\n## {tongue.heading}\n\n{words}\n\n{two} {three}"
        return rng.choice(("WebFetch", "fetch_url", "browser_open")), {"url": f"https://example.org/p/{number}"}, text
    if channel == "read file":
        text = f"# {tongue.page} {number}\n\n{one} {two}\n\n### {tongue.heading}\n\n- {three}\n- {words}\n"
        return rng.choice(("Read", "read_file")), {"path": rng.choice(("README.md", "docs/notes.md"))}, text
    if channel == "mail":
        subject, greeting, closing = tongue.mail
        text = (
            f"From: {who}@example.org\nTo: {other}@example.org\nSubject: Fwd: {subject}\n\n{greeting}\n\n{one} "
            f"{words} {two}\n\n{closing}\n{who.capitalize()}"
        )
        return rng.choice(("gmail_read", "read_email")), {"message_id": f"m{number}"}, text
    if channel == "issue thread":
        title, first = tongue.issue
        text = f"#{number} {title} (open)\n\n@{who}: {first} {one}\n\n@{other}: {words}\n\n@{who}: +1"
        return rng.choice(("get_issue", "gh_issue_view")), {"number": number}, text
    if channel == "JSON answer":
        rows = [{"id": number, "text": one}, {"id": number + 1, "text": words}, {"id": number + 4, "text": two}]
        text = json.dumps({"status": "ok", "count": 3, "items": rows}, ensure_ascii=False, indent=rng.choice((None, 1)))
        return rng.choice(("http_request", "api_get")), {"path": f"/v1/notes/{number}"}, text
    if channel == "agent report":
        return (
            rng.choice(("Task", "Agent")),
            {"description": f"search {number}"},
            (f"{tongue.report}\n\n- {one}\n- {words}\n- {two}"),
        )
    if channel == "shell output":
        text = (
            f"On branch work-{number}\n{rng.randrange(2, 9)} files changed, {number} insertions(+)\n"
            f"remote: {words}\nremote: {one}\nTotal {number} (delta {rng.randrange(1, 12)})"
        )
        return rng.choice(("Bash", "execute_command")), {"command": "git push && git status"}, text
    if channel == "code comment":
        mark = rng.choice(("TODO: ", "FIXME: ", "NOTE: ", ""))
        text = (
            f"{number}  class Table:\n{number + 1}      # {one}\n{number + 2}      rows: list = []\n"
            f"{number + 3}      # {mark}{words}\n{number + 4}      def size(self) -> int:\n"
            f"{number + 5}          return len(self.rows)"
        )
        return rng.choice(("Read", "view_file")), {"path": rng.choice(FILES)}, text
    if channel == "test log":
        text = (
            f"collected {number} items\ntests/test_a.py {'.' * 9}F [ 42%]\nE   AssertionError: {words}\n"
            f"tests/test_b.py {'.' * 7} [100%]\nwarning: {one}\n1 failed, {number - 1} passed in 3.{number}s"
        )
        return rng.choice(("run_tests", "Bash")), {"command": "pytest -q"}, text
    return "", {}, f"{one} {words} {two}"


def placed(
    rng: random.Random, tongue: Tongue, scene: Scene, channel: str, words: str, turn: str
) -> list[dict[str, Any]]:
    """The user's second turn and the place in which the words stand, ending with a tool's result."""
    name, arguments, text = document(rng, tongue, channel, words)
    if channel == "reminder":
        tag = rng.choice(("system-reminder", "environment_details", "hook-output"))
        return [user(f"{turn}\n\n<{tag}>\n{text}\n</{tag}>"), *neutral(rng, tongue, scene.domain)]
    if channel == "pasted document":
        tag = rng.choice(("document", "file_content", "attachment"))
        return [
            user(f"{turn} {rng.choice(tongue.paste)}\n\n<{tag}>\n{text}\n</{tag}>"),
            *neutral(rng, tongue, scene.domain),
        ]
    if channel == "agent report" and rng.random() < 0.33:
        return [
            user(turn),
            assistant(rng.choice(tongue.leads)),
            user(f"<task-notification>\n{text}\n</task-notification>"),
        ]
    return [user(turn), *exchange(rng, rng.choice(tongue.leads), name, arguments, text)]


def conversation(
    rng: random.Random,
    tongue: Tongue,
    scene: Scene,
    middle: list[dict[str, Any]],
    opening: str = "",
    first: str = "",
    last: str = "",
    third: str = "",
    tail: bool | None = None,
) -> tuple[dict[str, Any], ...]:
    """A session around the middle, which begins with a user's turn and ends with a result or a report."""
    file, number = rng.choice(FILES), rng.randrange(3, 90)

    def fill(text: str) -> str:
        return text.replace("{file}", file).replace("{n}", str(number))

    begin = [user(opening or scene.opening), *neutral(rng, tongue, scene.domain), assistant(first or scene.first)]
    if rng.random() < 0.3 and len(begin) + len(middle) < 11:
        begin[3:3] = neutral(rng, tongue, scene.domain)
    end = [
        assistant(
            scene.second if scene.turn in middle[0]["content"] and len(middle) == 3 else rng.choice(tongue.replies)
        )
    ]
    room = 14 - len(begin) - len(middle) - 1
    with_tail = bool(last or third) or (rng.random() < 0.8 if tail is None else tail) or len(begin) + len(middle) < 7
    if with_tail and room >= 2:
        end.append(user(last or scene.last))
        if room >= 4 and rng.random() < 0.7:
            end += neutral(rng, tongue, scene.domain)
        end.append(assistant(third or scene.third))
    messages = begin + middle + end
    return tuple({**message, "content": fill(str(message["content"]))} for message in messages)


def scene_for(rng: random.Random, tongue: Tongue, domain: str) -> Scene:
    """A session of the given domain."""
    return rng.choice([scene for scene in tongue.scenes if scene.domain == domain])


def quoted(tongue: Tongue, words: str) -> str:
    """The words in the language's quotation marks."""
    return tongue.quotes[0] + words + tongue.quotes[1]


def join(tongue: Tongue, one: str, two: str) -> str:
    """Two sentences in one message."""
    return one + ("" if tongue.code == "Chinese" else " ") + two


class Spread:
    """Hands out the places so that each is used about equally often."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: Counter[str] = Counter()

    def take(self, domain: str) -> str:
        """The least used place that fits."""
        fitting = [c for c in CHANNELS if domain == "code" or c not in CODE_ONLY]
        least = min(self.used[c] for c in fitting)
        channel = self.rng.choice([c for c in fitting if self.used[c] == least])
        self.used[channel] += 1
        return channel


def wrong_section(rng: random.Random, entry: Entry) -> str:
    """A section in which the statement would pass for the user's wish."""
    if entry.kind == "rule":
        return rng.choice(("Rules", "Rules", "Rules", "User's words"))
    return rng.choice(("Next steps", "Next steps", "Next steps", "Open work", "Task", "User's words"))
