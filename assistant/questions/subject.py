"""The subject of a question, apart from what is asked about it."""

import re

from assistant.questions.vocabulary import content_words, vocabulary
from corpus.language.stemming import stem

# "How far does it compress": the word after "how" is not the subject.
_DEGREE = re.compile(
    r"\bhow (\w{1,20}) (?:is|are|was|were|do|does|did|can|could|has|have|had|should|will|would|may)\b",
    re.IGNORECASE,
)
# "this paper", "the authors": they name no subject.
_UNNAMED_PAPER = re.compile(
    r"\b(?:this|that|the) (?:paper|article|work|study|document|publication|preprint|manuscript|report"
    r"|thesis)\b|\bthe authors?\b",
    re.IGNORECASE,
)
_PARTS_OF_PAPERS = frozenset(
    map(stem, ("article", "data", "document", "manuscript", "report", "set", "thesis"))
)
# "a detector or a detoxifier": a passage needs only one of them.
_ALTERNATIVE = re.compile(r"\bor ([^,;:?.!]{1,60})", re.IGNORECASE)


def word_weights(query: str, part: float) -> dict[str, float]:
    """Return weights of the stems of a query: 1 for its subject, `part` for the words that ask about it."""
    known = vocabulary()
    asking = known.aspects | known.verbs | known.judging | {how.lower() for how in _DEGREE.findall(query)}
    either = {word for alternative in _ALTERNATIVE.findall(query) for word in content_words(alternative)}
    return {
        stem(word): part if word in asking or word in either else 1.0
        for word in content_words(query)
        if word not in known.frame
    }


def asks_of_unnamed_paper(query: str) -> bool:
    """Return True if a question is about "this paper" and names nothing by which that could be found."""
    return bool(_UNNAMED_PAPER.search(query)) and subject_stems(query) <= _PARTS_OF_PAPERS


def subject_stems(query: str) -> frozenset[str]:
    """Return the stems of what a query is about."""
    return frozenset(word for word, weight in word_weights(query, 0.0).items() if weight)
