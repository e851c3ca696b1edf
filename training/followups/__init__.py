"""The follow-ups part: which words of a conversation a question means, and where they go."""

from training.followups.recipe import FollowUpsPlan, train_follow_ups

__all__ = ["FollowUpsPlan", "train_follow_ups"]
