"""How far what is cited carries a claim."""

from training.support.recipe import SupportPlan, train_support

__all__ = ["SupportPlan", "train_support"]
