"""The embedded model, tried in a process of its own: `python -m agents.llm.trying MODEL` loads it and answers. Core.

It takes more memory than a web process should hold, so a page asks by `tried`. The process stays for some minutes, and
answers whoever of this user asks at its socket without loading the model again; it ends with who started it.
"""

import fcntl
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from agents.llm import embedded
from agents.llm.errors import LlmError
from agents.llm.protocol import Message, Request
from annotations.environment import runtime_folder

SECONDS = 120  # loading it from a cold disk, on a machine that has other work
KEPT = 180  # seconds that it stays after an answer: somebody who tries once tries again
LOOKS = 1.0  # seconds between two looks whether who started it is still there
QUESTION = "Say hello."


def tried(model: str = embedded.SMOLLM2) -> dict[str, Any]:
    """{"reply", "loading", "seconds", "error"}: what it answers, and how long loading it and answering took; loading
    is 0 where it was loaded before."""
    if reason := embedded.lacking(model):
        return _outcome(error=reason)
    until = time.monotonic() + SECONDS
    try:
        return _answer_at_socket(model, until) or _begun(model, until)
    except TimeoutError:
        return _outcome(error=f"it has not answered within {SECONDS} s: the machine has other work, try again later")


def _begun(model: str, until: float) -> dict[str, Any]:
    """Start the process and wait for its answer. Raises TimeoutError."""
    with tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-m", "agents.llm.trying", model]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        while True:
            if said := _answer_at_socket(model, until):
                return said
            if child.poll():  # 0: another had begun it at the same moment
                return _outcome(error=_last_line(errors) or f"it ended with {child.returncode}")
            time.sleep(0.05)


def _last_line(errors: IO[str]) -> str:
    errors.seek(0)
    return "".join(errors.read().strip().splitlines()[-1:])[:300]


def _answer_at_socket(model: str, until: float) -> dict[str, Any] | None:
    """The answer of the process that listens at the socket; None where none listens, or where it ends meanwhile. Raises
    TimeoutError."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(max(until - time.monotonic(), 0.001))
        try:
            asking.connect(str(_place(model)))
            line = asking.makefile().readline()
        except TimeoutError:
            raise
        except OSError:
            if time.monotonic() > until:
                raise TimeoutError from None
            return None
        said: dict[str, Any] | None = json.loads(line) if line else None
        return said


def _place(model: str) -> Path:
    """The path of the socket, in a folder that belongs to this user alone. Raises PermissionError."""
    name = sha256(f"{__file__} {sys.executable} {model}".encode()).hexdigest()[:10]
    return runtime_folder() / f"trying-{name}.sock"


def _outcome(reply: str = "", loading: float = 0.0, seconds: float = 0.0, error: str = "") -> dict[str, Any]:
    return {"reply": reply, "loading": round(loading, 2), "seconds": round(seconds, 2), "error": error}


def _ask(model: str) -> dict[str, Any]:
    begun = time.monotonic()
    llm = embedded.EmbeddedLlm(model)
    embedded.loaded(embedded.weights_file(model))
    loaded = time.monotonic()
    (answer,) = llm.complete([Request((Message("user", QUESTION),), model, max_tokens=24, seed=0)])
    if isinstance(answer, LlmError):
        return _outcome(error=str(answer))
    return _outcome(answer.text.strip(), loaded - begun, time.monotonic() - loaded)


def main(model: str) -> None:
    """Listen first, so that whoever asks while it loads waits for this one; end when nobody has asked for a while."""
    place, parent = _place(model), os.getppid()
    with place.with_suffix(".lock").open("w") as lock, socket.socket(socket.AF_UNIX) as door:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another listens
        place.unlink(missing_ok=True)  # of one that was killed
        door.bind(str(place))
        door.listen()
        door.settimeout(LOOKS)
        last = time.monotonic()
        while os.getppid() == parent and time.monotonic() < last + KEPT:
            with suppress(TimeoutError):
                _answer(door.accept()[0], model)
                last = time.monotonic()
        place.unlink()


def _answer(asking: socket.socket, model: str) -> None:
    with asking, suppress(OSError):  # whoever asked may be gone
        asking.sendall(f"{json.dumps(_ask(model))}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1])
