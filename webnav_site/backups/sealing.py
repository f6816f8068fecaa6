"""The archive's file: readable by its owner only, and where a recipient is named encrypted for them with age."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

AGE = b"age-encryption.org/v1"


class SealError(ValueError):
    """A key that is none, or that does not open the archive."""


@contextmanager
def sealed(path: Path, recipient: str = "") -> Iterator[BinaryIO]:
    """What is written goes to `path`, encrypted for `recipient` (age1…) if one is given."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        if not recipient:
            yield file
            return
        from pyrage import RecipientError, encrypt_io, x25519

        try:
            key = x25519.Recipient.from_str(recipient)
        except RecipientError as error:
            raise SealError(f"{recipient!r} is no age recipient: it starts with age1") from error
        with _through(lambda source: encrypt_io(source, file, [key])) as target:
            yield target


@contextmanager
def _through(work: Callable[[BinaryIO], None]) -> Iterator[BinaryIO]:
    """What is written is read by `work` in a thread: the library pulls, the archive's writer pushes."""
    reading, writing = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with reading:
                work(reading)
        except BaseException as error:  # told to the thread that writes
            failed.append(error)

    thread = threading.Thread(target=run, name="age", daemon=True)
    thread.start()
    try:
        with writing:
            yield writing
    except BrokenPipeError:
        if not failed:
            raise
    finally:
        thread.join()
    if failed:
        raise failed[0]


def is_sealed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(AGE)) == AGE


@contextmanager
def opened(path: Path, identity: Path | None = None) -> Iterator[BinaryIO]:
    """The archive's bytes; `identity`: the file with the secret key of an encrypted one."""
    with path.open("rb") as file:
        if not is_sealed(path):
            yield file
            return
        if identity is None:
            raise SealError("the archive is encrypted: name the file with its key with --identity")
        with _decrypted(file, _keys(identity)) as source:
            yield source


def _keys(identity: Path) -> list:
    from pyrage import IdentityError, x25519

    lines = [line.strip() for line in identity.read_text().splitlines()]
    try:
        return [x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except IdentityError as error:
        raise SealError(f"{identity.name} holds no age identity (AGE-SECRET-KEY-1…)") from error


@contextmanager
def _decrypted(file: BinaryIO, keys: list) -> Iterator[BinaryIO]:
    from pyrage import DecryptError, decrypt_io

    reading, writing = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with writing:
                decrypt_io(file, writing, keys)
        except BrokenPipeError:
            pass  # the reader has seen enough
        except (DecryptError, OSError) as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="age", daemon=True)
    thread.start()
    try:
        with reading:
            yield reading
    except Exception:
        thread.join()  # the reader may notice the end before the thread has said why
        if failed and isinstance(failed[0], DecryptError):
            raise SealError(f"the archive cannot be decrypted: {failed[0]}") from failed[0]
        raise
    finally:
        thread.join()
    if failed:
        raise SealError(f"the archive cannot be decrypted: {failed[0]}")
