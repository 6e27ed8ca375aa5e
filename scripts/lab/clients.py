"""The clients that can be run here: where they come from, and how each is pointed at an address."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

KEY: Final = "key-of-the-laboratory-0123456789"
_PROGRAMS: Final = Path(__file__).with_name("programs")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client runs: the server's address, the project, a home of its own, and the installed clients."""

    url: str
    project: Path
    home: Path
    installed: Path
    steps: int

    def npm(self, name: str) -> str:
        """A program from npm."""
        return str(self.installed / "npm" / name / "node_modules" / ".bin" / name)

    def python(self, folder: str, program: str = "python") -> str:
        """A program from a client's virtual environment."""
        return str(self.installed / "py" / folder / "bin" / program)

    @property
    def prompt(self) -> str:
        """What the agent shall do."""
        return (
            f"Please survey this project in {self.steps} steps: read the parts in src, run check.sh for each, keep "
            "notes, and say when you are done. Work through all of them without asking."
        )


@dataclass(frozen=True, slots=True)
class Start:
    """How a client is started; `stdin` is what is typed into it."""

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""


_SMALL: Final = (20_000, 40_000)
_MEDIUM: Final = (30_000, 50_000)


@dataclass(frozen=True, slots=True)
class Client:
    """A client with one of its wire formats. `source` is npm or py, and `packages` what is installed from there.

    `windows` are two sizes of context that a run outgrows, and that hold its system prompt, tools and answer.
    """

    name: str
    format: str
    source: str
    folder: str
    packages: tuple[str, ...]
    start: Callable[[Place], Start] = field(repr=False)
    prose: bool = False
    windows: tuple[int, int] = _SMALL


def _claude(place: Place) -> Start:
    quiet = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND", "IS_SANDBOX")
    environment = dict.fromkeys((*quiet, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1")
    environment |= {
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CONFIG_DIR": str(place.home / "cc"),
    }
    options = ["--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--verbose"]
    return Start([place.npm("claude"), "-p", place.prompt, *options, "--model", "claude-sonnet-4-5"], environment)


def _codex(place: Place) -> Start:
    home = _folder(place.home / "codex")
    (home / "config.toml").write_text(
        'model = "gpt-5-codex"\nmodel_provider = "lab"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.lab]\nname = "lab"\nbase_url = "{place.url}/v1"\nenv_key = "LAB_KEY"\n'
        'wire_api = "responses"\n',
        encoding="utf-8",
    )
    options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-C", str(place.project)]
    return Start([place.npm("codex"), "exec", *options, place.prompt], {"CODEX_HOME": str(home), "LAB_KEY": KEY})


def _opencode(kind: str) -> Callable[[Place], Start]:
    provider, package, model = {
        "anthropic": ("anthropic", "@ai-sdk/anthropic", "claude-sonnet-4-5"),
        "chat": ("lab", "@ai-sdk/openai-compatible", "gpt-4o"),
        "responses": ("openai", "@ai-sdk/openai", "gpt-5"),
    }[kind]

    def start(place: Place) -> Start:
        models = {model: {"name": model, "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}}
        options = {"baseURL": f"{place.url}/v1", "apiKey": KEY}
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "permission": {"*": "allow"},
            "provider": {provider: {"npm": package, "name": "lab", "options": options, "models": models}},
        }
        (place.project / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
        folders = {"CONFIG": ".config", "DATA": ".local/share", "CACHE": ".cache", "STATE": ".local/state"}
        environment = {f"XDG_{name}_HOME": str(place.home / path) for name, path in folders.items()}
        for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"):
            environment[f"OPENCODE_DISABLE_{name}"] = "1"
        return Start([place.npm("opencode"), "run", "-m", f"{provider}/{model}", place.prompt], environment)

    return start


def _pi(kind: str) -> Callable[[Place], Start]:
    api, model, base = {
        "anthropic": ("anthropic-messages", "claude-sonnet-4-5", ""),
        "chat": ("openai-completions", "gpt-4o", "/v1"),
        "responses": ("openai-responses", "gpt-5", "/v1"),
    }[kind]

    def start(place: Place) -> Start:
        known = {
            "id": model,
            "name": model,
            "reasoning": kind != "chat",
            "input": ["text"],
            "contextWindow": 200_000,
            "maxTokens": 8_000,
            "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0),
        }
        provider = {"baseUrl": f"{place.url}{base}", "api": api, "apiKey": KEY, "models": [known]}
        settings = json.dumps({"providers": {"lab": provider}})
        (_folder(place.home / ".pi" / "agent") / "models.json").write_text(settings, encoding="utf-8")
        options = ["--offline", "--provider", "lab", "--model", model]
        return Start([place.npm("pi"), "-p", *options, place.prompt], {"PI_OFFLINE": "1"})

    return start


def _qwen(place: Place) -> Start:
    folder = _folder(place.home / ".qwen")
    settings = {
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    base = f"{place.url}/v1"
    options = ["--auth-type", "openai", "--openai-api-key", KEY, "--openai-base-url", base, "-m", "gpt-4o"]
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": base, "OPENAI_MODEL": "gpt-4o"}
    return Start([place.npm("qwen"), "-y", *options, "-p", place.prompt], environment)


def _cline(place: Place) -> Start:
    options = ["--data-dir", str(place.home / "cline"), "-c", str(place.project), "-P", "openai-compatible", "-k", KEY]
    auth = [place.npm("cline"), "auth", "--provider", "openai-compatible", "--apikey", KEY, "--modelid", "gpt-4o"]
    auth += ["--baseurl", f"{place.url}/v1", "--data-dir", str(place.home / "cline")]
    run = [place.npm("cline"), *options, "-m", "gpt-4o", place.prompt]
    # The address is kept by the first of two commands only.
    return Start(["sh", "-c", f"{_quoted(auth)} && {_quoted(run)}"], {"CLINE_TELEMETRY_DISABLED": "1"})


def _gemini(place: Place) -> Start:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (_folder(place.home / ".gemini") / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    environment = {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": place.url,
        "GEMINI_CLI_NO_RELAUNCH": "1",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }
    options = ["-y", "--skip-trust", "-m", "gemini-2.5-pro"]
    return Start([place.npm("gemini"), *options, "-p", place.prompt], environment)


def _vendors(place: Place) -> dict[str, str]:
    """The addresses as the official SDKs and LiteLLM read them."""
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{place.url}/v1",
        "OPENAI_API_BASE": f"{place.url}/v1",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_BASE": place.url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _mini(kind: str) -> Callable[[Place], Start]:
    model = {"anthropic": "anthropic/claude-sonnet-4-5", "chat": "openai/gpt-4o", "responses": "openai/gpt-5"}[kind]

    def start(place: Place) -> Start:
        chosen = ["-c", "model.model_class=litellm_response"] if kind == "responses" else []
        options = ["-m", model, "-y", "--exit-immediately", "-l", "0", "-o", str(place.home / "trajectory.json")]
        environment = _vendors(place) | {"MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"}
        command = [place.python("mini", "mini"), "-c", "mini.yaml", *chosen, *options, "-t", place.prompt]
        return Start(command, environment)

    return start


def _aider(kind: str) -> Callable[[Place], Start]:
    model = {"anthropic": "anthropic/claude-sonnet-4-5", "chat": "openai/gpt-4o"}[kind]

    def start(place: Place) -> Start:
        typed = "".join(
            f"TURN-{turn}: set the value in current.py to {turn} and explain part {turn}\n"
            for turn in range(1, place.steps + 1)
        )
        options = ["--edit-format", "diff", "--yes-always", "--no-show-model-warnings", "--no-check-update", "--no-git"]
        options += ["--analytics-disable", "--no-pretty", "--no-fancy-input", "--max-chat-history-tokens", "1000000"]
        options += ["--read", "CONVENTIONS.md"]
        environment = _vendors(place) | {"AIDER_ANALYTICS": "false", "AIDER_CHECK_UPDATE": "false"}
        return Start([place.python("aider", "aider"), "--model", model, *options], environment, typed)

    return start


def _litellm(kind: str) -> Callable[[Place], Start]:
    def start(place: Place) -> Start:
        environment = _vendors(place) | {"LAB_KIND": kind, "LAB_PROMPT": place.prompt, "LAB_STEPS": str(place.steps)}
        return Start([place.python("litellm"), str(_PROGRAMS / "litellm_agent.py")], environment)

    return start


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _quoted(command: list[str]) -> str:
    return " ".join("'" + part.replace("'", "'\\''") + "'" for part in command)


_FORMATS: Final = {"anthropic": "anthropic-messages", "chat": "openai-chat", "responses": "openai-responses"}


def _family(
    names: str,
    source: str,
    packages: Sequence[str],
    start: Callable[[str], Callable[[Place], Start]],
    windows: tuple[int, int] = _SMALL,
) -> list[Client]:
    """A client that speaks several formats, once for each."""
    name, *kinds = names.split()
    return [
        Client(f"{name}-{kind}", _FORMATS[kind], source, name, tuple(packages), start(kind), name == "aider", windows)
        for kind in kinds
    ]


# Claude Code asks for answers of 32,000 tokens, nearly all for thinking. LiteLLM needs mcp, and does not say so.
CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            "claude",
            "anthropic-messages",
            "npm",
            "claude",
            ("@anthropic-ai/claude-code",),
            _claude,
            windows=(80_000, 100_000),
        ),
        Client("codex", "openai-responses", "npm", "codex", ("@openai/codex",), _codex, windows=_MEDIUM),
        *_family("opencode anthropic chat responses", "npm", ["opencode-ai"], _opencode, _MEDIUM),
        *_family("pi anthropic chat responses", "npm", ["@mariozechner/pi-coding-agent"], _pi),
        Client("qwen", "openai-chat", "npm", "qwen", ("@qwen-code/qwen-code",), _qwen, windows=(40_000, 60_000)),
        Client("cline", "openai-chat", "npm", "cline", ("cline",), _cline),
        Client("gemini", "google-gemini", "npm", "gemini", ("@google/gemini-cli",), _gemini, windows=(35_000, 55_000)),
        *_family("mini anthropic chat responses", "py", ["mini-swe-agent", "mcp"], _mini),
        *_family("aider anthropic chat", "py", ["aider-chat"], _aider),
        *_family("litellm anthropic chat", "py", ["litellm", "mcp"], _litellm),
    )
}
