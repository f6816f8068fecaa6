"""Build the sample dataset in MT-Mind2Web's format: `python -m annotations.sample.build OUT`.

Writes OUT/SPLIT/WEBSITE.json, each a list of conversation records. The same sources give the same bytes.
"""

import difflib
import json
import sys
import uuid
from pathlib import Path
from types import ModuleType

from annotations.sample.nodes import SampleNode, VisitState
from annotations.sample.script import SPLITS, ScriptedAction, ScriptedConversation, ScriptError, read_script
from annotations.sample.sites import brightrail, casaverde, fernandfell, harbourcity, nordline, willowclinic
from annotations.sample.snapshot import (
    TARGET,
    NodeIds,
    action_repr,
    candidate_record,
    candidates,
    cleaned_xml,
    equivalents,
    lay_out,
    raw_xml,
)

SITES: dict[str, ModuleType] = {
    site.NAME: site for site in (brightrail, casaverde, fernandfell, harbourcity, nordline, willowclinic)
}
SCRIPTS = Path(__file__).parent / "conversations"


def build(out: Path) -> dict[str, int]:
    """Write the dataset below `out`; gives the counts of websites, conversations, turns and steps.

    Raises ScriptError when a script and its website disagree.
    """
    counts = {"websites": 0, "conversations": 0, "turns": 0, "steps": 0}
    for website in sorted(SITES):
        conversations = build_website(website, out)
        counts["websites"] += 1
        counts["conversations"] += len(conversations)
        counts["turns"] += sum(len(conversation.turns) for conversation in conversations)
        counts["steps"] += sum(len(turn.actions) for conversation in conversations for turn in conversation.turns)
    return counts


def build_website(website: str, out: Path) -> list[ScriptedConversation]:
    """Write OUT/SPLIT/WEBSITE.json for every split the website has conversations in; gives those conversations."""
    conversations = read_script(SCRIPTS / f"{website}.txt")
    by_split: dict[str, list[str]] = {}
    for conversation in conversations:
        if conversation.split not in SPLITS:
            raise ScriptError(f"{conversation.name}: split {conversation.split!r}, expected one of {SPLITS}")
        line = json.dumps(record(SITES[website], conversation), ensure_ascii=False)
        by_split.setdefault(conversation.split, []).append(line)
    for split, lines in by_split.items():
        (out / split).mkdir(parents=True, exist_ok=True)
        text = "[\n" + ",\n".join(lines) + "\n]\n"
        (out / split / f"{website}.json").write_text(text, "utf-8", newline="\n")
    return conversations


def record(site: ModuleType, conversation: ScriptedConversation) -> dict[str, object]:
    """Play the script from the site's front page and record every step."""
    state = VisitState(page="home", **conversation.start)
    ids = NodeIds()
    turns = []
    for index, turn in enumerate(conversation.turns):
        annotation_id = f"{conversation.name}_{index}"
        actions, reprs = [], []
        for number, action in enumerate(turn.actions):
            place = f"{conversation.name}, turn {index + 1}, {action.original} {action.key}"
            root = site.render(state)
            lay_out(root, ids)
            target = find_target(root, action, place)
            uid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{annotation_id}/{number}"))
            actions.append(step(root, target, action, uid))
            reprs.append(action_repr(root, target, action.operation, action.value))
            apply_action(state, target, action)
        turns.append(
            {
                "annotation_id": annotation_id,
                "confirmed_task": turn.instruction,
                "action_reprs": reprs,
                "actions": actions,
            }
        )
    return {
        "task_id": conversation.name,
        "website": site.NAME,
        "domain": site.DOMAIN,
        "subdomain": site.SUBDOMAIN,
        "turns": turns,
    }


def step(root: SampleNode, target: SampleNode, action: ScriptedAction, uid: str) -> dict[str, object]:
    """One action record; a target that cleaning prunes away leaves `pos_candidates` empty."""
    target.attributes[TARGET] = uid
    raw = raw_xml(root)
    offered = candidates(root)
    same = equivalents(root, target)
    gold = [node for node in same if node in offered]
    positives = [
        candidate_record(node, {"is_original_target": node is target, "is_top_level_target": node is same[0]})
        for node in gold
    ]
    return {
        "action_uid": uid,
        "raw_html": raw,
        "cleaned_html": cleaned_xml(raw, [node.node_id for node in offered]),
        "operation": {"original_op": action.original, "op": action.operation, "value": action.value},
        "pos_candidates": positives,
        "neg_candidates": [candidate_record(node) for node in offered if node not in gold],
    }


def find_target(root: SampleNode, action: ScriptedAction, place: str) -> SampleNode:
    """The element that the action names. Raises ScriptError when it is absent or does not allow the operation."""
    by_key = {node.key: node for node in root.walk() if node.key}
    target = by_key.get(action.key)
    if target is None:
        near = difflib.get_close_matches(action.key, by_key, n=8, cutoff=0.3)
        raise ScriptError(f"{place}: no such element; near: {', '.join(near)}; all: {', '.join(by_key)}")
    options = [child.text() for child in target.children if isinstance(child, SampleNode) and child.tag == "option"]
    allowed = {
        "TYPE": target.tag in {"input", "textarea"} and bool(target.field),
        "SELECT": action.value in options,
        "CLICK": target.on is not None,
    }
    if not allowed[action.operation]:
        raise ScriptError(f"{place}: <{target.tag}> does not allow it; options: {options}")
    return target


def apply_action(state: VisitState, target: SampleNode, action: ScriptedAction) -> None:
    """What the website does with the action."""
    if action.operation == "CLICK":
        state.update(target.on or {})
    else:
        state[target.field] = action.value
        state.update(target.then or {})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(build(Path(sys.argv[1]))) + "\n")
