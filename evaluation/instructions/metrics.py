"""The figures of SciRIFF's tasks, 0..1, of what was given and what was wanted.

Each follows the definition of the benchmark's authors (github.com/allenai/SciRIFF, `sciriff/eval/metrics`),
also where it is unkind: what is no text is compared as text, a text where a list was asked for is taken
apart, and what was given twice counts once or twice as it does there. Values that make their code fail give
no credit here.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rouge_score.rouge_scorer import RougeScorer

# A reply's value, and the reference's.
Pair = tuple[object, object]
Finding = tuple[str, ...]
FINDING_PARTS = 5
# A part of a finding overlaps with another from this token F1 on.
LEAST_OVERLAP = 0.3
NO_VERDICT = "NEI"

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@dataclass(slots=True)
class Counts:
    """How many were given, how many wanted, and how many are both, over all items."""

    both: int = 0
    given: int = 0
    wanted: int = 0

    def add(self, both: int, given: int, wanted: int) -> None:
        self.both += both
        self.given += given
        self.wanted += wanted

    @property
    def f1(self) -> float:
        precision = self.both / self.given if self.given else 0.0
        recall = self.both / self.wanted if self.wanted else 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def list_f1(pairs: Iterable[Pair]) -> float:
    """Return the F1 of lists, whatever their order and case, over the entries of all items."""
    counts = Counts()
    for pair in pairs:
        given, wanted = (set(_list_entries(value)) for value in pair)
        counts.add(len(given & wanted), len(given), len(wanted))
    return counts.f1


def mention_f1(pairs: Iterable[Pair]) -> float:
    """Return the F1 of mentions with their types, over those of all items."""
    counts = Counts()
    for pair in pairs:
        given, wanted = (set(_mentions(value)) for value in pair)
        counts.add(len(given & wanted), len(given), len(wanted))
    return counts.f1


def finding_f1(pairs: Iterable[Pair]) -> dict[str, float]:
    """Return the F1 of findings: exact, by parts that hold each other, and by parts that overlap."""
    exact, substring, overlap = Counts(), Counts(), Counts()
    for pair in pairs:
        given, wanted = (list(_findings(value)) for value in pair)
        sizes = len(given), len(wanted)
        exact.add(len(set(given) & set(wanted)), *sizes)
        substring.add(_matched(given, wanted, _holds), *sizes)
        overlap.add(_matched(given, wanted, _overlaps), *sizes)
    return {"exact": exact.f1, "substring": substring.f1, "overlap": overlap.f1}


def answer_f1(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the token F1 of answers and of their evidence, each the mean over items."""
    answers = [token_f1(_answer(given), _answer(wanted)) for given, wanted in pairs]
    evidence = [token_f1(_evidence_text(given), _evidence_text(wanted)) for given, wanted in pairs]
    return {"answer": _mean(answers), "evidence": _mean(evidence)}


def verdict_f1(pairs: Iterable[Pair]) -> dict[str, float]:
    """Return the F1 of verdicts that decide, of evidence sentences and of their tokens, over all items.

    A reply that is no object counts as one that decides nothing; the authors leave its item out.
    """
    labels, sentences, words = Counts(), Counts(), Counts()
    for given, wanted in pairs:
        label, wanted_label = _verdict(given), _verdict(wanted)
        decides, is_decided = label != NO_VERDICT, wanted_label != NO_VERDICT
        labels.add(int(is_decided and label == wanted_label), int(decides), int(is_decided))
        found, right = _evidence(given), _evidence(wanted)
        found_set, right_set = ({one.strip().lower() for one in texts} for texts in (found, right))
        sentences.add(len(found_set & right_set), len(found_set), len(right_set))
        found_words, right_words = (Counter(tokens(" ".join(texts))) for texts in (found, right))
        words.add((found_words & right_words).total(), found_words.total(), right_words.total())
    return {"label": labels.f1, "sentence": sentences.f1, "token": words.f1}


def rouge_l(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the mean ROUGE-L F1 of texts, without stemming."""
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return _mean([float(scorer.score(wanted, given)["rougeL"].fmeasure) for given, wanted in pairs])


def token_f1(given: str | None, wanted: str | None) -> float:
    """Return the F1 of two texts' tokens, as SQuAD counts them; 0 where one is not there or has none."""
    if given is None or wanted is None:
        return 0.0
    found, right = Counter(tokens(given)), Counter(tokens(wanted))
    return Counts((found & right).total(), found.total(), right.total()).f1


def tokens(text: str) -> list[str]:
    """Return a text's words in lower case, without ASCII punctuation and articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def flat(value: object) -> list[object]:
    """Return what lists in lists hold, in its order; raises TypeError for what cannot be gone through."""
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
    """Return an entry as it is compared; raises TypeError for what is none, such as an object."""
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
            return " ".join(_texts(flat(value)))
        case _:
            raise TypeError("an object is no entry")


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if not isinstance(value, str):
            raise TypeError("no text")
        yield value


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
    """Return how many of those given match one of those wanted, in all parts; each of these is used once."""
    used: set[Finding] = set()
    for one in given:
        for other in wanted:
            if other not in used and all(a and is_match(a, b) for a, b in zip(one, other, strict=True)):
                used.add(other)
                break
    return len(used)


def _holds(given: str, wanted: str) -> bool:
    return given in wanted or wanted in given


def _overlaps(given: str, wanted: str) -> bool:
    return token_f1(given, wanted) >= LEAST_OVERLAP


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _answer(value: object) -> str | None:
    """Return an answer as text, None where there is none; lists are joined, other values as they print."""
    answer = _field(value, "answer")
    if isinstance(answer, list):
        return " ".join(map(str, flat(answer)))
    return None if answer is None else str(answer)


def _evidence_text(value: object) -> str | None:
    evidence = _field(value, "evidence")
    try:
        return None if evidence is None else " ".join(_texts(flat(evidence)))
    except TypeError:
        return None


def _verdict(value: object) -> object:
    verdict = _field(value, "verdict")
    return NO_VERDICT if verdict is None else verdict


def _evidence(value: object) -> list[str]:
    """Return the sentences of a verdict's evidence; what is no text among them is left out."""
    evidence = _field(value, "evidence")
    try:
        found = [] if evidence is None else flat(evidence)
    except TypeError:
        return []
    return [one for one in found if isinstance(one, str)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
