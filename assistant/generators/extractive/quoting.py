"""The sentences in which a single paper answers a question, word for word."""

from dataclasses import replace

from assistant.generators.extractive.candidates import Candidate
from assistant.generators.extractive.choosing import limits_of
from assistant.generators.extractive.found import cannot_answer
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.questions.rewriting import rewrite_from_words
from assistant.records import Evidence, LabelledPaper
from corpus.encoders.base import Encoder

MOST_QUOTED = 2


def quote_paper(question: str, paper: LabelledPaper, encoder: Encoder) -> list[Candidate]:
    """Return at most MOST_QUOTED sentences of a paper that answer a question, none where it does not say.

    The likeliest sentence, and the one beside it that it leans on or that goes on with it. The label of the
    paper does not matter.
    """
    rewrite = rewrite_from_words(question, ())
    # A label is a rank of the search: every paper is asked as if it had been found first.
    evidence = Evidence((replace(paper, label=1),))
    if cannot_answer(rewrite, evidence, encoder):
        return []
    limits = limits_of(rewrite.kind).model_copy(update={"most": 1})
    return ExtractiveGenerator(encoder).select(rewrite, evidence, limits)[:MOST_QUOTED]
