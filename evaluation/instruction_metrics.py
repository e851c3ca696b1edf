"""The figures of SciRIFF's tasks, 0..1, of pairs of a reply's value and the reference's.

Each follows the benchmark's own definition (github.com/allenai/SciRIFF, `sciriff/eval/metrics`), also where
it is unkind: other values are compared as text, a text in the place of a list is taken apart, and duplicates
count as they do there. Values that make their code fail give no credit here.
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
# Over all items the numbers of entries that are both given and wanted, given, and wanted.
Counts = tuple[int, int, int]
FINDING_PARTS = 5
LEAST_OVERLAP = 0.3  # token F1 from which parts of findings overlap
NO_VERDICT = "NEI"

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def f1(counts: Iterable[Counts]) -> float:
    """Compute the micro F1 of counts."""
    both, given, wanted = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
    precision, recall = both / given if given else 0.0, both / wanted if wanted else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _count(given: Iterable[object], wanted: Iterable[object]) -> Counts:
    """Count entries, each as often as it stands in both."""
    left, right = Counter(given), Counter(wanted)
    return (left & right).total(), left.total(), right.total()


def _count_tokens(given: str, wanted: str) -> Counts:
    return _count(tokens(given), tokens(wanted))


def list_f1(pairs: Iterable[Pair]) -> float:
    """Compute the F1 of list entries, whatever their order and case."""
    return f1(_count(set(_list_entries(given)), set(_list_entries(wanted))) for given, wanted in pairs)


def mention_f1(pairs: Iterable[Pair]) -> float:
    """Compute the F1 of mentions with their types."""
    return f1(_count(set(_mentions(given)), set(_mentions(wanted))) for given, wanted in pairs)


def finding_f1(pairs: Iterable[Pair]) -> dict[str, float]:
    """Compute the F1 of findings: exact, by parts that contain each other, and by parts that overlap."""
    found = [(list(_findings(given)), list(_findings(wanted))) for given, wanted in pairs]

    def matched(is_match: Callable[[str, str], bool]) -> float:
        return f1((_matches(given, wanted, is_match), len(given), len(wanted)) for given, wanted in found)

    return {
        "exact": f1((len(set(given) & set(wanted)), len(given), len(wanted)) for given, wanted in found),
        "substring": matched(lambda given, wanted: given in wanted or wanted in given),
        "overlap": matched(lambda given, wanted: f1([_count_tokens(given, wanted)]) >= LEAST_OVERLAP),
    }


def answer_f1(pairs: Sequence[Pair]) -> dict[str, float]:
    """Average the token F1 of answers and of their evidence, as SQuAD counts it; 0 where one is missing."""

    def token_f1(read: Callable[[object], str | None]) -> float:
        texts = [(read(given), read(wanted)) for given, wanted in pairs]
        scores = [
            0.0 if given is None or wanted is None else f1([_count_tokens(given, wanted)])
            for given, wanted in texts
        ]
        return fmean(scores) if scores else 0.0

    return {"answer": token_f1(_answer), "evidence": token_f1(_evidence_text)}


def verdict_f1(pairs: Iterable[Pair], *, numbered: bool = False) -> dict[str, float]:
    """Compute the F1 of verdicts that decide, of evidence sentences and of their tokens.

    With `numbered`, evidence may be given by the numbers of sentences, which the authors do not score.
    A reply that is no object counts as one that decides nothing; the authors leave its item out.
    """
    labels, sentences, words = [], [], []
    for given, wanted in pairs:
        label, right = (
            NO_VERDICT if verdict is None else verdict
            for verdict in (_field(given, "verdict"), _field(wanted, "verdict"))
        )
        is_decided = right != NO_VERDICT
        labels.append((int(is_decided and label == right), int(label != NO_VERDICT), int(is_decided)))
        found, expected = _evidence(given, numbered=numbered), _evidence(wanted, numbered=numbered)
        sentences.append(
            _count({text.strip().lower() for text in found}, {text.strip().lower() for text in expected})
        )
        words.append(_count_tokens(" ".join(found), " ".join(expected)))
    return {"label": f1(labels), "sentence": f1(sentences), "token": f1(words)}


def rouge_l(pairs: Sequence[Pair]) -> float:
    """Average the ROUGE-L F1 of texts, without stemming."""
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return fmean(float(scorer.score(str(wanted), str(given))["rougeL"].fmeasure) for given, wanted in pairs)


def tokens(text: str) -> list[str]:
    """Split a text into words in lower case, without ASCII punctuation and articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def flat(value: object) -> list[object]:
    """Flatten nested lists in order; raises TypeError for a value that is not iterable."""
    found: list[object] = []
    waiting: list[Iterator[object]] = [iter(value)]  # type: ignore[call-overload]
    while waiting:
        for entry in waiting[-1]:
            if isinstance(entry, list):
                waiting.append(iter(entry))
                break
            found.append(entry)
        else:
            waiting.pop()
    return found


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
    raise TypeError("an object is no entry")


def _joined(values: Sequence[object]) -> str:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("no text")
    return " ".join(map(str, values))


def _list_entries(value: object) -> list[str]:
    try:
        return [as_entry(entry) for entry in value]  # type: ignore[attr-defined]
    except TypeError:
        return [""]


def _mentions(value: object) -> Iterator[tuple[str, str]]:
    for kind, mentions in value.items() if isinstance(value, Mapping) else ():
        with suppress(TypeError):
            found = flat(mentions)
            yield from ((as_entry(entry), kind) for entry in found if not isinstance(entry, Mapping))


def _findings(value: object) -> Iterator[Finding]:
    """Yield the findings of a list of them, or a single one without a list around it."""
    if isinstance(value, list) and value:
        for finding in value if isinstance(value[0], list) else [value]:
            if isinstance(finding, list) and len(finding) == FINDING_PARTS:
                with suppress(TypeError):
                    yield tuple(as_entry(part) for part in finding)


def _matches(
    given: Sequence[Finding], wanted: Sequence[Finding], is_match: Callable[[str, str], bool]
) -> int:
    """Count the findings given that match one of those wanted in all parts; each of these is used once."""
    used: set[Finding] = set()
    for finding in given:
        for other in wanted:
            parts = zip(finding, other, strict=True)
            if other not in used and all(own and is_match(own, right) for own, right in parts):
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
    """Return the sentences of a verdict's evidence that are texts or, where they are numbered, numbers."""
    evidence = _field(value, "evidence")
    taken = (str, int) if numbered else str
    try:
        return [str(sentence) for sentence in flat(evidence or []) if isinstance(sentence, taken)]
    except TypeError:
        return []
