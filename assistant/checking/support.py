"""The support of citations: the best sentence of each, its score, and whether the citation is needed."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from assistant.checking.overlap import likeness, overlap_word, score_attribution
from assistant.checking.scorer import Support, SupportReader, SupportScorer
from assistant.checking.thresholds import thresholds
from assistant.records import AnswerSentence, Citation, Evidence, LabelledPaper
from corpus.language.identified import foreign_language
from corpus.language.stemming import ENGLISH
from corpus.records import Paper, Passage
from corpus.tables import quotes_row
from corpus.text import write_out_numbers

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Weighed:
    """Sentences with scored citations, and the needed labels of each sentence."""

    sentences: tuple[AnswerSentence, ...]
    needed: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Carrier:
    """The sentence that supports a claim best, and its support, 0..1."""

    passage_id: str
    sentence: int
    text: str
    support: float


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence of a paper, with its passage and index in it."""

    text: str
    passage: Passage
    index: int


class SupportCheck:
    """Scores the citations of one answer against its evidence."""

    def __init__(self, evidence: Evidence, scorer: SupportScorer) -> None:
        self._reader: SupportReader = scorer.reader()
        self._known: dict[tuple[str, tuple[int, ...]], Support] = {}
        self._places = {paper.label: _places(paper) for paper in evidence.papers}
        self._about = {paper.label: about(paper.paper) for paper in evidence.papers}

    def weigh(self, sentences: Sequence[AnswerSentence]) -> Weighed:
        """Return the sentences with every citation resolved to its best sentence, and scored."""
        resolved = self._resolved(sentences)
        needed = []
        for place, sentence in enumerate(resolved):
            alone = self._alone(sentence)
            support = self._together(sentence, alone)
            resolved[place] = replace(sentence, support=support)
            needed.append(self._needed(sentence, support, alone))
        return Weighed(tuple(resolved), tuple(needed))

    def carriers(self, claims: Sequence[str], label: int) -> list[Carrier | None]:
        """Return for each claim the sentence of a paper that supports it best, None if it has no words."""
        supports = self._support([(claim, (label,)) for claim in claims])
        return [self._carrier(support, label) for support in supports]

    def _carrier(self, support: Support, label: int) -> Carrier | None:
        if support.sentence is None:
            return None
        place = self._places[label][support.sentence]
        return Carrier(place.passage.id, place.index, place.text, support.score)

    def _together(self, sentence: AnswerSentence, alone: Mapping[int, float]) -> float | None:
        """Return the support by all citations together, at least the highest by one of them."""
        if len(alone) < 2:
            return next(iter(alone.values()), None)
        (all_of_them,) = self._support([(sentence.claim, tuple(alone))])
        return max(all_of_them.score, *alone.values())

    def cite(self, claim: str, label: int) -> Citation:
        """Return a citation of the sentence of a paper that supports a claim best."""
        (support,) = self._support([(claim, (label,))])
        return self._led(Citation(label, claim, "", None, "", None), support)

    def _resolved(self, sentences: Sequence[AnswerSentence]) -> list[AnswerSentence]:
        citations = [citation for sentence in sentences for citation in sentence.citations]
        supports = self._support([(citation.claim, (citation.label,)) for citation in citations])
        led = iter(
            [self._led(citation, support) for citation, support in zip(citations, supports, strict=True)]
        )
        return [
            replace(sentence, citations=tuple(next(led) for _ in sentence.citations))
            for sentence in sentences
        ]

    def _led(self, citation: Citation, support: Support) -> Citation:
        """Return the citation resolved to the sentence that supports it best."""
        if support.sentence is None:
            return replace(citation, support=support.score)
        place = self._places[citation.label][support.sentence]
        bars = thresholds()
        is_marked = (
            support.score >= bars.support.supported
            or likeness(citation.claim, place.text) >= bars.overlap.marked
        )
        return replace(
            citation,
            passage_id=place.passage.id,
            sentence=place.index if is_marked else None,
            evidence=place.text,
            overlap=score_attribution(citation.claim, place.passage.text),
            support=support.score,
        )

    def _alone(self, sentence: AnswerSentence) -> dict[int, float]:
        """Score the whole sentence against each label alone."""
        if len(sentence.citations) == 1 and sentence.citations[0].claim == sentence.claim:
            return {sentence.citations[0].label: sentence.citations[0].support or 0.0}
        labels = tuple(citation.label for citation in sentence.citations)
        supports = self._support([(sentence.claim, (label,)) for label in labels])
        return {label: support.score for label, support in zip(labels, supports, strict=True)}

    def _needed(
        self, sentence: AnswerSentence, support: float | None, alone: Mapping[int, float]
    ) -> frozenset[int]:
        """Return the labels that support the sentence alone, or without which the others do not."""
        supported = thresholds().support.supported
        if support is None or support < supported:
            return frozenset()
        doubtful = [label for label, score in alone.items() if score < supported]
        others = [(sentence.claim, tuple(other for other in alone if other != label)) for label in doubtful]
        spared = {
            label
            for label, (_, rest), without in zip(doubtful, others, self._support(others), strict=True)
            if max((without.score, *(alone[other] for other in rest))) >= supported
        }
        return frozenset(alone.keys() - spared)

    def _support(self, asked: Sequence[tuple[str, tuple[int, ...]]]) -> list[Support]:
        """Score each claim against all passages of its labels; each pair is scored once."""
        for pair in asked:
            if pair not in self._known and (quoted := self._quoted_row(*pair)) is not None:
                self._known[pair] = Support(1.0, quoted)
        new = [pair for pair in dict.fromkeys(asked) if pair not in self._known]
        evidence = [[place.text for label in labels for place in self._places[label]] for _, labels in new]
        whose = [" ".join(self._about[label] for label in labels) for _, labels in new]
        weighed = self._reader.weigh([claim for claim, _ in new], evidence, whose)
        self._known.update(zip(new, weighed, strict=True))
        return [self._known[pair] for pair in asked]

    def _quoted_row(self, claim: str, labels: tuple[int, ...]) -> int | None:
        """Return the number of the evidence sentence that is a table row and holds the claim's cells."""
        places = (place for label in labels for place in self._places[label])
        return next((number for number, place in enumerate(places) if _is_row(place, claim)), None)


def _is_row(place: _Place, claim: str) -> bool:
    table, at = place.passage.table, place.index - place.passage.first_row
    return table is not None and at >= 0 and quotes_row(table, at, claim)


def _places(paper: LabelledPaper) -> tuple[_Place, ...]:
    return tuple(
        _Place(passage.sentence_text(index), passage, index)
        for passage in paper.passages
        for index in range(len(passage.sentences))
    )


def about(paper: Paper) -> str:
    """Return the text that names a paper in a claim: title, authors, venue and year."""
    names = [author.name for author in paper.authors]
    return " ".join([paper.title, *names, paper.venue, str(paper.year or "")])


def labels_across(text: str, evidence: Evidence) -> frozenset[int]:
    """Return the labels of the papers that are in another language than an answer; unknown is English."""
    written = foreign_language(text) or ENGLISH
    return frozenset(paper.label for paper in evidence.papers if (paper.paper.language or ENGLISH) != written)


def without_scores(weighed: Weighed, across: Collection[int], evidence: Evidence) -> Weighed:
    """Return sentences without scores for citations across languages, where words cannot be compared.

    Numbers can: a sentence with a number that no cited paper has gets support 0.
    """
    texts = {paper.label: " ".join(passage.text for passage in paper.passages) for paper in evidence.papers}
    return replace(
        weighed, sentences=tuple(_without_scores(sentence, across, texts) for sentence in weighed.sentences)
    )


def cites_across(sentence: AnswerSentence) -> bool:
    """Return True if a sentence cites a paper in another language, so that nothing was measured."""
    return any(citation.overlap is None for citation in sentence.citations)


def _is_across(citation: Citation, across: Collection[int]) -> bool:
    """Return True if a citation is across languages; a claim that repeats its passage is in its language."""
    is_repeated = citation.overlap is not None and overlap_word(citation.overlap) == "strong"
    return citation.label in across and not is_repeated


def _without_scores(
    sentence: AnswerSentence, across: Collection[int], texts: Mapping[int, str]
) -> AnswerSentence:
    is_across = [_is_across(citation, across) for citation in sentence.citations]
    if not any(is_across):
        return sentence
    citations = tuple(
        replace(citation, overlap=None, support=None, sentence=None) if other else citation
        for citation, other in zip(sentence.citations, is_across, strict=True)
    )
    known = {number for label in sentence.labels for number in _numbers(texts.get(label, ""))}
    support = None if _numbers(sentence.claim) <= known else 0.0
    return replace(sentence, citations=citations, support=support)


def _numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text with commas as points, since languages differ in this."""
    return frozenset(number.replace(",", ".") for number in _NUMBER.findall(write_out_numbers(text)))
