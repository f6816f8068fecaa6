"""MiniWoB++-like episodes of our own in the public format: what tests of demonstrations need where the human ones are
not. Pages, names and gestures are invented here; the tasks are called after those of MiniWoB++ that they are like.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.annotations.miniwob_episode import Node, Recorder, body, element, find, set_value, words

EPISODES = 20  # of every task, one of them not solved
NAMES = ("Amara", "Bilal", "Chiara", "Dewi", "Emre", "Freya", "Goran", "Hana", "Ikram", "Jonas", "Kaito", "Lucia")
SUBMIT = 90

Demonstration = tuple[str, Recorder]  # instruction, and what was recorded of somebody following it


def submit_button(label: str = "Submit") -> Node:
    return element("BUTTON", SUBMIT, text=label, id="subbtn")


def text_fields(kinds: dict[str, str]) -> Node:
    """A form: label -> tag of the field after it; fields have the refs 11, 21, 31."""
    rows = [
        element("P", 10 * row, element("LABEL", 10 * row + 2, text=label), element(tag, 10 * row + 1))
        for row, (label, tag) in enumerate(kinds.items(), start=1)
    ]
    return body(element("DIV", 5, *rows, id="form"), submit_button())


def filled(page: Node, texts: list[str]) -> Recorder:
    """Somebody types one text into each field of a form, and submits."""
    recorder = Recorder(page)
    for row, text in enumerate(texts, start=1):
        recorder.click(10 * row + 1)
        recorder.type(10 * row + 1, text)
    recorder.click(SUBMIT)
    return recorder


def login(rng: random.Random) -> Demonstration:
    name, secret = rng.choice(NAMES).lower(), f"{rng.randrange(1000, 9999)}x"
    page = text_fields({"Account": "INPUT_text", "Secret": "INPUT_password"})
    return f'Sign in as "{name}" with the secret "{secret}".', filled(page, [name, secret])


def password(rng: random.Random) -> Demonstration:
    secret = f"k{rng.randrange(1000, 9999)}"
    page = text_fields({"Secret": "INPUT_password", "Again": "INPUT_password"})
    return f'Write the secret "{secret}" into both fields and submit.', filled(page, [secret, secret])


def text(rng: random.Random) -> Demonstration:
    name = rng.choice(NAMES)
    return f'Write "{name}" into the field and submit.', filled(text_fields({"Name": "INPUT_text"}), [name])


def date(rng: random.Random) -> Demonstration:
    day = f"20{rng.randrange(10, 30)}-{rng.randrange(1, 12):02}-{rng.randrange(1, 28):02}"
    recorder = Recorder(text_fields({"Day": "INPUT_date"}))
    recorder.click(11)
    recorder.key(11, 40, set_value(11, day))  # the browser's own editor: the value is there when it is whole
    recorder.click(SUBMIT)
    return f"Set the day to {day} and submit.", recorder


def film(rng: random.Random) -> Demonstration:
    wanted = [rng.choice(("drama", "comedy", "western")), rng.choice(NAMES), str(rng.randrange(1950, 2020))]
    page = text_fields({"Kind": "INPUT_text", "Made by": "INPUT_text", "Year": "INPUT_text"})
    return f"Find a {wanted[0]} made by {wanted[1]} in {wanted[2]}.", filled(page, wanted)


def boxes(kind: str, names: list[str]) -> Node:
    """Labels with a box or a radio button each; the buttons have the refs 10, 20, …"""
    labels = [
        element("LABEL", 10 * row + 1, element(kind, 10 * row, value=False, id=f"ch{row}"), words(name))
        for row, name in enumerate(names, start=1)
    ]
    return body(element("DIV", 5, *labels, id="boxes"), submit_button())


def checked(rng: random.Random) -> Demonstration:
    names = rng.sample(NAMES, 5)
    recorder = Recorder(boxes("INPUT_checkbox", names))
    wanted = rng.sample(range(5), 2)
    for row in (*wanted, wanted[0], wanted[0]):  # and one is taken back and given again
        box = 10 * row + 10
        recorder.click(box, lambda root, box=box: set_value(box, not find(root, box)["value"])(root))
    recorder.click(SUBMIT)
    return f"Check {names[wanted[0]]} and {names[wanted[1]]} and submit.", recorder


def option(rng: random.Random) -> Demonstration:
    names = rng.sample(NAMES, 4)
    recorder = Recorder(boxes("INPUT_radio", names))
    wanted = rng.randrange(4)
    recorder.click(10 * wanted + 10, set_value(10 * wanted + 10, True))
    recorder.click(SUBMIT)
    return f"Choose {names[wanted]} and submit.", recorder


def choice(rng: random.Random) -> Demonstration:
    names = rng.sample(NAMES, 6)
    options = [element("OPTION", 20 + place, text=name) for place, name in enumerate(names)]
    recorder = Recorder(body(element("SELECT", 10, *options, id="options"), submit_button()))
    wanted = rng.randrange(6)
    recorder.press(10)
    recorder.click(20 + wanted)
    recorder.click(SUBMIT)
    return f"Choose {names[wanted]} from the list and submit.", recorder


def dialog(rng: random.Random) -> Demonstration:
    closing = element("BUTTON", 11, text="Close", classes="titlebar-close")
    text = element("P", 12, text=f"{rng.choice(NAMES)} waits for you.")
    recorder = Recorder(body(element("DIV", 10, closing, text, id="dialog")))
    recorder.click(11, lambda root: find(root, 902)["children"].clear())
    return "Close the dialog.", recorder


def in_turn(task: str, labels: list[str], wanted: list[int]) -> Demonstration:
    """Somebody clicks one small thing after the other."""
    recorder = Recorder(body(*(element("SPAN", 10 + place, text=label) for place, label in enumerate(labels))))
    for place in wanted:
        recorder.click(10 + place)
    return task, recorder


def pie(rng: random.Random) -> Demonstration:
    letters = rng.sample("abcdefghkmnpqrst", 6)
    wanted = rng.randrange(1, 6)
    return in_turn(f'Open the wheel and click "{letters[wanted]}".', ["+", *letters[1:]], [0, wanted])


def board(rng: random.Random) -> Demonstration:
    return in_turn("Play x and win.", [""] * 9, rng.choice([[0, 1, 2], [0, 4, 8], [6, 4, 2]]))


def calendar(rng: random.Random) -> Demonstration:
    day = rng.randrange(1, 29)
    days = [element("A", 100 + number, text=str(number)) for number in range(1, 29)]
    page = body(element("INPUT_text", 10, id="picker"), element("DIV", 11, *days), submit_button())
    recorder = Recorder(page)
    recorder.click(10)
    recorder.click(100 + day, set_value(10, f"day {day}"))  # the page writes into the field: nobody typed
    recorder.click(SUBMIT)
    return f"Pick day {day} and submit.", recorder


TASKS: dict[str, Callable[[random.Random], Demonstration]] = {
    "login-user": login,
    "enter-password": password,
    "enter-text": text,
    "enter-text-dynamic": text,
    "enter-date": date,
    "multi-layouts": film,
    "click-checkboxes": checked,
    "click-checkboxes-transfer": checked,
    "click-option": option,
    "choose-list": choice,
    "click-dialog": dialog,
    "click-pie": pie,
    "tic-tac-toe": board,
    "choose-date-easy": calendar,
}


def episodes(task: str) -> Iterator[dict[str, Any]]:
    """The same ones every time; the last was not solved."""
    rng = random.Random(task)
    for number in range(EPISODES):
        instruction, recorder = TASKS[task](rng)
        reward = 1 if number < EPISODES - 1 else -1
        yield {
            "taskName": task,
            "utterance": instruction,
            "reward": reward / 2,
            "rawReward": reward,
            "states": recorder.states,
            "demoId": f"{task}_ours_d{number}",
            "collection": "ours",
        }


def write(folder: Path) -> Path:
    """A file per task, as the human demonstrations are laid out."""
    for task in TASKS:
        with (folder / f"{task}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(episode) + "\n" for episode in episodes(task))
    return folder
