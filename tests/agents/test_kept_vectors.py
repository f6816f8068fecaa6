"""Kept vectors and scores: they equal what would be computed, bit for bit, and there is an end to how many are kept."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agents.encoders import kept, packing
from agents.encoders.embedding import CachedEncoder, HashEncoder, MeanPoolingEncoder
from agents.encoders.kept import DictVectors, KeptEncoder
from agents.llm.vectors import COMPUTED, ComputedVectors, DatabaseVectors
from agents.models import TextEmbedding
from agents.recipes.settings import Quirks, RankSettings
from agents.retention import ComputedEmbeddings, TextEmbeddings
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.stages.rank.dmr import DmrEncoder, DmrRanker
from tests.agents.test_ranker_dmr import WORDS, Rounded, steps_of
from tests.tiny_models import tiny_cross_encoder, tiny_encoder

Steps = Sequence[tuple[str, list[str]]]


def texts(count: int, seed: int) -> list[str]:
    drawn = np.random.default_rng(seed)
    return [" ".join(drawn.choice(WORDS, size=int(drawn.integers(1, 30)))) for _ in range(count)]


STEPS: Steps = [("book a room", texts(150, 1)), ("show the map", texts(3, 2)), ("help", texts(40, 3))]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("bert"), WORDS, seed=4, width=128)


@pytest.fixture(scope="module")
def deberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("deberta"), WORDS, seed=4, deberta=True)


class Counting:
    """A ranker that counts the pairs that its model reads."""

    def __init__(self, folder: Path, store: kept.VectorStore | None = None, **settings: int) -> None:
        self.ranker, self.read = CrossEncoderRanker(folder, device="cpu", store=store, **settings), 0
        scores = self.ranker._score_pairs

        def counted(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
            self.read += len(pairs)
            return scores(pairs)

        self.ranker._score_pairs = counted  # type: ignore[method-assign]

    def scores(self, steps: Steps = STEPS) -> list[list[float]]:
        return [row.tolist() for row in self.ranker.score(steps)]


@pytest.mark.slow
@pytest.mark.parametrize("half", [False, True])
def test_a_pair_in_a_packed_batch_has_the_same_score_in_any_company(bert: Path, half: bool) -> None:
    ranker = CrossEncoderRanker(bert, device="cpu")
    if half:
        ranker.compute_in_bfloat16()
    pairs = [(query, text) for query, step in STEPS for text in step]
    together = ranker._score_pairs(pairs).tolist()
    assert [ranker._score_pairs([pair])[0] for pair in pairs[:50]] == together[:50]
    assert [score for at in range(0, len(pairs), 37) for score in ranker._score_pairs(pairs[at : at + 37])] == together
    assert len(set(together)) > 20


@pytest.mark.slow
def test_packed_scores_are_those_of_padded_ones(bert: Path) -> None:
    packed, padded = CrossEncoderRanker(bert, device="cpu"), CrossEncoderRanker(bert, device="cpu")
    padded._model.set_attn_implementation("eager")
    padded._packs = False
    assert packed._packs
    for ours, theirs in zip(packed.score(STEPS), padded.score(STEPS), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_scores_are_the_same_whatever_was_known_before(kind: str, request: pytest.FixtureRequest) -> None:
    folder, store = request.getfixturevalue(kind), DictVectors()
    plain, cold = Counting(folder), Counting(folder, store)
    wanted = plain.scores()
    cold.scores(STEPS[1:2])
    assert cold.scores() == wanted
    assert cold.read == plain.read == len({(query, text) for query, step in STEPS for text in step})
    warm = Counting(folder, store)
    assert warm.scores() == wanted
    assert warm.read == 0


@pytest.mark.slow
def test_scores_of_other_weights_lengths_or_texts_are_not_taken(bert: Path, tmp_path: Path) -> None:
    store = DictVectors()
    Counting(bert, store).scores()
    other = Counting(tiny_cross_encoder(tmp_path / "other", WORDS, seed=5, width=128), store)
    assert other.scores() != Counting(bert).scores()
    assert Counting(bert, store, max_length=8).scores() != Counting(bert, store).scores()
    half = Counting(bert, store)
    half.ranker.compute_in_bfloat16()
    half.scores()
    assert half.read == other.read > 0
    asked = Counting(bert, store)
    asked.scores([("book a rooms", STEPS[0][1]), (STEPS[1][0], [*STEPS[1][1], "one more"])])
    assert asked.read == len(set(STEPS[0][1])) + len({*STEPS[1][1], "one more"})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> MeanPoolingEncoder:
    told = [text for step in steps_of(4, 60) for text in (*step.texts, step.query)]
    folder = tiny_encoder(tmp_path_factory.mktemp("encoder"), told, seed=1)
    return MeanPoolingEncoder("tiny", folder, "cpu", max_tokens=512)


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.0, 0.01])
def test_dense_ranking_is_the_same_whatever_was_known_before(
    encoder: MeanPoolingEncoder, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    hidden = packing.hidden_states
    monkeypatch.setattr(packing, "hidden_states", lambda model, rows: read.append(len(rows)) or hidden(model, rows))
    steps, both = steps_of(4, 60), DmrEncoder(encoder, Rounded(encoder, error) if error else None)

    def ranked(store: kept.VectorStore | None) -> tuple[list[list[float]], int]:
        read.clear()
        ranker = DmrRanker(both, RankSettings(top_k=5), Quirks.of("faithful"), store)
        return [ranker.score([step])[0].tolist() for step in steps], sum(read)

    store = DictVectors()
    wanted, all_read = ranked(None)
    KeptEncoder(encoder, store).encode([*steps[2].texts[::3], steps[0].query])
    cold, once = ranked(store)
    warm, again = ranked(store)
    assert cold == warm == wanted
    assert all_read > once > again
    assert (again == 0) is (error == 0), "an encoder whose vectors may depend on their neighbours is not kept"


def test_only_encoders_that_read_texts_apart_are_kept(encoder: MeanPoolingEncoder) -> None:
    assert isinstance(kept.kept(encoder, DictVectors()), KeptEncoder)
    for other in (HashEncoder(), CachedEncoder(encoder)):
        assert kept.kept(other, DictVectors()) is other
    padded = MeanPoolingEncoder("tiny", encoder._folder, "cpu")
    padded.reads_apart = False
    assert kept.kept(padded, DictVectors()) is padded
    assert KeptEncoder(encoder, DictVectors()).encode([]).shape == (0, encoder.dimensions)


def numbered(start: int, count: int) -> dict[str, np.ndarray]:
    return {f"{number:064}": np.array([number], dtype=np.float32) for number in range(start, start + count)}


@pytest.mark.django_db
def test_the_oldest_of_what_was_computed_go_and_nothing_that_was_paid_for() -> None:
    DatabaseVectors().put_many("paid", numbered(0, 30))
    store = ComputedVectors(most=20)
    for start in range(100, 160, 10):
        store.put_many("computed", numbered(start, 10))
    left = TextEmbedding.objects.computed().order_by("pk").values_list("key", flat=True)
    assert [int(key) for key in left] == list(range(140, 160))
    assert TextEmbedding.objects.paid().count() == 30
    assert store.get_many([f"{150:064}", f"{100:064}"]) == {f"{150:064}": np.array([150], dtype=np.float32)}


@pytest.mark.django_db
def test_each_kind_is_kept_for_its_own_days(settings: pytest.FixtureRequest) -> None:
    DatabaseVectors().put_many("paid", numbered(0, 3))
    COMPUTED.put_many("computed", numbered(10, 2))
    TextEmbedding.objects.update(created_at="2020-01-01T00:00Z")
    settings.RETENTION_DAYS = {"embeddings": 0, "computed_vectors": 30}  # type: ignore[attr-defined]
    assert (TextEmbeddings().forget(), ComputedEmbeddings().forget()) == (0, 2)
    assert set(TextEmbedding.objects.values_list("model", flat=True)) == {"paid"}
