"""Errors and refusals that come as text: none of them stands for a summary."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.summaries.model.check import Checked, Refused, check_summary
from compact.summaries.model.complaints import find_complaint
from compact.summaries.model.sources import Sources
from compact.summaries.model.strategy import find_strategy

TASK_STATE = find_strategy("task_state")


def sources(*texts: str) -> Sources:
    wire = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    return Sources(parse(wire, format="openai-chat").messages)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("Error: 429", "error"),
        ("Error: 429 Too Many Requests", "error"),
        ("429 Too Many Requests", "error"),
        ("HTTP 503 Service Unavailable", "error"),
        ("Error code: 400 - {'error': {'message': 'too long'}}", "error"),
        ('{"error": {"message": "Rate limit reached", "type": "requests"}}', "error"),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "error"),
        ('{"error": "cut off in the mid', "error"),
        ('{"message": "Unauthorized", "code": 401}', "error"),
        ("openai.RateLimitError: you exceeded your current quota", "error"),
        ("You exceeded your current quota, please check your plan and billing details.", "error"),
        ("This model's maximum context length is 8192 tokens.", "error"),
        ("Overloaded", "error"),
        ("Internal Server Error", "error"),
        ("upstream connect error or disconnect/reset before headers", "error"),
        ("Request timed out.", "error"),
        ("<html><head><title>502 Bad Gateway</title></head></html>", "error"),
        ("Traceback (most recent call last):\n  File", "error"),
        ("ValueError: no such model", "error"),
        ("null", "error"),
        ("I'm sorry, I can't help with that.", "refusal"),
        ("I’m sorry, but I cannot assist with this request.", "refusal"),
        ("I cannot summarize this conversation.", "refusal"),
        ("Unfortunately, I am unable to do so.", "refusal"),
        ("As an AI language model, I do not", "refusal"),
        ("Your request was flagged by our policy.", "refusal"),
    ],
)
def test_errors_and_refusals_are_no_summaries(text: str, kind: str) -> None:
    verdict = check_summary(text, sources("Fix it"), TASK_STATE)
    assert isinstance(verdict, Refused)
    assert verdict.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "The user saw Error: 429 and asked for a retry.",
        "Errors in the parser were fixed.",
        "The rate limit of the API was raised.",
        "## Findings\n- Error: 429 came from the API [1]",
        "Requests time out after a minute; the connection is reset.",
        "I looked at the parser and found nothing.",
        '{"files": 3}',
        "Sorry state of the parser: it loses lines.",
    ],
)
def test_a_report_about_an_error_is_one(text: str) -> None:
    assert find_complaint(text) is None


def test_an_error_that_was_read_may_be_quoted() -> None:
    report = "ValueError: no such model"
    verdict = check_summary(report, sources("go", f"It said:\n{report}"), TASK_STATE)
    assert isinstance(verdict, Checked)
    assert [each.text for each in verdict.draft.statements] == [report]
