"""How many of what, in words. Core."""


def amount(number: int, noun: str, many: str = "") -> str:
    """ "1 step", "1,200 steps"; `many` where the plural is not made by an s."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"
