"""Small generated pages with instructions for them: what the learned planner is tested on."""

import random

from agents.learned.examples import Example
from agents.learned.train import lay_out, read, train
from agents.types import Observation, PastAction, RecordedStep

NAMES = ("Oban", "Mull", "Skye", "Iona", "Jura", "Islay", "Coll", "Tiree", "Rum", "Eigg", "Muck", "Canna")
KINDS = ("click", "type", "select", "press")


def page(names: list[str], options: list[str]) -> str:
    buttons = "\n".join(
        f'<button backend_node_id="{20 + i}" bounding_box_rect="0,{20 * i},80,18"><text>{name}</text></button>'
        for i, name in enumerate(names)
    )
    listed = "".join(f'<option backend_node_id="{60 + i}"><text>{o}</text></option>' for i, o in enumerate(options))
    return (
        f'<body backend_node_id="1"><div backend_node_id="2">{buttons}</div>'
        '<input backend_node_id="5" type="text" placeholder="Harbour" bounding_box_rect="0,200,80,18"/>'
        f'<select backend_node_id="6" name="boat" bounding_box_rect="0,220,80,18">{listed}</select></body>'
    )


def make_examples(count: int, seed: int = 0) -> list[Example]:
    """Steps of four kinds in turn: click a named button, type a quoted word, choose a named option, press Enter."""
    rng = random.Random(seed)
    return [_example(number, KINDS[number % len(KINDS)], rng) for number in range(count)]


def _example(number: int, kind: str, rng: random.Random) -> Example:
    names = rng.sample(NAMES, 8)
    buttons, options = names[:4], names[4:]
    word, past = rng.choice(NAMES), ()
    if kind == "click":
        place = rng.randrange(4)
        wanted, instruction = ("CLICK", "", str(20 + place)), f"Sail to {buttons[place]} now."
    elif kind == "type":
        wanted, instruction = ("TYPE", word, "5"), f'Fill "{word}" into the form.'
    elif kind == "select":
        value = rng.choice(options)
        wanted, instruction = ("SELECT", value, "6"), f"Take {value} from the menu."
    else:
        wanted, instruction = ("PRESS", "Enter", "5"), f'Fill "{word}" into the form and confirm by keyboard.'
        past = (PastAction(f"[textbox]  Harbour -> TYPE: {word}", "TYPE", "5", word),)
    operation, value, node_id = wanted
    observation = Observation(
        key=number,
        conversation=number,
        turn_index=0,
        step_index=len(past),
        website=kind,
        domain="",
        subdomain="",
        instruction=instruction,
        html=page(buttons, options),
        turn_actions=past,
    )
    done = PastAction(f"{operation} {value}", operation, node_id, value)
    return Example(RecordedStep(observation, done, (node_id,)), kind)


def learn(
    examples, encoder, settings, folder, on_progress=lambda phase, done, total: None, dev=(), until=lambda: False
) -> dict:
    """Read the examples and train on them."""
    laid_out = lay_out(read(examples, settings, on_progress, dev), encoder, folder, on_progress)
    return train(laid_out, settings, folder, on_progress, until)
