"""Whether a model can be fetched from the Hugging Face hub: asked within seconds, before anybody waits for it. Core.

Its own client tries for most of a minute before it says that there is no network, and looking its name up may take ten
seconds where packets are dropped. So it is asked in a thread, and pages go on with what was found before.
"""

import os
import re
import threading
import time

SECONDS = 3.0  # in which the hub must accept us, and then answer
PAGE_SECONDS = 1.0  # that a page waits for the first answer; later ones come while it goes on with the one before
KEPT_SECONDS = 60.0  # an answer is used again: pages ask for every recipe that they list
NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
EVERY = ""  # in the place of a name: a hub that is not reached has no model
_answers: dict[tuple[str, str], tuple[float, str]] = {}  # (hub, model) -> when it was asked, why it cannot be fetched
_asking: dict[tuple[str, str], threading.Thread] = {}


def may_have(name: str) -> bool:
    """Whether this is a name of the hub, and nobody has forbidden to ask it."""
    return NAME.fullmatch(name) is not None and not os.environ.get("HF_HUB_OFFLINE")


def unfetchable(name: str, *, for_page: bool = False) -> str:
    """Why the model cannot be fetched by this machine; "" where it can, or where only fetching tells. A page waits for
    the first answer alone, and not for long."""
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    known = _known(hub, name)
    if known is not None and time.monotonic() - known[0] <= KEPT_SECONDS:
        return known[1]
    asking = _ask(hub, name)
    if known is None or not for_page:
        wait = PAGE_SECONDS if for_page else SECONDS
        asking.join(wait)
        if asking.is_alive():
            _answers[hub, EVERY] = time.monotonic(), _unreached(hub, f"no answer within {wait:g} s")
        known = _known(hub, name)
    return known[1] if known is not None else ""


def _known(hub: str, name: str) -> tuple[float, str] | None:
    """The latest answer that tells of this model."""
    found = [_answers[question] for question in ((hub, EVERY), (hub, name)) if question in _answers]
    return max(found, default=None)


def _ask(hub: str, name: str) -> threading.Thread:
    """Have the hub asked, unless it is being asked already."""

    def ask() -> None:
        model, reason = _asked(hub, name)
        if model != EVERY:
            _answers.pop((hub, EVERY), None)
        _answers[hub, model] = time.monotonic(), reason

    asking = _asking.get((hub, name))
    if asking is None or not asking.is_alive():
        asking = _asking[hub, name] = threading.Thread(target=ask, name="asks the hub", daemon=True)
        asking.start()
    return asking


def _asked(hub: str, name: str) -> tuple[str, str]:
    """The model, or EVERY, and why the hub does not give it."""
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    try:
        HfApi(endpoint=hub).model_info(name, timeout=SECONDS)
    except RepositoryNotFoundError:
        return name, f"{hub} has none of this name that is open to us"
    except HfHubHTTPError:  # too many questions, or a mirror that answers only for files
        return name, ""
    except httpx2.HTTPError as error:
        return EVERY, _unreached(hub, str(error) or type(error).__name__)
    return name, ""


def _unreached(hub: str, reason: str) -> str:
    return f"{hub}, which may have it, cannot be reached from this machine ({reason})"
