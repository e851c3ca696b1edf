"""Checks of summaries and key elements against the papers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assistant.checking.citations import check_sentences, normalise_labels, plain_claim, read_labels
from assistant.checking.drafts import read_draft
from assistant.checking.phrases.sentences import with_unsaid
from assistant.checking.scorer import SupportScorer
from assistant.checking.scores.citing import CITATION_PRECISION, CITATION_RECALL
from assistant.checking.scores.registry import CITING_SCORES, measure_scores
from assistant.checking.support import Carrier, SupportCheck
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import ELEMENT_NAMES, Candidate, ElementEvidence, KeyElement
from assistant.records import (
    Answer,
    Citation,
    Draft,
    DraftProblem,
    ElementName,
    Evidence,
    LabelledPaper,
)
from corpus.sentences import sentence_spans
from corpus.text import words

# A summary of thirty papers has about 2,000 words.
LONGEST_SUMMARY = 30_000
# Endings of a complete summary.
_ENDS = (".", "!", "?", "]", ")", "”", '"', "’")


@dataclass(frozen=True, slots=True)
class ReadSummary:
    """A draft with normalised labels, and its problems."""

    text: str
    labels: tuple[int, ...]
    problems: tuple[DraftProblem, ...]


def read_summary(draft: Draft, about: str, labels: Sequence[int]) -> ReadSummary:
    """Return a draft as prose with normalised labels, without half a sentence at its end."""
    read = read_draft(draft, about, longest=LONGEST_SUMMARY)
    labelled = read_labels(read.text, set(labels))
    problems = dict.fromkeys(read.problems)
    text = labelled.text.strip()
    if text and not words(plain_claim(text)):
        problems["labels_only"] = None
        text = ""
    if text and not text.endswith(_ENDS):
        if problems.keys().isdisjoint(("interrupted", "filtered")):
            problems["cut_short"] = None
        spans = sentence_spans(text)
        text = text[: spans[-1][0]].rstrip() if len(spans) > 1 else text
    if text and not labelled.labels:
        problems["no_citations"] = None
    kept = normalise_labels(text, set(labels)).labels
    return ReadSummary(text, kept, tuple(problems))


class SummaryChecker:
    """Checks the texts of one comparison against its sources; not safe for several threads."""

    def __init__(self, sources: Sequence[SourceText], scorer: SupportScorer) -> None:
        papers = tuple(source.paper for source in sources)
        self.evidence = Evidence(papers)
        self._support = SupportCheck(self.evidence, scorer)
        self._encoder = scorer.encoder

    def scored(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates with the recall and precision of their citations."""
        written = [
            check_sentences(candidate.text, self.evidence, resolve=_not_resolved) for candidate in candidates
        ]
        # Weighing all together encodes them in large batches; the results are cached for each.
        self._support.weigh([sentence for sentences in written for sentence in sentences])
        weighed = map(self._support.weigh, written)
        return [
            replace(
                candidate,
                citation_recall=CITATION_RECALL.measure(sentences),
                citation_precision=CITATION_PRECISION.measure(sentences),
            )
            for candidate, sentences in zip(candidates, weighed, strict=True)
        ]

    def answer(self, text: str, problems: tuple[DraftProblem, ...], *, names_unsaid: bool = True) -> Answer:
        """Return a summary as a checked answer: every sentence's citations resolved and scored."""
        weighed = self._support.weigh(check_sentences(text, self.evidence, resolve=_not_resolved))
        scores = measure_scores(CITING_SCORES, weighed)
        answer = Answer(text, weighed.sentences, problems=problems, **scores)
        return with_unsaid(answer, self.evidence, self._encoder) if names_unsaid else answer

    def elements(self, label: int, texts: Mapping[ElementName, str]) -> tuple[KeyElement, ...]:
        """Return the seven elements with the sentences of the source that support them best."""
        claims = {name: _claims(texts.get(name, "")) for name in ELEMENT_NAMES}
        all_claims = [claim for name in ELEMENT_NAMES for claim in claims[name]]
        carriers = iter(self._support.carriers(all_claims, label))
        return tuple(
            _element(name, texts.get(name, ""), [next(carriers) for _ in claims[name]])
            for name in ELEMENT_NAMES
        )


def _claims(text: str) -> list[str]:
    spans = [text[start:end].strip() for start, end in sentence_spans(text)]
    return [claim for claim in map(plain_claim, spans) if claim]


def _element(name: ElementName, text: str, found: Sequence[Carrier | None]) -> KeyElement:
    """Return an element; its support is that of its weakest sentence."""
    if not text:
        return KeyElement(name)
    carriers = [carrier for carrier in found if carrier]
    evidence = [
        ElementEvidence(carrier.passage_id, carrier.sentence, carrier.text, carrier.support)
        for carrier in carriers
    ]
    is_supported = bool(carriers) and len(carriers) == len(found)
    support = min(carrier.support for carrier in carriers) if is_supported else 0.0
    return KeyElement(name, text, support, tuple(dict.fromkeys(evidence)))


def _not_resolved(label: int, claim: str, paper: LabelledPaper) -> Citation:
    """Return a citation of a paper's first sentence, to be resolved by weighing."""
    first = paper.passages[0]
    evidence = first.sentence_text(0) if first.sentences else ""
    return Citation(label, claim, first.id, None, evidence, overlap=0.0)
