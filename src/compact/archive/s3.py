"""The archive in an S3 bucket: s3://{bucket}/{prefix}/{session}/transcript-pre-compact-001.jsonl and so on."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from compact.archive.entries import Draft, Entry, conflict, draft_of, is_transcript, listed
from compact.archive.parts import Pasts
from compact.disk import json_bytes
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies.session_ids import check_session_id, file_name, session_of
from compact.ports import Export

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, S3Config, S3Store

_SUM = "sha256"
_TIMEOUT = timedelta(seconds=60)


class S3Archive:
    """Keeps exports in a bucket; credentials come from the role or the environment, and are never given here.

    Every object is created only if there is none of its name, sent with its SHA-256, encrypted with the KMS key where
    one is given, and read back. Nothing is ever overwritten. S3 cannot append, so each event is an object of its own.
    """

    def __init__(self, bucket: str, prefix: str = "", kms_key: str = "", region: str = "", endpoint: str = "") -> None:
        if not bucket:
            raise InvalidConfiguration("is empty", field="storage.bucket", remedy="Name the bucket to archive to.")
        self._bucket, self._prefix = bucket, prefix.strip("/")
        self._kms_key, self._region, self._endpoint = kms_key, region, endpoint
        self._pasts = Pasts()

    @property
    def adapter(self) -> str:
        return "s3"

    def save(self, export: Export) -> tuple[str, ...]:
        """Upload transcript and summary, durable and verified when it returns; again with the same is no harm."""
        files = self._divided(export.session, draft_of(export))
        keys = {f"{file_name(export.session)}/{name}": data for name, data in files.items()}
        for key, data in keys.items():
            self._create(key, data)
        return tuple(map(self._place, keys))

    def note(self, session: str, events: Sequence[Json]) -> None:
        """Keep events, as one object, beside the session's transcripts."""
        data = b"".join(json_bytes(event, "event") + b"\n" for event in events)
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        self._create(f"{file_name(check_session_id(session))}/events/{now}-{sha256(data).hexdigest()[:16]}.json", data)

    def entries(self, session: str | None = None) -> tuple[Entry, ...]:
        """The objects of the session, or of all."""
        sizes: dict[str, dict[str, int | None]] = {}
        for found in self._objects(None if session is None else f"{file_name(check_session_id(session))}/"):
            owner, _, name = found["path"].partition("/")
            sizes.setdefault(owner, {})[name] = found["size"]
        entries: list[Entry] = []
        for owner in sorted(sizes):
            if (found_session := session or session_of(owner)) is not None:  # else something else in the bucket
                entries += listed(found_session, owner, sizes[owner])
        return tuple(entries)

    def load(self, entry: Entry) -> tuple[bytes, str | None]:
        """The object, and the SHA-256 it was saved with."""
        return self._get(f"{entry.place}/{entry.name}")

    def _get(self, key: str) -> tuple[bytes, str | None]:
        with self._asking(key):
            found = self._store.get(key)
            return bytes(found.bytes()), found.attributes.get(_SUM)

    def _objects(self, within: str | None) -> Iterator[ObjectMeta]:
        with self._asking(within or ""):
            for chunk in self._store.list(within):
                yield from chunk

    def _divided(self, session: str, draft: Draft) -> dict[str, bytes]:
        """The objects to upload: of the messages only those that no other transcript has."""
        own = file_name(session)
        found = {each["path"].removeprefix(f"{own}/"): each for each in self._objects(f"{own}/")}
        stamps = {name: f"{each['size']} {each['e_tag']}" for name, each in found.items() if is_transcript(name)}
        there = self._get(f"{own}/{draft.transcript}")[0] if draft.transcript in stamps else None
        with self._pasts.held(session) as past:
            past.refresh(stamps, lambda name: self._get(f"{own}/{name}"))
            return draft.files(past, there)

    def _create(self, key: str, data: bytes) -> None:
        _ = self._store
        from obstore.exceptions import AlreadyExistsError

        kind = "application/x-ndjson" if key.endswith(".jsonl") else "application/json"
        with self._asking(key):
            with contextlib.suppress(AlreadyExistsError):  # perhaps by ourselves: then it is the same
                attributes = {"Content-Type": kind, _SUM: sha256(data).hexdigest()}
                self._store.put(key, data, attributes=attributes, mode="create", use_multipart=False)
            stored = bytes(self._store.get(key).bytes())
        if stored != data:
            raise conflict(self._place(key))

    @contextlib.contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Whatever S3 answers instead is an OSError that names the place."""
        _ = self._store  # first of all, so that a missing package is told as such
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "there is no such bucket or object", self._place(key)) from None
        except BaseError as error:
            reason = str(error).partition("\n")[0][:500]
            raise OSError(errno.EIO, f"S3 did not take or give it: {reason}", self._place(key)) from error

    @cached_property
    def _store(self) -> S3Store:
        try:
            from obstore.store import S3Store
        except ImportError:
            remedy = "Install it: pip install 'compact-context[s3]'."
            raise InvalidConfiguration("s3 needs the package obstore", field="storage.adapter", remedy=remedy) from None
        config: S3Config = {"checksum_algorithm": "SHA256", "conditional_put": "etag"}
        if self._region:
            config["region"] = self._region
        if self._endpoint:
            config["endpoint"] = self._endpoint
        if self._kms_key:
            config |= {"server_side_encryption": "aws:kms", "sse_kms_key_id": self._kms_key}
        options: ClientConfig = {"timeout": _TIMEOUT}
        if self._endpoint.startswith("http://"):
            options["allow_http"] = True
        return S3Store(
            self._bucket,
            prefix=self._prefix or None,
            config=config,
            client_options=options,
            retry_config={"max_retries": 4, "retry_timeout": _TIMEOUT},
        )

    def _place(self, key: str) -> str:
        return "/".join(filter(None, (f"s3://{self._bucket}", self._prefix, key)))
