"""The network that scores how far cited text supports a claim, reading both together.

Its number is one feature of the support score among others (`assistant/checking/`), whose weights stand on
the card: `all` with the network, `features` for where it does not fit.
"""

from assistant.learned.parts import LearnedPart, open_part

SUPPORT = "support"


def open_support() -> LearnedPart:
    """Return the learned part; raises LearnedError where it has no card, or one without scales."""
    return open_part(SUPPORT)
