"""Answers that are downloads: as attachments of a fixed type, with ETag and byte ranges, in constant memory."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, cast

from django.core.serializers.json import DjangoJSONEncoder
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags

from annotations.models import Project
from annotations.storage import store

R = TypeVar("R", bound=HttpResponseBase)

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last: full width

MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}  # of what `stream_rows` sends

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Download(Protocol):
    """A response that is a download, as the middleware that records it in the trail of access finds it."""

    download_of: tuple[str, Project | None]  # file name, and among whose acts it is written down


def attachment(response: R, filename: str, project: Project | None = None) -> R:
    """The response as a download named `filename`: nothing that people upload or that agents write is shown inline from
    our origin.

    The trail of access records who takes it, among the events of `project`.
    """
    cast(Download, response).download_of = (filename, project)
    response["Content-Disposition"] = content_disposition_header(True, filename)
    response["X-Content-Type-Options"] = "nosniff"
    return response


def send_file(request: HttpRequest, name: str, filename: str, media_type: str, project: Project) -> HttpResponseBase:
    """A stored file or the part of it that `Range` asks for (one range; several are answered with the whole file)."""
    facts = store.facts(name)
    if facts is None:
        raise Http404
    first, last, status = _wanted(request, facts.size, facts.etag)
    if facts.etag in parse_etags(request.headers.get("If-None-Match", "")):
        response: HttpResponseBase = HttpResponse(status=304)
    elif status == 416:
        response = HttpResponse(status=416, headers={"Content-Range": f"bytes */{facts.size}"})
    else:
        pieces = Pieces(store.read(name, first, last - first + 1, facts.etag))
        response = FileResponse(pieces, content_type=media_type, status=status)
        response["Content-Length"] = str(last - first + 1)
        if status == 206:
            response["Content-Range"] = f"bytes {first}-{last}/{facts.size}"
    response["ETag"] = facts.etag
    response["Accept-Ranges"] = "bytes"
    return attachment(response, filename, project)


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


class Pieces:
    """An iterator of bytes as a file that can be read, one piece at a time: the web server sends a FileResponse of it
    without holding a thread."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces

    def read(self, size: int = -1) -> bytes:
        return next(self.pieces, b"")

    def close(self) -> None:
        getattr(self.pieces, "close", lambda: None)()  # of a generator: its own file


def stream_rows(
    kind: str, rows: Iterable[dict[str, Any]], columns: Sequence[str], stem: str, project: Project | None = None
) -> HttpResponseBase:
    """Rows as JSON lines or as CSV ("jsonl" or "csv"), made while they are fetched."""
    lines = _json_lines(rows) if kind == "jsonl" else _csv_lines(rows, columns)
    return attachment(StreamingHttpResponse(lines, content_type=MEDIA_TYPES[kind]), f"{stem}.{kind}", project)


def _json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield _as_json(row) + "\n"


def _csv_lines(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """Lines of a CSV file with a header. Cells that are objects are JSON; cells that a spreadsheet would run as
    formulas are made harmless."""
    yield _csv_line(columns)
    for row in rows:
        cells = (row[name] for name in columns)
        yield _csv_line([safe_cell(_as_json(cell) if isinstance(cell, dict) else cell) for cell in cells])


def _as_json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def _csv_line(values: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, made harmless with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
