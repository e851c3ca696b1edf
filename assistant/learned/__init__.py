"""What was learned from labelled data: small weights over the bundled encoder, each with a card."""

from assistant.learned.features import relevance_features
from assistant.learned.parts import SHIPPED, Card, LearnedError, folder, read_card
from assistant.learned.relevance import (
    LONGEST_QUESTION,
    RELEVANCE,
    FeatureRelevance,
    NetworkRelevance,
    RelevanceScorer,
    network_features,
    open_relevance,
    shares,
    with_title,
)
from assistant.learned.support import SUPPORT, LearnedSupport, SupportNetwork, open_support

__all__ = [
    "LONGEST_QUESTION", "RELEVANCE", "SHIPPED", "SUPPORT", "Card", "FeatureRelevance", "LearnedError",
    "LearnedSupport", "NetworkRelevance", "RelevanceScorer", "SupportNetwork", "folder", "network_features",
    "open_relevance", "open_support", "read_card", "relevance_features", "shares", "with_title"
]  # fmt: skip
