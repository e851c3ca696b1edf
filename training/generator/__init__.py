"""The generator: a causal language model taught to answer with citations, by LoRA (TruthReader)."""

from training.generator.fitting import Say, train_generator
from training.generator.plan import GeneratorPlan

__all__ = ["GeneratorPlan", "Say", "train_generator"]
