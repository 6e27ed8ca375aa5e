"""The whole story: what the user wants, chapter by chapter."""

from __future__ import annotations

from scripts.recording import limit_option, renames, review
from scripts.recording.recorder import Recorder

TESTS = ("tests/formats/test_openai_chat_rules.py", "tests/formats/test_openai_responses_rules.py")
"""Quick ones, which the user wants to see after each change."""


def tell(recorder: Recorder) -> None:
    """Let the user and the agent work through all chapters."""
    for path in TESTS:
        recorder.read(path)
    tests = f"python -m pytest {' '.join(TESTS)} -v"
    limit_option.add_option(recorder, tests)
    limit_option.keep_the_total(recorder, tests)
    limit_option.ask_about_zero(recorder)
    renames.rename_by_hand(recorder, tests)
    renames.refuse_to_rename(recorder)
    renames.rename_by_script(recorder, tests)
    review.read_through(recorder)
    review.finish(recorder, tests)
