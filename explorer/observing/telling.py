"""Where everything that happens is told of."""

from explorer.observing.events import Event
from explorer.observing.logs import write
from explorer.observing.metrics import count


def tell(event: Event) -> None:
    """Count an event and log it."""
    count(event)
    write(event)
