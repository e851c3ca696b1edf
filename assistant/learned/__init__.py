"""What was learned from labelled data: small weights over the bundled encoder, each with a card."""

from assistant.learned.features import relevance_features
from assistant.learned.followups import (
    BEHIND,
    CONNECTORS,
    FOLLOW_UPS,
    FROM_BEGIN,
    FROM_END,
    JOINED,
    OUTPUTS,
    POINTING,
    REPLACED,
    TO_BEGIN,
    TO_END,
    Exchange,
    Filling,
    FollowUps,
    Said,
    Surety,
    Word,
    open_follow_ups,
    said_before,
    words_of,
)
from assistant.learned.parts import (
    SHIPPED,
    Card,
    LearnedError,
    PartInUse,
    folder,
    part_in_use,
    read_card,
)
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
    "BEHIND", "CONNECTORS", "FOLLOW_UPS", "FROM_BEGIN", "FROM_END", "JOINED",
    "LONGEST_QUESTION", "OUTPUTS", "POINTING", "RELEVANCE", "REPLACED", "SHIPPED", "SUPPORT",
    "TO_BEGIN", "TO_END", "Card", "Exchange", "FeatureRelevance", "Filling", "FollowUps",
    "LearnedError", "LearnedSupport", "NetworkRelevance", "PartInUse", "RelevanceScorer", "Said",
    "SupportNetwork", "Surety", "Word", "folder", "network_features", "open_follow_ups",
    "open_relevance", "open_support", "part_in_use", "read_card", "relevance_features", "said_before",
    "shares", "with_title", "words_of"
]  # fmt: skip
