"""The second chapter: one function is renamed by hand, one is not because of an early rule, one by a script."""

from __future__ import annotations

import re

from scripts.recording.limit_option import CONTENT, PASSED, TEST
from scripts.recording.recorder import (
    Recorder,
    StoryBroken,
    edit,
    expect,
    failing,
    line_with,
    list_files,
    read,
    run,
    search,
)
from scripts.recording.transcript import Call

CONSOLE = "src/compact/cli/console.py"
FORMATS = "src/compact/formats"
UNTOUCHED = "src/compact/messages"

# Functions by their old and their new names.
BY_HAND = ("name_of", "shown_name")
REFUSED = ("pairs", "answered_calls")
BY_SCRIPT = ("text_of", "as_text")

USE = r"\b{}(?=[(,\"]|$)"
"""A name in code, rather than a word in a sentence."""

SCRIPT = """\
import pathlib, re
for path in sorted(pathlib.Path('{folder}').rglob('*.py')):
    text, times = re.subn(r'\\b{old}\\b', '{new}', path.read_text())
    if times:
        path.write_text(text)
        print(path, times)
"""


def rename_by_hand(recorder: Recorder, tests: str) -> None:
    """A name with few uses: each place is edited, and the linter finds what that upset."""
    old, new = BY_HAND
    recorder.ask(
        f"Next: the name `{old}` in {CONSOLE} misleads. It sounds as if it returned `Path.name`; but the function "
        "returns what we call the input when we speak to people, and standard input has no name at all. Rename it to "
        f"`{new}`, everywhere it is used."
    )
    uses = USE.format(old)
    found = recorder.act("First all the places.", search(uses, "src"), search(uses, "tests"))
    files = _files(found[0]) + _files(found[1])
    if len(files) < 3 or CONSOLE not in files:
        raise StoryBroken(f"BY_HAND must name a function that some files use, and {old} is used in {files}.")
    recorder.act(f"{len(files)} files. I begin where it is defined.", failing(edit(CONSOLE, old, new)), read(CONSOLE))
    recorder.act("The tool wants each place to be unique, so line by line:", *_edits(recorder, CONSOLE, BY_HAND))
    for path in (path for path in files if path != CONSOLE):
        recorder.act("", read(path))
        recorder.act("", *_edits(recorder, path, BY_HAND))
    output = recorder.act("Is any left? And what does the linter say?", search(uses, "src"), _lint(*files))
    expect(output[0], "no line matches", "No place may be forgotten")
    expect(output[1], r"I001(?s:.*)\[exit code 1\]", "The new name must upset the order of the imports")
    output = recorder.act(
        "None is left, but the new name sorts differently among the imports. The linter can put them in order itself; "
        "I let it work on the command line's folder only.",
        run("python -m ruff check --select I --fix src/compact/cli"),
        run("python -m ruff format src/compact/cli"),
    )
    fixed = expect(output[0], r"(\d+) fixed(?s:.*)\[exit code 0\]", "The linter must have sorted imports")
    output = recorder.act("", _lint(*files), search(USE.format(new), "src"), read(CONSOLE))
    expect(output[0], CONTENT, "The linter must be content after the rename")
    output = recorder.act("Everything in place. Your tests, and mine, which run the command:", run(f"{tests} {TEST}"))
    passed = expect(output[0], PASSED, "The tests must pass after the rename")
    recorder.answer(
        f"`{old}` is now `{new}` in all {len(files)} files that use it; {fixed} of their imports had to be sorted "
        f"anew. {passed} tests pass, and the linter is content."
    )


def refuse_to_rename(recorder: Recorder) -> None:
    """What the user asks for now contradicts what they asked for at the beginning."""
    old, new = REFUSED
    recorder.ask(f"While we are at names: `{old}` says nothing. Make it `{new}`, please, with all its uses.")
    found = recorder.act("", search(USE.format(old), "src"), list_files(UNTOUCHED))[0]
    inside = [path for path in _files(found) if path.startswith(UNTOUCHED)]
    outside = [path for path in _files(found) if not path.startswith(UNTOUCHED)]
    place = expect(found, rf"^({UNTOUCHED}/\w+\.py):\d+: def {old}\(", f"{old} must be defined below {UNTOUCHED}")
    recorder.act("I read the definition before I say something about it.", read(place))
    recorder.answer(
        f"I have not done this. `{old}` is defined in {place} and used in {len(inside)} files of that folder, and you "
        f"asked me never to touch files under {UNTOUCHED}, because of your colleague's branch. Renaming it only in "
        f"{', '.join(outside)} would need an alias, and then the function would have two names.\n\n"
        "I suggest that your colleague renames it on the branch, or that we do it here once the branch is merged."
    )


def rename_by_script(recorder: Recorder, tests: str) -> None:
    """A name with many uses: a script does it, outside the folder that must not be touched."""
    old, new = BY_SCRIPT
    recorder.ask(
        f"Right, I had forgotten my own rule. Leave `{REFUSED[0]}` alone; I will tell them. Do `{old}` in {FORMATS} "
        f"instead: `{new}` says better that it is a conversion. That folder is ours."
    )
    found = recorder.act(
        "", search(rf"^def {old}\b", "src"), search(rf"\b{old}\b", "src"), search(rf"\b{old}\b", "tests")
    )
    home = expect(found[0], r"^(.+):\d+: def", f"BY_SCRIPT must name a function, and {old} is none")
    if any(not path.startswith(FORMATS) for output in found for path in _files(output)):
        raise StoryBroken(f"BY_SCRIPT must name a function that only {FORMATS} uses, and {old} has other users.")
    user = max(_files(found[1]), key=lambda path: len(re.findall(rf"\b{old}\b", recorder.read(path))))
    recorder.act(
        f"All uses lie in {FORMATS}, none under {UNTOUCHED}. Now the definition and the module that uses it most.",
        read(home),
        read(user),
    )
    script = SCRIPT.format(folder=FORMATS, old=old, new=new)
    recorder.act("That is too much to do by hand; a small script does it, here only.", run(f'python -c "{script}"'))
    output = recorder.act(
        "",
        search(rf"\b{old}\b", "src"),
        search(rf"import .*\b{new}\b|^    {new},$|def {new}\b", "src"),
        run(f"python -m ruff check --output-format concise {FORMATS}"),
    )
    expect(output[0], "no line matches", "The script may not forget a place")
    expect(output[2], r"I001(?s:.*)\[exit code 1\]", "The new name must upset the order of the imports")
    output = recorder.act(
        "Again the imports are out of order, nothing else.",
        run(f"python -m ruff check --select I --fix {FORMATS}"),
        run(f"python -m ruff format {FORMATS}"),
        _lint(FORMATS),
    )
    expect(output[2], CONTENT, "The linter must be content after the script")
    output = recorder.act("", run(tests))
    passed = expect(output[0], PASSED, "The tests must pass after the script")
    lines = recorder.read(home).splitlines()
    number = lines.index(line_with("\n".join(lines), f"def {new}(")) + 1
    recorder.act("They pass. I check what the script made of the two.", read(user), read(home, number - 5, number + 20))
    recorder.answer(f"`{old}` is `{new}` now. {passed} tests pass. Files changed under {UNTOUCHED}: none.")


def _files(found: str) -> list[str]:
    """The files in a search's answer, each once."""
    return list(dict.fromkeys(re.findall(r"^([^:\n]+):\d+: ", found, re.MULTILINE)))


def _lint(*places: str) -> Call:
    return run(f"python -m ruff check {' '.join(places)}")


def _edits(recorder: Recorder, path: str, names: tuple[str, str]) -> list[Call]:
    """One edit for each line that holds the old name, with as many lines before it as make it unique."""
    old, new = names
    lines = recorder.read(path).splitlines(keepends=True)
    edits = []
    for number, line in enumerate(lines):
        if re.search(USE.format(old), line):
            start = number
            while "".join(lines).count("".join(lines[start : number + 1])) > 1:
                start -= 1
            before = "".join(lines[start : number + 1])
            lines[number] = re.sub(USE.format(old), new, line)
            edits.append(edit(path, before, "".join(lines[start : number + 1])))
    return edits
