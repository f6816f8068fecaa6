"""Why work is refused, and what browsers and programs are answered: one table for the workbench and the API."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, NamedTuple

from django.http import JsonResponse
from rest_framework.exceptions import APIException

from annotations.access.json_input import BadJson
from annotations.campaigns.propose.proposing import NoProposals, UnusableProposal
from annotations.edits.edit_ops import BadEdit
from annotations.models import BadComment, NotFree, NotReady, NotYours, StaleWork, Unsure, VerdictRefused


class RefusalAnswer(NamedTuple):
    status: HTTPStatus
    code: str


ANSWERS: dict[type[Exception], RefusalAnswer] = {
    NotYours: RefusalAnswer(HTTPStatus.CONFLICT, "lease_lost"),  # it says itself what became of the lease
    NotFree: RefusalAnswer(HTTPStatus.CONFLICT, "refused"),
    StaleWork: RefusalAnswer(HTTPStatus.CONFLICT, "stale"),
    NotReady: RefusalAnswer(HTTPStatus.UNPROCESSABLE_ENTITY, "not_ready"),
    Unsure: RefusalAnswer(HTTPStatus.UNPROCESSABLE_ENTITY, "unsure"),
    VerdictRefused: RefusalAnswer(HTTPStatus.UNPROCESSABLE_ENTITY, "verdict_refused"),
    NoProposals: RefusalAnswer(HTTPStatus.UNPROCESSABLE_ENTITY, "no_proposal"),
    UnusableProposal: RefusalAnswer(HTTPStatus.UNPROCESSABLE_ENTITY, "no_proposal"),
    BadEdit: RefusalAnswer(HTTPStatus.BAD_REQUEST, "bad_request"),
    BadComment: RefusalAnswer(HTTPStatus.BAD_REQUEST, "bad_request"),
    BadJson: RefusalAnswer(HTTPStatus.BAD_REQUEST, "bad_request"),
}
REFUSALS = tuple(ANSWERS)


def answer_to(error: Exception) -> RefusalAnswer:
    status, code = ANSWERS[type(error)]
    return RefusalAnswer(status, getattr(error, "code", code))


def as_json(error: Exception) -> JsonResponse:
    """The JSON that the workbench reads for an error: {"code", "error"}, with the `holder` of the work or the
    `problems` that are left, and the first `steps` of the parts that they name."""
    status, code = answer_to(error)
    told: dict[str, Any] = {name: vars(error)[name] for name in ("holder", "problems", "steps") if name in vars(error)}
    return JsonResponse(told | {"code": code, "error": str(error)}, status=status)


class Declined(APIException):
    """A refusal as the API answers it. A request that makes no sense has its message in a list, as errors of validation
    have."""

    def __init__(self, error: Exception) -> None:
        self.status_code, code = answer_to(error)
        super().__init__(str(error), code)
        if self.status_code == HTTPStatus.BAD_REQUEST:
            self.detail = {"detail": [self.detail]}


@contextmanager
def declined() -> Iterator[None]:
    """Raise refusals of work as `Declined`, so that the API answers them."""
    try:
        yield
    except REFUSALS as error:
        raise Declined(error) from error
