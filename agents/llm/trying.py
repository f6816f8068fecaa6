"""The embedded model, tried in a process of its own: `python -m agents.llm.trying MODEL` prints what it said. Core.

It takes more memory than a web process should hold, so a page asks by `tried`.
"""

import json
import subprocess
import sys
import time
from typing import Any

from agents.llm import embedded
from agents.llm.errors import LlmError
from agents.llm.protocol import Message, Request

SECONDS = 120  # loading it from a cold disk, on a machine that has other work
QUESTION = "Say hello."


def tried(model: str = embedded.SMOLLM2) -> dict[str, Any]:
    """{"reply", "loading", "seconds", "error"}: what it answers, and how long loading it and answering took."""
    command = [sys.executable, "-m", "agents.llm.trying", model]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
        said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return _outcome(error=f"it has not answered within {SECONDS} s: the machine has other work, try again later")
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or [f"it ended with {error.returncode}"]
        return _outcome(error=last[0][:300])
    return said


def _outcome(reply: str = "", loading: float = 0.0, seconds: float = 0.0, error: str = "") -> dict[str, Any]:
    return {"reply": reply, "loading": round(loading, 2), "seconds": round(seconds, 2), "error": error}


def _ask(model: str) -> dict[str, Any]:
    if reason := embedded.lacking(model):
        return _outcome(error=reason)
    begun = time.monotonic()
    llm = embedded.EmbeddedLlm(model)
    embedded.loaded(embedded.weights_file(model))
    loaded = time.monotonic()
    (answer,) = llm.complete([Request((Message("user", QUESTION),), model, max_tokens=24, seed=0)])
    if isinstance(answer, LlmError):
        return _outcome(error=str(answer))
    return _outcome(answer.text.strip(), loaded - begun, time.monotonic() - loaded)


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(_ask(sys.argv[1]))}\n")
