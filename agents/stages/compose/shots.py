"""Worked examples for prompts to models that were not trained on the task; written for this project. Core."""

from functools import cache

from agents.stages.compose.page import PageTask, Paradigm, format_input
from agents.stages.compose.sequence import PagePart, page_messages

_LIBRARY = """<html backend_node_id="1"><body backend_node_id="2"><form backend_node_id="3">
<input backend_node_id="4" type="text" placeholder="Title or author"/>
<button backend_node_id="5"><text>Search catalogue</text></button></form>
<a backend_node_id="6"><text>Opening hours</text></a></body></html>"""
_CLINIC = """<html backend_node_id="1"><body backend_node_id="2"><h1 backend_node_id="3"><text>Book a visit</text></h1>
<select backend_node_id="4" name="department"><option backend_node_id="5"><text>Dentist</text></option>
<option backend_node_id="6"><text>Eye doctor</text></option></select>
<button backend_node_id="7"><text>Next</text></button></body></html>"""
_PARK = """<html backend_node_id="1"><body backend_node_id="2"><nav backend_node_id="3">
<a backend_node_id="4"><text>Camp sites</text></a><a backend_node_id="5"><text>Fees</text></a></nav>
<p backend_node_id="6"><text>Trails are open from May to October.</text></p></body></html>"""

_SHOTS = (
    (_LIBRARY, ("4", "5", "6"), PageTask("Look for books by Selma Lagerlöf", (), "TYPE", "Selma Lagerlöf"), "4"),
    (_CLINIC, ("4", "7"), PageTask("I need an appointment for new glasses", (), "SELECT", "Eye doctor"), "4"),
    (_PARK, ("4", "5"), PageTask("Rent a canoe for Saturday", ("[a]  Activities -> CLICK",)), None),
)


@cache
def shot_messages(paradigm: Paradigm) -> tuple[PagePart, ...]:
    """Three examples, three messages each: typing, selecting, and none of the elements."""
    messages: list[PagePart] = []
    for page, candidate_ids, task, gold_id in _SHOTS:
        shown = format_input(page, candidate_ids, task, paradigm, gold_id)
        messages += page_messages(shown, shown.target)
    return tuple(messages)
