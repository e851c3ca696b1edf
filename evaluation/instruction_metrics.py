"""Computes the metrics of SciRIFF's tasks, 0..1, from pairs of a predicted and a reference value.

Each metric follows the benchmark's code (github.com/allenai/SciRIFF, `sciriff/eval/metrics`), including its
quirks: values that are not text are compared as text, a text in place of a list is split into characters, and
duplicates count as they do there. Values that crash the benchmark's code score 0 here.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import fmean

from rouge_score.rouge_scorer import RougeScorer

Pair = tuple[object, object]
Finding = tuple[str, ...]
# Numbers of entries: in both lists, predicted, and in the reference.
Counts = tuple[int, int, int]
FINDING_PARTS = 5
LEAST_OVERLAP = 0.3  # lowest token F1 at which two parts of findings count as overlapping
NO_VERDICT = "NEI"

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def f1(counts: Iterable[Counts]) -> float:
    """Compute the micro F1 of counts."""
    both, predicted, reference = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
    precision, recall = both / predicted if predicted else 0.0, both / reference if reference else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _count(predicted: Iterable[object], reference: Iterable[object]) -> Counts:
    """Count entries of two multisets and of their intersection."""
    left, right = Counter(predicted), Counter(reference)
    return (left & right).total(), left.total(), right.total()


def _count_tokens(predicted: str, reference: str) -> Counts:
    return _count(tokens(predicted), tokens(reference))


def list_f1(pairs: Iterable[Pair]) -> float:
    """Compute the F1 of list entries, ignoring order and case."""
    return f1(
        _count(set(_list_entries(predicted)), set(_list_entries(reference))) for predicted, reference in pairs
    )


def mention_f1(pairs: Iterable[Pair]) -> float:
    """Compute the F1 of pairs of a mention and its type."""
    return f1(_count(set(_mentions(predicted)), set(_mentions(reference))) for predicted, reference in pairs)


def finding_f1(pairs: Iterable[Pair]) -> dict[str, float]:
    """Compute the F1 of findings that match exactly, by substring, and by token overlap of all parts."""
    findings = [(list(_findings(predicted)), list(_findings(reference))) for predicted, reference in pairs]

    def micro_f1(is_match: Callable[[str, str], bool]) -> float:
        return f1(
            (_matches(predicted, reference, is_match), len(predicted), len(reference))
            for predicted, reference in findings
        )

    return {
        "exact": f1(
            (len(set(predicted) & set(reference)), len(predicted), len(reference))
            for predicted, reference in findings
        ),
        "substring": micro_f1(lambda predicted, reference: predicted in reference or reference in predicted),
        "overlap": micro_f1(
            lambda predicted, reference: f1([_count_tokens(predicted, reference)]) >= LEAST_OVERLAP
        ),
    }


def answer_f1(pairs: Sequence[Pair]) -> dict[str, float]:
    """Average SQuAD's token F1 of answers and of their evidence; a missing text scores 0."""

    def token_f1(read: Callable[[object], str | None]) -> float:
        texts = [(read(predicted), read(reference)) for predicted, reference in pairs]
        scores = [
            0.0 if predicted is None or reference is None else f1([_count_tokens(predicted, reference)])
            for predicted, reference in texts
        ]
        return fmean(scores) if scores else 0.0

    return {"answer": token_f1(_answer), "evidence": token_f1(_evidence_text)}


def verdict_f1(pairs: Iterable[Pair], *, numbered: bool = False) -> dict[str, float]:
    """Compute the F1 of verdicts other than NEI, of evidence sentences and of their tokens.

    With `numbered`, evidence may also be numbers of sentences, which the authors do not score. A reply that
    is not an object counts as NEI; the authors leave its item out.
    """
    label_counts, sentence_counts, token_counts = [], [], []
    for predicted, reference in pairs:
        predicted_label, reference_label = (
            NO_VERDICT if verdict is None else verdict
            for verdict in (_field(predicted, "verdict"), _field(reference, "verdict"))
        )
        is_decided = reference_label != NO_VERDICT
        label_counts.append(
            (
                int(is_decided and predicted_label == reference_label),
                int(predicted_label != NO_VERDICT),
                int(is_decided),
            )
        )
        predicted_sentences, reference_sentences = (
            _evidence(predicted, numbered=numbered),
            _evidence(reference, numbered=numbered),
        )
        sentence_counts.append(
            _count(
                {text.strip().lower() for text in predicted_sentences},
                {text.strip().lower() for text in reference_sentences},
            )
        )
        token_counts.append(_count_tokens(" ".join(predicted_sentences), " ".join(reference_sentences)))
    return {"label": f1(label_counts), "sentence": f1(sentence_counts), "token": f1(token_counts)}


def rouge_l(pairs: Sequence[Pair]) -> float:
    """Average the ROUGE-L F1 of texts, without stemming."""
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return fmean(
        float(scorer.score(str(reference), str(predicted))["rougeL"].fmeasure)
        for predicted, reference in pairs
    )


def tokens(text: str) -> list[str]:
    """Split a text into lower-case words, without ASCII punctuation and articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def flat(value: object) -> list[object]:
    """Flatten nested lists of any depth in order; raises TypeError for a value that is not iterable."""
    entries: list[object] = []
    waiting: list[Iterator[object]] = [iter(value)]  # type: ignore[call-overload]
    while waiting:
        for entry in waiting[-1]:
            if isinstance(entry, list):
                waiting.append(iter(entry))
                break
            entries.append(entry)
        else:
            waiting.pop()
    return entries


def as_entry(value: object) -> str:
    """Convert an entry to text for comparison; raises TypeError for an object."""
    match value:
        case None:
            return ""
        case str():
            return value.strip().lower()
        case int():
            return str(value)
        case float():
            return str(round(value, 2))
        case list():
            return _joined(flat(value))
    raise TypeError("an object cannot be compared as text")


def _joined(values: Sequence[object]) -> str:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("all values must be text")
    return " ".join(map(str, values))


def _list_entries(value: object) -> list[str]:
    try:
        return [as_entry(entry) for entry in value]  # type: ignore[attr-defined]
    except TypeError:
        return [""]


def _mentions(value: object) -> Iterator[tuple[str, str]]:
    for kind, mentions in value.items() if isinstance(value, Mapping) else ():
        with suppress(TypeError):
            entries = flat(mentions)
            yield from ((as_entry(entry), kind) for entry in entries if not isinstance(entry, Mapping))


def _findings(value: object) -> Iterator[Finding]:
    """Yield the findings of a list, which may also be a single finding itself."""
    if isinstance(value, list) and value:
        for finding in value if isinstance(value[0], list) else [value]:
            if isinstance(finding, list) and len(finding) == FINDING_PARTS:
                with suppress(TypeError):
                    yield tuple(as_entry(part) for part in finding)


def _matches(
    predicted: Sequence[Finding], reference: Sequence[Finding], is_match: Callable[[str, str], bool]
) -> int:
    """Count predicted findings that match a reference in all parts; each reference matches once."""
    used: set[Finding] = set()
    for finding in predicted:
        for other in reference:
            parts = zip(finding, other, strict=True)
            if other not in used and all(left and is_match(left, right) for left, right in parts):
                used.add(other)
                break
    return len(used)


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _answer(value: object) -> str | None:
    answer = _field(value, "answer")
    if isinstance(answer, list):
        return " ".join(map(str, flat(answer)))
    return None if answer is None else str(answer)


def _evidence_text(value: object) -> str | None:
    evidence = _field(value, "evidence")
    try:
        return None if evidence is None else _joined(flat(evidence))
    except TypeError:
        return None


def _evidence(value: object, *, numbered: bool) -> list[str]:
    """Return the evidence sentences of a verdict that are texts or, with `numbered`, numbers."""
    evidence = _field(value, "evidence")
    accepted = (str, int) if numbered else str
    try:
        return [str(sentence) for sentence in flat(evidence or []) if isinstance(sentence, accepted)]
    except TypeError:
        return []
