"""How the commands are listed and loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from compact.cli.main import app, load_command


@pytest.mark.parametrize(("name", "about"), [(str(each.name), each.help) for each in app.registered_commands])
def test_the_list_of_commands_says_what_each_says_of_itself(name: str, about: str) -> None:
    assert about == " ".join(load_command(name).help.split("\n\n", maxsplit=1)[0].split())


def test_a_command_loads_no_other() -> None:
    code = (
        "import sys; from compact.cli.main import load_command; load_command('check'); print(*sys.modules, sep='\\n')"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "compact.cli.check" in loaded
    assert "compact.cli.batch" not in loaded
