"""Which texts answer a question."""

from training.relevance.recipe import RelevancePlan, train_relevance

__all__ = ["RelevancePlan", "train_relevance"]
