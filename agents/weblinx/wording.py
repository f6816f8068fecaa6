"""The words around the parts of an action model's prompt (A6.5): three templates, ours by default.

A checkpoint that was trained with other words needs those: make a `WeblinxWording` of them.
"""

from dataclasses import dataclass

from agents.prompts.render import Prompt, load


@dataclass(frozen=True)
class WeblinxWording:
    """`system` is filled with utterances, last_utterances, height, width and turns; `candidates` with candidates."""

    system: Prompt
    candidates: Prompt
    request: Prompt


OURS = WeblinxWording(load("weblinx_system"), load("weblinx_candidates"), load("weblinx_request"))
