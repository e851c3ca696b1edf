"""What whoever runs the server needs: whether it is well, and that it ends well."""

from explorer.operating.figures import serving_metrics
from explorer.operating.health import HealthDoor, note_loaded
from explorer.operating.stopping import ending_answers_first

__all__ = ["HealthDoor", "ending_answers_first", "note_loaded", "serving_metrics"]
