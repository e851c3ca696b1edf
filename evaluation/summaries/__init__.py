"""Quality of comparative summaries."""
