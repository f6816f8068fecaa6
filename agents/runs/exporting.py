"""Trajectories as JSON lines: one line per trajectory, with all of its decided steps."""

import json
from collections.abc import Iterator

from agents.models import Run, Trajectory
from agents.replay import rows as replay_rows
from annotations.access.rules import Rights
from annotations.corpus.wordings import EarlierWords

BATCH = 50  # trajectories read at a time; their steps are read one trajectory at a time
RECORDED = (
    *("seq", "call_index", "candidate_ids", "candidate_scores", "calls", "prompt_tokens", "completion_tokens"),
    *("error", "trace", "branches", "step", "created_at"),
)


def trajectory_lines(run: Run, rights: Rights) -> Iterator[bytes]:
    """The run's trajectories in order of their conversations' ids; constant memory.

    A step is what the replay page reads, and what the stages recorded; where gold is hidden, its place. `before`: what
    was corrected since the agent decided, as it was then.
    """
    last = 0
    rows = run.trajectories.select_related("run__dataset", "conversation").order_by("conversation_id")
    while batch := list(rows.filter(conversation_id__gt=last)[:BATCH]):
        for trajectory in batch:
            yield _line(trajectory, rights)
        last = batch[-1].conversation_id


def _line(trajectory: Trajectory, rights: Rights) -> bytes:
    conversation = trajectory.conversation
    hidden = not rights.sees_gold(trajectory.run.dataset.project_id, conversation.split)
    recorded = {row.pop("seq"): row for row in trajectory.steps.values(*RECORDED)}
    steps, words = [], EarlierWords([conversation.pk])
    former = set(trajectory.steps.judged_by_former_gold().values_list("seq", flat=True))
    for row in replay_rows.rows(trajectory, gold=not hidden):
        extra = recorded.get(row["seq"], {})  # a step decided since is in the next export
        step, at = extra.pop("step", None), extra.pop("created_at", None)
        is_corrected = step and (row["seq"] in former or words.at(step, at) is not None)
        extra["before"] = replay_rows.stood_then(step, at) if is_corrected and not hidden else {}
        steps.append(row | (dict.fromkeys(extra) if hidden else extra))
    line = {
        "trajectory": trajectory.pk,
        "run": trajectory.run_id,
        "recipe": trajectory.run.recipe_name,
        "dataset": trajectory.run.dataset.name,
        "conversation": conversation.source_id,
        "split": conversation.split,
        "state": trajectory.state,
        "step_count": trajectory.step_count,
        "gold_hidden": hidden,
        "steps": steps,
    }
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"
