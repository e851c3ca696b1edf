"""Error replies of the API, all of one form."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

from starlette.responses import Response

from assistant.models.protocol import ModelError
from assistant.records import AssistantError
from assistant.serving.documents import to_json
from assistant.serving.operations import NotFoundError
from assistant.serving.requests import InvalidRequestError, fault_for_programs
from assistant.storage.spending import SpendingError, SpendingLimitError
from corpus.errors import CorpusError
from explorer.jobs.rate_limit import TooSoonError
from explorer.jobs.runner import ShareTakenError, StoppingError, TooManyJobsError

ErrorCode = Literal[
    "off",
    "key_in_address",
    "key_missing",
    "key_unknown",
    "invalid_request",
    "not_taken",
    "not_found",
    "method_not_allowed",
    "too_large",
    "too_many_requests",
    "spending_limit",
    "busy",
    "model_failed",
    "corpus_unavailable",
    "storage_unavailable",
    "internal",
]
_BUSY_SECONDS, _UNAVAILABLE_SECONDS = 10, 30
# Not the message for screens, which mentions what they keep.
BUSY = "The server is answering as much as it can. Send the request again after the seconds in Retry-After."
_SHARE_TAKEN = (
    "Your key has as many questions or comparisons under way as it may. Send the request again when one has "
    "ended."
)
_STOPPING = "The server is being stopped or updated. Send the request again after the seconds in Retry-After."


@dataclass(frozen=True, slots=True)
class ErrorDocument:
    """The description of an error and what to do; `error` is its code."""

    error: ErrorCode
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An error with its HTTP status, and the seconds until another try is of use, None if it is not."""

    status: int
    code: ErrorCode
    message: str
    retry_after: int | None = None

    @property
    def document(self) -> ErrorDocument:
        return ErrorDocument(self.code, self.message)


LARGEST_BODY = 128 * 1024
TOO_LARGE = Problem(413, "too_large", f"A request has at most {LARGEST_BODY:,} bytes. Send less at once.")


class StorageUnavailableError(AssistantError):
    """A record cannot be stored or read."""


Result = TypeVar("Result")


def in_store(work: Callable[[], Result]) -> Result:
    """Return the result of `work` on a store; raises StorageUnavailableError."""
    try:
        return work()
    except AssistantError as error:
        raise StorageUnavailableError(str(error)) from error


def problem_of(error: AssistantError | CorpusError) -> Problem:
    """Return the problem of one of the product's own errors."""
    message = fault_for_programs(error) if isinstance(error, AssistantError) else str(error)
    match error:
        case InvalidRequestError():
            problem = Problem(400, "invalid_request", message)
        case NotFoundError():
            problem = Problem(404, "not_found", message)
        case TooSoonError():
            problem = Problem(429, "too_many_requests", message, max(1, math.ceil(error.wait)))
        case SpendingLimitError():
            now = datetime.now(UTC)
            month = (now.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0)
            problem = Problem(429, "spending_limit", message, math.ceil((month - now).total_seconds()))
        case ShareTakenError():
            problem = Problem(429, "too_many_requests", _SHARE_TAKEN, _BUSY_SECONDS)
        case StoppingError():
            problem = Problem(503, "busy", _STOPPING, _BUSY_SECONDS)
        case TooManyJobsError():
            problem = Problem(503, "busy", BUSY, _BUSY_SECONDS)
        case ModelError():
            problem = Problem(502, "model_failed", message, _BUSY_SECONDS)
        case StorageUnavailableError() | SpendingError():
            problem = Problem(503, "storage_unavailable", message, _UNAVAILABLE_SECONDS)
        case CorpusError():
            problem = Problem(503, "corpus_unavailable", message, _UNAVAILABLE_SECONDS)
        case _:
            problem = Problem(422, "not_taken", message)
    return problem


def reply(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a document as an HTTP response that no proxy may cache."""
    return Response(
        to_json(document), status, {"cache-control": "no-store", **(headers or {})}, "application/json"
    )


def problem_reply(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as an HTTP response."""
    retry = {} if problem.retry_after is None else {"retry-after": str(problem.retry_after)}
    return reply(problem.document, problem.status, {**retry, **(headers or {})})
