"""From a draft to a checked answer: citations, claims, scores and refusals."""

from assistant.checking.answer import check, describe_relevance, is_off, with_relevance
from assistant.checking.citations import (
    check_sentences,
    hold_back,
    normalise_labels,
    read_labels,
    plain_claim,
    without_labels,
)
from assistant.checking.comparable_text import Statement, read_statement, stem, word_lists
from assistant.checking.drafts import read_draft
from assistant.checking.entailment import open_scorer
from assistant.checking.features import close_text, strip_references
from assistant.checking.mending import Mend, exchanges_words, labelled, mended, with_found
from assistant.checking.overlap import (
    WORD_BESIDE,
    ScoreWord,
    is_weak,
    overlap_word,
    score_attribution,
    score_digits,
    support_word,
)
from assistant.checking.phrases import UnsaidPhrase, find_unsaid_phrases, with_unsaid
from assistant.checking.refusal import refuse, with_coverage
from assistant.checking.scorer import (
    NOWHERE,
    SupportReader,
    SupportScorer,
    SupportWeights,
    support_weights,
)
from assistant.checking.support import Carrier, SupportCheck, about, citation_quality
from assistant.checking.thresholds import KindLimits, thresholds

__all__ = [
    "NOWHERE", "WORD_BESIDE", "Carrier", "KindLimits", "Mend", "ScoreWord", "Statement", "SupportCheck",
    "SupportReader", "SupportScorer", "SupportWeights", "UnsaidPhrase", "about", "check",
    "check_sentences", "citation_quality", "close_text", "describe_relevance", "exchanges_words",
    "find_unsaid_phrases", "hold_back", "is_off", "is_weak", "labelled", "mended", "normalise_labels",
    "open_scorer", "overlap_word", "plain_claim", "read_draft", "read_labels", "read_statement", "refuse",
    "score_attribution", "score_digits", "stem", "strip_references", "support_weights", "support_word",
    "thresholds", "with_coverage", "with_found", "with_relevance", "with_unsaid", "without_labels",
    "word_lists"
]  # fmt: skip
