"""Settings of what several hosts share besides database and broker: the storage of files, and the cache."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

CHANNEL_SECONDS = 30
PART_BYTES = 16 * 1024**2  # of an upload in parts; two parts at a time are held in memory


def file_storage(env: Callable[..., str]) -> dict[str, Any]:
    """Django's default storage: an object store (STORAGE_BUCKET), a folder that all hosts mount (STORAGE_FOLDER), or
    by default a folder below var/ that this host alone sees."""
    if not env("STORAGE_BUCKET"):
        return {"BACKEND": "annotations.storage.folder.FolderStorage", "OPTIONS": _folder(env("STORAGE_FOLDER"))}
    if not env("STORAGE_KEY") or not env("STORAGE_SECRET"):
        raise ValueError("STORAGE_BUCKET needs STORAGE_KEY and STORAGE_SECRET, which open it")
    from boto3.s3.transfer import TransferConfig
    from botocore.config import Config

    # Checksums only where the protocol wants them: other stores than Amazon's refuse newer ones.
    client = Config(
        signature_version="s3v4",
        s3={"addressing_style": "path"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        connect_timeout=5,
        read_timeout=60,
        retries={"mode": "standard", "max_attempts": 4},
    )
    options = {
        "bucket_name": env("STORAGE_BUCKET"),
        "access_key": env("STORAGE_KEY"),
        "secret_key": env("STORAGE_SECRET"),
        "endpoint_url": env("STORAGE_ENDPOINT") or None,
        "region_name": env("STORAGE_REGION", "us-east-1"),
        "location": env("STORAGE_PREFIX"),
        "default_acl": None,
        "file_overwrite": True,
        "client_config": client,
        "transfer_config": TransferConfig(
            multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, max_concurrency=2
        ),
    }
    return {"BACKEND": "annotations.storage.objects.ObjectStorage", "OPTIONS": options}


def _folder(mounted: str) -> dict[str, Any]:
    return {"location": mounted, "shared": True} if mounted else {}


def redis_address(url: str) -> str:
    """The address itself. ValueError where it is none that Redis's client can ask."""
    parts = urlsplit(url)
    if parts.scheme not in {"redis", "rediss", "unix"} or not (parts.hostname or parts.path.strip("/")):
        without_password = url.rpartition("@")[2]
        raise ValueError(f"REDIS_URL must be redis://host:6379/0, rediss://… or unix://…, got {without_password!r}")
    return url


def caches(redis_url: str) -> dict[str, Any]:
    """Django's CACHES: one cache for all processes of all hosts, in which throttles count too."""
    backend, serializer = "webnav_site.shared_cache.SharedCache", "webnav_site.shared_cache.JsonSerializer"
    options = {"socket_timeout": 1, "socket_connect_timeout": 1, "serializer": serializer}
    return {"default": {"BACKEND": backend, "LOCATION": redis_url, "KEY_PREFIX": "cache", "OPTIONS": options}}


def channel_host(redis_url: str) -> str:
    """The URL of the server for WebSockets' channels, with a longer timeout: they wait for a message five seconds at a
    time, after which the client would also give a silent server up, and on a busy host that ended sockets without
    messages."""
    return f"{redis_url}{'&' if '?' in redis_url else '?'}socket_timeout={CHANNEL_SECONDS}"
