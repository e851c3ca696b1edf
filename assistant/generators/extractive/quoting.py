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
    """Return at most MOST_QUOTED sentences of a paper that answer a question, none where it does not say.

    The likeliest sentence, and the one beside it that it leans on or that goes on with it. The label of the
    paper does not matter. `vectors` are those of its sentences, as far as they are known.
    """
    # A label is a rank of the search: every paper is asked as if it had been found first.
    evidence = Evidence((replace(paper, label=1),))
    found = RankedEvidence(plan_of(rewrite_from_words(question, ())), evidence, encoder, vectors)
    if cannot_answer(found):
        return []
    limits = limits_of(found.plan.kind).model_copy(update={"most": 1})
    return ExtractiveGenerator(encoder).select(found, limits)[:MOST_QUOTED]
