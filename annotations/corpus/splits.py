"""Checks what each split promises: which websites and domains of it training must, or must not,
have. Core: rows in, sentences out."""

from collections import defaultdict
from collections.abc import Iterable

SHOWN = 3
SITE, DOMAIN, SUBDOMAIN = slice(0, 1), slice(1, 2), slice(1, 3)  # of (website, domain, subdomain); the last names it
RULES = (  # split, what of its rows is looked for in train, whether it must be there, what a row that breaks it is
    ("test_task", SITE, True, "websites that train does not have"),
    ("test_website", SITE, False, "websites that train has too"),
    ("test_website", DOMAIN, True, "domains that train lacks"),
    ("test_subdomain", SUBDOMAIN, False, "subdomains of train"),
    ("test_domain", DOMAIN, False, "domains of train"),
)


def split_violations(rows: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """Sentences about broken rules, for distinct (split, website, domain, subdomain) rows.

    Development counts as train. Without a train split nothing can be said.
    """
    by_split: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for split, *place in rows:
        by_split[split].add(tuple(place))
    train = by_split["train"] | by_split["dev"]
    found = []
    for split, part, belongs, what in RULES if train else ():
        known = {row[part] for row in train}
        if wrong := sorted({row[part][-1] for row in by_split[split] if (row[part] in known) != belongs}):
            found.append(f"{split} holds {what}: {', '.join(wrong[:SHOWN])}{' …' if len(wrong) > SHOWN else ''}")
    return found
