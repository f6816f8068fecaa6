"""The language model that is chosen as the user of live conversations, with their goals: all agents that are compared
on them talk with the same one."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from agents.environments.task_sets import TALKING
from agents.llm import connection as llm_connection
from agents.llm import embedded
from agents.models import Connection, PromptPack
from agents.prompts.packs import PACKAGED, Pack
from annotations.models import Project

TEXTS = {"user_instruction": 200, "user_answer": 100, "user_content": 100}  # and the tokens of a reply, at most
WORDS = {"own": "its own words", "written": "as they are written"}
TEMPERATURE, MOST_TEMPERATURE = 0.7, 2.0


@dataclass(frozen=True)
class ChosenUser:
    """The user that goals are made with. `connection`: to the language model, or the embedded model's name; `words`:
    how it says instructions."""

    connection: str
    words: str = "own"
    temperature: float = TEMPERATURE
    pack: str = PACKAGED
    max_cost: float | None = None  # in money, of one run

    def kept(self, environment: str, project: Project) -> dict[str, Any]:
        """What is kept with the goals: the choice, with the SHA-256 of the texts that it is asked with. ValueError says
        what is wrong with it."""
        if environment not in TALKING:
            raise ValueError(
                f"a language model is the user of conversations, in {' or '.join(sorted(TALKING))}; "
                f"{environment} has none"
            )
        if self.words not in WORDS:
            raise ValueError(f"a user says instructions in words that are {' or '.join(WORDS)}, not {self.words!r}")
        if not 0 <= self.temperature <= MOST_TEMPERATURE:
            raise ValueError(f"the temperature of a user is 0 to {MOST_TEMPERATURE:g}, not {self.temperature:g}")
        if self.max_cost is not None and not 0 <= self.max_cost < float("inf"):
            raise ValueError("what a user may cost is 0 or more")
        self.check_connection()
        pack = PromptPack.objects.holding(self.pack, project, *TEXTS)
        reference = pack.reference
        return asdict(self) | {"pack": reference, "texts_sha256": texts_sha256(pack)}

    def kept_unless(self, errors: dict[str, str], environment: str, project: Project) -> dict[str, Any]:
        """The same as the field `user`; {} where something is wrong with it, which the errors say then."""
        try:
            return {"user": self.kept(environment, project)}
        except ValueError as error:
            errors["user"] = f"{str(error)[0].upper()}{str(error)[1:].removesuffix('.')}."
            return {}

    def check_connection(self) -> None:
        """Raise ValueError, in words, where nothing answers for it, or a limit on money could not be kept."""
        known = Connection.objects.answering(Connection.Kind.LLM, self.connection) if self.connection else None
        if known is None and not embedded.is_embedded(self.connection):
            raise ValueError(f"there is no connection {self.connection!r}; there are {', '.join(offered())}")
        if missing := llm_connection.lacking(self.connection):
            raise ValueError(missing)
        if self.max_cost is not None and llm_connection.prices(self.connection) is None:
            raise ValueError(f"a limit on money needs prices: give them to the connection {self.connection}")


def offered() -> list[str]:
    """What may be such a user, by name: the connections to language models, and the embedded model."""
    names = list(Connection.objects.filter(kind=Connection.Kind.LLM).order_by("name").values_list("name", flat=True))
    return [*names, *([embedded.SMOLLM2] if llm_connection.may_be_embedded() else [])]


def texts_sha256(pack: Pack) -> str:
    """The SHA-256 of the texts that users are asked with."""
    texts = {name: pack.texts[name] for name in TEXTS}
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()
