"""Health checks and shutdown, for operators."""
