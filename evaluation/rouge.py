"""Computes the overlap of a text with one or several references: ROUGE-1, -2, -L and ROUGE-K."""

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
# Words may contain punctuation: "multi-task", "don't", "e.g.", "10,000". Other marks are tokens of their own.
_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\d+(?:[.,]\d+)+|\w+(?:[-'.]+\w+)*|([^\w\s])\1*")

# By metric, 0..100; without "rougeK" if there are no keywords.
Scores = dict[str, float]


def score_text(text: str, references: Sequence[str], title: str) -> Scores:
    """Score a text by ROUGE-1, -2, -L (F1, stemmed) and ROUGE-K; raises EvaluationError without references.

    The scores are those of the reference with the highest ROUGE-1, as in SciTLDR's script. ROUGE-K is left
    out if references and title share no keyword.
    """
    keywords = find_keywords([*references, title])
    closest = max(
        (overlaps(reference, text) for reference in references), key=lambda scores: scores["rouge1"]
    )
    return closest | ({"rougeK": rouge_k(text, keywords)} if keywords else {})


def highest_rouge1(text: str, references: Sequence[str]) -> float:
    """Compute the ROUGE-1 (F1, stemmed) of a text with the closest reference, 0..100."""
    scorer = _scorer("rouge1")
    return max(100 * float(scorer.score(reference, text)["rouge1"].fmeasure) for reference in references)


def mean_scores(rows: Sequence[Scores]) -> Scores:
    """Return the mean of each metric over the rows that have it."""
    names = [metric for metric in METRICS if any(metric in row for row in rows)]
    return {name: fmean(row[name] for row in rows if name in row) for name in names}


def find_keywords(texts: Sequence[str]) -> tuple[str, ...]:
    """Find the keywords: phrases that at least two of the texts share (ROUGE-K, section 3).

    Windows of ten words down to one are tried, longest first; stop words are removed from them. A window with
    a word of an earlier keyword is skipped. Three things differ from the authors' program: lemmas come from
    simplemma, not from spaCy, whose lemmas depend on the part of speech; inflected stop words are removed
    too; windows of the same size are ordered by number of words, then number of texts, then alphabetically.
    Raises EvaluationError for fewer than two texts.
    """
    if len(texts) < 2:
        raise EvaluationError("ROUGE-K needs at least two texts, such as a reference and a title.")
    tokens = [_tokens(text) for text in texts]
    keywords: list[str] = []
    used_words: set[str] = set()
    for size in range(LONGEST_KEYWORD, 0, -1):
        for words in _shared_windows(tokens, size):
            if used_words.isdisjoint(words):
                keywords.append(" ".join(words))
                used_words.update(words)
    return tuple(keywords)


def rouge_k(text: str, keywords: Sequence[str]) -> float:
    """Compute the share of the keywords that a text contains, 0..100; a part of a longer word counts."""
    content = " ".join(word for word in _tokens(text) if word)
    return 100 * sum(keyword in content for keyword in keywords) / len(keywords)


def _shared_windows(texts: Sequence[Sequence[str]], size: int) -> list[tuple[str, ...]]:
    """Return the windows of `size` tokens that at least two texts share, in the order to try them."""
    counts = Counter(words for text in texts for words in set(_windows(text, size)))
    shared = [words for words, count in counts.items() if count > 1]
    return sorted(shared, key=lambda words: (-len(words), -counts[words], words))


def _windows(tokens: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(len(tokens) - size + 1):
        if words := tuple(word for word in tokens[start : start + size] if word):
            yield words


def _tokens(text: str) -> list[str]:
    """Split a text into punctuation and the lemmas of its words; stop words become ""."""
    tokens = [match[0] for match in _TOKEN.finditer(text.lower().replace("’", "'"))]
    lemmas = [_lemma(token) if token[0].isalpha() else token for token in tokens]
    stopped = _STOP_MARKS | _stop_words()
    return ["" if stopped & {token, lemma} else lemma for token, lemma in zip(tokens, lemmas, strict=True)]


@cache
def _lemma(word: str) -> str:
    """Return the lower-case lemma of an English word; raises EvaluationError without simplemma."""
    try:
        from simplemma import lemmatize  # noqa: PLC0415 - a third of a second to import
    except ImportError:
        raise EvaluationError("ROUGE-K needs simplemma: pip install 'paper-trail[evaluate]'") from None
    return lemmatize(word, "en").lower()


@cache
def _stop_words() -> frozenset[str]:
    """Read NLTK's English stop words and those that ROUGE-K's authors added."""
    # "authors" has no effect in the authors' program, which compares lemmas, and these are singular.
    return frozenset(_STOP_WORDS.read_text(encoding="utf-8").split()) - {"authors"}


def overlaps(reference: str, text: str) -> Scores:
    """Compute ROUGE-1, -2 and -L of a text with one reference (F1, stemmed), 0..100."""
    scores = _scorer(*OVERLAPS).score(reference, text)
    return {metric: 100 * float(scores[metric].fmeasure) for metric in OVERLAPS}


@cache
def _scorer(*metrics: str) -> "RougeScorer":
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - two seconds to import

    return RougeScorer(list(metrics), use_stemmer=True)
