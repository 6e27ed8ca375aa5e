"""`compact calibrate`: learn how a vendor counts."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from compact.app import learn_calibration
from compact.cli.console import AsJson, File, print_json, read, screen, styled
from compact.errors import InvalidInput
from compact.formats import request_body
from compact.llm import count_remotely
from compact.messages import Conversation
from compact.settings.server import upstream_networks

EXAMPLES = (
    "Examples: compact calibrate request.json -m claude-sonnet-4-5 --reported 121480 · "
    "COMPACT_API_KEY=… compact calibrate request.json -m claude-sonnet-4-5 --url https://api.example.com"
)


def calibrate(
    file: File,
    model: Annotated[str, typer.Option("--model", "-m", help="The model whose counts are to be learned.")],
    reported: Annotated[
        int | None, typer.Option(min=1, help="The input tokens the vendor reported for this request.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Ask the vendor's count API there; the key comes from COMPACT_API_KEY.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn a factor from the vendor's own count of a conversation; every later count for the model uses it."""
    if not model:
        raise InvalidInput("names no model", field="--model", remedy="Name the one that the vendor counted for.")
    conversation = read(file)
    if reported is None:
        if url is None:
            raise InvalidInput(
                "nothing to learn from", field="--reported", remedy="Give --reported N, or --url to ask."
            )
        reported = _ask(conversation, model, url)
    learned = learn_calibration(conversation, model, reported)
    if as_json:
        print_json(
            {
                "model": learned.model,
                "counted": learned.counted,
                "reported": reported,
                "factor": learned.factor,
                "samples": learned.samples,
            }
        )
        return
    out = screen()
    out.print(f"{learned.model}: counted {learned.counted:,}, the vendor {reported:,}")
    many = "s" * (learned.samples != 1)
    out.print("factor", styled(f"{learned.factor:.4f}", "bold"), f"from {learned.samples} observation{many}")


def _ask(conversation: Conversation, model: str, url: str) -> int:
    body = {**request_body(conversation), "model": model}
    key = os.environ.get("COMPACT_API_KEY", "")
    return count_remotely(conversation.format, body, url=url, key=key, allowed=upstream_networks())
