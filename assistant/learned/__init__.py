"""Parts learned from labelled data: small weights over the bundled encoder, each with a card."""

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
    read_follow_ups,
    said_before,
    words_of,
)
from assistant.learned.parts import (
    SHIPPED,
    Card,
    LearnedError,
    LearnedPart,
    PartInUse,
    folder,
    part_in_use,
    read_card,
    read_part,
)
from assistant.learned.relevance import (
    LONGEST_QUESTION,
    ANSWER,
    ANSWERABLE,
    CHOICE,
    RELEVANCE,
    RelevanceScorer,
    answer_features,
    network_features,
    open_relevance,
    shares,
    with_title,
)
from assistant.learned.support import SUPPORT, open_support

__all__ = [
    "ANSWER", "ANSWERABLE", "BEHIND", "CHOICE", "CONNECTORS", "FOLLOW_UPS", "FROM_BEGIN", "FROM_END",
    "JOINED", "LONGEST_QUESTION", "OUTPUTS", "POINTING", "RELEVANCE", "REPLACED", "SHIPPED", "SUPPORT",
    "TO_BEGIN", "TO_END", "Card", "Exchange", "Filling", "FollowUps", "LearnedError", "LearnedPart",
    "PartInUse", "RelevanceScorer", "Said", "Surety", "Word", "answer_features", "folder",
    "network_features", "open_follow_ups", "open_relevance", "open_support", "part_in_use", "read_card",
    "read_follow_ups", "read_part", "relevance_features", "said_before", "shares", "with_title", "words_of"
]  # fmt: skip
