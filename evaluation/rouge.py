"""Overlap of one text with one or several references: ROUGE-1, -2 and -L, and ROUGE-K by its definition."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING

from evaluation.input_files import DATA, EvaluationError

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

OVERLAPS = ("rouge1", "rouge2", "rougeL")
METRICS = (*OVERLAPS, "rougeK")
LONGEST_KEYWORD = 10
_STOP_WORDS = DATA / "rouge_k_stopwords.txt"
_STOP_MARKS = frozenset(",.)(':")
# Words keep what is within them: "multi-task", "don't", "e.g.", "10,000"; marks are tokens of their own.
_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\d+(?:[.,]\d+)+|\w+(?:[-'.]+\w+)*|([^\w\s])\1*")

# By metric, 0..100; without "rougeK" where there are no keywords.
Scores = dict[str, float]


def score_text(text: str, references: Sequence[str], title: str) -> Scores:
    """Score a text by ROUGE-1, -2, -L (F1, stemmed) and ROUGE-K; raises EvaluationError without references.

    Figures are those of the reference with the highest ROUGE-1, as SciTLDR's script does it. ROUGE-K is left
    out where references and title share no keyword.
    """
    keywords = find_keywords([*references, title])
    closest = max((overlaps(own, text) for own in references), key=lambda scores: scores["rouge1"])
    return closest | ({"rougeK": rouge_k(text, keywords)} if keywords else {})


def highest_rouge1(text: str, references: Sequence[str]) -> float:
    """Compute the ROUGE-1 (F1, stemmed) of a text with the closest reference, 0..100."""
    scorer = _scorer("rouge1")
    return max(100 * float(scorer.score(reference, text)["rouge1"].fmeasure) for reference in references)


def mean_scores(rows: Sequence[Scores]) -> Scores:
    """Average each metric over the rows that have it."""
    names = [metric for metric in METRICS if any(metric in row for row in rows)]
    return {name: fmean(row[name] for row in rows if name in row) for name in names}


def find_keywords(texts: Sequence[str]) -> tuple[str, ...]:
    """Find the keywords: phrases that two or more of title and references share (ROUGE-K, section 3).

    Windows of ten words down to one are tried, the longest first, without stop words. A window with a word of
    a keyword already found is skipped. It differs from the authors' program in three ways: lemmas are
    simplemma's, not spaCy's, which depend on the part of speech; inflected stop words are dropped too; of
    equals the one of more words comes first, then that of more texts, then by the alphabet. Raises
    EvaluationError for fewer than two texts.
    """
    if len(texts) < 2:
        raise EvaluationError("ROUGE-K's keywords are shared by texts: it needs a reference and a title.")
    tokens = [_tokens(text) for text in texts]
    kept: list[str] = []
    taken: set[str] = set()
    for size in range(LONGEST_KEYWORD, 0, -1):
        for words in _shared(tokens, size):
            if taken.isdisjoint(words):
                kept.append(" ".join(words))
                taken.update(words)
    return tuple(kept)


def rouge_k(text: str, keywords: Sequence[str]) -> float:
    """Compute the share of the keywords in a text, 0..100, also as parts of longer words."""
    content = " ".join(word for word in _tokens(text) if word)
    return 100 * sum(keyword in content for keyword in keywords) / len(keywords)


def _shared(texts: Sequence[Sequence[str]], size: int) -> list[tuple[str, ...]]:
    """Return the windows of one size that at least two texts share, in the order in which they are tried."""
    counts = Counter(words for text in texts for words in set(_windows(text, size)))
    shared = [words for words, count in counts.items() if count > 1]
    return sorted(shared, key=lambda words: (-len(words), -counts[words], words))


def _windows(tokens: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(len(tokens) - size + 1):
        if words := tuple(word for word in tokens[start : start + size] if word):
            yield words


def _tokens(text: str) -> list[str]:
    """Split a text into the lemmas of its words and its marks, "" in the place of each stop word."""
    tokens = [match[0] for match in _TOKEN.finditer(text.lower().replace("’", "'"))]
    lemmas = [_lemma(token) if token[0].isalpha() else token for token in tokens]
    stopped = _STOP_MARKS | _stop_words()
    return ["" if stopped & {token, lemma} else lemma for token, lemma in zip(tokens, lemmas, strict=True)]


@cache
def _lemma(word: str) -> str:
    """Look the lemma of an English word up, in small letters; raises EvaluationError without simplemma."""
    try:
        from simplemma import lemmatize  # noqa: PLC0415 - a third of a second to import
    except ImportError:
        raise EvaluationError("ROUGE-K needs simplemma: pip install 'paper-trail[evaluate]'") from None
    return lemmatize(word, "en").lower()


@cache
def _stop_words() -> frozenset[str]:
    """Read NLTK's English stop words and those that the authors added."""
    # Their program looks lemmas up, which are singular, so this entry of theirs stops nothing.
    return frozenset(_STOP_WORDS.read_text(encoding="utf-8").split()) - {"authors"}


def overlaps(reference: str, text: str) -> Scores:
    """Compute ROUGE-1, -2 and -L of a text with one reference (F1, stemmed), 0..100."""
    found = _scorer(*OVERLAPS).score(reference, text)
    return {metric: 100 * float(found[metric].fmeasure) for metric in OVERLAPS}


@cache
def _scorer(*metrics: str) -> "RougeScorer":
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - two seconds to import

    return RougeScorer(list(metrics), use_stemmer=True)
