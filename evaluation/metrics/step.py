"""Step success: element and operation both right."""


def step_success(element_correct: float, operation_f1: float) -> bool:
    """True when the element is right and the operation F1 is exactly 1 (planners spec 6.2)."""
    return element_correct == 1 and operation_f1 == 1
