"""Records the transcript that `compact demo` shows: a scripted agent at work on a copy of this project.

What the user and the agent say is written down in scripts/recording; what the tools answer is real. Only what differs
from run to run is made equal (places, durations, today's date, addresses), so the same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from compact.errors import CompactError
from scripts.recording.recorder import Recorder, StoryBroken
from scripts.recording.story import tell
from scripts.recording.transcript import files
from scripts.recording.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "src" / "compact" / "cli" / "transcripts"
TOKENS = range(95_000, 105_001)


def main() -> int:
    """Write the transcripts, or check them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--output", type=Path, default=BUNDLED, help="where to write; by default into the package")
    arguments.add_argument("--check", action="store_true", help="record, and compare with what is there")
    given = arguments.parse_args()
    try:
        recorded = record()
    except CompactError as error:
        print(f"record_demo: {error}", file=sys.stderr)
        return 2
    return compare(recorded, given.output) if given.check else write(recorded, given.output)


def record() -> dict[str, str]:
    """The files' texts by name."""
    with tempfile.TemporaryDirectory() as home:
        recorder = Recorder(Workspace(ROOT, Path(home)), lambda line: print(line, file=sys.stderr, flush=True))
        tell(recorder)
    if recorder.tokens not in TOKENS:
        raise StoryBroken(f"the recording has {recorder.tokens:,} tokens. Change FULL in scripts/recording/review.py.")
    return files(recorder.events)


def write(recorded: dict[str, str], folder: Path) -> int:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in recorded.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{folder / name}: {len(text.encode()) // 1024} KB")
    return 0


def compare(recorded: dict[str, str], folder: Path) -> int:
    """Say which of the files are not what was recorded."""
    paths = {folder / name: text for name, text in recorded.items()}
    stale = [path for path, text in paths.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path}: is not up to date; run scripts/record_demo.py")
    print(f"{len(paths) - len(stale)} of {len(paths)} files are up to date")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
