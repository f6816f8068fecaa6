"""Which line of a page's tree stands for the element that an action is on. Core.

People click on the label of a check box, or on an icon inside of a button: trees show neither.
"""

from dataclasses import replace

from agents.types import Action
from agents.world_model.lines import PageLines
from annotations.dom.roles import FIELD_ROLES, INTERACTIVE_ROLES, TOGGLE_ROLES
from annotations.dom.tree import NODE_ID, Element, find

ACTED_ON = FIELD_ROLES | TOGGLE_ROLES


def on_shown(action: Action, page: Element, lines: PageLines) -> Action:
    """The action on an element that the page's tree shows: on the only field inside of its own, else on the nearest
    one around it that people can act on. As it is where its own element is shown, or there is no such element."""
    if action.node_id is None or lines.at(action.node_id) is not None:
        return action
    try:
        own = find(page, action.node_id)
    except IndexError:
        return action
    inside = [line for one in own.iter("*") if (line := lines.at(one.get(NODE_ID))) and line.role in ACTED_ON]
    if len(inside) == 1:
        return replace(action, node_id=inside[0].node_id)
    outer = (lines.at(one.get(NODE_ID)) for one in own.iterancestors("*"))
    around = next((line for line in outer if line), None)
    return replace(action, node_id=around.node_id) if around and around.role in INTERACTIVE_ROLES else action
