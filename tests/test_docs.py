"""Every code block of the documentation runs, and everything public is documented."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

import compact
from compact.app import read_transcript
from compact.cli.main import app
from compact.formats import FORMATS
from compact.settings.presets import load_presets
from scripts.build_docs import INDEX, stale, unlisted
from scripts.document_output import PRINTING
from scripts.document_rules import document

ROOT = Path(__file__).parents[1]
SESSION = files("compact.cli") / "transcripts" / "session.anthropic-messages.json"
FEWER = 79
"""Messages of the session on which commands are tried: half of it, up to a request of the user."""
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    line: int
    language: str
    code: str
    prints: str | None = None
    """What it prints, where a text block right behind it says so."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        prints = {match["code"]: match["output"] for match in PRINTING.finditer(text)}
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(str(page.relative_to(ROOT)), line, match[1], match[2], prints.get(match[2])))
    return found


def of(language: str) -> list[Block]:
    return [block for block in blocks() if block.language == language]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "session.json").write_bytes(SESSION.read_bytes())
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_python_runs(block: Block, workplace: Path) -> None:
    command = [sys.executable, "-X", "utf8", "-c", block.code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert block.prints in (None, done.stdout), "run: python -m scripts.document_output"


@pytest.mark.parametrize("block", of("console"), ids=str)
def test_commands_run(block: Block, workplace: Path) -> None:
    session = json.loads(SESSION.read_bytes())
    (workplace / "session.json").write_text(json.dumps({**session, "messages": session["messages"][:FEWER]}))
    for line in block.code.splitlines():
        assert line.startswith("$ compact "), line
        command = [sys.executable, "-m", *shlex.split(line.removeprefix("$ "))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert done.stderr == "" or done.stderr.startswith("wrote ")


@pytest.mark.parametrize("block", of("sh"), ids=str)
def test_make_targets_exist(block: Block) -> None:
    known = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for line in block.code.splitlines():
        assert re.fullmatch(r"make ([a-z]+)(?: [A-Z_]+=\S+)*(?:\s+#.*)?", line), line
        assert line.split()[1] in known


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_presets_are_valid_and_condense(block: Block, workplace: Path) -> None:
    (workplace / "mine.yaml").write_text(block.code, encoding="utf-8")
    session = read_transcript((workplace / "session.json").read_bytes())
    for preset in load_presets(workplace / "mine.yaml"):
        result = compact.condense(session, provider=preset.provider, config=preset.settings)
        assert result.report.tokens_after < result.report.tokens_before
        assert compact.restore(result) == compact.render(session)


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_presets_keep_what_must_never_be_touched(block: Block, workplace: Path) -> None:
    (workplace / "mine.yaml").write_text(block.code, encoding="utf-8")
    file = files("compact.cli") / "transcripts" / "session.openai-chat.json"
    messages = json.loads(file.read_bytes())["messages"]
    while messages[-1]["role"] != "tool":
        messages.pop()
    said = [message for message in messages if message["role"] == "user"]
    largest = max(messages[:-20], key=lambda message: len(json.dumps(message)))
    fixed = [messages[0], said[0], said[-1], dict(largest), *messages[-2:]]
    largest["meta"] = {"protected": True}
    for preset in load_presets(workplace / "mine.yaml"):
        result = compact.condense(messages, provider=preset.provider, config=preset.settings, target=0.3)
        assert [message for message in fixed if message not in result.messages] == []


def test_every_block_is_of_a_kind_that_is_tested_or_plain_text() -> None:
    assert {block.language for block in blocks()} <= {"python", "console", "sh", "text", "yaml"}


def test_every_public_name_and_command_is_documented() -> None:
    library = (ROOT / "docs/library.md").read_text(encoding="utf-8")
    assert [name for name in compact.__all__ if f"`{name}" not in library] == []
    commands = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    assert [command.name for command in app.registered_commands if f"## `compact {command.name}`" not in commands] == []


def test_the_list_of_rules_is_up_to_date() -> None:
    page = (ROOT / "docs/validity.md").read_text(encoding="utf-8")
    assert page == document(FORMATS.values()), "run: python -m scripts.document_rules"


def test_the_index_leads_to_every_page_and_generated_tables_are_up_to_date() -> None:
    assert unlisted(INDEX.read_text(encoding="utf-8")) == []
    assert list(stale()) == [], "run: python -m scripts.build_docs"
