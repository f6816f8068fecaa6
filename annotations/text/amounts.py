"""How many of what, in words. Core."""


def amount(number: int, noun: str) -> str:
    """ "1 step", "1,200 steps": of nouns whose plural ends in s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
