"""The rules of the splits: each broken one gives one sentence."""

import pytest

from annotations.corpus.splits import split_violations

TRAIN = ("train", "shop", "Shopping", "Fashion")


@pytest.mark.parametrize(
    "row",
    [
        ("test_task", "shop", "Shopping", "Fashion"),
        ("test_website", "market", "Shopping", "Fashion"),
        ("test_subdomain", "grocer", "Shopping", "Food"),
        ("test_subdomain", "clinic", "Health", "Fashion"),  # the same word in another domain is another subdomain
        ("test_domain", "clinic", "Health", "Doctors"),
        ("dev", "shop", "Shopping", "Fashion"),
        ("test_iid", "shop", "Shopping", "Fashion"),
    ],
)
def test_rows_that_keep_the_rules_give_no_sentence(row: tuple[str, str, str, str]) -> None:
    assert split_violations([TRAIN, row]) == []


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (("test_task", "market", "Shopping", "Fashion"), "test_task holds websites that train does not have: market"),
        (("test_website", "shop", "Shopping", "Fashion"), "test_website holds websites that train has too: shop"),
        (("test_website", "clinic", "Health", "Doctors"), "test_website holds domains that train lacks: Health"),
        (("test_subdomain", "market", "Shopping", "Fashion"), "test_subdomain holds subdomains of train: Fashion"),
        (("test_domain", "grocer", "Shopping", "Food"), "test_domain holds domains of train: Shopping"),
    ],
)
def test_a_broken_rule_is_named_with_what_breaks_it(row: tuple[str, str, str, str], sentence: str) -> None:
    assert split_violations([TRAIN, row]) == [sentence]


def test_dev_counts_as_train() -> None:
    assert split_violations([("dev", *TRAIN[1:]), ("test_website", *TRAIN[1:])]) == [
        "test_website holds websites that train has too: shop"
    ]


def test_nothing_can_be_said_without_a_train_split() -> None:
    assert split_violations([("test_website", *TRAIN[1:]), ("test_task", *TRAIN[1:])]) == []


def test_a_long_list_is_cut() -> None:
    rows = [("test_task", f"site{n}", "Shopping", "Fashion") for n in range(9)]
    assert split_violations([TRAIN, *rows]) == [
        "test_task holds websites that train does not have: site0, site1, site2 …"
    ]
