"""The one function through which events are counted and logged."""

from explorer.observing.events import Event
from explorer.observing.logs import write
from explorer.observing.metrics import count


def observe(event: Event) -> None:
    """Count an event and log it."""
    count(event)
    write(event)
