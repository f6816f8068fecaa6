"""What recipes need to run: tiny weights, an endpoint, workflows. The weights are real models that know little."""

import re
from pathlib import Path
from typing import Any

from agents.encoders.embedding import HashEncoder
from agents.memory.build import embed_workflows
from agents.models import Workflow
from agents.words.shown_page import OURS
from annotations.models import Dataset
from tests.agents.llm_server import prompt_text
from tests.tiny_models import tiny_causal, tiny_cross_encoder, tiny_encoder, tiny_t5

TEXTS = [
    OURS.header,
    OURS.question_multichoice,
    OURS.question_generation,
    "Action: CLICK TYPE SELECT Value: Element: id=0 button input",
]
ANSWERS = {  # the first words of a prompt -> how the scripted endpoint answers
    "A person talks to an agent": "Book the cheaper one on Casaverde.",
    "You guide a person": "Objective: Given that you are on the first page, the next objective is to open a form.",
    "You explain what an agent did": "Rationale: The button carries out what was asked.",
    "You know how websites behave": "[Rationale] It is a button.\n[Next State] The expected effect is that it opens.",
    "You judge single actions": "[Rationale] It helps.\n[Score]: 4",
    "Below are tasks": "## Open a form\nGiven that you are on the first page, this workflow opens a form.\n"
    "[link]  {name of the form} -> CLICK\n[button]  Continue -> CLICK",
}


def tiny_weights(folder: Path) -> dict[str, Path]:
    """An encoder, a cross encoder, a seq2seq and a causal planner, untrained."""
    return {
        "encoder": tiny_encoder(folder / "encoder", TEXTS, width=16, layers=1),
        "cross_encoder": tiny_cross_encoder(folder / "ranker", TEXTS, width=16, layers=1),
        "seq2seq": tiny_t5(folder / "planner", TEXTS, width=16, layers=1, vocabulary=400),
        "causal": tiny_causal(folder / "causal", TEXTS, width=16, layers=1, vocabulary=400),
    }


def samples(body: dict[str, Any]) -> list[str]:
    """As many answers of the scripted endpoint as were asked for; a third of them name another element."""
    count = body.get("n", 1)
    others = count // 3
    return [reply(body)] * (count - others) + [reply(body, 0)] * others


def reply(body: dict[str, Any], place: int = -1) -> str:
    """A scripted endpoint: always a well-formed answer to what is asked. `place`: of the element that it names."""
    text = prompt_text(body)
    for start, answer in ANSWERS.items():
        if start in text:
            return answer
    last = body["messages"][-1]["content"]
    if OURS.question_multichoice in str(last):
        return "B.\nAction: CLICK\n"
    ids = re.findall(r" id=([\w-]+)", str(last))
    return f"Action: `CLICK [{ids[place]}]` ([button]  Continue -> CLICK)" if ids else "None"


def make_workflows(dataset: Dataset) -> list[Workflow]:
    """One workflow of the dataset's first website and one that belongs to none."""
    website = dataset.websites.order_by("pk").first()
    texts = ["opens the form of a house", "sorts the list of results"]
    rows = [
        Workflow.objects.create(
            dataset=dataset,
            website=site,
            name=text,
            description=f"Given that you are on a page, this {text}.",
            body="[link]  {name} -> CLICK\n[button]  Go -> CLICK",
            model_name="test-model",
        )
        for site, text in zip((website, None), texts, strict=True)
    ]
    embed_workflows(rows, HashEncoder())
    return rows
