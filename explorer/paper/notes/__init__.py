"""A reader's own notes on the Paper screen."""
