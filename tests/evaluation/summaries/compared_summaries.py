"""Comparisons of three small papers, made without a generator: their summaries are what is measured."""

from dataclasses import replace

from assistant.checking.citations import check_sentences
from assistant.comparing.records import Comparison, ComparisonOptions
from assistant.records import Answer, Evidence, LabelledPaper, Provenance
from evaluation.summaries.summary import System
from tests.small_corpus import make_paper, make_passages

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


def comparison_of(
    text: str = SUMMARY, papers: tuple[str, ...] = ("dense", "words", "fusion"), generator: str = "extractive"
) -> Comparison:
    """Return a comparison of papers in an order, with a summary that says `text`."""
    evidence = Evidence(tuple(_labelled(label, key) for label, key in enumerate(papers, start=1)))
    sentences = check_sentences(text, evidence)
    return Comparison(
        id="c1",
        about=ABOUT,
        options=ComparisonOptions(),
        paper_ids=tuple(one.paper.id for one in evidence.papers),
        asked="2026-11-22T00:00:00.000+00:00",
        evidence=evidence,
        elements=(),
        rounds=(),
        answer=Answer(text, sentences, citation_recall=0.75, citation_precision=0.5 if sentences else None),
        calls=(),
        seconds=(),
        provenance=Provenance("Paper Trail", generator, "encoder", "0", ()),
    )


def system_of(name: str, text: str = SUMMARY, **changes) -> System:
    return System(name, comparison_of(text, **changes))


def _labelled(label: int, key: str) -> LabelledPaper:
    paper = replace(make_paper("shelf", key, title=f"On {key}"), abstract=ABSTRACTS.get(key, "Another one."))
    return LabelledPaper(label, paper, tuple(make_passages(paper, [paper.abstract])))
