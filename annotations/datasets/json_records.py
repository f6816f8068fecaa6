"""From JSON files to records: what the readers of every JSON format share."""

from collections.abc import Callable, Iterator
from pathlib import Path

from annotations.datasets.fields import Defects, Fields
from annotations.datasets.files import ArchiveError, data_files, open_stream
from annotations.datasets.json_stream import StreamItem, elements
from annotations.datasets.records import BadRecord, ConversationRecord, Readable

PLAIN = (".json", ".jsonl")
SUFFIXES = tuple(suffix + packed for suffix in PLAIN for packed in ("", ".gz", ".xz"))
SPLITS = ("train", "dev", "test_task", "test_website", "test_subdomain", "test_domain")

# From the fields of one element to its conversation; defects are noted on the fields. The second argument is
# the split that the file's place names, or "".
Parse = Callable[[Fields, str], ConversationRecord]


def read_records(path: Path, parse: Parse, id_field: str, *, numbered: bool = False) -> Iterator[Readable]:
    """Every conversation of a JSON file, or of the files below a folder, and what could not be read.

    A source id may occur once: of two good records with the same `id_field` the second is bad.
    Raises FileNotFoundError when there is nothing at `path`.
    """
    files = data_files(path, SUFFIXES, numbered)
    if not files:
        yield BadRecord(
            path.name, "", "", f"expected files ending in {', '.join(SUFFIXES)} below this folder, found none"
        )
    seen: dict[str, str] = {}
    for file in files:
        name = file.name if file == path else file.relative_to(path).as_posix()
        split = split_of(file, path)
        try:
            with open_stream(file) as stream:
                for element in elements(stream):
                    yield from _readables(element, name, split, parse, id_field, seen)
        except ArchiveError as error:
            yield BadRecord(name, "", "", str(error))
        except OSError as error:
            yield BadRecord(name, "", "", f"cannot be read: {error.strerror or error}")


def _readables(
    element: StreamItem, file: str, split: str, parse: Parse, id_field: str, seen: dict[str, str]
) -> Iterator[Readable]:
    if element.error:
        yield BadRecord(file, element.place, "", element.error)
        return
    defects = Defects(file)
    fields = Fields.of(element.value, element.place, defects)
    try:
        record = parse(fields, split) if fields else None
    except RecursionError:
        yield BadRecord(file, element.place, "", "is nested too deeply")
        return
    if record and not defects and record.source_id in seen:
        defects.add(element.place, id_field, f"{record.source_id!r} is also the {id_field} of {seen[record.source_id]}")
    if defects or not record:
        yield from defects.all()
        return
    seen[record.source_id] = f"{file} {element.place}"
    yield record


def split_of(file: Path, root: Path) -> str:
    """The split that the nearest folder names, else a file name like `test_task_3.json`; "" when neither does.

    Folders above `root` do not count; of a single file the two nearest do.
    """
    below = file.parent.parts[-2:] if file == root else (root.name, *file.relative_to(root).parent.parts)
    for folder in reversed(below):
        if folder in SPLITS:
            return folder
    stem, _, number = file.name.split(".")[0].rpartition("_")
    return stem if stem in SPLITS and number.isdigit() else ""
