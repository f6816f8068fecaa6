"""Harbour City's front page with its site search."""

from annotations.sample.catalogues.harbourcity import EVENTS, NEWS, TOPICS
from annotations.sample.nodes import SampleNode, VisitState, el, go
from annotations.sample.sites.harbourcity.frame import PAGES
from annotations.sample.widgets import icon, link, slug, table


def home_page(s: VisitState) -> list[SampleNode | None]:
    """Search results, quick tasks, topics, news and events."""
    hits = search_hits(s)
    quick = (
        ("Find your bin day", "calendar"),
        ("Resident parking permit", "file"),
        ("Report a street problem", "pin"),
        ("Book a library room", "clock"),
    )
    tasks = [
        el("li", link([icon(sign), el("span", name)], f"quick-{slug(name)}", go(PAGES[name]))) for name, sign in quick
    ]
    topics = [
        el(
            "li.topic",
            el("h3", name),
            el(
                "ul",
                [
                    el("li", link(service, f"topic-{slug(service)}", go(PAGES[service]) if service in PAGES else None))
                    for service in services
                ],
            ),
        )
        for name, services in TOPICS
    ]
    news = [el("li.news", el("small", day), el("h3", link(title)), el("p", text)) for title, text, day in NEWS]
    return [
        el("section.lead", el("h1", "What do you need to do?"), el("ul.cols-4.quick", tasks)),
        hits,
        el("section", el("h2", "All services"), el("ul.cols-4", topics)),
        el(
            "section.cols-2",
            el("div", el("h2", "News"), el("ul", news)),
            el("div", el("h2", "What is on"), table(("Day", "What", "Where"), EVENTS)),
        ),
    ]


def search_hits(s: VisitState) -> SampleNode | None:
    """Services whose names hold a word of the search."""
    if not s["found"]:
        return None
    words = s["found"].lower().split()
    services = [
        service
        for _, names in TOPICS
        for service in names
        if any(word.rstrip("s") in service.lower() for word in words)
    ]
    items = [
        el("li", link(service, f"hit-{slug(service)}", go(PAGES[service]) if service in PAGES else None))
        for service in services
    ]
    return el("section.hits", el("h2", f"{len(items)} services for “{s['found']}”"), el("ul", items), key="hits")
