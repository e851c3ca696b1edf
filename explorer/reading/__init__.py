"""The Reading screen."""
