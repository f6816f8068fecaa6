"""Why a request got no usable answer. Core."""

from agents.llm.usage import Usage


class LlmError(Exception):
    """A request that got no usable answer; the message is for people."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()  # of answers that arrived but were of no use


class NotConfigured(LlmError):
    """A setting is missing or wrong."""


class Unreachable(LlmError):
    """No connection, no answer in time, or a server error, also after retries. Later it may work."""


class RateLimited(LlmError):
    """Too many requests, also after retries. Later it may work."""


class RequestRefused(LlmError):
    """The same request would be refused again: wrong key, unknown model, too long a prompt."""


class OneAtATime(RequestRefused):
    """Several samples were asked for, and the endpoint gives one."""


class BadReply(LlmError):
    """An answer arrived but cannot be read: cut off, no JSON, no choices."""


class BudgetExceeded(LlmError):
    """A hard limit on tokens, money or time does not allow the request; it was not sent."""
