"""Boundary similarity of two segmentations (Fournier 2013, "Evaluating text segmentation using boundary edit
distance"). Core: numbers in, number out."""

from collections.abc import Collection

NEAR = 0.5  # what a boundary that is one place off costs; one that the other lacks costs 1


def boundary_similarity(first: Collection[int], second: Collection[int]) -> float:
    """1 for the same boundaries, 0 for none in common; 1 when neither has any. Boundaries are places of steps."""
    same = set(first) & set(second)
    left, right = sorted(set(first) - same), set(second) - same
    near = 0
    for place in left:
        neighbour = next((other for other in (place - 1, place + 1) if other in right), None)
        if neighbour is not None:
            right.remove(neighbour)
            near += 1
    added = len(left) - near + len(right)
    total = added + near + len(same)
    return 1 - (added + NEAR * near) / total if total else 1.0
