"""Comparisons of three small papers, made without a generator: their summaries are what is measured."""

from assistant.comparing.records import Comparison, ComparisonOptions
from evaluation.summaries.summary import System
from tests.evaluation.labelled import answered

ABOUT = "We want retrieval that helps readers check what a model wrote."
ABSTRACTS = {
    "dense": "Dense retrieval with a small encoder finds most of the answers.",
    "words": "Ranking passages by their words is quick, but it misses paraphrases.",
    "fusion": "Word search and dense search in one ranking are better than both.",
}
SUMMARY = (
    "Dense retrieval finds most of the answers [1], while ranking by words is quick [2].\n\n"
    "Fusion joins both in one ranking [3]. Unlike these papers, the proposed work helps readers check."
)


def comparison_of(text: str = SUMMARY, generator: str = "extractive") -> Comparison:
    """Return a comparison with a summary that says `text`."""
    passages = {key: (abstract,) for key, abstract in ABSTRACTS.items()}
    shares = {"citation_recall": 0.75, "citation_precision": 0.5 if text else None}
    told = answered(text, passages, generator, **shares)
    return Comparison(
        id="c1",
        about=ABOUT,
        options=ComparisonOptions(),
        paper_ids=tuple(labelled.paper.id for labelled in told["evidence"].papers),
        elements=(),
        rounds=(),
        **told,
    )


def system_of(name: str, text: str = SUMMARY) -> System:
    return System(name, comparison_of(text))
