"""A reader's own questions to the papers of a comparison, answered in each paper's own sentences."""

from collections.abc import Iterable

from assistant.bounds import LONGEST_COLUMN, MOST_COLUMNS
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import ComparisonError, QuotedCell, QuotedSentence
from assistant.generators.extractive.quoting import quote_paper
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from corpus.text import storable, words

_SHOWN = 60  # characters of a question in a message


def tidy_questions(questions: Iterable[str]) -> tuple[str, ...]:
    """Return questions on one line each, without empty ones and duplicates.

    Raises ComparisonError for a question without words or too long, and for too many questions.
    """
    distinct: dict[str, str] = {}
    for question in questions:
        if line := " ".join(storable(question).split()):
            distinct.setdefault(line.casefold(), line)
    unique = tuple(distinct.values())
    for question in unique:
        if len(question) > LONGEST_COLUMN:
            raise ComparisonError(
                f"The question {_shown(question)} has {len(question):,} characters; {LONGEST_COLUMN} can be "
                "taken. Shorten it."
            )
        if not words(question):
            raise ComparisonError(f"The question {_shown(question)} has no words. Write it out.")
    if len(unique) > MOST_COLUMNS:
        raise ComparisonError(
            f"{len(unique)} questions of your own were given; a comparison takes {MOST_COLUMNS}. "
            "Choose those that matter most."
        )
    return unique


def ask_paper(question: str, source: SourceText, corpus: Corpus, encoder: Encoder) -> QuotedCell:
    """Return the sentences in which a paper answers a question, none if it does not."""
    quoted = quote_paper(question, source.paper, encoder, corpus.sentence_vectors(source.paper.passages))
    quotes = (QuotedSentence(sentence.passage.id, sentence.sentence, sentence.text) for sentence in quoted)
    return QuotedCell(source.label, tuple(quotes))


def _shown(question: str) -> str:
    return f"“{question}”" if len(question) <= _SHOWN else f"“{question[:_SHOWN].rstrip()} …”"
