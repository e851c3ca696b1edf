"""Which texts answer a question, and which sentences an answer is made of."""

from training.relevance.judged import JudgedData
from training.relevance.recipe import RelevancePlan, measured_corpora, train_relevance

__all__ = ["JudgedData", "RelevancePlan", "measured_corpora", "train_relevance"]
