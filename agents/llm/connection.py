"""What answers prompts here: the configured endpoint, or the embedded model where there is none. Core.

LLM_BASE_URL and LLM_MODEL name an endpoint. Where neither is set, the embedded model answers, so that everything works
on a fresh machine; LLM_EMBEDDED=off forbids that. A recipe (plan.model) or LLM_MODEL may also name it.
"""

import os

from agents.llm import embedded
from agents.llm.protocol import Llm


def embedded_model(model: str = "") -> str:
    """The embedded model that answers requests for `model` ("": the installation's), "" where an endpoint does."""
    named = model or os.environ.get("LLM_MODEL", "")
    if embedded.is_embedded(named):
        return named
    by_default = not named and not os.environ.get("LLM_BASE_URL") and may_be_embedded()
    return embedded.SMOLLM2 if by_default else ""


def may_be_embedded() -> bool:
    return os.environ.get("LLM_EMBEDDED") != "off"


def lacking(model: str = "") -> str:
    """What is missing before requests for `model` can be answered, with how to get it; "" where nothing is."""
    if own := embedded_model(model):
        return embedded.lacking(own)
    wanted = ["LLM_BASE_URL"] + ([] if model else ["LLM_MODEL"])
    unset = [name for name in wanted if not os.environ.get(name)]
    return f"an LLM endpoint: set {' and '.join(unset)}" if unset else ""


def connected(model: str = "") -> Llm:
    """What answers requests for `model`. Raises NotConfigured where something is missing."""
    if own := embedded_model(model):
        return embedded.EmbeddedLlm(own)
    from agents.llm.chat import from_environment  # its client takes most of a second, which only workers need to spend

    return from_environment()
