"""The first chapter: `compact check` gets an option, with a mistake, its repair and a correction by the user."""

from __future__ import annotations

import json

from scripts.recording.pieces import (
    BETTER_OPTION,
    BETTER_REST,
    CONSTANT,
    FIRST_TEST,
    LAST_TESTS,
    OPTION,
    PROGRAMS_TEST,
    REST,
)
from scripts.recording.recorder import (
    Recorder,
    edit,
    expect,
    failing,
    line_with,
    list_files,
    read,
    run,
    search,
    write,
)

CHECK = "src/compact/cli/check.py"
TEST = "tests/cli/test_check_limit.py"
LINT = f"python -m ruff check {CHECK} {TEST}"
PASSED = r"(\d+) passed(?s:.*)\[exit code 0\]"
FAILED = r"(\d+) failed(?s:.*)\[exit code 1\]"
CONTENT = r"\[exit code 0\]"


def add_option(recorder: Recorder, tests: str) -> None:
    """The user asks for the option and states the rules; the agent slices too much away, and repairs it."""
    recorder.ask(
        "Please add `--limit N` to `compact check`, in place of the fixed 50 violations it shows.\n\n"
        "Somebody sent us an export with several hundred violations. 50 are too many for my screen: the first ones, "
        "which are the interesting ones, scroll out of sight. `compact check --limit 20 export.json` should show the "
        "first 20; without the option nothing changes. I want a test for it, and a line in the examples that `--help` "
        "prints.\n\n"
        "Two rules for everything we do today:\n"
        "- Never touch files under src/compact/messages. A colleague has a branch open there, and I do not want to "
        "merge by hand.\n"
        f"- Do not run the whole suite, it takes too long. `{tests}` is enough, after each change."
    )
    _look_around(recorder)
    output = recorder.act("Before I change anything: do your tests pass as things are?", run(tests))[0]
    passed = expect(output, PASSED, "The project's own tests must pass before the story begins")
    _make_the_mistake(recorder, passed)
    _repair_it(recorder, tests)


def _look_around(recorder: Recorder) -> None:
    recorder.act(
        "I start with the layout and the conventions of the project.",
        list_files("src/compact/cli"),
        list_files("tests"),
        read("CONTRIBUTING.md"),
    )
    recorder.act(
        "So commands are one module each, tests mirror the sources, and functions take at most five parameters. Now "
        "the command itself, what it shares with the others, and where it is registered.",
        read(CHECK),
        read("src/compact/cli/console.py"),
        read("src/compact/cli/main.py"),
    )
    recorder.act(
        "`check` has four parameters, so there is room for one more. Where do the violations come from, and how do "
        "other commands declare their options?",
        search(r"\bviolations\(", "src/compact"),
        search(r"typer\.Option\(", "src/compact/cli"),
    )
    recorder.act(
        "I want to know whether `violations` returns a list or yields, and in which order.",
        read("src/compact/formats/registry.py"),
        read("src/compact/messages/check.py"),
    )
    recorder.act(
        "A list, in the order in which the vendor checks; the command can cut it. Is the command described anywhere "
        "else, and how are commands tested so far?",
        failing(read("docs/commands/check.md")),
        search("compact check", "src"),
        search("CliRunner|subprocess", "tests"),
    )


def _make_the_mistake(recorder: Recorder, passed: str) -> None:
    whole, cut = "found = violations(conversation, variant)\n", "found = violations(conversation, variant)[:limit]\n"
    example = "compact check request.json · "
    recorder.act(
        f"All {passed} pass, and there is no page for the command: its help is the only description. I add the option, "
        "cut the list where it is made, which leaves the constant and the count of the rest without use, and add an "
        "example.",
        edit(CHECK, '    ] = "",\n    format: FormatName', f'    ] = "",\n{OPTION}    format: FormatName'),
        edit(CHECK, whole, cut),
        edit(CHECK, "for each in found[:_SHOWN]])", "for each in found])"),
        edit(CHECK, REST, ""),
        edit(CHECK, CONSTANT, "\n"),
        edit(CHECK, example, f"{example}compact check --limit 20 request.json · "),
    )
    recorder.act("And the test, with an export of my own that is broken in 60 places.", write(TEST, FIRST_TEST))
    output = recorder.act("", run(f"python -m pytest {TEST} -v"))[0]
    failed = expect(output, FAILED, "The agent's first version must fail its test")
    recorder.act(
        f"{failed} failed, and the test is right, not the code: a default of None makes the slice `[:None]`, which "
        "keeps everything, so without the option the screen gets all there are. You asked that nothing changes then, "
        "so 50 is the default to have; a limit below 1 makes no sense and is better refused, since `[:0]` would call "
        "every broken export valid.",
        read(CHECK),
    )


def _repair_it(recorder: Recorder, tests: str) -> None:
    recorder.act("", edit(CHECK, OPTION, BETTER_OPTION))
    output = recorder.act("", run(f"python -m pytest {TEST} -v"))
    passed = expect(output[0], PASSED, "The repaired option must pass its test")
    output = recorder.act(f"{passed} passed. Now your tests again, and the linter.", run(tests), run(LINT))
    expect(output[0], PASSED, "The project's tests must pass with the option")
    expect(output[1], r"E501(?s:.*)\[exit code 1\]", "The line of examples must be too long for the linter")
    line = line_with(recorder.read(CHECK), "EXAMPLES = ")
    head, rest = line.removeprefix("EXAMPLES = ").split(" · ", 1)
    wrapped = f'EXAMPLES = (\n    {head} · "\n    "{rest}\n)'
    recorder.act("The examples no longer fit into one line of 120 characters; I break it.", edit(CHECK, line, wrapped))
    output = recorder.act("", run(LINT), run(f"python -m ruff format --check {CHECK} {TEST}"))
    expect(output[0], CONTENT, "The linter must be content")
    expect(output[1], CONTENT, "The formatter must be content")
    recorder.act("Both are content. One last look at the whole file.", read(CHECK))
    output = recorder.act("It reads well. Your tests and mine together:", run(f"{tests} {TEST}"))
    passed = expect(output[0], PASSED, "All tests must pass at the end of the first task")
    recorder.answer(
        "`compact check --limit N` shows the first N violations, in the table and with `--json`. Without it the table "
        f"shows 50, as before. {passed} tests pass, among them those in {TEST}; linter and formatter are content.\n\n"
        "My first version had no limit at all without the option; the test caught that. Now the default is 50, and a "
        "limit below 1 is refused. Nothing under src/compact/messages was touched."
    )


def keep_the_total(recorder: Recorder, tests: str) -> None:
    """The user corrects the result: the last line must count all violations."""
    recorder.ask(
        "With `--limit 2` the last line now says “2 violations”. Keep the total in the last line: I need to know how "
        "many there are, not how many fit on my screen. And programs do not scroll: the JSON lists all of them, as it "
        "did this morning, whatever the limit."
    )
    recorder.act("You are right: I cut the list before it is counted. The code as it is now:", read(CHECK))
    whole = "    found = violations(conversation, variant)"
    rows = "        screen().print(table_of([_row(each) for each in found{}]))\n"
    recorder.act(
        "I keep the full list for the verdict, the count and the JSON, and cut it only in the table. The line that "
        "counts the rest comes back, and the test gets one more case.",
        edit(CHECK, f"{whole}[:limit]\n", f"{whole}\n"),
        edit(CHECK, rows.format(""), rows.format("[:limit]") + BETTER_REST),
        edit(TEST, PROGRAMS_TEST, LAST_TESTS),
    )
    output = recorder.act("", run(f"python -m pytest {TEST} -v"), run(LINT))
    expect(output[0], PASSED, "The total must be shown")
    expect(output[1], CONTENT, "The linter must be content with the total")
    recorder.act("That passes. I also want to see it with my own eyes.", write("export.json", _broken_export(6)))
    output = recorder.act("", run(_command("check --limit 2 export.json")), run(_command("check export.json")))
    total = expect(output[0], r"^(6 violations in .* messages)", "The limited output must end with the total")
    output = recorder.act("Just as you wanted it. Your tests, and the file once more:", run(tests), read(CHECK))
    expect(output[0], PASSED, "The project's tests must pass with the total")
    recorder.answer(
        f"Done. The last line now reads, for an export of mine: “{total}”, and the line before it counts those "
        "that are not shown. `--json` lists all violations, whatever the limit. The verdict and the exit status are "
        "taken from all of them, as before the change."
    )


def ask_about_zero(recorder: Recorder) -> None:
    """The user wonders about the edges."""
    recorder.ask("Good. What does `--limit 0` do now? And does `--help` show the option where people find it?")
    output = recorder.act("I try both.", run(_command("check --limit 0 export.json")), run(_command("check --help")))
    expect(output[0], r"\[exit code 2\]", "A limit of 0 must be refused")
    expect(output[1], "--limit", "The help must show the option")
    recorder.answer(
        "`--limit 0` is refused with exit status 2, like every other wrong use, and the message names the allowed "
        "range. The help lists `--limit` directly after `--variant`, and the example stands below the options."
    )


def _broken_export(calls: int) -> str:
    """A request whose calls were never answered."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "Look around."}]
    for number in range(calls):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "user", "content": "Go on."})
    return json.dumps({"model": "gpt-4o", "messages": messages}, indent=1) + "\n"


def _command(arguments: str) -> str:
    """Runs Compact's command line through `python -c`, the way the agent may."""
    words = ["compact", *arguments.split()]
    return f'python -c "import sys; from compact.cli import main; sys.argv = {words!r}; main()"'
