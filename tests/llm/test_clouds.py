"""Azure's older API and Vertex: their SDKs, unmodified, against a server of this machine."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from compact.llm import Access
from compact.llm.vendors import open_model
from compact.policies import Profile, configure
from compact.ports import Completion, Failure, Usage
from tests.llm.lines import ASK, KEY, access, from_openrouter
from tests.llm.listening import listening

pytestmark = pytest.mark.usefixtures("sdks")
TOKEN = "ya29.a-token-of-one-hour"
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "The build broke."}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 5, "totalTokenCount": 25},
    "modelVersion": "gemini-2.5-flash",
}
GENERATE = "publishers/google/models/gemini-2.5-flash:generateContent"


def vertex(url: str = "", **more: Any) -> Profile:
    return configure(Profile, {"name": "v", "vendor": "vertex", "model": "gemini-2.5-flash", "url": url, **more})


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of Google's, wherever they are looked for."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")


def _service_account(folder: Path, url: str, project: str | None = "shop") -> Path:
    """Credentials as Google hands them out, whose tokens come from `url`."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {
        "type": "service_account",
        "project_id": project,
        "private_key_id": "1",
        "private_key": pem,
        "client_email": "compact@shop.example",
        "token_uri": f"{url}/token",
    }
    path = folder / "account.json"
    path.write_text(json.dumps(account))
    return path


def test_azures_older_api_is_asked_by_deployment_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", TOKEN)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ours")
    values = {"name": "old", "vendor": "azure", "model": "gpt-4o-mini", "api_version": "2024-10-21"}
    with (
        listening({"/openai/deployments/gpt-4o-mini/": json.loads(from_openrouter("The build broke."))}) as server,
        access(configure(Profile, {**values, "url": server.url})) as line,
    ):
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert (answer.text, answer.usage) == ("The build broke.", Usage(20, 5))
    assert answer.cost is not None
    [heard] = server.heard
    assert heard.path == "/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21"
    assert heard.headers["api-key"] == KEY
    assert not {TOKEN, "org-ours", "proj-ours"} & set(heard.headers.values())
    assert (heard.json["temperature"], heard.json["seed"]) == (0, 42)


@pytest.mark.usefixtures("nobody")
def test_vertex_is_asked_with_a_key() -> None:
    with listening({f"/v1beta1/{GENERATE}": GEMINI}) as server, access(vertex(server.url)) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert (answer.text, answer.usage) == ("The build broke.", Usage(20, 5))
    assert answer.cost is not None
    [heard] = server.heard
    assert heard.headers["x-goog-api-key"] == KEY
    assert heard.json["generationConfig"]["seed"] == 42
    assert heard.json["generationConfig"]["temperature"] == 0


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize("named", ["", "warehouse"])
def test_vertex_is_asked_with_googles_own_credentials(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = f"/v1beta1/projects/{named or 'shop'}/locations/europe-west4/{GENERATE}"
    token = {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}
    with listening({"/token": token, path: GEMINI}) as server:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(_service_account(tmp_path, server.url)))
        asked = vertex(server.url, region="europe-west4", project=named)
        with Access([asked], key_of=lambda _: "") as line:
            answers = line.answer_now([ASK]) + line.answer_now([ASK])
    assert [type(answer) for answer in answers] == [Completion, Completion]
    assert [heard.path for heard in server.heard] == ["/token", path, path]
    assert server.heard[1].headers["authorization"] == f"Bearer {TOKEN}"
    assert caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.usefixtures("nobody")
def test_without_googles_credentials_or_project_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Access([vertex()], key_of=lambda _: "") as line:
        [nothing] = line.answer_now([ASK])
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(_service_account(tmp_path, "http://h", None)))
        [nowhere] = line.answer_now([ASK])
    for answer in (nothing, nowhere):
        assert isinstance(answer, Failure)
        assert answer.kind == "unconfigured"
        assert "gcloud auth application-default login" in answer.reason


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    ("region", "address"),
    [
        ("", "https://aiplatform.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("europe-west4", "https://europe-west4-aiplatform.googleapis.com"),
    ],
)
@pytest.mark.parametrize("key", [KEY, ""], ids=["key", "credentials"])
def test_vertex_has_the_address_of_its_region_whatever_the_environment_says(
    region: str, address: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(_service_account(tmp_path, "http://127.0.0.1:1")))
    model = cast("Any", open_model(vertex(region=region), key).model)
    assert model.base_url.rstrip("/") == address
