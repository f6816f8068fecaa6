"""What whoever hands in an annotation, or accepts one, is asked about once: the page asks in a dialog, the API by a
refusal that is taken back by `sure`."""

from collections.abc import Iterable


class Unsure(ValueError):
    """Work that can be handed in or accepted, but hardly as it is; `problems` are sentences about it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join([*problems, "Send `sure`: true to go on all the same."]))
        self.problems = problems


def check_sure(found: Iterable[str], *, sure: bool) -> None:
    """Raise Unsure for what was found, unless the caller is sure of it."""
    if not sure and (problems := list(found)):
        raise Unsure(problems)
