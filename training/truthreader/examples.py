"""Examples: questions with evidence and cited answers, and changed copies (TruthReader, section 4.2.1).

The labels of an example's sentences refer to its own evidence.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from assistant.checking.overlap import score_attribution
from assistant.reading.standing_alone import leans
from assistant.records import Evidence, LabelledPaper
from corpus.language.bm25 import terms_of
from corpus.records import Paper, Passage

FULL_WIDTH = "。！？"
PASSAGES = 4  # the number of passages of a question, as TruthReader retrieves
NEAR = 40
FEWEST_UNANSWERING = 2
LEAST_SUPPORT = 0.5  # lowest ROUGE-1 precision of a sentence against the passages that it cites
GAIN = 0.15  # lowest gain in ROUGE-1 precision for which another paper is cited
MOST_LABELS = 3

Kind = Literal["fact", "summary", "synthesis"]
# The origin of a question: a model that read documents, or a published data set.
Source = Literal["documents", "refgpt", "webcpm"]
# The earlier turns: none, those that the question follows up, others, or both.
HistoryType = Literal["none", "relevant", "irrelevant", "both"]
# The method of choosing citations.
AttributionMethod = Literal["model", "score"]
# The change made to the evidence.
Change = Literal["shuffled", "replaced", "omitted", "unanswerable"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and answer, the passages that they were written from, and the pair that it follows up."""

    id: str
    kind: Kind
    question: str
    answer: str
    passages: tuple[Passage, ...]
    follows: "Pair | None" = None
    source: Source = "documents"


class CitedSentence(NamedTuple):
    """A sentence of an answer without labels, and the labels of the papers that support it."""

    text: str
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its evidence and its cited answer; without sentences it is a refusal.

    `history` has the examples asked before. `is_partial` is True if a part of the answer was omitted together
    with its evidence. `explanation` says why the evidence does not answer, "" without a usable one.
    """

    pair: Pair
    evidence: Evidence
    sentences: tuple[CitedSentence, ...]
    history: tuple["Example", ...] = ()
    history_type: HistoryType = "none"
    change: Change = "shuffled"
    is_partial: bool = False
    explanation: str = ""

    @property
    def cited(self) -> tuple[int, ...]:
        """The cited labels, in order of first appearance."""
        return tuple(dict.fromkeys(label for sentence in self.sentences for label in sentence.labels))

    @property
    def cited_papers(self) -> set[str]:
        return {paper.paper.id for paper in self.evidence.papers if paper.label in self.cited}


# Returns the labels of the papers that support a sentence. The passages are preferred ones: those that the
# answer was written from.
Attribution = Callable[[str, Evidence, Sequence[Passage]], tuple[int, ...]]


def cite(
    sentences: Iterable[str], evidence: Evidence, preferred: Sequence[Passage], attribute: Attribution
) -> tuple[CitedSentence, ...]:
    return tuple(CitedSentence(text, attribute(text, evidence, preferred)) for text in sentences)


class Library:
    """Papers and passages, searched by the cosine of TF-IDF vectors."""

    def __init__(self, papers: Mapping[str, Paper], passages: Sequence[Passage]) -> None:
        self.papers, self.passages = papers, tuple(passages)
        self._vectors = TfidfVectorizer(sublinear_tf=True, analyzer=terms_of)
        try:
            self._matrix = self._vectors.fit_transform([passage.text for passage in self.passages])
        except ValueError:  # no passage has a word
            self._matrix = None

    def nearest(self, text: str, count: int = NEAR, without: Collection[str] = ()) -> tuple[Passage, ...]:
        """Return the nearest passages that share a word with a text, except the ids in `without`."""
        if self._matrix is None or not count:
            return ()
        scores = (self._matrix @ self._vectors.transform([text]).T).toarray().ravel()
        order = np.argsort(-scores, kind="stable")[: count + len(without)]
        near = (self.passages[index] for index in order if scores[index] > 0)
        return tuple(passage for passage in near if passage.id not in without)[:count]

    def as_evidence(self, passages: Sequence[Passage]) -> Evidence:
        """Group passages into evidence; papers are labelled in the order of their first passages."""
        order = list(dict.fromkeys(passage.paper_id for passage in passages))
        ranked = sorted(passages, key=lambda passage: (order.index(passage.paper_id), passage.number))
        by_paper = groupby(ranked, key=lambda passage: passage.paper_id)
        return Evidence(
            tuple(
                LabelledPaper(label, self.papers[paper], tuple(paper_passages))
                for label, (paper, paper_passages) in enumerate(by_paper, start=1)
            )
        )

    def make_example(self, pair: Pair, sentences: Sequence[str], attribute: Attribution) -> Example | None:
        """Make an example with the pair's passages and related ones; None if a sentence gets no citation."""
        # Only facts get related passages: a summary is of one paper, and a synthesis has enough papers.
        missing = max(0, PASSAGES - len(pair.passages)) if pair.kind == "fact" else 0
        near = self.nearest(pair.question, missing, {passage.id for passage in pair.passages})
        evidence = self.as_evidence((*pair.passages, *near))
        cited = cite(sentences, evidence, pair.passages, attribute)
        return Example(pair, evidence, cited) if all(sentence.labels for sentence in cited) else None

    def make_unanswerable(self, pair: Pair, answers: Callable[[Passage], bool]) -> Example | None:
        """Make a refusal with related passages that do not answer the question; None if they are too few."""
        near = self.nearest(pair.question, without={passage.id for passage in pair.passages})
        unanswering = [passage for passage in near if not answers(passage)][:PASSAGES]
        if len(unanswering) < FEWEST_UNANSWERING:
            return None
        return Example(pair, self.as_evidence(unanswering), (), change="unanswerable")

    def replace_uncited(self, example: Example, generator: random.Random) -> Example:
        """Replace the uncited papers of an example by others drawn at random, as far as there are any."""
        papers = list(example.evidence.papers)
        uncited = [index for index, paper in enumerate(papers) if paper.label not in example.cited]
        known = {paper.paper.id for paper in papers}
        free = [passage for passage in self.passages if uncited and passage.paper_id not in known]
        by_paper: dict[str, Passage] = {}
        for passage in generator.sample(free, len(free)):
            by_paper.setdefault(passage.paper_id, passage)
        if not by_paper:
            return example
        for index, (other, passage) in zip(uncited, by_paper.items(), strict=False):
            papers[index] = LabelledPaper(index + 1, self.papers[other], (passage,))
        return replace(example, evidence=Evidence(tuple(papers)), change="replaced")


def format_answer(sentences: Iterable[CitedSentence]) -> str:
    """Format an answer with its labels before full stops, as the prompt requests."""
    parts = []
    for text, labels in sentences:
        bare = text.rstrip()
        stop = bare[-1] if bare.endswith((*".!?", *FULL_WIDTH)) else "."
        cited = "".join(f"[{label}]" for label in labels)
        # Chinese has no spaces between sentences.
        gap, after = ("", "") if stop in FULL_WIDTH else (" ", " ")
        parts.append((f"{bare.rstrip('.!?' + FULL_WIDTH)}{gap}{cited}{stop}" if labels else text) + after)
    return "".join(parts).strip()


def select_papers(example: Example, order: Sequence[int]) -> Example:
    """Return an example with only the papers of these labels, in this order and relabelled from 1."""
    by_label = {paper.label: paper for paper in example.evidence.papers}
    new = {old: label for label, old in enumerate(order, start=1)}
    evidence = Evidence(tuple(replace(by_label[old], label=new[old]) for old in order))
    sentences = tuple(
        CitedSentence(text, tuple(sorted(new[label] for label in labels if label in new)))
        for text, labels in example.sentences
    )
    return replace(example, evidence=evidence, sentences=sentences)


def shuffle_papers(example: Example, generator: random.Random) -> Example:
    labels = [paper.label for paper in example.evidence.papers]
    return select_papers(example, generator.sample(labels, len(labels)))


def omit_paper(example: Example, label: int, attribute: Attribution) -> Example:
    """Return an example without a cited paper and without the sentences that only this paper supports."""
    left = [paper.label for paper in example.evidence.papers if paper.label != label]
    without = select_papers(example, left)
    kept: list[CitedSentence] = []
    was_dropped = False
    texts = [text for text, _ in without.sentences]
    for sentence in cite(texts, without.evidence, example.pair.passages, attribute):
        # Also drop a sentence that refers back to a dropped one.
        was_dropped = not sentence.labels or (was_dropped and leans(sentence.text))
        if not was_dropped:
            kept.append(sentence)
    is_partial = 0 < len(kept) < len(example.sentences)
    return replace(without, sentences=tuple(kept), change="omitted", is_partial=is_partial)


def labels_by_score(sentence: str, evidence: Evidence, preferred: Sequence[Passage]) -> tuple[int, ...]:
    """Return the labels of the papers that share most words with a sentence.

    TruthReader asks a model instead. Papers are added as long as they raise the score by `GAIN`; preferred
    passages get `GAIN` as a bonus when the best is chosen.
    """
    sources = [
        (paper.label, f"{paper.paper.title}. {passage.text}", passage in preferred)
        for paper in evidence.papers
        for passage in paper.passages
    ]
    chosen: list[tuple[int, str, bool]] = []
    score = 0.0
    while len(chosen) < MOST_LABELS and (rest := [source for source in sources if source not in chosen]):
        together = ("\n".join(text for _, text, _ in (*chosen, source)) for source in rest)
        gains = [score_attribution(sentence, text) - score for text in together]
        best = max(range(len(rest)), key=lambda index: gains[index] + GAIN * rest[index][2])
        if chosen and gains[best] < GAIN:
            break
        chosen.append(rest[best])
        score += gains[best]
    return tuple(sorted({label for label, _, _ in chosen})) if score >= LEAST_SUPPORT else ()
