"""Paths that nothing is at: an error that the client can read, and the page only for browsers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import AzureOpenAI, OpenAI

from tests.server.conftest import Recorder, Served

if TYPE_CHECKING:
    import httpx2

OPENAI: dict[str, str] = {}
ANTHROPIC = {"anthropic-version": "2023-06-01"}
GEMINI = {"x-goog-api-client": "google-genai-sdk/1.0"}
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def form(answer: httpx2.Response) -> str:
    """The vendor whose form the error has."""
    told: dict[str, Any] = json.loads(answer.content)
    if told.get("type") == "error":
        return "anthropic" if told["error"]["type"] == "not_found_error" else "?"
    error = told["error"]
    if error.get("code") == 404 and error.get("status") == "NOT_FOUND":
        return "gemini"
    return "openai" if error.get("code") == "not_found" and {"message", "type", "param"} < set(error) else "?"


@pytest.mark.parametrize(
    ("method", "path", "headers", "expected"),
    [
        ("GET", "/metrics", OPENAI, "openai"),
        ("GET", "/health", OPENAI, "openai"),
        ("GET", "/files", OPENAI, "openai"),
        ("POST", "/completions", OPENAI, "openai"),
        ("POST", "/", OPENAI, "openai"),
        ("DELETE", "/no/such/path", OPENAI, "openai"),
        ("POST", "/anthropic/v1/messages", ANTHROPIC, "anthropic"),
        ("GET", "/files", ANTHROPIC, "anthropic"),
        ("GET", "/files", GEMINI, "gemini"),
        ("POST", "/v1beta/models/gemini-2.5-pro:generateContent", OPENAI, "gemini"),
        ("POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", GEMINI, "gemini"),
        ("POST", "/v1/models/gemini-2.5-pro:generateContent", OPENAI, "gemini"),
        ("POST", "/v1/models/gemini-2.5-pro:countTokens", GEMINI, "gemini"),
        ("GET", "/v1beta/models", OPENAI, "gemini"),
        ("POST", "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", OPENAI, "openai"),
        ("POST", "/openai/v1/chat/completions", OPENAI, "openai"),
    ],
)
def test_an_unknown_path_is_not_found_in_the_form_of_its_vendor(
    recorded: Served, recorder: Recorder, method: str, path: str, headers: dict[str, str], expected: str
) -> None:
    before = len(recorder.arrived)
    answer = recorded.ask(method, path, headers=headers, json={} if method == "POST" else None)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    assert form(answer) == expected
    assert answer.headers["x-should-retry"] == "false"
    message = answer.json()["error"]["message"]
    assert path.partition("?")[0][:60] in message
    assert "Gemini" in message
    assert "Azure" in message
    assert len(recorder.arrived) == before


def test_a_key_for_gemini_may_be_the_token_and_goes_no_further(recorded: Served, recorder: Recorder) -> None:
    key = {"x-goog-api-key": recorded.state.token}
    answer = recorded.strange("POST", "/v1beta/models/gemini-2.5-pro:generateContent", headers=key, json={})
    assert (answer.status_code, form(answer)) == (404, "gemini")
    wrong = recorded.strange("POST", "/v1beta/models/m:generateContent", headers={"x-goog-api-key": "wrong"}, json={})
    assert wrong.status_code == 401
    assert wrong.json()["error"]["status"] == "UNAUTHENTICATED"
    recorded.strange("GET", "/v1/models", headers=key)
    assert "x-goog-api-key" not in recorder.arrived[-1].headers


def test_the_sdks_read_that_there_is_no_such_path(recorded: Served) -> None:
    hi: list[Any] = [{"role": "user", "content": "Hi"}]
    with (
        Anthropic(base_url=f"{recorded.url}/anthropic", api_key=recorded.state.token) as claude,
        pytest.raises(anthropic.NotFoundError),
    ):
        claude.messages.create(model="m", messages=hi, max_tokens=5)
    with (
        OpenAI(base_url=f"{recorded.url}/openai/v1", api_key=recorded.state.token) as client,
        pytest.raises(openai.NotFoundError),
    ):
        client.chat.completions.create(model="m", messages=hi)
    with (
        AzureOpenAI(azure_endpoint=recorded.url, api_key=recorded.state.token, api_version="2024-10-21") as azure,
        pytest.raises(openai.NotFoundError, match="Azure"),
    ):
        azure.chat.completions.create(model="m", messages=hi)


def test_browsers_get_the_page(recorded: Served) -> None:
    for headers in (BROWSER, {"accept": "*/*"}, {}):
        answer = recorded.strange("GET", "/", headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    head = recorded.strange("HEAD", "/")
    assert (head.status_code, head.content) == (200, b"")
    # The page itself says where one is behind a `#`: no other path is one of its own.
    lost = recorded.strange("GET", "/chat/one", headers=BROWSER)
    assert (lost.status_code, lost.headers["content-type"]) == (404, "text/html; charset=utf-8")
