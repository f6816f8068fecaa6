"""Dense markup ranking: one encoder for queries and documents, compared by their cosine (WebLINX; A3 and A5). Core.

The published way encodes every element of every step. Here, unless `exact` is set, a step is filtered, then refined:

1. An element whose text but for its bounding box was met before (on the step before, mostly) takes the vector of then:
   its box has moved since, so the score is an estimate. The texts that are new are encoded in bfloat16 where the
   processor multiplies that faster.
2. The k best are encoded again as they stand now, in float32, which shows how far their estimates were off. So are the
   elements near them, after bfloat16 has told those that still are near. "Near" is every element whose score comes
   within a margin of the k-th best; the margin is twice the largest error of such a score that the ranker has seen.

So the first k have the scores of the published computation; they are the same k as long as no other element's
estimate is off by more than that margin, which is measured in the benchmark and not proven. What stands below the
first k is ordered by estimates. `exact` encodes every element in float32; texts that stayed whole are still reused.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from agents.encoders import weights
from agents.encoders.embedding import Encoder, MeanPoolingEncoder
from agents.encoders.kept import VectorStore, kept
from agents.recipes.settings import Quirks, RankSettings
from agents.stages.rank.inputs import InputRanker, RankingInput, WeblinxText, element_input, in_order, weblinx_input
from agents.types import Observation, RankedCandidate
from agents.weblinx.documents import ElementLimit
from agents.weblinx.quirks import WeblinxQuirks
from agents.weblinx.tokens import FastTokenizer, SpanTokenizer

MAX_TOKENS = 512
CACHED_ELEMENTS = 50_000  # × two vectors of 384 floats: about 150 MB
SAFETY = 2.0  # × the largest error seen
UNSEEN = 0.02  # taken for the largest error as long as none was seen


@dataclass(frozen=True)
class DmrEncoder:
    """The published encoder (`exact`, float32) and, where the device has one, a faster and less exact one (`quick`,
    bfloat16)."""

    exact: Encoder
    quick: Encoder | None = None
    tokenizer: SpanTokenizer | None = None

    def kept_in(self, store: VectorStore) -> "DmrEncoder":
        """The same encoders, each with the store before it."""
        return replace(self, exact=kept(self.exact, store), quick=self.quick and kept(self.quick, store))


@lru_cache(maxsize=2)
def dmr_encoder(name: str) -> DmrEncoder:
    """Mean pooling over 512 tokens (A5.1), loaded once per process. ValueError when there is no such model."""
    folder = weights.source(name)
    exact = MeanPoolingEncoder(name, folder, max_tokens=MAX_TOKENS)
    quick = None
    if multiplies_bfloat16(exact.device):
        quick = MeanPoolingEncoder(name, folder, exact.device, MAX_TOKENS, "bfloat16")
    return DmrEncoder(exact, quick, FastTokenizer(exact.tokenizer))


def multiplies_bfloat16(device: str) -> bool:
    """Whether the device multiplies bfloat16 itself; where it does not, bfloat16 is slower than float32."""
    import torch

    if device != "cpu":
        return bool(torch.cuda.is_bf16_supported())
    able = torch.cpu.get_capabilities()
    return bool(able.get("amx_bf16") or able.get("avx512_bf16"))


def weblinx_text(settings: RankSettings, quirks: Quirks) -> WeblinxText:
    """The settings of queries and documents, from those of a recipe."""
    limit = ElementLimit(settings.element_limit or None, settings.element_limit_unit)
    return WeblinxText(settings.history_turns, limit, quirks.narrowed(WeblinxQuirks))


@dataclass
class _EncodedText:
    """The vectors of an element's text, of the version that was encoded last."""

    text: str
    quick: np.ndarray | None = None
    exact: np.ndarray | None = None

    def best(self) -> np.ndarray:
        """The exact vector, else the quick one. There always is one, as a text is remembered when it is encoded."""
        best = self.quick if self.exact is None else self.exact
        assert best is not None
        return best


@dataclass
class _ScoredStep:
    """A step that is being scored. `level` of an element's score: 0 estimated from an earlier text, 1 quick, 2
    exact."""

    input: RankingInput
    query: np.ndarray
    scores: np.ndarray = field(init=False)
    level: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.full(len(self.input.texts), -np.inf, dtype=np.float32)
        self.level = np.zeros(len(self.input.texts), dtype=np.int8)

    def best(self, level: int, count: int) -> np.ndarray:
        """The elements below `level` among the `count` elements with the best scores so far."""
        first = np.argsort(-self.scores, kind="stable")[:count]
        return first[self.level[first] < level]

    def near(self, level: int, top: int, margin: float) -> np.ndarray:
        """The elements below `level` that would be among the first `top` if their score were higher by `margin`."""
        done = self.scores[self.level >= level]
        if len(done) < top:  # no k-th score to compare with: too few elements
            return np.flatnonzero(self.level < level)
        kth = np.partition(done, -top)[-top]
        return np.flatnonzero((self.level < level) & (self.scores >= kth - margin))


class DmrRanker(InputRanker):
    """Ranks WebLINX turns by their documents, other observations by their element texts.

    `settings.top_k` elements of a step are ranked as published; `settings.exact` does so for all. Keeps the vectors of
    the elements met last, so steps of a conversation are best given in order.
    """

    def __init__(
        self, encoder: DmrEncoder, settings: RankSettings, quirks: Quirks, store: VectorStore | None = None
    ) -> None:
        """`store`: of vectors that were computed before."""
        self.encoder = encoder.kept_in(store) if store is not None else encoder
        self.top, self.exact = settings.top_k, settings.exact
        self.weblinx = weblinx_text(settings, quirks)
        self.encoded = {"quick": 0, "exact": 0}  # documents whose vectors were asked for
        self._levels = (1, 2) if encoder.quick else (2,)
        self._errors = {0: 0.0, 1: 0.0}  # level -> the largest of its scores
        self._known: OrderedDict[str, _EncodedText] = OrderedDict()

    def input(self, observation: Observation) -> RankingInput:
        """The query and the documents of one observation."""
        if observation.demo is None:
            return element_input(observation)
        return weblinx_input(observation, self.weblinx, self.encoder.tokenizer)

    def rank_inputs(self, steps: Sequence[RankingInput]) -> list[tuple[RankedCandidate, ...]]:
        return [in_order(step, row) for step, row in zip(steps, self.score(steps), strict=True)]

    def score(self, steps: Sequence[RankingInput]) -> list[np.ndarray]:
        """Cosine of query and document per candidate: one float32 array per step; exact for its `top` best."""
        queries = list(dict.fromkeys(step.query for step in steps))
        vectors = dict(zip(queries, self.encoder.exact.encode(queries), strict=True))
        work = [_ScoredStep(step, vectors[step.query]) for step in steps]
        if self.exact:
            self._encode(work, 2, lambda step: np.arange(len(step.scores)))
        else:
            self._estimate(work)
            self._refine(work)
        self._forget()
        return [step.scores for step in work]

    def _estimate(self, work: list[_ScoredStep]) -> None:
        """Score every element: by its text where that is encoded or new, else by its earlier text."""
        pairs = [pair for step in work for pair in zip(step.input.carried, step.input.texts, strict=True)]
        new = {carried: text for carried, text in pairs if carried not in self._known}
        likely = [(step, i, guess) for step in work for i, guess in self._likely(step)]
        moved = [(step.input.carried[i], step.input.texts[i]) for step, i, _ in likely]
        self._learn([*new.items(), *moved], self._levels[0])
        for step in work:
            known = [self._known[carried] for carried in step.input.carried]
            if known:
                step.scores = np.stack([entry.best() for entry in known]) @ step.query
                step.level = np.array([_level(*pair) for pair in zip(known, step.input.texts, strict=True)])
        for step, i, guess in likely:
            self._errors[0] = max(self._errors[0], abs(float(step.scores[i]) - guess))

    def _likely(self, step: _ScoredStep) -> list[tuple[int, float]]:
        """Elements that moved and whose estimate is just below the best ones, with their estimates. `_refine` would
        encode them later; encoding them together with the new texts is faster."""
        known = [self._known.get(carried) for carried in step.input.carried]
        pairs = zip(known, step.input.texts, strict=True)
        moved = [(i, entry.best()) for i, (entry, text) in enumerate(pairs) if entry and entry.text != text]
        if not self.encoder.quick or not self._errors[0] or len(moved) <= self.top:
            return []
        scores = np.stack([vector for _, vector in moved]) @ step.query
        kth = np.partition(scores, -self.top)[-self.top]
        near = (scores < kth) & (scores >= kth - self._margin(0))
        return [(moved[place][0], float(scores[place])) for place in np.flatnonzero(near)]

    def _refine(self, work: list[_ScoredStep]) -> None:
        """Encode the best elements exactly. Then, until none is left within the margin, encode those near them: quickly
        first, and exactly those that still are near."""
        self._encode(work, 2, lambda step: step.best(2, self.top))
        found = 1
        while found:
            found = sum(self._encode(work, level, self._near(level)) for level in self._levels)

    def _near(self, level: int) -> Callable[[_ScoredStep], np.ndarray]:
        margin = self._margin(self._levels.index(level))
        return lambda step: step.near(level, self.top, margin)

    def _margin(self, level: int) -> float:
        return SAFETY * (self._errors[level] or UNSEEN)

    def _encode(self, work: list[_ScoredStep], level: int, choose: Callable[[_ScoredStep], np.ndarray]) -> int:
        """Encode the chosen elements at `level` and score them, remembering the largest error of an estimate; how many
        there were."""
        places = [(step, i) for step in work for i in choose(step)]
        wanted = dict.fromkeys((step.input.carried[i], step.input.texts[i]) for step, i in places)
        vectors = self._learn(wanted, level)
        for step, i in places:
            score = float(vectors[step.input.texts[i]] @ step.query)
            if not self.exact:
                before = int(step.level[i])
                self._errors[before] = max(self._errors[before], abs(score - float(step.scores[i])))
            step.scores[i], step.level[i] = score, level
        return len(places)

    def _learn(self, wanted: Iterable[tuple[str, str]], level: int) -> dict[str, np.ndarray]:
        """(carried part, text) pairs -> vector of each text at `level`, from memory or encoded now."""
        name = "quick" if level == 1 else "exact"
        vectors: dict[str, np.ndarray] = {}
        missing: list[tuple[str, str]] = []
        for carried, text in wanted:
            known = self._known.get(carried)
            if known is None or known.text != text or getattr(known, name) is None:
                missing.append((carried, text))
            else:
                vectors[text] = getattr(known, name)
        texts = list(dict.fromkeys(text for _, text in missing if text not in vectors))
        if texts:
            encoder: Any = getattr(self.encoder, name)
            self.encoded[name] += len(texts)
            vectors |= dict(zip(texts, encoder.encode(texts), strict=True))
        for carried, text in missing:
            self._keep(carried, text, name, vectors[text])
        return vectors

    def _keep(self, carried: str, text: str, name: str, vector: np.ndarray) -> None:
        known = self._known.get(carried)
        if known is None or known.text != text:
            known = self._known[carried] = _EncodedText(text)
        setattr(known, name, vector)
        self._known.move_to_end(carried)

    def _forget(self) -> None:
        while len(self._known) > CACHED_ELEMENTS:
            self._known.popitem(last=False)


def _level(known: _EncodedText, text: str) -> int:
    if known.text != text:
        return 0
    return 1 if known.exact is None else 2
