"""Replies of language models in the database, shared by every worker and kept between runs."""

from typing import Any

from agents.llm.protocol import Reply, Request
from agents.models import LlmReply


class DatabaseStore:
    """`agents.llm.cache.ReplyStore` over `LlmReply`; an older reply stays when two workers asked the same."""

    def get_many(self, keys: list[str]) -> dict[str, Reply]:
        rows = LlmReply.objects.filter(key__in=keys).values_list("key", "reply")
        return {key: Reply.from_dict(reply) for key, reply in rows}

    def put_many(self, entries: list[tuple[str, Request, Reply]]) -> None:
        LlmReply.objects.bulk_create(
            [
                LlmReply(
                    key=key, model=request.model[:200], request=_storable(request.to_dict()), reply=reply.to_dict()
                )
                for key, request, reply in entries
                if _storable(reply.to_dict()) == reply.to_dict()  # one that cannot be kept as it is is asked for again
            ],
            ignore_conflicts=True,
        )


def _storable(value: Any) -> Any:
    """The value without characters that PostgreSQL cannot hold: NULs and halves of surrogate pairs are replaced."""
    if isinstance(value, dict):
        return {name: _storable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_storable(inner) for inner in value)
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return value
