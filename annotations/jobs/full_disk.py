"""A full disk, however the libraries tell it: the system, PostgreSQL, the writers of weights."""

import errno

ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
SQLSTATE = "53100"  # PostgreSQL: disk_full
WORDS = ("no space left on device", "disk quota exceeded", "file too large", "enforce fail at inline_container")
MESSAGE = (
    "The server's disk is full. Free some space below the data folder, or ask who runs the server to, then try again: "
    "what was stored before is kept, what was half written is not counted."
)


def is_full(error: BaseException | None) -> bool:
    """Whether the error, or one that it came from, means that nothing more can be written."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in ERRORS:
            return True
        if getattr(error, "sqlstate", None) == SQLSTATE or any(word in str(error).lower() for word in WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False
