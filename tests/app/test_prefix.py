"""A request begins with what was sent before, up to the first message that the client changed.

Clients move cache marks, turn strings into blocks, edit their newest message, go back, and keep files or a reminder at
the end. Each message here has a word of its own, so that a word of a message that is gone shows in what is sent.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compact import CompactConfig, CompactManager
from compact.errors import NotFound
from compact.formats import FORMATS, parse, violations
from compact.messages import Json, unresolved
from compact.policies import Policy
from compact.policies.compaction import StorageSettings

WINDOW = 2_000
_WORD = re.compile(r"nonce\d+x")
_MARK: Json = {"type": "ephemeral"}
RECIPES = ("auto", "layers", "balanced")


def manager(path: Path, recipe: str = "auto", **config: Any) -> CompactManager:
    chosen = CompactConfig(
        model="claude-sonnet-4-5",
        max_context_tokens=WINDOW,
        profile="offline",
        storage=StorageSettings(path=str(path)),
        policy=Policy(recipe=recipe, hard_cap_buffer=100),
        **config,
    )
    return CompactManager(chosen)


@dataclass(slots=True)
class Client:
    """An agent's side of a conversation in Anthropic's format: it answers, reads files and runs tests."""

    seed: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list)
    step: int = 0
    words: int = 0
    marks: bool = True
    blocks: bool = False

    def __post_init__(self) -> None:
        self.say("Port the parser.")

    def word(self) -> str:
        self.words += 1
        return f"nonce{self.words}x"

    def filler(self, least: int, most: int) -> str:
        random_ = random.Random(f"{self.seed} {self.words}")
        return " ".join(random_.choice(_FILLER) for _ in range(random_.randint(least, most)))

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": f"{text} {self.word()}."})

    def answer(self) -> None:
        self.messages.append(
            {"role": "assistant", "content": f"I finished it, see {self.word()}. {self.filler(5, 60)}."}
        )

    def call(self) -> None:
        """One call with its result: a file that is read, also again, or tests that fail and pass later."""
        self.step += 1
        id, random_ = f"toolu_{self.step}", random.Random(f"{self.seed} call {self.step}")
        if random_.random() < 0.5:
            name, given = "Read", {"file_path": f"src/f{random_.randint(0, 3)}.py"}
            lines = [
                f"{at}\tvalue_{at} = {self.word()} + {self.filler(2, 6)}" for at in range(1, random_.randint(3, 40))
            ]
            text = "\n".join(lines)
        else:
            name, given = "Bash", {"command": f"pytest tests/test_{random_.randint(0, 2)}.py"}
            failed = random_.random() < 0.5
            text = f"FAILED {self.word()} assert 1 == 2\n1 failed" if failed else f"{self.word()}\n12 passed in 0.1s"
        call = {"type": "tool_use", "id": id, "name": name, "input": given}
        self.messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Next {self.word()}."}, call]})
        result = {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]}
        self.messages.append({"role": "user", "content": [result]})

    def edit_newest(self) -> None:
        """Another text in the newest message: a person corrects it, or a tool is run again."""
        content = self.messages[-1]["content"]
        if isinstance(content, str):
            self.messages[-1] = {"role": self.messages[-1]["role"], "content": f"Instead, do this: {self.word()}."}
        else:
            block = {**content[0], "content": [{"type": "text", "text": f"another result, {self.word()}"}]}
            self.messages[-1] = {"role": "user", "content": [block]}

    def rewind(self, exchanges: int) -> None:
        """Go back, to a message of the user or after a result."""
        ends = [at + 1 for at, one in enumerate(self.messages) if one["role"] == "user"]
        del self.messages[ends[max(0, len(ends) - 1 - exchanges)] :]

    def request(self) -> list[Json]:
        """The messages as they are sent: the newest ones marked, in the form that the client uses now."""
        sent: list[Json] = json.loads(json.dumps(self.messages))
        if self.blocks:
            for one in sent:
                if isinstance(one["content"], str):
                    one["content"] = [{"type": "text", "text": one["content"]}]
        for one in sent[-2:] if self.marks else ():
            if isinstance(one["content"], str):
                one["content"] = [{"type": "text", "text": one["content"]}]
            one["content"][-1]["cache_control"] = _MARK
        return sent


_FILLER = tuple(
    "the parser reads tokens and keeps every comment before it writes a node with its span again".split()  # noqa: SIM905 - a text
)


def plain(messages: Sequence[Json]) -> list[Json]:
    """The messages as a vendor's cache sees them."""
    identity = FORMATS["anthropic-messages"].identity
    return [identity(message) for message in messages]


def shared(one: Sequence[Json], other: Sequence[Json]) -> int:
    same = (left == right for left, right in zip(one, other, strict=False))
    return next((at for at, is_same in enumerate(same) if not is_same), min(len(one), len(other)))


def words_in(value: Json) -> set[str]:
    return set(_WORD.findall(json.dumps(value)))


def marks_in(value: Json) -> int:
    return json.dumps(value).count("cache_control")


@dataclass(slots=True)
class Checked:
    """Sends requests through a manager, and checks each against the one before."""

    manager: CompactManager
    sent: list[Json] = field(default_factory=list)
    given: list[Json] = field(default_factory=list)
    compactions: int = 0
    causes: list[str] = field(default_factory=list)
    undone: bool = False
    reaches: list[int] = field(default_factory=list)
    """How many messages each compaction that applies depends on."""

    def send(self, client: Client) -> None:
        request = client.request()
        done = self.manager.prepare("s", request)
        given, sent = plain(request), plain(done.messages)
        self.compactions += done.compacted
        unchanged = shared(given, self.given)
        held = shared(sent, self.sent)
        standing = [reach for reach in self.reaches if reach <= unchanged]
        if standing == self.reaches and not (done.compacted or self.undone):
            changed = len(self.given) - unchanged
            assert held >= len(self.sent) - changed, "more changed than what the client changed"
        self.reaches = [*standing, done.reach] if done.compacted else standing
        if held < len(self.sent):
            assert done.break_cause, "the prefix changed for no reason"
            self.causes.append(done.break_cause)
            happened = {
                "compaction": done.compacted,
                "client_rewrote": unchanged < len(self.given),
                "undo": self.undone,
            }
            assert happened[done.break_cause], f"there was no {done.break_cause}"
        else:
            assert done.break_cause == ""
        self.undone = False
        assert not violations(parse(done.messages, format="anthropic-messages"))
        assert not unresolved(parse(done.messages, format="anthropic-messages"))
        assert words_in(done.messages) <= words_in(request), "something that is gone is still spoken of"
        assert marks_in(done.messages) <= marks_in(request)
        assert done.tokens_after <= WINDOW
        self.sent, self.given = sent, given

    def restart(self, path: Path, recipe: str, client: Client) -> None:
        """Another process sends what was sent last, and nothing is compacted for it."""
        self.manager.close()
        self.manager = manager(path, recipe)
        if self.undone:
            self.given, self.sent = [], []
        elif self.given:
            done = self.manager.prepare("s", client.request())
            assert not done.compacted, "what was compacted was not taken up"
            assert plain(done.messages) == self.sent


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("blocks", [False, True])
def test_a_mark_that_moves_costs_no_compaction(tmp_path: Path, recipe: str, blocks: bool) -> None:
    counts = []
    for marks in (False, True):
        client = Client(marks=marks, blocks=blocks)
        with manager(tmp_path / str(marks), recipe) as one:
            checked = Checked(one)
            for _ in range(60):
                client.call()
                checked.send(client)
        assert checked.causes == ["compaction"] * checked.compactions
        counts.append(checked.compactions)
    assert 0 < counts[1] <= counts[0] * 1.1


@pytest.mark.parametrize("recipe", RECIPES)
def test_an_edit_of_the_newest_message_costs_no_compaction(tmp_path: Path, recipe: str) -> None:
    """A person who writes a message anew, again and again."""
    client = Client()
    with manager(tmp_path, recipe) as one:
        checked = Checked(one)
        while not checked.compactions:
            client.say("What about the lexer?")
            client.answer()
            client.say("And now? " + client.filler(20, 60))
            checked.send(client)
        for _ in range(10):
            client.edit_newest()
            checked.send(client)
    assert checked.compactions == 1
    assert checked.causes == ["compaction", *["client_rewrote"] * 10]


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_always_stands_last_costs_no_compaction(tmp_path: Path, recipe: str) -> None:
    """Files and a reminder move on with every request; those before them stay."""
    client, tail = (
        Client(),
        [
            {"role": "user", "content": "The files of this chat: " + "x = 1\n" * 60},
            {"role": "assistant", "content": "Ok."},
            {"role": "user", "content": "Answer in diffs. Do the next step."},
        ],
    )
    with manager(tmp_path, recipe) as one:
        compactions = 0
        for _ in range(40):
            client.answer()
            done = one.prepare("s", [*client.request(), *tail])
            compactions += done.compacted
            client.say("Do the next step. " + client.filler(20, 60))
    assert 0 < compactions <= 8


OPERATIONS = st.lists(
    st.sampled_from(
        ["call"] * 8
        + ["talk"] * 3
        + ["edit", "edit", "back 0", "back 2", "back 9", "marks", "blocks", "restart", "undo"]
    ),
    min_size=20,
    max_size=70,
)


@pytest.mark.parametrize("recipe", RECIPES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS, seed=st.integers(0, 10_000))
def test_whatever_a_client_does_every_break_has_a_cause(
    tmp_path_factory: pytest.TempPathFactory, recipe: str, operations: list[str], seed: int
) -> None:
    client, path = Client(seed), tmp_path_factory.mktemp("prefix")
    checked = Checked(manager(path, recipe))
    for operation in operations:
        if operation == "restart":
            checked.restart(path, recipe, client)
            continue
        if operation == "undo":
            undo_last(checked)
            continue
        _do(client, operation)
        checked.send(client)
    checked.manager.close()


def undo_last(checked: Checked) -> None:
    with suppress(NotFound):
        checked.manager.undo("s")
        checked.undone = True


def _do(client: Client, operation: str) -> None:
    if operation == "call":
        client.call()
    elif operation == "talk":
        client.answer()
        client.say("Go on.")
    elif operation == "edit":
        client.edit_newest()
    elif operation.startswith("back"):
        client.rewind(int(operation.split()[1]))
    elif operation == "marks":
        client.marks = not client.marks
    else:
        client.blocks = not client.blocks


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_restart_finds_compactions_made_while_the_tail_moved(tmp_path: Path, recipe: str) -> None:
    client, tail = Client(), {"role": "user", "content": "The files of this chat: " + "x = 1\n" * 60}
    sent: list[Json] = []
    compactions = [0, 0]
    with manager(tmp_path / "running", recipe) as running:
        for _ in range(40):
            client.answer()
            client.say("Do the next step. " + client.filler(20, 60))
            request = [*client.request(), tail]
            compactions[0] += running.prepare("s", request).compacted
            with manager(tmp_path / "restarted", recipe) as one:
                done = one.prepare("s", request)
            compactions[1] += done.compacted
            before, sent = sent, plain(done.messages[:-1])
            assert done.compacted or sent[: len(before)] == before
    assert compactions[0] == compactions[1] > 0


def _run(client: Client, command: str, output: str) -> None:
    client.step += 1
    call = {"type": "tool_use", "id": f"toolu_{client.step}", "name": "Bash", "input": {"command": command}}
    client.messages.append({"role": "assistant", "content": [call]})
    result = {"type": "tool_result", "tool_use_id": f"toolu_{client.step}", "content": output}
    client.messages.append({"role": "user", "content": [result]})


@pytest.mark.parametrize(
    ("output", "said"),
    [("12 passed in 0.1s", "ok later"), ("collected, see the log for nonce9999x", "was run again later")],
)
def test_no_account_speaks_of_a_run_that_the_client_took_back(tmp_path: Path, output: str, said: str) -> None:
    client = Client(marks=False)
    _run(client, "pytest tests/test_parser.py", "FAILED test_span - assert 1 == 2\n1 failed in 0.2s")
    for number in range(12):
        _run(client, f"cat src/f{number}.py", f"{client.word()} " + client.filler(90, 120))
    before = len(client.messages)
    _run(client, "pytest tests/test_parser.py", output)
    _run(client, "git status", "nothing to commit")
    with manager(tmp_path) as one:
        done = one.prepare("s", client.request())
        assert done.compacted
        assert said in json.dumps(done.messages)
        assert one.prepare("s", client.request()).messages == done.messages
        del client.messages[before + 2 :]
        assert one.prepare("s", client.request()).messages == done.messages[:-2]
        del client.messages[before:]
        taken_back = one.prepare("s", client.request())
    assert said not in json.dumps(taken_back.messages)
    assert taken_back.break_cause in ("client_rewrote", "compaction")


def test_no_account_calls_a_request_answered_below_if_the_answer_is_taken_back(tmp_path: Path) -> None:
    client = Client(marks=False)
    for number in range(4):
        client.answer()
        client.say(f"Question {number}: which of the two is faster? " + client.filler(20, 60))
        for _ in range(10):
            client.call()
    for _ in range(2):
        client.answer()
        client.say("Is it?")
    client.answer()
    with manager(tmp_path) as one:
        done = one.compact_now("s", client.request())
        assert json.dumps(done.messages).count("answered below") == 1
        while len(client.messages) >= done.reach:
            client.messages.pop()
        assert "answered below" not in json.dumps(one.prepare("s", client.request()).messages)


def test_an_outdated_result_stays_outdated_only_while_the_later_one_is_there(tmp_path: Path) -> None:
    client = Client(marks=False)
    content = "\n".join(f"{at}\tvalue_{at} = {client.word()}" for at in range(1, 60))
    _run(client, "cat src/a.py", content)
    for number in range(4):
        _run(client, f"cat src/f{number}.py", f"{client.word()} " + client.filler(50, 60))
    before = len(client.messages)
    _run(client, "cat src/a.py", content.replace("value_7 ", "value_8 "))
    _run(client, "git status", "nothing to commit")
    with manager(tmp_path, "lossless") as one:
        done = one.compact_now("s", client.request())
        assert "[Outdated: see" in json.dumps(done.messages) or "[Consolidated" in json.dumps(done.messages)
        assert done.reach == before + 2
        del client.messages[before + 2 :]
        assert one.prepare("s", client.request()).messages == done.messages[:-2]
        del client.messages[before:]
        assert one.prepare("s", client.request()).messages == client.request()
