"""Events as Prometheus metrics; labels are few and fixed words, never ids."""

from prometheus_client import Counter, Gauge, Histogram

from explorer.observing.events import ApiRequestOver, Event, ModelCallOver, UploadAsked, WorkOver

# Seconds; answers without a model take one, those of large models a minute.
_WAITS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 900)

_WORK = Counter("paper_trail_work", "Questions and comparisons that are over", ["kind", "outcome", "reason"])
_WORK_SECONDS = Histogram(
    "paper_trail_work_seconds", "From a question to its answer", ["kind"], buckets=_WAITS
)
_FIRST_WORDS = Histogram(
    "paper_trail_first_words_seconds", "From a question to the first words", ["kind"], buckets=_WAITS
)
_MODEL_CALLS = Histogram(
    "paper_trail_model_call_seconds", "Calls to models, with their wait", ["outcome"], buckets=_WAITS
)
_REQUESTS = Histogram(
    "paper_trail_api_request_seconds", "Requests of programs", ["operation", "status"], buckets=_WAITS
)
_UPLOADS = Counter("paper_trail_uploads", "Files that visitors upload", ["outcome"])
# Updated by the connection layer (explorer/operating/health.py).
open_sessions = Gauge("paper_trail_sessions", "Screens that are open")


def count(event: Event) -> None:
    """Add an event to the metrics of this process."""
    match event:
        case WorkOver(kind=kind, outcome=outcome, reason=reason):
            _WORK.labels(kind, outcome, reason).inc()
            if outcome in ("answered", "refused"):
                _WORK_SECONDS.labels(kind).observe(event.seconds)
            if event.first_words is not None:
                _FIRST_WORDS.labels(kind).observe(event.first_words)
        case ModelCallOver(outcome=outcome, seconds=seconds):
            _MODEL_CALLS.labels(outcome).observe(seconds)
        case ApiRequestOver(operation=operation, status=status, seconds=seconds):
            _REQUESTS.labels(operation, str(status)).observe(seconds)
        case UploadAsked(outcome=outcome):
            _UPLOADS.labels(outcome).inc()
