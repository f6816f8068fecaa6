"""Data files on disk: which ones a folder holds, and their bytes, decompressed within limits.

Published data sets are read from plain, gzip or xz files, and uploads may be zip archives. All of them
are untrusted: an archive is refused when it grows without bound or names a place outside its folder, and
a damaged file gives everything before the damage first and a precise `ArchiveError` then.
"""

import io
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
OTHER_MAGIC = {b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar"}
# Damage loses the piece it is found in, so pieces are small.
PIECE = 256  # compressed bytes fed to a decoder at a time
COPY_BYTES = 4096  # uncompressed bytes of a zip member copied at a time
ZIP_TAIL_BYTES = (64 << 10) + 128  # the end record, its comment and the zip64 locator
ZIP_ENTRY_BYTES = 512  # generous mean size of a directory entry
MAX_DEPTH = 64  # folders in each other, in an archive
TOLD_CHARS = 100  # of a member's name, in a message
XZ_MEMORY = 256 << 20  # xz -9 needs 65 MiB; a header may claim 4 GiB


class ArchiveError(Exception):
    """A file that cannot be decompressed or unpacked any further; the message says why."""


@dataclass(frozen=True)
class FileLimits:
    """How far one file or archive may grow.

    The real data needs room: the human demonstrations reach a ratio of 424 and 1.3 GiB in one xz file
    (328 among the small ones). Zeros reach 1,030 with deflate and about 6,900 with xz.
    """

    max_bytes: int = 16 << 30  # uncompressed bytes of one file, or of all members of one archive
    max_ratio: int = 800  # uncompressed : compressed, judged once `ratio_from` bytes came out
    ratio_from: int = 64 << 20
    max_files: int = 100_000  # members of one archive

    def check(self, name: str, produced: int, consumed: int) -> None:
        """Raise `ArchiveError` when `produced` bytes from `consumed` compressed ones are too many."""
        if produced > self.max_bytes:
            raise ArchiveError(f"{name} holds more than {self.max_bytes:,} uncompressed bytes, the limit")
        if produced > self.ratio_from and produced > self.max_ratio * max(consumed, 1):
            raise ArchiveError(f"{name} expands more than {self.max_ratio} times, the limit for compressed files")


def data_files(path: Path, suffixes: tuple[str, ...], numbered: bool = False) -> list[Path]:
    """The data files at `path`: the file itself, or those below a folder whose name ends in a suffix.

    Sorted by folder and name; `numbered` orders `train_2` before `train_10`, by the integer after the
    last `_` as Mind2Web's loaders do. Links, hidden files and what is not a regular file are left out.
    Raises FileNotFoundError when there is nothing at `path`.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is neither a file nor a folder")
    found = []
    for folder, folders, names in os.walk(path, followlinks=False):
        folders[:] = [name for name in folders if not _hidden(name)]
        for name in names:
            file = Path(folder, name)
            if name.lower().endswith(suffixes) and not _hidden(name) and not file.is_symlink() and file.is_file():
                found.append(file)
    return sorted(found, key=_numbered if numbered else lambda file: file.parts)


def _hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _numbered(file: Path) -> tuple[tuple[str, ...], str, int, str]:
    match = re.fullmatch(r"(.*_)(\d+)", file.name.split(".")[0])
    stem, number = (match[1], int(match[2])) if match else (file.name, -1)
    return (file.parent.parts, stem, number, file.name)


def is_zip(path: Path) -> bool:
    """Whether the file starts like a zip archive (`unpack_zip` reads those)."""
    with path.open("rb") as file:
        return file.read(4) in ZIP_MAGIC


ByteStream = io.BufferedIOBase | BinaryIO


@contextmanager
def open_stream(path: Path, limits: FileLimits = FileLimits()) -> Iterator[ByteStream]:
    """Open a plain, gzip or xz file for reading; its first bytes decide which, not its name.

    Reading raises `ArchiveError` at the point of damage or where a limit is passed, after every byte
    before it was returned. Raises OSError when the file cannot be opened.
    """
    with path.open("rb") as file:
        magic = file.read(8)
        file.seek(0)
        if magic[:4] in ZIP_MAGIC:
            raise ArchiveError(f"{path.name} is a zip archive; unpack it and import its folder")
        for other, kind in OTHER_MAGIC.items():
            if magic.startswith(other):
                raise ArchiveError(f"{path.name} is a {kind} file; expected plain, .gz, .xz or .zip")
        decoder = next((made for known, made in DECODERS.items() if magic.startswith(known)), None)
        stream = Decompressed(file, decoder, path.name, limits) if decoder else file
        if stream.peek(TAR_NAMED.stop)[TAR_NAMED] == b"ustar":
            raise ArchiveError(f"{path.name} is a tar archive; unpack it and import its folder")
        yield stream


def _gzip_decoder() -> Any:
    return zlib.decompressobj(wbits=31)


def _xz_decoder() -> Any:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


DECODERS: dict[bytes, Callable[[], Any]] = {GZIP_MAGIC: _gzip_decoder, XZ_MAGIC: _xz_decoder}
TAR_NAMED = slice(257, 262)  # where the first header of a tar archive says what it is


class Decompressed(io.BufferedIOBase):
    """The bytes of a compressed file; `read` returns all that precede any damage before it raises."""

    def __init__(self, file: BinaryIO, new_decoder: Callable[[], Any], name: str, limits: FileLimits) -> None:
        super().__init__()
        self._file, self._name, self._limits = file, name, limits
        self._new_decoder, self._decoder = new_decoder, new_decoder()
        self._ready = bytearray()
        self._consumed = self._produced = 0
        self._damage: ArchiveError | None = None
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes, all when negative; b"" at the end; raises `ArchiveError` at the damage."""
        wanted = self._limits.max_bytes if size is None or size < 0 else size
        self._fill(wanted)
        if not self._ready and self._damage and wanted:
            raise self._damage
        data = bytes(self._ready[:wanted])
        del self._ready[:wanted]
        return data

    read1 = read

    def peek(self, size: int = 0) -> bytes:
        """Bytes that the next `read` returns, without taking them (makes `readline` fast)."""
        self._fill(max(size, 1))
        return bytes(self._ready)

    def _fill(self, wanted: int) -> None:
        while len(self._ready) < wanted and not self._ended:
            try:
                self._advance()
            except (zlib.error, lzma.LZMAError) as error:
                self._stop(f"{self._name} is damaged after {self._produced:,} uncompressed bytes: {error}")
            except ArchiveError as error:
                self._stop(str(error))

    def _advance(self) -> None:
        piece = self._file.read(PIECE)
        if not piece:
            self._ended = True
            if not self._decoder.eof:
                raise ArchiveError(f"{self._name} is cut off after {self._consumed:,} compressed bytes")
            return
        self._consumed += len(piece)
        while piece:
            if self._decoder.eof:  # concatenated streams, with zeros between them
                piece = piece.lstrip(b"\0")
                if not piece:
                    break
                self._decoder = self._new_decoder()
            output = self._decoder.decompress(piece)
            self._produced += len(output)
            self._ready += output
            piece = self._decoder.unused_data
        self._limits.check(self._name, self._produced, self._consumed)

    def _stop(self, message: str) -> None:
        self._ended = True
        self._damage = ArchiveError(message)


@dataclass(frozen=True)
class Unpacked:
    """What `unpack_zip` wrote, and the members that could not be unpacked whole: (name, what is wrong)."""

    files: list[Path]
    problems: list[tuple[str, str]]


def unpack_zip(path: Path, into: Path, limits: FileLimits = FileLimits()) -> Unpacked:
    """Unpack a zip archive below the folder `into`, keeping its folders.

    Raises `ArchiveError` for an archive that is no zip, is cut off, is too large (`limits`), holds a
    name that would land outside `into` or holds a name twice: nothing of it is left then. A
    member that is damaged keeps what precedes the damage and is named in `problems`. Links and special
    files are left out.
    """
    with _open_zip(path, limits) as archive:
        members = [member for member in archive.infolist() if not member.is_dir() and not _special(member)]
        if len(members) > limits.max_files:
            raise ArchiveError(f"{path.name} holds {len(members):,} files, more than the limit of {limits.max_files:,}")
        places: dict[Path, zipfile.ZipInfo] = {}
        for member in members:  # every name is judged before the first byte is written
            place = _inside(into, member.filename)
            if place in places:
                raise ArchiveError(f"{path.name} holds {_short_name(member.filename)} twice")
            places[place] = member
        unpacking = _Unpacking(archive, path, limits)
        try:
            for place, member in places.items():
                unpacking.write(member, place)
        except BaseException:
            unpacking.take_back(into)
            raise
    return Unpacked(unpacking.files, unpacking.problems)


def _open_zip(path: Path, limits: FileLimits) -> zipfile.ZipFile:
    """The archive, once its directory (kept in memory by zipfile) is known to be of a sane size."""
    if not is_zip(path):
        raise ArchiveError(f"{path.name} is not a zip archive")
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - ZIP_TAIL_BYTES))
        tail = file.read()
        end = tail.rfind(b"PK\x05\x06")
        if end < 0 or end + 22 > len(tail):
            raise ArchiveError(f"{path.name} is cut off: the directory at the end of the zip archive is missing")
        (directory,) = struct.unpack_from("<I", tail, end + 12)
        locator = tail.rfind(b"PK\x06\x07", 0, end)
        if locator >= 0:  # zip64 keeps the real size in a record of its own
            file.seek(min(struct.unpack_from("<Q", tail, locator + 8)[0], size))
            record = file.read(56)
            directory = struct.unpack_from("<Q", record, 40)[0] if len(record) == 56 else directory
    if directory > limits.max_files * ZIP_ENTRY_BYTES:
        raise ArchiveError(f"{path.name} lists more files than the limit of {limits.max_files:,}")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise ArchiveError(f"{path.name} has a damaged zip directory: {error}") from error


def _inside(into: Path, name: str) -> Path:
    """Where member `name` goes; raises `ArchiveError` for a name that is absolute, climbs, or lies so deep that making
    its folders takes more of Python's stack than there is."""
    name = name.replace("\\", "/")  # some Windows tools write those
    parts = [part for part in name.split("/") if part not in ("", ".")]
    is_placed = 0 < len(parts) <= MAX_DEPTH and ".." not in parts
    if not is_placed or name.startswith("/") or re.match("[A-Za-z]:", name):
        raise ArchiveError(f"the archive holds the unsafe name {_short_name(name)}")
    return into.joinpath(*parts)


def _short_name(name: str) -> str:
    """A member's name for a message, shortened: a zip allows 65,535 letters."""
    return repr(name if len(name) <= TOLD_CHARS else f"{name[:TOLD_CHARS]}…")


def _special(member: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(member.external_attr >> 16)
    return kind not in (0, stat.S_IFREG)


class _Unpacking:
    """Writes the members of one archive under its limits."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, limits: FileLimits) -> None:
        self._archive, self._limits, self._name = archive, limits, path.name
        self._size, self._produced = path.stat().st_size, 0
        self.files: list[Path] = []
        self.problems: list[tuple[str, str]] = []

    def write(self, member: zipfile.ZipInfo, place: Path) -> None:
        """Copy one member piece by piece; the size its header claims is not believed."""
        if member.flag_bits & 1:
            self.problems.append((member.filename, "is encrypted; unpack it with its password and import the folder"))
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            target = place.open("xb", buffering=1 << 20)
        except OSError as error:
            raise ArchiveError(
                f"{self._name}: cannot write {_short_name(member.filename)}: {error.strerror}"
            ) from error
        self.files.append(place)
        with target:
            try:
                for piece in self._pieces(member):
                    target.write(piece)
            except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError) as error:
                self.problems.append((member.filename, f"is damaged: {error or 'it is cut off'}"))

    def take_back(self, into: Path) -> None:
        """Remove what was written, and the folders that are empty then."""
        for file in self.files:
            file.unlink(missing_ok=True)
        for folder in sorted({parent for file in self.files for parent in file.parents}, reverse=True):
            if folder == into or into in folder.parents:
                try:
                    folder.rmdir()
                except OSError:
                    pass  # it was there before, with files of others

    def _pieces(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        try:
            source = self._archive.open(member)
        except OSError as error:  # the directory says that it begins before the archive does
            raise zipfile.BadZipFile("it lies outside of the archive") from error
        with source:
            while piece := source.read(COPY_BYTES):
                self._produced += len(piece)
                self._limits.check(self._name, self._produced, self._size)
                yield piece
