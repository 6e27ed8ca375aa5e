"""Several processes keep originals in one folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from compact.messages import digest_of
from compact.originals import FileOriginals

APPENDING = """
import sys
import time
from compact.disk import Disk
from compact.originals import FileOriginals
from tests.originals.test_originals import record, text

class Dawdling(Disk):
    def write(self, file, data):
        time.sleep(0.002)  # so that others would come between, if they could
        return super().write(file, data)

kept = FileOriginals(sys.argv[1], disk=Dawdling())
print("ready", flush=True)
input()
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 25):
    messages = [text(each) for each in range(number % 7 + 1)] + [text(number)]
    kept.put(messages, record(number, messages))
"""


def test_processes_may_use_one_folder(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    commands = [[sys.executable, "-c", APPENDING, str(tmp_path), str(first)] for first in (1, 101, 201)]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(each, cwd=root, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for each in commands]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:  # all at once
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    kept = FileOriginals(tmp_path)
    found = kept.records("s")
    assert len(found) == 75
    for each in found:
        assert [digest_of(message) for message in kept.get("s", each.log)] == list(each.log)
