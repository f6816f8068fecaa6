"""The snapshot store: every page once, small, and read in one query."""

import random
import string
from datetime import timedelta

import pytest

from annotations.corpus.statistics import dataset_stats, token_count
from annotations.datasets.records import ImageRecord
from annotations.models import Dataset, PageDictionary, Snapshot, Step
from annotations.models.corpus.pages import compress, decompress, digest
from annotations.pages import store as page_store
from annotations.pages.store import (
    SAMPLE_PAGES,
    PageStore,
    PageTooLarge,
    best_dictionary,
    forget_unused_pages,
    store_screenshot,
)
from tests import factories

FRAME = "".join(f'<li class="item-{n}" backend_node_id="{n}">Department of {n * 7919 % 1000}</li>' for n in range(150))


def similar_pages(count: int) -> list[str]:
    """Pages of one site: the same frame, their own content."""
    words = random.Random(7)
    return [f"<html><ul>{FRAME}</ul><p>{letters(words, 300)}</p></html>" for _ in range(count)]


def random_pages(count: int) -> list[str]:
    """Pages that have nothing in common."""
    return [letters(random.Random(seed), 3000) for seed in range(count)]


def letters(source: random.Random, length: int) -> str:
    return "".join(source.choices(string.ascii_letters + string.digits, k=length))


def pairs(pages: list[str]) -> list[tuple[str, int]]:
    return [(page, 5) for page in pages]


@pytest.mark.parametrize("seed", range(20))
def test_decompressing_gives_back_what_was_compressed(seed: int) -> None:
    source = random.Random(seed)
    data = source.randbytes(source.choice([0, 1, 100, 50_000])) * source.choice([1, 7])
    dictionary = source.choice([None, source.randbytes(2000), FRAME.encode()])
    assert decompress(compress(data, dictionary), dictionary) == data


def test_a_dictionary_is_found_for_pages_that_share_their_frame() -> None:
    pages = [page.encode() for page in similar_pages(16)]
    dictionary = best_dictionary(pages)
    assert dictionary is not None
    plain = sum(len(compress(page)) for page in pages)
    assert len(dictionary) + sum(len(compress(page, dictionary)) for page in pages) < 0.85 * plain


def test_no_dictionary_is_found_for_pages_without_likeness() -> None:
    assert best_dictionary([page.encode() for page in random_pages(16)]) is None


def test_no_dictionary_is_found_for_one_page() -> None:
    assert best_dictionary([b"<html>a page</html>"]) is None


def test_a_page_too_large_to_keep_in_memory_is_no_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_store, "LARGEST_PAGE", 100)
    pages = [page.encode() for page in similar_pages(16)]
    assert best_dictionary(pages) not in pages


@pytest.mark.django_db
def test_identical_pages_are_stored_once() -> None:
    one, other = factories.make_website(), factories.make_website()
    store = PageStore()
    first = store.store(one, pairs(["<a/>", "<b/>", "<a/>"]))
    second = store.store(other, pairs(["<a/>", "<c/>"]))
    assert first["<a/>"].pk == second["<a/>"].pk
    assert Snapshot.objects.count() == 3


@pytest.mark.django_db
def test_a_page_is_addressed_by_its_bytes_and_knows_its_sizes() -> None:
    page = "<p>é</p>" * 100
    (row,) = PageStore().store(factories.make_website(), [(page, 100)]).values()
    row = Snapshot.objects.get(pk=row.pk)
    assert (row.sha256, row.raw_size, row.node_count) == (digest(page.encode()), 900, 100)
    assert row.stored_size == len(bytes(row.data)) < row.raw_size
    assert row.html == page


@pytest.mark.django_db
def test_reading_a_page_is_one_query_with_and_without_a_dictionary(django_assert_num_queries) -> None:
    site, pages = factories.make_website(), similar_pages(SAMPLE_PAGES)
    rows = PageStore().store(site, pairs(pages))
    assert PageDictionary.objects.count() == 1
    plain = factories.make_snapshot("<html><p backend_node_id='1'/></html>")
    with django_assert_num_queries(1):
        assert Snapshot.objects.with_content().get(pk=rows[pages[3]].pk).html == pages[3]
    with django_assert_num_queries(1):
        assert Snapshot.objects.with_content().get(pk=plain.pk).html.startswith("<html>")


@pytest.mark.django_db
def test_storing_known_pages_is_one_query(django_assert_num_queries) -> None:
    site, store = factories.make_website(), PageStore()
    store.store(site, pairs(["<a/>", "<b/>"]))
    with django_assert_num_queries(1):
        store.store(site, pairs(["<a/>", "<b/>"]))


@pytest.mark.django_db
def test_similar_pages_get_a_dictionary_and_shrink_and_stay_readable() -> None:
    site, store, pages = factories.make_website(), PageStore(), similar_pages(SAMPLE_PAGES + 4)
    for start in range(0, len(pages), 4):
        store.store(site, pairs(pages[start : start + 4]))
    site.refresh_from_db()
    rows = Snapshot.objects.with_content().order_by("pk")
    assert {row.dictionary for row in rows} == {site.page_dictionary}
    assert {row.html for row in rows} == set(pages)
    plain = sum(len(compress(page.encode())) for page in pages)
    assert sum(row.stored_size for row in rows) + site.page_dictionary.size < plain
    assert all(row.stored_size == len(bytes(row.data)) for row in rows)


@pytest.mark.django_db
def test_pages_without_likeness_get_no_dictionary() -> None:
    site, pages = factories.make_website(), random_pages(SAMPLE_PAGES)
    rows = PageStore().store(site, pairs(pages))
    assert not PageDictionary.objects.exists()
    assert Snapshot.objects.get(pk=rows[pages[0]].pk).html == pages[0]


@pytest.mark.django_db
def test_too_few_pages_get_no_dictionary() -> None:
    PageStore().store(factories.make_website(), pairs(similar_pages(SAMPLE_PAGES - 1)))
    assert not PageDictionary.objects.exists()


@pytest.mark.django_db
def test_a_later_import_uses_the_dictionary_of_the_website() -> None:
    site, pages = factories.make_website(), similar_pages(SAMPLE_PAGES + 1)
    PageStore().store(site, pairs(pages[:-1]))
    (row,) = PageStore().store(site, pairs(pages[-1:])).values()
    assert row.dictionary == site.page_dictionary is not None


@pytest.mark.django_db
def test_a_page_above_the_limit_is_refused_before_anything_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_store, "MAX_PAGE_BYTES", 10)
    with pytest.raises(PageTooLarge, match="11 bytes; at most 10"):
        PageStore().store(factories.make_website(), pairs(["<a/>", "x" * 11]))
    assert not Snapshot.objects.exists()


@pytest.mark.django_db
def test_a_screenshot_is_stored_once() -> None:
    image = ImageRecord("image/png", factories.PNG)
    assert store_screenshot(image) == store_screenshot(image)


def dataset_of(pages: list[str], repeat: int = 1) -> Dataset:
    """A dataset whose steps show these pages one after the other, each `repeat` times."""
    dataset = factories.make_dataset()
    conversation = factories.make_conversation(turns=1, steps=0, dataset=dataset)
    rows = PageStore().store(conversation.website, pairs(pages))
    turn = conversation.turns.get()
    Step.objects.bulk_create(
        Step(turn=turn, index=index, source_id=str(index), operation="CLICK", snapshot=rows[page])
        for index, page in enumerate(pages * repeat)
    )
    return dataset


@pytest.mark.django_db
def test_bytes_are_raw_as_imported_and_stored_with_the_dictionary() -> None:
    pages = similar_pages(SAMPLE_PAGES)
    dataset = dataset_of(pages, repeat=3)
    sizes = dataset_stats(dataset)["bytes"]
    each = sum(len(page.encode()) for page in pages)
    stored = sum(len(bytes(row.data)) for row in Snapshot.objects.all())
    dictionary = PageDictionary.objects.get().size
    assert sizes == {
        "raw": 3 * each,
        "pages": 48,
        "distinct": each,
        "distinct_pages": 16,
        "stored": stored + dictionary,
        "dictionaries": dictionary,
        "ratio": round(3 * each / (stored + dictionary), 2),
    }


@pytest.mark.django_db
def test_pages_of_other_datasets_do_not_count() -> None:
    dataset_of(random_pages(3))
    assert dataset_stats(dataset_of(["<a>one</a>"]))["bytes"]["raw"] == len("<a>one</a>")


@pytest.mark.django_db
def test_the_next_page_as_page_after_is_counted_once() -> None:
    dataset = dataset_of(["<a>one</a>", "<a>two</a>"])
    first, second = Step.objects.order_by("index")
    Step.objects.filter(pk=first.pk).update(snapshot_after=second.snapshot)
    assert dataset_stats(dataset)["bytes"]["raw"] == 20
    Step.objects.filter(pk=second.pk).update(snapshot_after=factories.make_snapshot("<c/>"), keeps_page_after=True)
    assert dataset_stats(dataset)["bytes"]["raw"] == 24


@pytest.mark.django_db
def test_counts_and_means_per_split() -> None:
    dataset = factories.make_dataset()
    site = factories.make_website(dataset)
    factories.make_conversation(turns=3, steps=2, dataset=dataset, website=site)
    factories.make_conversation(turns=1, steps=2, dataset=dataset, website=site)
    factories.make_conversation(turns=1, steps=1, dataset=dataset, split="test_task")
    stats = dataset_stats(dataset)
    assert list(stats["splits"]) == ["train", "test_task"]
    train = stats["splits"]["train"]
    assert (train["conversations"], train["turns"], train["steps"]) == (2, 4, 8)
    assert (train["turns_per_conversation"], train["actions_per_turn"]) == (2.0, 2.0)
    assert train["instruction_tokens"] == token_count("Please do part 1 of the task.") == 8
    assert train["elements_per_turn"] == train["most_elements"] == 18
    assert (train["candidates_per_step"], train["steps_without_gold"], train["html_pages_measured"]) == (5.0, 0, 8)
    assert (train["websites"], train["tasks_per_site"]) == (1, {"mean": 2.0, "min": 2, "max": 2})


@pytest.mark.django_db
def test_html_length_is_measured_on_an_even_sample_whose_size_is_told() -> None:
    dataset = dataset_of([f"<a>{'word ' * n}</a>" for n in range(1, 11)])
    whole = dataset_stats(dataset, html_sample=None)["splits"]["train"]
    some = dataset_stats(dataset, html_sample=5)["splits"]["train"]
    assert (whole["html_pages_measured"], some["html_pages_measured"]) == (10, 5)
    assert whole["html_tokens"] == sum(token_count(f"<a>{'word ' * n}</a>") for n in range(1, 11)) / 10
    assert abs(some["html_tokens"] - whole["html_tokens"]) <= 1


@pytest.mark.django_db
def test_an_empty_dataset_has_no_ratio() -> None:
    stats = dataset_stats(factories.make_dataset())
    assert stats["splits"] == {}
    assert (stats["bytes"]["raw"], stats["bytes"]["ratio"]) == (0, None)


@pytest.mark.django_db
def test_pages_of_a_deleted_dataset_are_forgotten_and_shared_or_young_ones_kept() -> None:
    kept = dataset_of(["<a>shared</a>"])
    gone = dataset_of(["<a>shared</a>", "<a>alone</a>"])
    gone.conversations.all().delete()
    gone.delete()
    before = Snapshot.objects.count()
    assert forget_unused_pages() == 0
    assert forget_unused_pages(timedelta(0)) == before - 1
    assert [page.html for page in Snapshot.objects.with_content()] == ["<a>shared</a>"]
    assert kept.page_bytes()["pages"] == 1


@pytest.mark.django_db
def test_a_page_that_another_app_shows_is_kept() -> None:
    held = factories.make_held_step(factories.make_trajectory())
    type(held).objects.update(snapshot=factories.make_snapshot("<a>held</a>"))
    factories.make_snapshot("<a>nobody's</a>")
    assert forget_unused_pages(timedelta(0)) == 1
    assert "<a>held</a>" in [page.html for page in Snapshot.objects.with_content()]
