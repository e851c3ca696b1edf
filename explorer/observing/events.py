"""Events that are counted and logged: kinds, outcomes and times, never anybody's words."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class WorkOver:
    """A question or a comparison is over; `reason` says why it was refused, `first_words` came so soon.

    `job` tells it from others, and is no id that opens anything. `seconds` are from when it was asked,
    `waited` of them for a free worker.
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
    """A call to a model is over; its `seconds` hold what it waited for its turn."""

    outcome: CallOutcome
    seconds: float


@dataclass(frozen=True, slots=True)
class ApiRequestOver:
    """A request of a program has its reply, "refused" where it was not let in to any operation."""

    operation: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class UploadAsked:
    """A file is about to be uploaded, or is refused."""

    outcome: Literal["taken", "refused"]


@dataclass(frozen=True, slots=True)
class ProcessState:
    """This process is at another point of its life; `jobs` are those that were not over then."""

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
