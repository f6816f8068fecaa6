"""A trajectory worth replaying: a film rental with three turns, two failures, and every stage's record."""

import itertools
from dataclasses import dataclass
from typing import Any

from agents.models import Trajectory, TrajectoryStep
from annotations.models import Step, Target
from tests import factories

PAGE = """<html backend_node_id="1"><head backend_node_id="90"><style backend_node_id="91">
body {{ font: 15px Georgia, serif; margin: 28px; }} button {{ padding: 6px 14px; margin-right: 40px; }}
</style></head><body backend_node_id="2">
<h1 backend_node_id="3"><text backend_node_id="30">{title}</text></h1>
<p backend_node_id="4"><text backend_node_id="31">Action · PG-13 · 118 min · at 3 boxes nearby</text></p>
<form backend_node_id="5"><input backend_node_id="10" type="text" name="city" placeholder="City or ZIP"/>
<select backend_node_id="11" name="genre"><option backend_node_id="12" value="Action">
<text backend_node_id="32">Action</text></option></select></form>
<p backend_node_id="6"><button backend_node_id="20"><text backend_node_id="40">DVD $1.75</text></button>
<button backend_node_id="21"><text backend_node_id="41">Blu-ray $2.00</text></button>
<button backend_node_id="22"><text backend_node_id="42">4K UHD $2.50</text></button></p>
<p backend_node_id="8"><button backend_node_id="23"><text backend_node_id="44">Find a box</text></button></p>
<ul backend_node_id="9">{links}</ul></body></html>"""
LINK = '<li backend_node_id="{0}"><a backend_node_id="2{0}"><text backend_node_id="3{0}">Title {0}</text></a></li>'
LINKS = "".join(LINK.format(number) for number in range(100, 130))
NAMES = {
    "10": "textbox City or ZIP",
    "11": "combobox Genre",
    "20": "button DVD $1.75",
    "21": "button Blu-ray $2.00",
    "22": "button 4K UHD $2.50",
    "23": "button Find a box",
} | {f"2{number}": f"link Title {number}" for number in range(100, 130)}
TURNS = (
    (
        "Find action films this weekend near Columbus.",
        (("CLICK", "", "23"), ("TYPE", "Columbus", "10"), ("SELECT", "Action", "11")),
    ),
    ("Only the ones rated PG-13.", (("CLICK", "", "23"), ("CLICK", "", "22"))),
    ("Rent the cheapest one on Blu-ray.", (("CLICK", "", "23"), ("CLICK", "", "20"), ("CLICK", "", "21"))),
)
WRONG = {4: 12, 7: 1}  # seq -> rank of the gold element, from 0


@dataclass(frozen=True)
class ReplayWorld:
    trajectory: Trajectory
    steps: list[Step]

    def store(self, seq: int, **fields: Any) -> TrajectoryStep:
        """Let the agent decide a step: right, but for those in WRONG."""
        step = self.steps[seq]
        gold = step.targets.get().node_id
        predicted = "20" if seq in WRONG else gold
        ranked = [predicted, *(node for node in NAMES if node not in (predicted, gold))]
        rank = WRONG.get(seq, 0)
        if rank:
            ranked.insert(rank, gold)
        scores = [round(0.93 * 0.94**place, 4) for place in range(len(ranked))]
        defaults = {
            "operation": step.operation,
            "value": step.value,
            "node_id": predicted,
            "candidate_ids": ranked,
            "candidate_scores": scores,
            "gold_rank": rank,
            "element_correct": rank == 0,
            "success": rank == 0,
            "operation_f1": 1.0,
            "milliseconds": 400.0 + 37 * seq,
            "calls": 1,
            "prompt_tokens": 1412,
            "completion_tokens": 38,
            "trace": self._trace(step, predicted, ranked, scores),
        }
        return factories.make_trajectory_step(self.trajectory, step, seq, **defaults | fields)

    def _trace(self, step: Step, predicted: str, ranked: list[str], scores: list[float]) -> dict[str, Any]:
        earlier = [past for past in self.steps if past.turn.index < step.turn.index][:3]
        value = f": {step.value}" if step.value else ""
        return {
            "observe": {"sees": "text"},
            "rank": {
                "elements": 78,
                "candidates": len(ranked),
                "query": step.turn.instruction,
                "top": [
                    {"node_id": node, "text": NAMES[node], "score": score}
                    for node, score in zip(ranked, scores, strict=True)
                ],
            },
            "recall": {
                "query": f"Task: {step.turn.instruction}",
                "of": len(earlier),
                "snippets": [
                    {
                        "step": past.pk,
                        "turn_index": past.turn.index,
                        "step_index": past.index,
                        "instruction": past.turn.instruction,
                        "action": past.action_repr,
                        "similarity": 0.81 - 0.06 * place,
                    }
                    for place, past in enumerate(earlier)
                ],
            },
            "simplify": {"kept": 5},
            "plan": {"reply": f"Element: {NAMES[predicted]}\nAction: {step.operation}"},
            "act": {"representation": f"{NAMES[predicted]} → {step.operation}{value}"},
            "dream": {"of": "<b>electric</b> sheep"},
            "seconds": {"observe": 0.012, "recall": 0.004, "rank": 0.21, "plan": 0.17},
        }


def make_replay(stored: int | None = None, *, state: str = "", split: str = "train", **fields: Any) -> ReplayWorld:
    """The trajectory with its first `stored` steps, all of them by default."""
    dataset = factories.make_dataset()
    site = factories.make_website(dataset, name="redbox", domain="Entertainment", subdomain="Film")
    conversation = factories.make_conversation(0, dataset=dataset, website=site, split=split, source_id="redbox-014")
    steps = []
    for index, (instruction, actions) in enumerate(TURNS):
        turn = factories.make_turn(conversation, steps=0, index=index, instruction=instruction)
        for place, action in enumerate(actions):
            steps.append(_step(turn, place, *action, title=f"Films, page {len(steps) + 1}"))
    for before, after in itertools.pairwise(steps):
        Step.objects.filter(pk=before.pk).update(snapshot_after=after.snapshot)
    count = len(steps) if stored is None else stored
    state = state or ("done" if count == len(steps) else "running")
    run = factories.make_run(dataset, split=split, state="done" if state == "done" else "running", seed=1)
    trajectory = factories.make_trajectory(run, conversation, stored=0, state=state, **fields)
    world = ReplayWorld(trajectory, steps)
    for seq in range(count):
        world.store(seq)
    return world


def _step(turn, index: int, operation: str, value: str, node: str, title: str) -> Step:
    role, name = NAMES[node].split(" ", 1)
    text = f"[{role}]  {name} -> {operation}{': ' + value if value else ''}"
    page = factories.make_snapshot(PAGE.format(title=title, links=LINKS))
    step = Step.objects.create(
        turn=turn,
        index=index,
        source_id=f"step-{index}",
        operation=operation,
        value=value,
        action_repr=text,
        snapshot=page,
        candidate_count=len(NAMES),
    )
    Target.objects.create(step=step, node_id=node, position=0, node_order=5)
    return step
