"""How alike two segmentations of the same steps are: boundary similarity B (Fournier 2013, "Evaluating Text
Segmentation using Boundary Edit Distance", equations 4 and 5)."""

from collections.abc import Collection, Iterable, Mapping, Sequence

NEAR = 2  # n_t: positions that a near miss spans; 2 means that cuts one step apart are half right


def cuts_of(firsts: Iterable[int], places: Mapping[int, int]) -> set[int]:
    """Places of the cuts, from the first steps of the parts; the beginning is no cut."""
    return {places[step] for step in firsts} - {0}


def boundary_similarity(cuts_a: Collection[int], cuts_b: Collection[int], steps: int, near: int = NEAR) -> float:
    """B in [0, 1] of two segmentations of `steps` steps; 1.0 when neither has a cut.

    A cut at i lies before step i, 0 < i < steps; ValueError for others. `near` is n_t of the paper: two cuts that lie
    d < n_t steps apart and have no counterpart count as one near miss of weight d / n_t. Nearest ones pair first.
    """
    a, b = set(cuts_a), set(cuts_b)
    if outside := sorted(cut for cut in a | b if not 0 < cut < steps):
        raise ValueError(f"no cut lies before step {outside[0]} of {steps}")
    near_misses = _near_misses(a, b, near)
    paired = {cut for pair in near_misses for cut in pair}
    missed = (a ^ b) - paired
    edits = len(missed) + sum(abs(i - j) for i, j in near_misses) / near
    pairs = len(missed) + len(near_misses) + len(a & b)
    return 1.0 - edits / pairs if pairs else 1.0


def _near_misses(a: set[int], b: set[int], near: int) -> list[tuple[int, int]]:
    """Cuts of one side only that lie close to one of the other side only; each is used once."""
    misses: list[tuple[int, int]] = []
    free = a ^ b
    for distance in range(1, near):
        for i in sorted(free):
            j = i + distance
            if i in free and j in free and (i in a) != (j in a):
                misses.append((i, j))
                free -= {i, j}
    return misses


def most_alike(cuts: Sequence[Collection[int]], steps: int) -> int:
    """Which of several segmentations agrees best with the others (mean boundary similarity); the first of equals."""

    def agreement(index: int) -> float:
        others = [boundary_similarity(cuts[index], other, steps) for n, other in enumerate(cuts) if n != index]
        return sum(others) / len(others)

    return max(range(len(cuts)), key=lambda index: (agreement(index), -index))
