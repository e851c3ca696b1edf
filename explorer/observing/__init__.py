"""Reports of events: figures and log lines, without anybody's words."""

from explorer.observing.events import ApiRequestOver, ProcessState, UploadAsked, WorkOver
from explorer.observing.logs import log_as_asked
from explorer.observing.metrics import open_sessions
from explorer.observing.model_calls import ObservedModel
from explorer.observing.telling import tell

__all__ = [
    "ApiRequestOver", "ObservedModel", "ProcessState", "UploadAsked", "WorkOver", "log_as_asked",
    "open_sessions", "tell"
]  # fmt: skip
