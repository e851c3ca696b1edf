"""How far what is cited carries a claim, as a network tells that reads the two beside each other.

Its number is one feature of the support score among others (`assistant/checking/`), whose weights stand on
the card: `all` with the network, `features` for where it does not fit.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assistant.learned.parts import Card, LearnedError, LearnedNetwork, folder, read_card

logger = logging.getLogger(__name__)

SUPPORT = "support"


class SupportNetwork:
    """What reads claims and evidence beside each other; safe to share between threads."""

    def __init__(self, card: Card, weights: Path) -> None:
        self.network = LearnedNetwork(SUPPORT, card, weights)

    def numbers(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the network's own number for each claim and evidence: above 0, supported rather than not."""
        return [float(number) for number in self.network.load().read(pairs)[:, 0]] if pairs else []


@dataclass(frozen=True, slots=True)
class LearnedSupport:
    """What was learned of support: the weights of features by name, and the network if it fits."""

    name: str
    scale: Mapping[str, float]
    provenance: Mapping[str, object]
    network: SupportNetwork | None


def open_support() -> LearnedSupport:
    """Return the learned part, without its network where that does not fit.

    Raises LearnedError where there is no card, or one without weights.
    """
    return _opened(folder(SUPPORT))


@cache
def _opened(weights: Path) -> LearnedSupport:
    card = read_card(SUPPORT, weights)
    if not {"all", "features"} <= card.scales.keys():
        raise LearnedError(f"The card of {card.name} has no scales for support.")
    network = SupportNetwork(card, weights)
    try:
        network.network.load()
    except LearnedError as error:
        logger.warning("support is told without its network: %s", error)
        name = f"{card.name} without its network"
        return LearnedSupport(name, card.scales["features"], card.provenance, None)
    return LearnedSupport(card.name, card.scales["all"], card.provenance, network)
