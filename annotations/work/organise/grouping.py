"""Which source tasks could be one conversation: proposals with reasons. Numbers and texts in, proposals out.

Only tasks of one split and one website are joined. Tasks that follow each other in the dataset come first, because they
were often recorded as one; then those a few places apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.text.stop_words import NO_TOPIC
from annotations.text.tfidf import Vectorise, tfidf

SHOWN = 3  # entities that a reason names
QUOTED = re.compile(r"[\"“”]([^\"“”]{2,60})[\"“”]|(?<!\w)'([^']{2,60})'(?!\w)")
NUMBER = re.compile(r"(?<![\w.])\$?\d[\d,./:-]*\d\b")
# A date, a time, a code or a number of five digits and more is one thing; "40" is a size here and a price there.
TELLING_NUMBER = re.compile(r"\d+[/:-].*\d|(?:\D*\d){5,}")
NAME = re.compile(r"\b[A-Z][\w&'-]*+(?:\s++(?:(?:of|the|and|de|la)\s*+)?[A-Z][\w&'-]*+)*+")


@dataclass(frozen=True)
class Rules:
    """The thresholds by which tasks are joined."""

    longest: int = 4  # tasks of one proposal
    window: int = 8  # places of the site's list across which tasks are still compared
    alike: float = 0.5  # similarity that joins tasks by itself
    related: float = 0.15  # similarity that is enough when they share an entity


@dataclass(frozen=True)
class TaskFacts:
    """A source task: its key, place in the dataset, where it belongs, its instruction and what its steps type."""

    key: int
    place: int
    split: str
    website: str
    text: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    """What two tasks have in common: shared entities as written, and how similar their wishes are (-1 … 1)."""

    first: int
    second: int
    shared: tuple[str, ...]
    similarity: float
    distance: int  # places between them in the list of their site

    def joins(self, rules: Rules) -> bool:
        return self.similarity >= (rules.related if self.shared else rules.alike)

    @property
    def order(self) -> tuple[bool, float, int, int]:
        """The sort key of links: neighbours first, then those with most in common."""
        return (self.distance > 1, -self.similarity - 0.2 * min(len(self.shared), SHOWN), self.first, self.second)


@dataclass(frozen=True)
class Suggestion:
    """Tasks for one session, in dataset order, with the reason as people read it and the mean similarity."""

    tasks: tuple[int, ...]
    why: str
    score: float


def suggest(
    tasks: Iterable[TaskFacts], vectors: Vectorise | None = None, rules: Rules | None = None
) -> list[Suggestion]:
    """Proposals of two or more tasks, in dataset order; a task is in at most one.

    `vectors` embeds the instructions; without it they are compared by the words that they share (TF-IDF). An
    embedding has similarities of its own scale, and wants `rules` of its own.
    """
    rules = rules or Rules()
    sites: dict[tuple[str, str], list[TaskFacts]] = defaultdict(list)
    ordered = sorted(tasks, key=lambda task: (task.place, task.key))
    for task in ordered:
        sites[task.split, task.website].append(task)
    found = [suggestion for site in sites.values() for suggestion in _of_site(site, vectors or tfidf, rules)]
    places = {task.key: place for place, task in enumerate(ordered)}
    return sorted(found, key=lambda suggestion: places[suggestion.tasks[0]])


def entities(task: TaskFacts) -> dict[str, str]:
    """What a task is about: names, numbers, quoted words and what its steps type; folded -> as written."""
    found = [name for name in NAME.findall(task.text) if not _opens_sentence(task.text, name)]
    found += NUMBER.findall(task.text)
    found += [first or second for first, second in QUOTED.findall(task.text)]
    found += [value.strip() for value in task.values if len(value.strip()) > 2]
    site = task.website.casefold()
    kept: dict[str, str] = {}
    for entity in found:
        folded = " ".join(entity.casefold().split())
        if len(folded) > 1 and folded not in NO_TOPIC and folded not in site and _tells(folded):
            kept.setdefault(folded, " ".join(entity.split()))
    return kept


def _tells(folded: str) -> bool:
    """Whether two tasks that mention this have something in common: a number alone may count different things."""
    return any(letter.isalpha() for letter in folded) or TELLING_NUMBER.match(folded.lstrip("$€£ ")) is not None


def _of_site(tasks: list[TaskFacts], vectors: Vectorise, rules: Rules) -> list[Suggestion]:
    if len(tasks) < 2:
        return []
    rows = vectors([task.text for task in tasks])
    links = [link for link in _links(tasks, rows, rules.window) if link.joins(rules)]
    group_of = {place: [place] for place in range(len(tasks))}
    used: dict[int, list[Link]] = defaultdict(list)
    for link in sorted(links, key=lambda link: link.order):
        first, second = group_of[link.first], group_of[link.second]
        if first is second or len(first) + len(second) > rules.longest:
            continue
        merged = sorted(first + second)
        why = used.pop(first[0], []) + used.pop(second[0], []) + [link]
        used[merged[0]] = why
        group_of.update(dict.fromkeys(merged, merged))
    return [_suggestion(tasks, group_of[start], why, rules) for start, why in sorted(used.items())]


def _links(tasks: list[TaskFacts], rows: np.ndarray, window: int) -> list[Link]:
    about = _telling([entities(task) for task in tasks])
    found = []
    for first in range(len(tasks)):
        for second in range(first + 1, min(len(tasks), first + window + 1)):
            shared = [word for word in about[first] if word in about[second]]
            shared += [word for word in about[first] if word not in shared and _says(tasks[second], word)]
            shared += [word for word in about[second] if word not in shared and _says(tasks[first], word)]
            words = tuple(dict.fromkeys(about[first].get(word) or about[second][word] for word in shared))
            similarity = float(rows[first] @ rows[second])
            found.append(Link(first, second, words, similarity, second - first))
    return found


def _telling(about: list[dict[str, str]]) -> list[dict[str, str]]:
    """The entities without those that most tasks of the site mention, as these say nothing about two of them."""
    seen = Counter(word for one in about for word in one)
    limit = max(3, len(about) // 2)
    return [{word: shown for word, shown in one.items() if seen[word] <= limit} for one in about]


def _says(task: TaskFacts, folded: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", task.text.casefold()) is not None


def _suggestion(tasks: list[TaskFacts], group: Sequence[int], links: list[Link], rules: Rules) -> Suggestion:
    numbers = {place: number for number, place in enumerate(group, 1)}
    score = sum(link.similarity for link in links) / len(links)
    return Suggestion(
        tuple(tasks[place].key for place in group), _why(links, numbers, score, score >= rules.alike), score
    )


def _why(links: list[Link], numbers: dict[int, int], score: float, is_similar: bool) -> str:
    """The reason of a suggestion: "same site, both mention Boston; similar wish (0.62)"."""
    of_all = [word for word in links[0].shared if all(word in link.shared for link in links)]
    common = _longest(of_all)
    everybody = "both" if len(numbers) == 2 else f"all {len(numbers)}"
    reasons = [f"{everybody} mention {_listed(common[:SHOWN])}"] if common else []
    for link in sorted(links, key=lambda link: (numbers[link.first], numbers[link.second])):
        if further := _longest([word for word in link.shared if word not in of_all]):
            who = f"tasks {numbers[link.first]} and {numbers[link.second]}"
            reasons.append(f"{who} mention {_listed(further[:SHOWN])}")
    wish = "similar" if is_similar else "related"
    return f"{', '.join(['same site', *reasons])}; {wish} wish ({score:.2f})"


def _longest(words: Sequence[str]) -> list[str]:
    """The words that do not stand in another one: "Vinge" says nothing beside "NL-31-TORSK of Vinge"."""
    return [one for one in words if not any(one != other and f" {one} " in f" {other} " for other in words)]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _opens_sentence(text: str, name: str) -> bool:
    """Whether a name is a single word whose capital is due to its place only: it always begins a sentence."""
    if " " in name or any(letter.isupper() or letter.isdigit() for letter in name[1:]):
        return False
    places = [match.start() for match in re.finditer(rf"\b{re.escape(name)}\b", text)]
    return all(place == 0 or text[:place].rstrip()[-1:] in {".", "!", "?", ":", "\n"} for place in places)
