"""How good a comparative summary is: words shared with a written one, citations, and what sentences do."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer

from assistant.checking import plain_claim
from assistant.comparing import Comparison
from corpus.sentences import sentence_spans
from corpus.text import words
from evaluation.input_files import EvaluationError, read_text
from evaluation.summaries.citation_style import CITE, neutral
from evaluation.summaries.corwa import TAGS, Tag
from evaluation.summaries.sentence_tags import SentenceTagger, TaggedSentence, share

ROUGE = ("rouge1", "rouge2", "rougeL")
LARGEST_GOLD = 2 * 2**20
_HEADING = re.compile(r"^ {0,3}#{1,6} [^\n]*$", re.MULTILINE)
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class System:
    """A summary to be measured, under a name: that of its file, and what was left out of it."""

    name: str
    comparison: Comparison

    @property
    def text(self) -> str:
        return self.comparison.answer.text


@dataclass(frozen=True, slots=True)
class SummaryFigures:
    """The figures of one summary, shares 0..1; None where there is nothing to count, or no gold text.

    A sentence compares by its tag (it tells of several papers together, or sets the work at hand beside
    others), by counting (it cites two papers or more), or by either.
    """

    rouge: dict[str, float] | None
    citation_recall: float | None
    citation_precision: float | None
    papers: int
    papers_covered: int
    words: int
    sentences: int
    comparative_by_tag: float | None
    comparative_by_count: float | None
    comparative: float | None
    tags: dict[Tag, float]


def measure_summary(system: System, tagger: SentenceTagger, gold: str | None = None) -> SummaryFigures:
    """Measure a comparison's summary."""
    comparison = system.comparison
    tagged = tagger.tag(sentences_of(system.text))
    labels = {labelled.label for labelled in comparison.evidence.papers}
    return SummaryFigures(
        rouge=None if gold is None else rouge(system.text, gold),
        citation_recall=comparison.answer.citation_recall,
        citation_precision=comparison.answer.citation_precision,
        papers=len(comparison.paper_ids),
        papers_covered=len(labels.intersection(comparison.answer.cited_labels)),
        words=len(words(plain_claim(system.text))),
        sentences=len(tagged),
        comparative_by_tag=share(one.compares_by_tag for one in tagged),
        comparative_by_count=share(one.compares_by_count for one in tagged),
        comparative=share(one.compares_by_tag or one.compares_by_count for one in tagged),
        tags=_distribution(tagged),
    )


def sentences_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the sentences of a text, paragraph by paragraph, without headings and marks of lists."""
    plain = _LIST_MARK.sub("", _HEADING.sub("\n", text)).replace("**", "")
    paragraphs = (
        tuple(
            sentence
            for start, end in sentence_spans(paragraph)
            if words(sentence := " ".join(paragraph[start:end].split()))
        )
        for paragraph in _PARAGRAPH.split(plain)
    )
    return tuple(paragraph for paragraph in paragraphs if paragraph)


def rouge(text: str, gold: str) -> dict[str, float]:
    """Return ROUGE F1, 0..100, stemmed; citations are left out of both, because styles of citing differ."""
    scores = _scorer().score(_uncited(gold), _uncited(text))
    return {name: 100 * float(scores[name].fmeasure) for name in ROUGE}


def read_gold(path: Path) -> str:
    """Return the written text that summaries are compared with; raises EvaluationError."""
    text = read_text(path, "gold text", LARGEST_GOLD).strip()
    if not words(text):
        raise EvaluationError(f"The gold text {path} has no words. Leave --gold out, and ROUGE is left out.")
    return text


def _uncited(text: str) -> str:
    sentences = (sentence for paragraph in sentences_of(text) for sentence in paragraph)
    return " ".join(neutral(sentence).text.replace(CITE, " ") for sentence in sentences)


def _distribution(tagged: Sequence[TaggedSentence]) -> dict[Tag, float]:
    counts = Counter(one.tag for one in tagged)
    return {tag: counts[tag] / len(tagged) if tagged else 0.0 for tag in TAGS}


@cache
def _scorer() -> RougeScorer:
    return RougeScorer(list(ROUGE), use_stemmer=True)
