"""Questions with their evidence and cited answers, their changes and histories (TruthReader, section 4.2.1).

The labels of an example are those of its own evidence.
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
PASSAGES = 4  # shown with a question, as TruthReader retrieves
NEAR = 40
FEWEST_UNANSWERING = 2
CARRIED = 0.5  # least ROUGE-1 precision of a sentence against the passages that it cites
GAIN = 0.15  # least gain by a further citation
MOST_LABELS = 3

Kind = Literal["fact", "summary", "synthesis"]
# Who wrote the question: the model about documents, or a published set.
Source = Literal["documents", "refgpt", "webcpm"]
# The earlier turns: none, those that a question leans on, others, or both.
HistoryType = Literal["none", "relevant", "irrelevant", "both"]
# Who cites.
AttributionMethod = Literal["model", "score"]
# The change made to the evidence.
Change = Literal["shuffled", "replaced", "omitted", "unanswerable"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and answer, the passages that they were written from, and the pair that is followed up."""

    id: str
    kind: Kind
    question: str
    answer: str
    shown: tuple[Passage, ...]
    leans_on: "Pair | None" = None
    source: Source = "documents"


class CitedSentence(NamedTuple):
    """A sentence of an answer without labels, and the labels of the papers that carry it."""

    text: str
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its evidence and its cited answer; without sentences it is to be refused.

    `history` are the examples asked before; `is_partial`: part of the answer was omitted with its evidence.
    `explanation` says why the evidence does not answer, "" where no usable one was written.
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
        """The labels cited, in order of first appearance."""
        return tuple(dict.fromkeys(label for sentence in self.sentences for label in sentence.labels))

    @property
    def cited_papers(self) -> set[str]:
        return {paper.paper.id for paper in self.evidence.papers if paper.label in self.cited}


# Returns the labels of a sentence: by what evidence carries it, preferring the passages written from.
Attribution = Callable[[str, Evidence, Sequence[Passage]], tuple[int, ...]]


def cite(
    sentences: Iterable[str], evidence: Evidence, shown: Sequence[Passage], attribute: Attribution
) -> tuple[CitedSentence, ...]:
    """Return sentences with their labels."""
    return tuple(CitedSentence(text, attribute(text, evidence, shown)) for text in sentences)


class Library:
    """Papers and passages, found by the cosine of their TF-IDF vectors."""

    def __init__(self, papers: Mapping[str, Paper], passages: Sequence[Passage]) -> None:
        self.papers, self.passages = papers, tuple(passages)
        self._vectors = TfidfVectorizer(sublinear_tf=True, analyzer=terms_of)
        try:
            self._matrix = self._vectors.fit_transform([passage.text for passage in self.passages])
        except ValueError:  # not a word in any of them
            self._matrix = None

    def nearest(self, text: str, count: int = NEAR, without: Collection[str] = ()) -> tuple[Passage, ...]:
        """Return the nearest passages that share a word with a text, but some by id."""
        if self._matrix is None or not count:
            return ()
        scores = (self._matrix @ self._vectors.transform([text]).T).toarray().ravel()
        order = np.argsort(-scores, kind="stable")[: count + len(without)]
        near = (self.passages[index] for index in order if scores[index] > 0)
        return tuple(passage for passage in near if passage.id not in without)[:count]

    def labelled(self, passages: Sequence[Passage]) -> Evidence:
        """Return passages as evidence; papers are labelled in the order of their first passages."""
        order = list(dict.fromkeys(passage.paper_id for passage in passages))
        ranked = sorted(passages, key=lambda passage: (order.index(passage.paper_id), passage.number))
        grouped = groupby(ranked, key=lambda passage: passage.paper_id)
        return Evidence(
            tuple(
                LabelledPaper(label, self.papers[paper], tuple(found))
                for label, (paper, found) in enumerate(grouped, start=1)
            )
        )

    def gather(self, pair: Pair, sentences: Sequence[str], attribute: Attribution) -> Example | None:
        """Return a pair with its passages and related ones, cited; None where nothing carries a sentence."""
        # A summary is of one paper, and a synthesis has papers enough.
        wanted = max(0, PASSAGES - len(pair.shown)) if pair.kind == "fact" else 0
        near = self.nearest(pair.question, wanted, {passage.id for passage in pair.shown})
        evidence = self.labelled((*pair.shown, *near))
        cited = cite(sentences, evidence, pair.shown, attribute)
        return Example(pair, evidence, cited) if all(sentence.labels for sentence in cited) else None

    def unanswerable(self, pair: Pair, answers: Callable[[Passage], bool]) -> Example | None:
        """Return a question with related passages that do not answer it, None where these are too few."""
        near = self.nearest(pair.question, without={passage.id for passage in pair.shown})
        silent = [passage for passage in near if not answers(passage)][:PASSAGES]
        if len(silent) < FEWEST_UNANSWERING:
            return None
        return Example(pair, self.labelled(silent), (), change="unanswerable")

    def replaced(self, example: Example, chance: random.Random) -> Example:
        """Return an example whose uncited papers are others, drawn at random, as far as there are any."""
        papers = list(example.evidence.papers)
        places = [place for place, paper in enumerate(papers) if paper.label not in example.cited]
        known = {paper.paper.id for paper in papers}
        free = [passage for passage in self.passages if places and passage.paper_id not in known]
        drawn: dict[str, Passage] = {}
        for passage in chance.sample(free, len(free)):
            drawn.setdefault(passage.paper_id, passage)
        if not drawn:
            return example
        for place, (other, passage) in zip(places, drawn.items(), strict=False):
            papers[place] = LabelledPaper(place + 1, self.papers[other], (passage,))
        return replace(example, evidence=Evidence(tuple(papers)), change="replaced")


def written(sentences: Iterable[CitedSentence]) -> str:
    """Return an answer as text, with labels before full stops, as the prompt asks."""
    found = []
    for text, labels in sentences:
        bare = text.rstrip()
        stop = bare[-1] if bare.endswith((*".!?", *FULL_WIDTH)) else "."
        cited = "".join(f"[{label}]" for label in labels)
        # Chinese sets no spaces.
        gap, after = ("", "") if stop in FULL_WIDTH else (" ", " ")
        found.append((f"{bare.rstrip('.!?' + FULL_WIDTH)}{gap}{cited}{stop}" if labels else text) + after)
    return "".join(found).strip()


def relabelled(example: Example, order: Sequence[int]) -> Example:
    """Return an example with only the papers of these labels, in this order, labelled anew from 1."""
    by_label = {paper.label: paper for paper in example.evidence.papers}
    new = {old: place for place, old in enumerate(order, start=1)}
    evidence = Evidence(tuple(replace(by_label[old], label=new[old]) for old in order))
    sentences = tuple(
        CitedSentence(text, tuple(sorted(new[label] for label in labels if label in new)))
        for text, labels in example.sentences
    )
    return replace(example, evidence=evidence, sentences=sentences)


def shuffled(example: Example, chance: random.Random) -> Example:
    """Return an example with its papers in another order."""
    labels = [paper.label for paper in example.evidence.papers]
    return relabelled(example, chance.sample(labels, len(labels)))


def omitted(example: Example, label: int, attribute: Attribution) -> Example:
    """Return an example without a cited paper, and without the sentences that it alone carried."""
    left = [paper.label for paper in example.evidence.papers if paper.label != label]
    without = relabelled(example, left)
    kept: list[CitedSentence] = []
    was_dropped = False
    texts = [text for text, _ in without.sentences]
    for sentence in cite(texts, without.evidence, example.pair.shown, attribute):
        # A sentence that leans on a dropped one goes too.
        was_dropped = not sentence.labels or (was_dropped and leans(sentence.text))
        if not was_dropped:
            kept.append(sentence)
    is_partial = 0 < len(kept) < len(example.sentences)
    return replace(without, sentences=tuple(kept), change="omitted", is_partial=is_partial)


def labels_by_score(sentence: str, evidence: Evidence, shown: Sequence[Passage]) -> tuple[int, ...]:
    """Return the labels of the papers that share most words with a sentence.

    The paper asks a model instead. Further papers are cited as long as they add to the score; passages that
    the answer was written from are preferred.
    """
    given = [
        (paper.label, f"{paper.paper.title}. {passage.text}", passage in shown)
        for paper in evidence.papers
        for passage in paper.passages
    ]
    chosen: list[tuple[int, str, bool]] = []
    score = 0.0
    while len(chosen) < MOST_LABELS and (rest := [source for source in given if source not in chosen]):
        together = ("\n".join(text for _, text, _ in (*chosen, source)) for source in rest)
        gains = [score_attribution(sentence, text) - score for text in together]
        best = max(range(len(rest)), key=lambda place: gains[place] + GAIN * rest[place][2])
        if chosen and gains[best] < GAIN:
            break
        chosen.append(rest[best])
        score += gains[best]
    return tuple(sorted({label for label, _, _ in chosen})) if score >= CARRIED else ()
