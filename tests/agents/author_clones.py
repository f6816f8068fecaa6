"""Small repositories in the form of the authors' ones, in words of our own, and where a tester keeps real clones."""

import json
import os
from pathlib import Path

import pytest

from tests.beside import needs

CLONES = os.environ.get("PROMPT_CLONES", "")

LOADER = """
import torch  # never imported
raise SystemExit("never run")

def format_input_generation(sample, candidate_ids, gt=-1, previous_k=5):
    tree = prune(sample)
    if previous_k is None:
        seq_input = ("{HEADER}\\n" f"Task: {sample['confirmed_task']}\\n")
    else:
        seq_input = (
            "{HEADER}\\n"
            f"Task: {sample['confirmed_task']}\\n"
            f"Previous actions:\\n"
        )
        if len(sample["previous_actions"]) > 0:
            for action in sample["previous_actions"][-previous_k:]:
                seq_input += f"{action}\\n"
        else:
            seq_input += "None\\n"
    seq_input += (
        "{QUESTION"
        "_GEN}"
    )
    return seq_input

def format_input_multichoice(sample, candidate_ids, gt=-1, previous_k=5):
    seq_input = (
        "{HEADER}\\n"
        f"Task: {sample['confirmed_task']}\\n"
        f"Previous actions:\\n"
    )
    if len(sample["previous_actions"]) > 0:
        for action in sample["previous_actions"][-previous_k:]:
            seq_input += f"{action}\\n"
    else:
        seq_input += "None\\n"
    seq_input += ("{QUESTION_MCQ}\\n\\n" "A. None of the above\\n")
    for idx, choice in enumerate(choices):
        seq_input += f"{chr(66 + idx)}. {choice[1]}\\n"
    return seq_input

class MultiChoiceDataset:
    def __init__(self):
        self.system_message = "You are a sailor.\\n\\n"
"""
MEMORY = """
def reflection_history(sample, tree_node, gt, seq_target):
    message_template = ("### Talk\\nPage: {}\\n\\nSailor: {}\\n\\nMate: {}\\n\\n### " + "Why")
    if gt == -1:
        output = "Nothing there fits."
    else:
        seq_input = ("{HEADER}\\n" f"Task: {sample['confirmed_task']}\\n" f"Previous actions:\\n")
        if len(sample["past_actions"]) > 0:
            for action in sample["past_actions"]:
                seq_input += f"{action}\\n"
        else:
            seq_input += "None\\n"
        seq_input += "And now?"
        output = engine.generate(messages, max_new_tokens=100)[0]
    return output
"""
RATIONALE = """
rationale = [
    {"role": "system", "content": "You " "explain."},
    {"role": "user", "content": "Why?"},
    {"role": "assistant", "content": 'Because of "it".'},
]
"""
SYNAPSE = """
def eval_sample(task_id, args, sample):
    if args.no_trajectory:
        exemplars = [
            [
                {"role": "user", "content": "Observation:\\n```\\n<a>\\n```"},
                {"role": "assistant", "content": "`CLICK [1]`"},
            ],
            [{"role": "user", "content": "Observation: b"}, {"role": "assistant", "content": "`CLICK [2]`"}],
        ]
    else:
        exemplars = [memory_mapping[name] for name in retrieved]
        exemplars = random.sample(memory_mapping, 3)
    sys_message = [{"role": "system", "content": "Sail on.\\n1. `CLICK [id]`"}]
    query = [{"role": "user", "content": f"Task: {sample['confirmed_task']}"}]
"""
MINIWOB = """
class Agent:
    def act(self, obs):
        sys_message = [{"role": "system", "content": "Write code."}]
"""
INDUCTION = """
parser.add_argument("--prefix", type=str, default=None)
parser.add_argument("--suffix", type=str, default="# Routines")
"""
WEBLINX = """
def get_system_prompt_template_for_llama_mc_concise():
    sys_prompt_template = (
        "Steer {{it}}: click(uid=[str]) ;\\n"
        "Said first and in {num_utterances}: {utterance_context} ;\\n"
        "{height}h x {width}w ;\\n"
        "{num_prev_turns} turns."
    )
    return sys_prompt_template

def get_candidate_prompt_template_for_llama():
    return "These: {candidate_str}\\n"

def get_final_user_message():
    return "Go."
"""
LLM_PROMPT = [
    {"role": "system", "content": "You are a sailor."},
    {"role": "user", "content": "'''\n<html> <a id=0> x </a> </html>\n'''\n\n{HEADER}\nTask: t"},
    {"role": "assistant", "content": "Answer: B.\nAction: CLICK"},
    {"role": "user", "content": ""},
]
FILES: dict[str, dict[str, str]] = {
    "mind2web": {
        "src/action_prediction/dataloader.py": LOADER,
        "src/action_prediction/llm_prompt.json": json.dumps(LLM_PROMPT),
    },
    "self-map": {
        "src/action_prediction/dataloader.py": LOADER,
        "src/action_prediction/memory.py": MEMORY,
        "src/action_prediction/prompts.py": RATIONALE,
    },
    "synapse": {"synapse/agents/mind2web.py": SYNAPSE, "synapse/agents/miniwob.py": MINIWOB},
    "awm": {
        "mind2web/memory.py": SYNAPSE,
        "mind2web/offline_induction.py": INDUCTION,
        "mind2web/prompt/instruction_action.txt": "Find routines.",
        "mind2web/prompt/one_shot_action.txt": "@@ for instance:\r\n[a]  {x} -> CLICK",
        "mind2web/prompt/instruction_abstract.txt": "Find routines in other words.",
        "mind2web/prompt/one_shot_abstract.txt": "An example.",
    },
    "weblinx": {"modeling/llama/processing.py": WEBLINX},
}


def clone(folder: Path, source: str, **changed: str) -> Path:
    """The repository of a source. `changed`: a file's last word (`dataloader`) -> its text, "" for none."""
    folder.mkdir(exist_ok=True)
    for path, text in FILES[source].items():
        written = changed.get(Path(path).stem, text)
        if written:
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(written.encode())
    return folder


def real(source: str) -> Path:
    """A clone of the authors' repository, where the tester has it."""
    folder = Path(CLONES) / source
    if not CLONES or not folder.is_dir():
        pytest.skip(needs("a clone", f"PROMPT_CLONES names no folder with {source}"))
    return folder
