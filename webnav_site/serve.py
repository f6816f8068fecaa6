"""`python -m webnav_site.serve APPLICATION ...`: uvicorn, whose processes are forked from one that has loaded the app.

uvicorn itself starts each of its processes from nothing: two that load the same three thousand modules side by side, at
every start and after every death. Forked ones are there at once, and share the memory of what was loaded.
"""

import multiprocessing
from typing import Any, cast

import uvicorn
from django.db import connections
from uvicorn import _subprocess

from webnav_site import asgi  # noqa: F401  # what the processes share


def main() -> None:
    connections.close_all()  # on a connection of two processes each would read what the other has asked
    cast(Any, _subprocess).spawn = multiprocessing.get_context("fork")  # there is no option of it
    uvicorn.main()


if __name__ == "__main__":
    main()
