"""Events that are counted and logged: kinds, outcomes and times, never texts of users."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class WorkOver:
    """A question or a comparison is over.

    `job` is a hash that identifies it in the log. `seconds` is the whole time, `waited` the time in queue,
    `first_words` the time to the first words; `reason` is that of a refusal.
    """

    kind: str
    job: str
    outcome: Literal["answered", "refused", "failed", "stopped"]
    seconds: float
    waited: float
    first_words: float | None = None
    reason: str = ""


CallOutcome = Literal["complete", "cut", "interrupted", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class ModelCallOver:
    """A call to a model is over; its `seconds` include the wait for its turn."""

    outcome: CallOutcome
    seconds: float


@dataclass(frozen=True, slots=True)
class ApiRequestOver:
    """An API request has its reply; `operation` is "refused" if it was not admitted."""

    operation: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class UploadAsked:
    """The upload of a file was allowed or refused."""

    outcome: Literal["taken", "refused"]


@dataclass(frozen=True, slots=True)
class ProcessState:
    """This process has changed its state, with `jobs` running or waiting."""

    state: Literal["loaded", "stopping", "ending"]
    jobs: int = 0


Event = WorkOver | ModelCallOver | ApiRequestOver | UploadAsked | ProcessState
EVENT_NAMES: dict[type[Event], str] = {
    WorkOver: "work_over",
    ModelCallOver: "model_call_over",
    ApiRequestOver: "api_request_over",
    UploadAsked: "upload_asked",
    ProcessState: "process",
}
