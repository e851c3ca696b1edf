"""The sentence encoder that finds passages, fine-tuned (TruthReader, section 3.2)."""

from training.retriever.recipe import RetrieverPlan, train_retriever

__all__ = ["RetrieverPlan", "train_retriever"]
