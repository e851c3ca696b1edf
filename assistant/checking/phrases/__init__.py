"""Phrases of claims that their evidence does not say."""
