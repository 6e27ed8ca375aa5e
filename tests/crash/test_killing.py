"""A process may be killed at any moment: `make crash` does it thousands of times, this only a few."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.killing import Tally

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from pathlib import Path
from tests.crash.killing import kill_again_and_again
print(kill_again_and_again(Path(sys.argv[1]), 40, 1))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes made by fork, which this system has not")
def test_nothing_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    # In a process of its own: this one has threads, and must not fork.
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tally = eval(done.stdout, {"Tally": Tally})
    assert tally.kills == 40
    assert tally.acknowledged > 0
