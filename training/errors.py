"""What can go wrong before or while something is trained."""


class TrainingError(Exception):
    """Nothing can be trained, or not further; the message says why and what to do."""
