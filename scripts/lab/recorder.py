"""Records what a client sends when nothing stands between it and the model."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from compact.errors import CompactError
from compact.testing.vendors import FakeVendors
from scripts.lab.cleaning import Cleaner
from scripts.lab.clients import Client
from scripts.lab.model import ScriptedModel
from scripts.lab.running import place_for, run_client
from scripts.lab.shapes import Shape

_HEADERS: Final = ("anthropic-beta", "anthropic-version")


class NotRecorded(CompactError):
    """The client did not make all its steps."""


def record(client: Client, installed: Path, steps: int, seconds: float) -> Shape:
    """The shape of the client's requests in a conversation of that many steps."""
    with TemporaryDirectory(prefix="lab-") as folder, FakeVendors() as vendors:
        place = place_for(client, Path(folder), installed, steps, vendors.url)
        model = ScriptedModel(place.project, steps, client.prose)
        vendors.reply(model)
        ended = run_client(client, place, seconds)
        turns = [request for request in vendors.requests if request.status == 200 and model.is_turn(request.body)]
        if not model.finished:
            raise NotRecorded(f"{client.name} made {model.done} of {steps} steps; it said: {ended.printed}")
        cleaner = Cleaner(place)
        bodies = tuple(cleaner.clean(request.body) for request in turns)
        headers = {name: value for name, value in turns[0].headers.items() if name in _HEADERS}
        version = version_of(client, installed)
    return Shape(client.name, version, client.format, turns[0].path, True, client.windows, bodies, headers)


def version_of(client: Client, installed: Path) -> str:
    """The version that is installed of the client."""
    if client.source == "npm":
        package = installed / "npm" / client.folder / "node_modules" / client.packages[0] / "package.json"
        return str(json.loads(package.read_text(encoding="utf-8"))["version"])
    command = [str(installed / "py" / client.folder / "bin" / "python"), "-c"]
    asked = f"from importlib.metadata import version; print(version({client.packages[0]!r}))"
    shown = subprocess.run([*command, asked], capture_output=True, text=True, check=True).stdout
    return re.sub(r"\s", "", shown)
