"""Scanners of failures without a language model: small functions over stored decisions; `SCANNERS` names them all.

Core: no Django, no torch. May import `agents/llm`, `annotations/dom` and `asking`.
"""

from annotations.extensions import SCANNERS as GROUP
from annotations.extensions import load_into
from evaluation.scanners import elements, replies, values
from evaluation.scanners.definition import Scanner

SCANNERS: dict[str, Scanner] = {  # what explains most stands first: a cluster is named after the first that finds it
    "unreadable": Scanner("unreadable reply", replies.unreadable_reply, ("unreadable reply",)),
    "not-offered": Scanner("gold not among the candidates", elements.not_offered, ("right element not offered",)),
    "no-answer": Scanner("page without the answer", values.answer_not_on_page, ("answer not on the page",)),
    "stale-memory": Scanner("stale memory", values.stale_memory, ("stale memory",)),
    "loop": Scanner("loop", replies.loop, ("step repeated",)),
    "sibling": Scanner("wrong sibling", elements.wrong_sibling, ("wrong sibling",)),
    "copied-value": Scanner("copied wrong value", values.copied_wrong_value, ("copied wrong value",)),
}
ADDED = load_into(SCANNERS, GROUP)  # by other packages; ours cannot be replaced
