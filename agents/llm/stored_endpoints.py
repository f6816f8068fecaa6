"""The connections that admins have set up, as endpoints that can be called. Shell."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from agents.llm.usage import Prices
from agents.models import Connection

if TYPE_CHECKING:
    from agents.llm.calls import Endpoint

MOST = {"timeout": 3600, "concurrency": 100, "attempts": 20}


def endpoint_of(connection: Connection) -> "Endpoint":
    """The endpoint of a connection. Raises ValueError, which says what is wrong with its settings."""
    from agents.llm.calls import Endpoint  # its client takes a while to load

    return Endpoint(
        connection.base_url,
        connection.model,
        connection.key,
        _prices(connection),
        timeout=connection.timeout,
        concurrency=connection.concurrency,
        attempts=connection.attempts,
        public_only=not connection.private,
        name=connection.name,
    )


def _prices(connection: Connection) -> Prices | None:
    prompt, completion = connection.price_prompt, connection.price_completion
    if connection.kind == Connection.Kind.EMBEDDING and prompt is not None:
        completion = completion or 0.0  # an encoder writes nothing
    if (prompt is None) != (completion is None):
        raise ValueError("give both prices, or none of them")
    return None if prompt is None or completion is None else Prices(prompt, completion)


def endpoint_named(name: str) -> "Endpoint | None":
    """The endpoint of the connection to a language model of this name, "" for the default one; None where there is
    none. Raises ValueError."""
    found = Connection.objects.answering(Connection.Kind.LLM, name)
    return None if found is None else endpoint_of(found)


def names() -> list[str]:
    """The names of the connections to language models, in order."""
    return list(Connection.objects.filter(kind=Connection.Kind.LLM).values_list("name", flat=True))


def faults(connection: Connection) -> dict[str, str]:
    """What is wrong with its settings, a sentence for each that is; the endpoint itself is asked one after the other,
    as it says only what it meets first."""
    from agents.llm.calls import Endpoint

    found = {name: f"It is at most {most:,}." for name, most in MOST.items() if not getattr(connection, name) <= most}
    found |= {name: "It is more than 0." for name in MOST if not getattr(connection, name) > 0}
    asked: dict[str, Callable[[], object]] = {
        "base_url": lambda: Endpoint(connection.base_url, connection.model),
        "key": lambda: Endpoint("http://localhost", connection.model, connection.key),
        "price_prompt": lambda: _prices(connection),
    }
    for name, ask in asked.items():
        try:
            ask()
        except ValueError as error:
            found[name] = f"{str(error)[:1].upper()}{str(error)[1:]}."
    return found
