"""The rules that splits promise (design.md section 5). Core: rows in, sentences out."""

from collections import defaultdict
from collections.abc import Iterable

SHOWN = 3


def split_violations(rows: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """Sentences about broken rules, for distinct (split, website, domain, subdomain) rows.

    test_website: site not in train, domain in train. test_subdomain, test_domain: not in train. test_task: site in
    train. Without a train split nothing can be said.
    """
    by_split: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for split, website, domain, subdomain in rows:
        by_split[split].add((website, domain, subdomain))
    train = by_split["train"] | by_split["dev"]
    if not train:
        return []
    sites, domains = {row[0] for row in train}, {row[1] for row in train}
    subdomains = {row[1:] for row in train}
    rules = [
        ("test_task", [r[0] for r in by_split["test_task"] if r[0] not in sites], "websites that train does not have"),
        ("test_website", [r[0] for r in by_split["test_website"] if r[0] in sites], "websites that train has too"),
        ("test_website", [r[1] for r in by_split["test_website"] if r[1] not in domains], "domains that train lacks"),
        ("test_subdomain", [r[2] for r in by_split["test_subdomain"] if r[1:] in subdomains], "subdomains of train"),
        ("test_domain", [r[1] for r in by_split["test_domain"] if r[1] in domains], "domains of train"),
    ]
    return [
        f"{split} holds {what}: {', '.join(sorted(set(found))[:SHOWN])}{' …' if len(set(found)) > SHOWN else ''}"
        for split, found, what in rules
        if found
    ]
