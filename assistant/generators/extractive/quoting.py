"""The sentences in which a single paper answers a question, word for word."""

from collections.abc import Mapping
from dataclasses import replace

from assistant.generators.extractive.choosing import limits_of
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.questions.plan import plan_of
from assistant.questions.rewriting import rewrite_from_words
from assistant.ranking.candidates import Candidate
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.gate import cannot_answer
from assistant.records import Evidence, LabelledPaper
from corpus.encoders.base import Encoder, Vectors

MOST_QUOTED = 2


def quote_paper(
    question: str, paper: LabelledPaper, encoder: Encoder, vectors: Mapping[str, Vectors]
) -> list[Candidate]:
    """Return at most MOST_QUOTED sentences of a paper that answer a question, [] if it does not.

    They are the likeliest sentence and a neighbour that it refers to or that continues it. `vectors` are
    stored vectors of its sentences by text.
    """
    # The label is a feature, the rank in a search: every paper gets that of the first.
    evidence = Evidence((replace(paper, label=1),))
    ranked = RankedEvidence(plan_of(rewrite_from_words(question, ())), evidence, encoder, vectors)
    if cannot_answer(ranked, strictly=True):
        return []
    limits = limits_of(ranked.plan.kind).model_copy(update={"most": 1})
    return ExtractiveGenerator(encoder).select(ranked, limits)[:MOST_QUOTED]
