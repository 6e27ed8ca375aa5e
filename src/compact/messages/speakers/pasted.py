"""What a person pasted among what they typed: logs, code, data, mails.

In doubt it was typed. A plan or a specification is the person's, whoever wrote it, and so is a long text with short
code in it; pasted is what is long, looks alike line by line, and has little around it.
"""

from __future__ import annotations

import re

LONG = 1500
"""What has fewer characters is not looked at."""
_MOST_BETWEEN = 2
"""Lines of prose in a row that a run may hold."""
_ALIKE = 0.7
_DENSE = 0.14
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_STAMP = re.compile(
    r"\s*(?:[\[(]?\d{4}-\d\d-\d\d[T ]|[\[(]?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b)"
)
"""How a record of a log begins."""
_LEADS = re.compile(
    rf"{_STAMP.pattern}"
    r"|\s*(?:at \S+[(:.]|File \"|Traceback|[|│┃╭╮╰╯├└─═]|\$ |➜ |@@ |diff --git |\d+[:|→]|[+-]{1,3}(?! )\S|> |#include"
    r"|import |from \S+ import|def |class |return |const |let |var |public |private |function |//|/\*|\*/|</?\w|[}\])])"
)
_ENDS = ("{", "}", ";", "(", "[", "},", "],", "=>", "\\")
_PARAGRAPH = 400
_LISTED = re.compile(r"\s*(?:[-*+•] |\d{1,3}[.)] |\[[ x]\] )")
_SIGNS = '{}[]()<>=;|\\/_"$`@#+~^&%'
_GAP = re.compile(r"\S {5}| {5}\Z")
_SENT = "From|Sent|Date|Von|Gesendet|Datum|De|Envoyé|Enviado|Fecha|От|Дата|发件人|日期|差出人|送信日時|من|التاريخ"
"""Header fields of a received mail. A mail to be written lacks them, but a request for a journey may have them."""
_SUBJECT = "Subject|Betreff|Objet|Asunto|Тема|主题|件名|الموضوع"
_FIELDS = f"{_SENT}|{_SUBJECT}|To|Cc|Reply-To|An|À|Para|Кому|收件人|宛先|إلى"
_MAIL = re.compile(rf"[> ]{{0,4}}(?:{_FIELDS}) ?[:：] ?\S")  # noqa: RUF001 - Chinese and Japanese write this colon
_RECEIVED = re.compile(
    rf"^(?P<ruled>[ \t]*-{{3,}} ?[^\s-][^\n]{{1,60}}?-{{3,}}[ \t]*\n\s*)?"
    rf"(?:[> ]{{0,4}}(?:{_FIELDS}) ?[:：] ?\S[^\n]*\n){{2,12}}",  # noqa: RUF001 - as above
    re.MULTILINE,
)
_GOT, _ABOUT = (
    re.compile(rf"^[> ]{{0,4}}(?:{names}) ?[:：]", re.MULTILINE)  # noqa: RUF001 - as above
    for names in (_SENT, _SUBJECT)
)
_SIGNED = re.compile(r"^(?:-- ?|Sent from my [^\n]{1,40})$\n?", re.MULTILINE)
_HEADING = re.compile(r"#{1,4} \S")
_MOST_HEADINGS = 2


def pasted_spans(text: str) -> list[tuple[int, int]]:
    """Where something pasted stands in a text of a person, in order."""
    lines = _lines(text)
    fenced = _fenced(text, lines)
    within = {at for first, last in fenced for at in range(first, last + 1)}
    records = _records(text, lines)
    others = (start for at, (start, _) in enumerate(lines) if at not in within and at not in records)
    if sum(_HEADING.match(text, start) is not None for start in others) > _MOST_HEADINGS:
        return []
    spans = [(lines[first][0], lines[last][1]) for first, last in (*fenced, *_runs(text, lines, within, records))]
    spans = sorted(span for span in spans if span[1] - span[0] > LONG)
    taken = sum(end - start for start, end in spans)
    typed = len(text) - taken
    return spans if typed <= LONG and typed < taken else []


def mail_spans(text: str) -> list[tuple[int, int]]:
    """Where mails stand that a person got, however short: from their fields to how they are signed, or to the end."""
    found: list[tuple[int, int]] = []
    for head in _RECEIVED.finditer(text):
        is_mail = head["ruled"] or (_GOT.search(head[0]) and _ABOUT.search(head[0]))
        if not is_mail or (found and head.start() < found[-1][1]):
            continue
        signed = _SIGNED.search(text, head.end())
        found.append((head.start(), signed.end() if signed else len(text)))
    return found


def _lines(text: str) -> list[tuple[int, int]]:
    """Where each line begins and ends, its break included."""
    lines, start = [], 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        lines.append((start, end))
        start = end
    return lines


def _fenced(text: str, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first and the last line of each block between fences."""
    fences = [at for at, (start, _) in enumerate(lines) if _FENCE.match(text, start)]
    return list(zip(fences[::2], fences[1::2], strict=False))


def _runs(text: str, lines: list[tuple[int, int]], within: set[int], records: set[int]) -> list[tuple[int, int]]:
    """The first and last line of each run of pasted lines; a mail runs to the end of the text.

    What stands `within` fences is passed over, and the lines of `records` end no run.
    """
    runs: list[tuple[int, int]] = []
    first = last = -1
    alike = others = between = 0

    def end_run() -> None:
        if first >= 0 and alike >= _ALIKE * (alike + others):
            runs.append((first, last))

    for at, (start, end) in enumerate(lines):
        line = text[start:end].rstrip("\r\n")
        if not line.strip() or at in within:
            continue
        if _MAIL.match(line) and at + 1 < len(lines) and _MAIL.match(text, lines[at + 1][0]):
            end_run()
            return [*runs, (at, len(lines) - 1)]
        if _is_printed(line):
            first, last = (at if first < 0 else first), at
            alike, others, between = alike + 1, others + between, 0
        elif first >= 0 and at in records:
            others += 1
        elif first >= 0:
            between += 1
            if between > _MOST_BETWEEN:
                end_run()
                first, alike, others, between = -1, 0, 0, 0
    end_run()
    return runs


def _records(text: str, lines: list[tuple[int, int]]) -> set[int]:
    """The lines of a log's records but the first of each: up to the next record, where no line between is blank."""
    found: set[int] = set()
    stamped = -1
    for at, (start, end) in enumerate(lines):
        if _STAMP.match(text, start, end):
            found.update(range(stamped + 1, at) if stamped >= 0 else ())
            stamped = at
        elif not text[start:end].strip():
            stamped = -1
    return found


def _is_printed(line: str) -> bool:
    """Whether a line looks like one of a program, of code or of data."""
    if _LISTED.match(line):
        return False
    # A pattern would hold up all other threads while it reads a line of megabytes; looking for a fixed text is quick.
    if ("     " in line and _GAP.search(line)) or sum(map(line.count, _SIGNS)) > _DENSE * len(line):
        return True
    if len(line) > _PARAGRAPH:
        # How a paragraph begins and ends tells nothing; that it has hardly a space does.
        return line.count(" ") * 20 < len(line)
    if _LEADS.match(line) or line.startswith(("    ", "\t")) or line.endswith(_ENDS):
        return True
    commas = line.count(",")
    return (commas > 2 and line.count(", ") * 2 < commas) or line.count("\t") > 1
