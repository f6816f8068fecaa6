"""Downloads: always as an attachment that no browser sniffs; files with ETag and byte ranges; constant memory."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

CHUNK = 256 * 1024
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def attachment(response: HttpResponseBase, filename: str) -> HttpResponseBase:
    """Nothing that people upload or that agents write is ever shown inline from our origin."""
    response["Content-Disposition"] = content_disposition_header(True, filename)
    response["X-Content-Type-Options"] = "nosniff"
    return response


def send_file(request: HttpRequest, path: Path, filename: str, media_type: str) -> HttpResponseBase:
    """A file or the part of it that `Range` asks for (one range; several are answered with the whole file)."""
    facts = path.stat()
    etag = f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"'
    first, last, status = _wanted(request, facts.st_size, etag)
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response: HttpResponseBase = HttpResponse(status=304)
    elif status == 416:
        response = HttpResponse(status=416, headers={"Content-Range": f"bytes */{facts.st_size}"})
    else:
        chunks = iter(()) if request.method == "HEAD" else _read(path, first, last - first + 1)
        response = StreamingHttpResponse(chunks, content_type=media_type)
        response.status_code = status
        response["Content-Length"] = str(last - first + 1)
        if status == 206:
            response["Content-Range"] = f"bytes {first}-{last}/{facts.st_size}"
    response["ETag"] = etag
    response["Accept-Ranges"] = "bytes"
    return attachment(response, filename)


def _wanted(request: HttpRequest, size: int, etag: str) -> tuple[int, int, int]:
    """First and last byte wanted, and the status that says so: 200, 206 or 416."""
    whole = (0, size - 1, 200)
    match = _RANGE.fullmatch(request.headers.get("Range", "").strip())
    if not match or match.groups() == ("", "") or request.headers.get("If-Range", etag) != etag:
        return whole
    start, end = match.groups()
    first = int(start) if start else max(size - int(end), 0)
    last = min(int(end), size - 1) if start and end else size - 1
    if first >= size or (start and end and int(end) < int(start)):
        return 0, -1, 416
    return first, last, 206


def _read(path: Path, offset: int, length: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(offset)
        while length > 0 and (chunk := file.read(min(CHUNK, length))):
            length -= len(chunk)
            yield chunk


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, made harmless with an apostrophe (security.md S20)."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
