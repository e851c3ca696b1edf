"""Health checks and shutdown, for operators."""

from explorer.operating.figures import serving_metrics
from explorer.operating.health import HealthDoor, note_loaded
from explorer.operating.stopping import ending_answers_first

__all__ = ["HealthDoor", "ending_answers_first", "note_loaded", "serving_metrics"]
