"""Every recipe asks, to the character, what it asked before its words stood in a pack; a changed word is seen here."""

from dataclasses import replace

import pytest

from agents.prompts.marks import written
from agents.prompts.packs import Pack, checked, webnav
from agents.stages.registry import texts_of
from tests.agents.prompt_world import BUILT, MIXTURES, composed, digest, induced, recipe_named

# How many questions about nine steps, and the first digits of their SHA-256: of the code that held words as constants.
# Who changes words or layout on purpose takes new ones, and gives the pack a new version where words have changed.
ASKED = {
    "mindact": (9, "a85272824fb1ccbb"),
    "mindact-task": (9, "6a8a12a1085ba53d"),
    "mindact-car": (15, "1a846c1362aa6193"),
    "mindact-fixed": (9, "a85272824fb1ccbb"),
    "mindact-icl": (9, "e275aea02236a2a7"),
    "bare": (9, "da644d7b6983fa44"),
    "exemplar-environment": (9, "1d66591996cb95a8"),
    "synapse": (9, "b61a93b4353c7302"),
    "synapse-abstraction": (9, "3b98984708cf67e1"),
    "synapse-no-memory": (9, "b61a93b4353c7302"),
    "synapse-miniwob": (18, "a5360ebc88316a15"),
    "synapse-conversation": (9, "a85272824fb1ccbb"),
    "self-map": (12, "c938e31336c08bdf"),
    "self-map-mcq": (12, "2cf86ad35c7d159d"),
    "self-map-full-state": (12, "8f7f525f2efda981"),
    "self-map-no-rationale": (9, "c759995e9cdd2894"),
    "self-map-chronological": (12, "949db8ac52fcdfd1"),
    "awm": (9, "c3e10153a298da75"),
    "awm-online": (9, "c3e10153a298da75"),
    "mims": (18, "0469e9d8e0cfce67"),
    "weblinx-flan-t5": (3, "18201e7fdb0df469"),
    "weblinx-flan-t5-w10": (3, "a442bbfe789b3e1d"),
    "mindact-icl with all": (9, "f0d4193b0a31228c"),
    "self-map with shots": (12, "a7353fb4aab32f96"),
    "self-map-mcq with shots": (18, "21bd6309b5d137f8"),
    "awm with memory": (12, "202cbcfc1bbf6af7"),
    "synapse-abstraction with memory": (9, "a21f6af9c91a4411"),
    "wma": (45, "775bf3ce47fa3454"),
    "cot": (9, "da644d7b6983fa44"),
    "induction": (4, "feae6eb6563782e6"),
}


@pytest.mark.parametrize("name", [*BUILT, *MIXTURES])
def test_a_recipe_asks_what_it_asked(name) -> None:
    said = composed(recipe_named(name))
    assert (len(said), digest(said)) == ASKED[name]


def test_induction_asks_what_it_asked() -> None:
    assert (4, digest(induced())) == ASKED["induction"]


@pytest.mark.slow
def test_every_word_of_a_pack_that_a_recipe_reads_reaches_a_model() -> None:
    """Another pack, whose every text says its own name, changes what each recipe asks: nothing is read past it."""
    for name in [*BUILT, *MIXTURES]:
        recipe = recipe_named(name)
        other = str(composed(recipe, _named()))
        for text in texts_of(recipe):
            if text not in ("workflow_induction", "workflow_summary"):  # asked between the batches of a run
                assert f"<{text}>" in other, (name, text)


def _named() -> Pack:
    """Every text begins with its own name, as words of its first message."""
    texts = {}
    for name in webnav().texts:
        first, *rest = webnav().prompt(name).marked.messages
        words = first.words.replace("'''\n", f"'''\n<{name}>", 1) if name.startswith("page_shots") else first.words
        shown = words if f"<{name}>" in words else f"<{name}>{words}"
        texts[name] = written([replace(first, words=shown), *rest])
    return checked(Pack("named", 1, texts))
