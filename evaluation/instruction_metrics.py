"""The figures of SciRIFF's tasks, 0..1, of pairs of a reply's value and the reference's.

Each follows the benchmark's own definition (github.com/allenai/SciRIFF, `sciriff/eval/metrics`), also where
it is unkind: other values are compared as text, a text in the place of a list is taken apart, and duplicates
count as they do there. Values that make their code fail give no credit here.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rouge_score.rouge_scorer import RougeScorer

Pair = tuple[object, object]
Finding = tuple[str, ...]
# How many are both given and wanted, given, and wanted, over all items.
Counts = tuple[int, int, int]
FINDING_PARTS = 5
LEAST_OVERLAP = 0.3  # token F1 from which parts of findings overlap
NO_VERDICT = "NEI"

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def f1(counts: Iterable[Counts]) -> float:
    """Return the micro F1 of counts."""
    both, given, wanted = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
    precision, recall = both / given if given else 0.0, both / wanted if wanted else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _of_sets(given: Iterable[object], wanted: Iterable[object]) -> Counts:
    one, other = set(given), set(wanted)
    return len(one & other), len(one), len(other)


def _of_tokens(given: str, wanted: str) -> Counts:
    one, other = Counter(tokens(given)), Counter(tokens(wanted))
    return (one & other).total(), one.total(), other.total()


def list_f1(pairs: Iterable[Pair]) -> float:
    """Return the F1 of list entries, whatever their order and case."""
    return f1(_of_sets(_list_entries(given), _list_entries(wanted)) for given, wanted in pairs)


def mention_f1(pairs: Iterable[Pair]) -> float:
    """Return the F1 of mentions with their types."""
    return f1(_of_sets(_mentions(given), _mentions(wanted)) for given, wanted in pairs)


def finding_f1(pairs: Iterable[Pair]) -> dict[str, float]:
    """Return the F1 of findings: exact, by parts that contain each other, and by parts that overlap."""
    found = [(list(_findings(given)), list(_findings(wanted))) for given, wanted in pairs]

    def matched(is_match: Callable[[str, str], bool]) -> float:
        return f1((_matched(given, wanted, is_match), len(given), len(wanted)) for given, wanted in found)

    return {
        "exact": f1((len(set(given) & set(wanted)), len(given), len(wanted)) for given, wanted in found),
        "substring": matched(lambda given, wanted: given in wanted or wanted in given),
        "overlap": matched(lambda given, wanted: token_f1(given, wanted) >= LEAST_OVERLAP),
    }


def answer_f1(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the mean token F1 of answers and of their evidence."""
    return {
        "answer": _mean([token_f1(_answer(given), _answer(wanted)) for given, wanted in pairs]),
        "evidence": _mean(
            [token_f1(_evidence_text(given), _evidence_text(wanted)) for given, wanted in pairs]
        ),
    }


def verdict_f1(pairs: Iterable[Pair]) -> dict[str, float]:
    """Return the F1 of verdicts that decide, of evidence sentences and of their tokens.

    A reply that is no object counts as one that decides nothing; the authors leave its item out.
    """
    labels, sentences, words = [], [], []
    for given, wanted in pairs:
        label, right = _verdict(given), _verdict(wanted)
        is_decided = right != NO_VERDICT
        labels.append((int(is_decided and label == right), int(label != NO_VERDICT), int(is_decided)))
        found, expected = _evidence(given), _evidence(wanted)
        sentences.append(_of_sets(*([text.strip().lower() for text in one] for one in (found, expected))))
        words.append(_of_tokens(" ".join(found), " ".join(expected)))
    return {"label": f1(labels), "sentence": f1(sentences), "token": f1(words)}


def rouge_l(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the mean ROUGE-L F1 of texts, without stemming."""
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return _mean([float(scorer.score(wanted, given)["rougeL"].fmeasure) for given, wanted in pairs])


def token_f1(given: str | None, wanted: str | None) -> float:
    """Return the F1 of two texts' tokens, as SQuAD counts them; 0 where one is missing or has none."""
    return 0.0 if given is None or wanted is None else f1([_of_tokens(given, wanted)])


def tokens(text: str) -> list[str]:
    """Return a text's words in lower case, without ASCII punctuation and articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def flat(value: object) -> list[object]:
    """Return the entries of nested lists in order; raises TypeError for what is not iterable."""
    found: list[object] = []
    waiting: list[Iterator[object]] = [iter(value)]  # type: ignore[call-overload]
    while waiting:
        for one in waiting[-1]:
            if isinstance(one, list):
                waiting.append(iter(one))
                break
            found.append(one)
        else:
            waiting.pop()
    return found


def as_entry(value: object) -> str:
    """Return an entry as it is compared; raises TypeError for an object."""
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
        return [as_entry(one) for one in value]  # type: ignore[attr-defined]
    except TypeError:
        return [""]


def _mentions(value: object) -> Iterator[tuple[str, str]]:
    for kind, mentions in value.items() if isinstance(value, Mapping) else ():
        try:
            found = flat(mentions)
        except TypeError:
            continue
        yield from ((as_entry(one), kind) for one in found if not isinstance(one, Mapping))


def _findings(value: object) -> Iterator[Finding]:
    """Yield the findings of a list of them, or the one that was given without a list around it."""
    if not isinstance(value, list) or not value:
        return
    for one in value if isinstance(value[0], list) else [value]:
        if isinstance(one, list) and len(one) == FINDING_PARTS:
            try:
                yield tuple(as_entry(part) for part in one)
            except TypeError:
                continue


def _matched(
    given: Sequence[Finding], wanted: Sequence[Finding], is_match: Callable[[str, str], bool]
) -> int:
    """Return how many of those given match one of those wanted in all parts; each of these is used once."""
    used: set[Finding] = set()
    for one in given:
        for other in wanted:
            if other not in used and all(a and is_match(a, b) for a, b in zip(one, other, strict=True)):
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


def _verdict(value: object) -> object:
    verdict = _field(value, "verdict")
    return NO_VERDICT if verdict is None else verdict


def _evidence(value: object) -> list[str]:
    """Return the sentences of a verdict's evidence that are texts."""
    evidence = _field(value, "evidence")
    try:
        found = [] if evidence is None else flat(evidence)
    except TypeError:
        return []
    return [one for one in found if isinstance(one, str)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
