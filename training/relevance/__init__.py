"""Which texts answer a question, and which sentences an answer is made of."""

from training.relevance.recipe import RelevancePlan, fit_choice, judged_data, train_relevance

__all__ = ["RelevancePlan", "fit_choice", "judged_data", "train_relevance"]
