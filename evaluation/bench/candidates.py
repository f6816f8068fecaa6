"""Times formatting of candidates on the two generated pages, against the straightforward way of copying the page for
each candidate."""

from functools import partial

from annotations.dom.candidates import format_candidate, format_candidates
from annotations.dom.generated import list_page, random_page
from annotations.dom.tree import Element, parse
from evaluation.bench.measures import Goal, Measure, processor_seconds
from evaluation.bench.scratch import BenchSetting

PAGES = (("list page", list_page, Goal("<=", 0.5)), ("random page", random_page, Goal("<=", 1.5)))
ROUNDS = 5  # the best counts: the others were slowed by other work on the machine
SAMPLED = 60  # candidates that the straightforward way formats


def measure(setting: BenchSetting) -> list[Measure]:
    """Seconds of processor time, as formatting uses one core: for whole pages, and how it grows when the page is twice
    as large."""
    nodes = 600 if setting.quick else 12_000
    measures = []
    for name, generate, goal in PAGES:
        setting.say(f"candidates: {name}")
        xml, ids = generate(nodes)
        measures.append(_against_copies(f"{nodes:,}-node {name}, {len(ids):,} candidates", parse(xml), ids, goal))
    for name, generate, _ in PAGES:
        setting.say(f"candidates: twice the {name}")
        once, twice = generate(nodes), generate(2 * nodes)
        measures.append(_against_half(f"twice the {name}", once, twice))
    return measures


def _against_copies(name: str, root: Element, ids: list[str], goal: Goal) -> Measure:
    sample = [ids[place * len(ids) // SAMPLED] for place in range(SAMPLED)]
    ours, reference = [], []
    for number in range(ROUNDS):
        part = sample[number::ROUNDS]
        ours.append(processor_seconds(lambda: format_candidates(root, ids)))
        reference.append(processor_seconds(partial(_one_by_one, root, part)))
    texts = format_candidates(root, sample)
    assert texts == {node_id: format_candidate(root, node_id) for node_id in sample}
    note = (
        f"candidates: processor time, best of {ROUNDS}; baseline: one copy of the page per candidate, measured on "
        f"{SAMPLED} candidates evenly spread over the page (same texts), times the number of candidates"
    )
    return Measure(name, min(ours), "s", sum(reference) / SAMPLED * len(ids), goal, note)


def _against_half(name: str, once: tuple[str, list[str]], twice: tuple[str, list[str]]) -> Measure:
    pages = [(parse(xml), ids) for xml, ids in (once, twice)]
    times = [[processor_seconds(partial(format_candidates, root, ids)) for root, ids in pages] for _ in range(ROUNDS)]
    half, whole = (min(column) for column in zip(*times, strict=True))
    return Measure(name, whole, "s", half, Goal("<=", 2.3, "ratio"), "twice the page: the baseline is the page itself")


def _one_by_one(root: Element, ids: list[str]) -> list[str]:
    return [format_candidate(root, node_id) for node_id in ids]
