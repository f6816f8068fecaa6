"""What ten systems and people reach on MiniWoB++, task by task, as Synapse's paper prints it (sources.md M7.7), read
from a file and never typed into code. Core.

`data/synapse_miniwob.csv` holds the table: a task a line, a column a system, nothing where it prints "n/a".
"""

import csv
from collections.abc import Collection
from functools import cache
from pathlib import Path
from statistics import fmean

FILE = Path(__file__).parent / "data" / "synapse_miniwob.csv"
WHERE = "Synapse (Zheng et al. 2024), Table 3"
SYNAPSE = "Synapse"
# system -> how it came by what it can do, as the paper says it; in the order of the table
SYSTEMS = {
    SYNAPSE: "GPT-3.5 with exemplars, 50 episodes a task",
    "Human": "people, as measured for CC-Net",
    "RCI": "a language model with exemplars that corrects itself",
    "AdaPlanner": "a language model with exemplars that corrects itself",
    "Pix2Act": "1.3 million demonstrations and tree search",
    "Pix2Act (BC)": "the same, by demonstrations alone",
    "CC-Net": "2.4 million demonstrations and reinforcement learning",
    "CC-Net (BC)": "the same, by demonstrations alone",
    "WebGUM": "a language model trained on 346,827 demonstrations",
    "WebN-T5": "T5 trained on 12,000 demonstrations",
    "Others": "what was published before CC-Net, together",
}
CAUTION = (
    "Published numbers are of other versions of MiniWoB++ and its harnesses, of other seeds and numbers of episodes, "
    "and most of other models than ours: neither is a target for the other."
)


@cache
def printed() -> dict[str, dict[str, float]]:
    """Task -> system -> its mean success, in the table's order; systems that report nothing of a task are left out.
    Rewards below nothing count as they are printed."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            row["task"]: {system: float(row[system]) for system in SYSTEMS if row[system]}
            for row in csv.DictReader(file)
        }


def reported(system: str, tasks: Collection[str] | None = None) -> tuple[float | None, list[str]]:
    """(the mean over those of these tasks that the system reports, None without any; those tasks). All of its tasks
    where none are said."""
    found = [task for task, of_task in printed().items() if system in of_task and (tasks is None or task in tasks)]
    return (fmean(printed()[task][system] for task in found) if found else None), found
