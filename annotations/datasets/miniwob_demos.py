"""Read human demonstrations of MiniWoB++ tasks (`stanfordnlp/miniwob-plusplus-demos`).

Two layouts: one file per task with one JSON object per line (`TASK.jsonl`, `.jsonl.xz`, `.jsonl.gz`), and the
original folders with one `.json` or `.json.gz` per episode. One episode becomes one conversation with one
turn, when the task was solved and the steps are certain; else it is skipped with a
reason.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.datasets.files import ArchiveError, data_files, open_stream
from annotations.datasets.json_stream import elements
from annotations.datasets.miniwob_checks import episode_problem, page_problem
from annotations.datasets.miniwob_dom import MiniwobElement, PageMaker, describe
from annotations.datasets.miniwob_events import DraftStep, Unconvertible, collapse
from annotations.datasets.records import (
    BadRecord,
    CandidateRecord,
    ConversationRecord,
    Readable,
    SkippedRecord,
    StepRecord,
    TurnRecord,
)
from annotations.dom.tree import clean_text

LINE_SUFFIXES = (".jsonl", ".jsonl.xz", ".jsonl.gz")
SUFFIXES = (*LINE_SUFFIXES, ".json", ".json.gz", ".json.xz")
COUNTS_FILE = "index.json"  # lies beside the tasks and counts them; holds no episode
DOMAIN = "miniwob"
MAX_EPISODE_BYTES = 64 << 20  # the largest recorded one has 15 MB
NOT_SOLVED = "task not solved"
NO_STATES = "no states"
LOST_WORD = "a word is missing in the instruction"
GAP = re.compile(r"\S {2,}\S")  # "Click on the  colored box.": where the recorder lost the colour
SOURCE_FIELDS = ("collection", "fields", "rawReward", "reward")  # kept for export


def read(path: Path) -> Iterator[Readable]:
    """Every episode below `path`, a file or a folder, sorted by file name and then line; one in memory at a time.

    Raises FileNotFoundError when there is nothing at `path`.
    """
    files = data_files(path, SUFFIXES)
    if not files:
        yield BadRecord(path.name, "", "", f"expected files ending in {', '.join(SUFFIXES)}, found none")
    for file in files:
        if file.name != COUNTS_FILE:
            yield from _read_file(file, file.name if file == path else file.relative_to(path).as_posix())


def _read_file(file: Path, name: str) -> Iterator[Readable]:
    try:
        with open_stream(file) as stream:
            for item in elements(stream, MAX_EPISODE_BYTES):
                if item.error:
                    yield BadRecord(name, item.place, "", item.error)
                else:
                    yield _readable(item.value, file, name, item.place)
    except ArchiveError as error:
        yield BadRecord(name, "", "", str(error))
    except OSError as error:
        yield BadRecord(name, "", "", f"cannot be read: {error.strerror or error}")


def _readable(episode: Any, file: Path, name: str, place: str) -> Readable:
    """One episode as a record, or why it is none; `name` and `place` say where it was found."""
    problem = episode_problem(episode)
    if problem:
        return BadRecord(name, place, *problem)
    if episode["rawReward"] != 1:
        return SkippedRecord(name, place, NOT_SOLVED)
    if not episode["states"]:
        return SkippedRecord(name, place, NO_STATES)
    if GAP.search(episode["utterance"]):
        return SkippedRecord(name, place, LOST_WORD)
    try:
        return _conversation(episode, file, place)
    except Unconvertible as reason:
        return SkippedRecord(name, place, str(reason))
    except RecursionError:
        return BadRecord(name, place, "states", "a page is nested too deeply")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # Where every field is as it should be, the record ends here all the same, and not the file.
        odd = f"cannot be told what was done: {type(error).__name__} {error}"
        return BadRecord(name, place, *(page_problem(episode["states"]) or ("states", odd)))


def _conversation(episode: dict[str, Any], file: Path, place: str) -> ConversationRecord:
    """Raises `Unconvertible`, or KeyError, TypeError, ValueError or AttributeError for malformed states."""
    states = episode["states"]
    task, demo_id = _names(episode, file, place)
    acts = collapse(states)
    maker = PageMaker()
    steps = [_step(act, maker, f"{demo_id}_{index}") for index, act in enumerate(acts)]
    steps[-1] = replace(steps[-1], html_after=maker.page(states[-1]["dom"]).html)
    turn = TurnRecord(source_id=demo_id, instruction=episode["utterance"], steps=tuple(steps))
    return ConversationRecord(
        source_id=demo_id,
        website=task,
        domain=DOMAIN,
        subdomain=DOMAIN,
        turns=(turn,),
        split=split_of(task, demo_id),
        extra={name: episode[name] for name in SOURCE_FIELDS if name in episode},
    )


def _names(episode: dict[str, Any], file: Path, place: str) -> tuple[str, str]:
    """Task and id of an episode; where the record lacks them they follow from its folder, file and line."""
    name = file.name.partition(".")[0]
    if file.name.lower().endswith(LINE_SUFFIXES):
        task, own = name, f"{name}_{place.removeprefix('line ')}"
    else:
        task = file.parent.name
        own = name if name.startswith(f"{task}_") else f"{task}_{name}"
    return episode.get("taskName") or task, episode.get("demoId") or own


def split_of(task: str, demo_id: str) -> str:
    """Split of an episode: one task in five is unseen in training."""
    if _hash(task) % 5 == 0:
        return "test_website"
    return {0: "test_task", 1: "dev"}.get(_hash(demo_id) % 10, "train")


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def _step(act: DraftStep, maker: PageMaker, source_id: str) -> StepRecord:
    page = maker.page(act.page)
    target = page.of(act.target)
    # What agents are not offered is no answer, and would tell them that the right one is near.
    same = [element for element in map(page.of, act.same) if element.is_candidate]
    acceptable = {target.node_id, *(element.node_id for element in same)}
    value = clean_text(act.value)
    return StepRecord(
        source_id=source_id,
        operation=act.operation,
        value=value,
        action_repr=f"{describe(act.target, target, act.page)} -> {act.operation}{value and f': {value}'}",
        html=page.html,
        positives=(_candidate(target, True), *(_candidate(element, False) for element in same)),
        negatives=tuple(
            _candidate(element)
            for element in page.elements.values()
            if element.is_candidate and element.node_id not in acceptable
        ),
        extra={"time": act.time} | ({"point": list(act.point)} if act.point else {}),
    )


def _candidate(element: MiniwobElement, is_target: bool | None = None) -> CandidateRecord:
    return CandidateRecord(element.node_id, element.tag, element.attributes_json(), is_target, is_target)
