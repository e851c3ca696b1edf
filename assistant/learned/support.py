"""The network that scores the support of a claim by a text, reading both together.

Its score is one feature of the support score (`assistant/checking/`). The card has two scales of weights:
`all` with the network, `features` without it.
"""

from assistant.learned.parts import LearnedPart, open_part

SUPPORT = "support"


def open_support() -> LearnedPart:
    """Return the learned part; raises LearnedError if it has no card, or one without scales."""
    return open_part(SUPPORT)
