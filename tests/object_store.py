"""OpenStack Swift with its S3 interface: a real object store, of four processes and one replica, on loopback.

It is what several institutions run in production, but not Amazon's, MinIO's or Ceph's own code: what only those do
(other regions, versions of objects, their rights) is not tested with it.
"""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SERVERS = ("account", "container", "object")
BUCKET = "webnav-files"
KEY, SECRET = "test:tester", "testing"
START_SECONDS = 60
PROXY = """
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth bulk slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


@dataclass(frozen=True)
class ObjectStore:
    """A running store and an empty bucket in it."""

    endpoint: str

    @property
    def environment(self) -> dict[str, str]:
        """What tells the app of it."""
        return {
            "STORAGE_ENDPOINT": self.endpoint,
            "STORAGE_BUCKET": BUCKET,
            "STORAGE_KEY": KEY,
            "STORAGE_SECRET": SECRET,
        }


@contextmanager
def running(folder: Path, host: str = "127.0.0.1") -> Iterator[ObjectStore]:
    """A store from start to stop; its files lie in `folder`, whose file system must take extended attributes."""
    ports = {name: _free_port() for name in (*SERVERS, "proxy")}
    (folder / "devices" / "disk").mkdir(parents=True)
    (folder / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = tests\nswift_hash_path_prefix = tests\n"
        "[storage-policy:0]\nname = Policy-0\ndefault = yes\n"
    )
    processes = []
    try:
        for name, port in ports.items():
            if name in SERVERS:
                _build_ring(folder, name, port)
            processes.append(_start(folder, name, host if name == "proxy" else "127.0.0.1", port))
        store = ObjectStore(f"http://{host}:{ports['proxy']}")
        _wait_for(store, folder)
        _make_bucket(store)
        yield store
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=10)


def _build_ring(folder: Path, name: str, port: int) -> None:
    """Where the store's only disk is."""
    builder = str(folder / f"{name}.builder")
    for words in (["create", "2", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/disk", "1"], ["rebalance"]):
        subprocess.run([_bin("swift-ring-builder"), builder, *words], check=True, capture_output=True)


def _start(folder: Path, name: str, host: str, port: int) -> subprocess.Popen:
    from getpass import getuser

    common = (
        f"[DEFAULT]\nbind_ip = {host}\nbind_port = {port}\nworkers = 0\nswift_dir = {folder}\nuser = {getuser()}\n"
        f"devices = {folder}/devices\nmount_check = false\n"
    )
    own = (
        PROXY
        if name == "proxy"
        else f"[pipeline:main]\npipeline = {name}-server\n[app:{name}-server]\nuse = egg:swift#{name}\n"
    )
    config = folder / f"{name}.conf"
    config.write_text(common + own)
    with (folder / f"{name}.log").open("w") as log:
        command = [_bin(f"swift-{name}-server"), str(config)]
        return subprocess.Popen(
            command, env={"SWIFT_DIR": str(folder), "PATH": "/usr/bin:/bin"}, stdout=log, stderr=log
        )


def _bin(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _wait_for(store: ObjectStore, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{store.endpoint}/info", timeout=2).close()
            return
        time.sleep(0.1)
    logs = "\n".join((folder / f"{name}.log").read_text()[-500:] for name in (*SERVERS, "proxy"))
    raise RuntimeError(f"the object store did not start:\n{logs}")


def _make_bucket(store: ObjectStore) -> None:
    """The servers behind the proxy may need a moment longer than it."""
    import boto3
    from botocore.config import Config

    config = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 5, "mode": "standard"})
    client = boto3.client(
        "s3",
        endpoint_url=store.endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
        config=config,
    )
    client.create_bucket(Bucket=BUCKET)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
