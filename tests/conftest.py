"""What every test may rely on: Hypothesis profiles, the real transcripts, and reasons for tests that did not run."""

from __future__ import annotations

import gc
import os
import random
import signal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

SOAK = os.environ.get("COMPACT_SOAK") == "1"
if SOAK:  # set here, it is the same in every worker
    os.environ.setdefault("WORLDS_SEED", str(random.getrandbits(40)))
TRANSCRIPTS = os.environ.get("COMPACT_TRANSCRIPTS", "")
# No test may use a key of this machine's: those who need one set their own.
for _variable in (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"),
    *("AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "COMPACT_OFFLINE"),
):
    os.environ.pop(_variable, None)
# Nor read or write what its owner has configured.
HOME = TemporaryDirectory(prefix="compact-tests-")
os.environ["COMPACT_HOME"] = HOME.name
NOT_FOUND = "real transcripts not found: set COMPACT_TRANSCRIPTS"

# Timing on a shared machine says nothing about a law, so there is no deadline. The usual run repeats the same examples,
# so that a red build is due to the change; `make soak` looks for new ones.
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=50,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak", deadline=None, max_examples=2000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("soak" if SOAK else "ci")


def _find_transcripts() -> list[Path]:
    folders = [Path(TRANSCRIPTS, name) for name in ("chat", "coding", "service")] if TRANSCRIPTS else []
    return sorted(path for folder in folders for path in folder.glob("*.json") if not path.name.endswith(".qa.json"))


def pytest_report_header() -> list[str]:
    return [f"worlds of soak tests: WORLDS_SEED={os.environ['WORLDS_SEED']}"] if SOAK else []


def pytest_configure() -> None:
    if TRANSCRIPTS and not _find_transcripts():
        raise pytest.UsageError(
            f"COMPACT_TRANSCRIPTS={TRANSCRIPTS} holds no chat/, coding/ or service/*.json; correct or unset it"
        )
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell lets what runs in its background ignore Ctrl-C, and every program started by that.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        wants_transcripts = "transcripts" in item.keywords or "transcripts" in getattr(item, "fixturenames", ())
        if wants_transcripts and not TRANSCRIPTS:
            item.add_marker(pytest.mark.skip(reason=NOT_FOUND))
        if item.get_closest_marker("soak") and not SOAK:
            item.add_marker(pytest.mark.skip(reason="takes minutes: set COMPACT_SOAK=1 (make soak)"))


def pytest_collection_finish() -> None:
    # Millions of objects of modules and tests live to the end: no collection need look at them again.
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not TRANSCRIPTS:
        ran = sum(len(terminalreporter.getreports(outcome)) for outcome in ("passed", "failed"))
        terminalreporter.write_line(f"{NOT_FOUND}; {ran} tests ran on bundled data only", red=True, bold=True)


@pytest.fixture(scope="session")
def transcripts() -> list[Path]:
    """The files of real conversations; a test that asks for them is skipped, visibly, where there are none."""
    return _find_transcripts()
