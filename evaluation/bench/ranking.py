"""Dense markup ranking over a conversation: ours, against encoding every element of every step.

The scene: the sample's WebLINX documents; from step to step a tenth of the elements is replaced, and the page is
scrolled, so that every bounding box changes and no whole document is met twice.
"""

import random
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from agents.encoders.weights import MINILM, source
from agents.recipes.settings import Quirks, RankSettings
from agents.stages.rank.dmr import DmrEncoder, DmrRanker, dmr_encoder
from agents.stages.rank.inputs import RankingInput
from agents.types import RankedCandidate
from agents.weblinx.documents import documents, ranked_turns, render
from agents.weblinx.query import dmr_query
from agents.weblinx.turns import Demo
from evaluation.bench.demos import sample_demos
from evaluation.bench.measures import Goal, Measure
from evaluation.bench.scratch import BenchSetting

TOP = 10
BATCH = 64  # of the baseline
TIE = 1e-5  # cosines this close may change places: sums of floats depend on the batch
QueryFields = dict[str, str]
T = TypeVar("T")
NOTE = (
    "ranking: {steps} steps × {elements} elements, a tenth new at every step, every box moved; elements of all steps ÷ "
    "seconds, step by step. Baseline: sentence-transformers encodes the query and every element of every step in "
    "batches of 64, 512 tokens, float32, then cosine. All texts new: ours without anything known from earlier steps"
)


def measure(setting: BenchSetting) -> list[Measure]:
    """Elements per second of both, and the share of steps with the same first ten."""
    steps, elements = (3, 40) if setting.quick else (12, 600)
    scene = _scene(sample_demos(setting), steps, elements)
    encoder = dmr_encoder(MINILM)
    ours, baseline = _ranker(encoder), _baseline()
    warm_up = RankingInput("warm", ("a",), ("up",), ("up",), ("",))
    baseline(warm_up)
    ours.rank_inputs([warm_up])
    ours_seconds = new_seconds = baseline_seconds = 0.0
    same = 0
    for number, step in enumerate(scene, 1):
        setting.say(f"ranking: step {number} of {steps}")
        expected, seconds = _timed(partial(baseline, step))
        baseline_seconds += seconds
        (found,), seconds = _timed(partial(ours.rank_inputs, [step]))
        ours_seconds += seconds
        (alone,), seconds = _timed(partial(_rank_anew, encoder, step))
        new_seconds += seconds
        same += _same_first(found, step, expected) and _same_first(alone, step, expected)
    name, note = f"ranking {steps} × {elements} elements", NOTE.format(steps=steps, elements=elements)
    total = len(scene) * elements
    rates = [total / seconds for seconds in (ours_seconds, new_seconds, baseline_seconds)]
    return [
        Measure(f"{name}, 90 % carried over", rates[0], "/s", rates[2], Goal(">=", 8, "ratio"), note),
        Measure(f"{name}, all texts new", rates[1], "/s", rates[2], note=note),
        Measure(f"{name}, same first {TOP}", same / len(scene), "", goal=Goal(">=", 1), note=note),
    ]


def _ranker(encoder: DmrEncoder) -> DmrRanker:
    return DmrRanker(encoder, RankSettings(kind="dmr", model=MINILM, top_k=TOP), Quirks.of("faithful"))


def _baseline() -> Callable[[RankingInput], np.ndarray]:
    from sentence_transformers import SentenceTransformer, util

    model = SentenceTransformer(str(source(MINILM)))
    model.max_seq_length = 512

    def rank(step: RankingInput) -> np.ndarray:
        texts = [step.query, *step.texts]
        vectors = model.encode(texts, batch_size=BATCH, show_progress_bar=False, convert_to_tensor=True)
        return util.cos_sim(vectors[0], vectors[1:])[0].cpu().numpy()

    return rank


def _rank_anew(encoder: DmrEncoder, step: RankingInput) -> list[tuple[RankedCandidate, ...]]:
    return _ranker(encoder).rank_inputs([step])


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def _same_first(found: tuple[RankedCandidate, ...], step: RankingInput, expected: np.ndarray) -> bool:
    """Whether both name the same elements in the same order; equal scores may change places."""
    scores = dict(zip(step.node_ids, expected.tolist(), strict=True))
    best = sorted(scores.values(), reverse=True)
    return all(abs(scores[found[place].node_id] - best[place]) <= TIE for place in range(TOP))


def _scene(demos: list[Demo], steps: int, elements: int) -> list[RankingInput]:
    rng = random.Random(0)
    supply = _supply(demos, rng)
    queries = [dmr_query(demo, turn) for demo in demos for turn in ranked_turns(demo)][:steps]
    page = [next(supply) for _ in range(elements)]
    scene = []
    for number, query in enumerate(queries):
        for place in rng.sample(range(elements), elements // 10) if number else ():
            page[place] = next(supply)
        fields = [element | {"bbox": _moved(element["bbox"], 37 * number)} for _, element in page]
        carried = tuple(render({name: text for name, text in f.items() if name != "bbox"}) for f in fields)
        uids = tuple(uid for uid, _ in page)
        scene.append(RankingInput(query, uids, tuple(map(render, fields)), carried, carried))
    return scene


def _supply(demos: list[Demo], rng: random.Random) -> Iterator[tuple[str, QueryFields]]:
    """The distinct elements of all pages in random order, again and again without end, each time under a new uid."""
    found: dict[str, tuple[str, QueryFields]] = {}
    for demo in demos:
        for turn in ranked_turns(demo):
            for doc in documents(demo, turn):
                plain = render({k: v for k, v in doc.fields.items() if k != "bbox"}).replace(doc.uid, "")
                found.setdefault(plain, (doc.uid, dict(doc.fields)))
    elements = list(found.values())
    rng.shuffle(elements)
    while True:
        for old, fields in elements:
            uid = f"{rng.getrandbits(32):08x}-{rng.getrandbits(16):04x}-{rng.getrandbits(16):04x}"
            yield uid, fields | {"attributes": fields["attributes"].replace(old, uid)}


def _moved(box: str, pixels: int) -> str:
    """The bounding box after scrolling down by `pixels`."""
    return re.sub(r"y=(\S+)", lambda match: f"y={round(float(match[1]) - pixels, 1)}", box)
