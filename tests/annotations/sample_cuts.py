"""The sample's conversations as tasks that are to be cut where their turns begin."""

from collections.abc import Iterator

from annotations.sample.build import SCRIPTS, SITES, read_script, record
from annotations.work.decompose.cuts import SeenStep, face_of


def sample_conversations() -> Iterator[tuple[list[SeenStep], str, list[int]]]:
    """Of each conversation its steps, the words of its turns one after the other, and the first step of each turn."""
    for website in SITES:
        for script in read_script(SCRIPTS / f"{website}.txt"):
            turns = record(SITES[website], script)["turns"]
            firsts: list[int] = []
            steps: list[SeenStep] = []
            for turn in turns:
                firsts.append(len(steps))
                for action, said in zip(turn["actions"], turn["action_reprs"], strict=True):
                    done, face = action["operation"], face_of(action["cleaned_html"])
                    steps.append(SeenStep(len(steps), 0, done["op"], said, done["value"], face))
            yield steps, " ".join(turn["confirmed_task"] for turn in turns), firsts
