"""Whether a model that a setting names can be had here. Core."""

from agents.encoders import weights


def lacking_model(setting: str, name: str, base: str, trainer: str) -> list[str]:
    """Why there is none, with how to get it; empty where it is there."""
    if not name:
        published = f" from {base}" if base else ""
        return [f"{setting}: train one{published} ({trainer} --name NAME) or name a folder"]
    try:
        weights.check(name)
    except ValueError as error:
        return [f"{setting}: {error}"]
    return []
