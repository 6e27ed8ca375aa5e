"""How an action went, by what its result says: that it failed, that it was done, or nothing of the kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compact.facts import failures_in
from compact.history.actions import CHANGES, Action
from compact.history.marks import unmarked
from compact.history.outcomes.answers import judge_answer, judge_edit, refused, says_no
from compact.history.outcomes.commands import Run
from compact.history.outcomes.outcome import NOTHING, Outcome, Verdict
from compact.history.outcomes.signs import Found, Signs, complaints, plain, signs_in
from compact.messages import FAILED, Printed, ToolResult, together, unwrap

_CODE = r"(?:exit(?:ed)?(?: with)?(?: code| status|code)?|return ?code|rc)[ \t:=>(]{0,4}(-?\d{1,5})\b"
# A whole line, at the beginning or the end: other texts speak of exit codes as well.
_STATUS = re.compile(
    r"^[\W_]{0,4}(?:(?:the )?(?:command|process|script|program)\b[^\n]{0,40}?)?"
    rf"{_CODE}[^\w\n]{{0,20}}(?:</\w+>)?[^\w\n]{{0,4}}$",
    re.IGNORECASE | re.MULTILINE,
)
_ASKING = ("$?", "PIPESTATUS")
_EMPTY = re.compile(
    r"\s*+(?:\(?(?:no output|empty|Bash completed with no output|Tool ran without output or errors)[^\n]{0,80})?\s*+"
)
_BACKGROUND = re.compile(r"\s*Command (?:running in|moved to) background|\s*Process (?:is )?(?:still )?running")
_ABOUT_STATUS = re.compile(
    r"^(?:exit status \d+|exit code:? \d+|FAIL|FAILED|error: script .* exited with code \d+)$", re.IGNORECASE
)
_ANSWERS = (1, 123)
"""What those end with that ask for something and find nothing; the second is what xargs makes of it."""
_TELLING = re.compile(r"[^\W_]")
_ENDS = 300
_LONGEST_TAIL = 400
_LOOK_BACK = 2_000
_ERRORS = 2
_NO_OUTPUT = "no output"
_FATAL = "fatal: "


def note_answer(done: Sequence[Action], answer: ToolResult) -> None:
    """Note of each action of a call what came of it.

    Where the wrapper does not say what belongs to which of several, all of it is the last one's.
    """
    alone = not any(action.kind == "ran" for action in done)
    last = max((action.part for action in done), default=0)
    parts = unwrap(answer.text)
    printed = parts if len(parts) == last + 1 else (*(None for _ in range(last)), together(parts))
    for action in done:
        if (mine := printed[action.part]) is not None:
            action.outcome = _judge(action, mine, error=answer.error, alone=alone)
            action.answer, action.result = answer, mine.text


def _judge(action: Action, printed: Printed, *, error: bool, alone: bool) -> Outcome:
    """How an action went; `error` says that an agent calls it one, `alone` that the call did nothing beside it."""
    text = unmarked(printed.text)
    if text is not printed.text and printed.text.strip() and not text.strip():
        return Outcome(Verdict.FAILED) if error else NOTHING
    reads = action.kind == "read"
    if (error or not reads) and (refusal := refused(text)):
        return replace(refusal, claimed=not error)
    if action.run is not None:
        return _judge_command(action, action.run, replace(printed, text=text), error=error, alone=alone)
    error = error or bool(printed.status)
    if action.kind in CHANGES:
        outcome = judge_edit(text, error=error, writes=action.kind == "wrote")
        done = printed.status == 0 and outcome.kind is Verdict.UNKNOWN
        return replace(outcome, kind=Verdict.OK) if done else outcome
    return judge_answer(action.call.name, text, error=error, reads=reads)


def _judge_command(action: Action, run: Run, printed: Printed, *, error: bool, alone: bool) -> Outcome:
    status, output = printed.status, plain(printed.text).strip("\n")
    if status is None:
        status, output = _status(output, asked=any(sign in action.subject for sign in _ASKING))
    if error and status is None:
        status = FAILED
    if not action.is_command:
        return _judge_shell_edit(run, status, output, alone=alone)
    if printed.running or _BACKGROUND.match(output):
        return Outcome(Verdict.UNKNOWN, _tail(output))
    if run.shows:
        return _judge_shown(run, status, output)
    signs = signs_in(output, run.names)
    if status:
        if run.asks and status in _ANSWERS and not (signs.bad or signs.errors):
            return Outcome(Verdict.UNKNOWN, _NO_OUTPUT if _EMPTY.fullmatch(output) else _tail(output))
        return Outcome(Verdict.FAILED, _reason(signs, output))
    if run.silent and _EMPTY.fullmatch(output) and "2>/dev/null" not in action.subject:
        return Outcome(Verdict.OK)
    if not run.whole:
        signs = replace(signs, words=())
    return _judge_output(signs, output, trusted=status == 0 and run.honest)


def _judge_shown(run: Run, status: int | None, output: str) -> Outcome:
    """Only what the shell and the programs say of themselves counts: the rest are others' words."""
    own = complaints(output, run.names)
    answers = run.asks and status in _ANSWERS and not own
    if _EMPTY.fullmatch(output) and run.asks and (answers or status is None):
        return Outcome(Verdict.UNKNOWN, _NO_OUTPUT)
    if status and not answers:
        return Outcome(Verdict.FAILED, _quoted(own[:_ERRORS]) or _tail(output))
    # A search may complain of some of the files that it looks through.
    if own and (status != 0 or not run.honest) and _is_all(own, output):
        return Outcome(Verdict.FAILED, _quoted(own[:_ERRORS]))
    if status is None and "git" in run.names and output.startswith(_FATAL):  # then it shows nothing else
        return Outcome(Verdict.FAILED, output.partition("\n")[0])
    if status == 0 and run.honest:
        return Outcome(Verdict.OK, _tail(output))
    return Outcome(Verdict.UNKNOWN, _tail(output))


def _judge_shell_edit(run: Run, status: int | None, output: str, *, alone: bool) -> Outcome:
    """What runs beside the edit may fail by itself; only the shell's own complaints are about the edit."""
    own = complaints(output, run.names) if alone else complaints(output, frozenset(("sed", "cat", "tee", "bash", "sh")))
    if own and (alone or status):
        return Outcome(Verdict.FAILED, _quoted(own[:_ERRORS]))
    if status and alone:
        return Outcome(Verdict.FAILED, _tail(output))
    return Outcome(Verdict.OK) if status == 0 and (run.honest or alone) else NOTHING


def _judge_output(signs: Signs, output: str, *, trusted: bool) -> Outcome:
    """By what it says alone, save where the status can be trusted."""
    summed = max((found.start for found in signs.good), default=-1)
    # What is logged before a good sum belongs to it.
    errors = [found for found in signs.errors if found.start > summed]
    done = max((found.start for found in signs.fine), default=-1)
    if not trusted and (signs.bad or any(found.start > done for found in errors)):
        return Outcome(Verdict.FAILED, _reason(signs, output))
    if signs.bad:
        return Outcome(Verdict.UNKNOWN, _reason(signs, output))
    if errors or (trusted and not signs.good and says_no(_last_line(output))):
        # A program that ends well may still say that what it was run for did not.
        return Outcome(Verdict.UNKNOWN, _tail(output))
    if signs.good or signs.fine:
        others = sorted({*signs.good, *signs.fine} - {*signs.records})
        return Outcome(Verdict.OK, _quoted([*others[-1:], *signs.records[-_ERRORS:]]))
    if signs.words and not trusted:
        return Outcome(Verdict.OK, _quoted(signs.words[-1:]))
    return Outcome(Verdict.OK if trusted else Verdict.UNKNOWN, _tail(output))


def _reason(signs: Signs, output: str) -> str:
    """The words that tell most of a failure: sums that are bad, errors, else what looks like one, else the end."""
    if signs.bad:
        return _quoted(signs.bad[-_ERRORS:])
    summed = max((found.start for found in signs.good), default=-1)
    errors = [found for found in signs.errors if found.start > summed]
    telling = [found for found in errors if not found.weak]
    if telling:
        return _quoted([*telling[:_ERRORS], *signs.good[-1:]])  # and the last success before the error
    known = {found.text for found in errors}
    likely = [failure.text for failure in failures_in(output[-4 * _LOOK_BACK :])]
    likely = [text for text in likely if text not in known and not _ABOUT_STATUS.match(text)]
    return "\n".join(dict.fromkeys(likely[-_ERRORS:])) or _quoted(errors[-_ERRORS:]) or _tail(output)


def _quoted(found: list[Found] | tuple[Found, ...]) -> str:
    return "\n".join(dict.fromkeys(each.text for each in found))


def _is_all(own: Sequence[Found], output: str) -> bool:
    lines = [line for line in output.split("\n") if line.strip()]
    return len(lines) <= 2 * len(own)


def _last_line(output: str) -> str:
    return output.rstrip()[-_ENDS:].rpartition("\n")[2]


def _tail(output: str) -> str:
    """The end of an output, line by line, as much as is worth quoting."""
    if _EMPTY.fullmatch(output):
        return ""
    chosen: list[str] = []
    size = 0
    for line in reversed(output[-_LOOK_BACK:].split("\n")):
        if _TELLING.search(line):
            told = line.strip()
            size += len(told)
            if chosen and size > _LONGEST_TAIL:
                break
            chosen.append(told[:_LONGEST_TAIL])
    return "\n".join(reversed(chosen))


def tells_status(line: str) -> bool:
    """Whether a line tells nothing but the status that a command ended with."""
    return _STATUS.fullmatch(line) is not None


def _status(text: str, *, asked: bool) -> tuple[int | None, str]:
    """The status that an agent tells with an output in no form that is known, and the output without it."""
    ends = text[:_ENDS] + text[-_ENDS:]
    if "xit" not in ends and "eturn" not in ends and "rc" not in ends:
        return None, text
    found = _STATUS.match(text)
    if found is None:
        near = text.rfind("\n", 0, max(len(text) - _ENDS, 0)) + 1
        found = max(_STATUS.finditer(text, near), key=re.Match.start, default=None)
        if found and (text[found.end() :].strip() or not _is_agents(found[0], asked=asked)):
            found = None
    if found is None:
        return None, text
    return int(found[1]), (text[: found.start()] + text[found.end() :]).strip("\n")


def _is_agents(line: str, *, asked: bool) -> bool:
    """Whether the line is an agent's, or the command asked for it; a status of 1 that a tool tells is one too."""
    return asked or not re.search(r"\b0\b", line) or line.strip()[:1] in "[(<" or "ommand" in line or "rocess" in line
