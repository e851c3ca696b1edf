"""The log as lines of JSON, if the settings ask for it, without texts of users."""

import json
import logging
import traceback
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from corpus.errors import CorpusError
from corpus.settings import read_settings
from explorer.observing.events import EVENT_NAMES, Event

_OURS = ("assistant", "corpus", "explorer", "indexer")
_LONGEST = 500
_events = logging.getLogger(__name__)
_events.setLevel(logging.WARNING)


def write(event: Event) -> None:
    """Log an event; does nothing unless the log is JSON."""
    _events.info(EVENT_NAMES[type(event)], extra={"happened": event})


def configure_logging() -> None:
    """Configure the log of this process as lines of JSON if the settings ask for it."""
    try:
        if read_settings().log != "json":
            return
    except CorpusError:  # Every screen reports it.
        return
    logging.captureWarnings(True)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLine())
    logging.root.handlers = [handler]
    for name in tuple(logging.root.manager.loggerDict):
        # Loggers of servers and libraries with handlers of their own.
        logger = logging.getLogger(name)
        if logger.handlers:
            logger.handlers, logger.propagate = [], True
    _events.setLevel(logging.INFO)


class JsonLine(logging.Formatter):
    """Formats a record as JSON.

    An exception is written as its class and the lines of its traceback, as its message may contain a
    question; of libraries' messages only the format string is written, for the same reason.
    """

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "process": record.process}
        if event := getattr(record, "happened", None):
            line |= {"event": record.msg, **_rounded(asdict(event))}
        else:
            line |= {"event": "log", "logger": record.name, "message": _message(record)}
        if record.exc_info and record.exc_info[0]:
            line |= {"error": record.exc_info[0].__name__, "at": _places(record)}
        return json.dumps(line)


def _message(record: logging.LogRecord) -> str:
    is_ours = record.name.partition(".")[0] in _OURS
    return (record.getMessage() if is_ours else str(record.msg))[:_LONGEST]


def _places(record: logging.LogRecord) -> list[str]:
    assert record.exc_info, "only called for records with an exception"
    return [
        f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(record.exc_info[2])
    ]


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in fields.items()}
