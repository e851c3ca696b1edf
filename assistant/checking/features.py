"""Features of a claim and the sentences that may support it, as numbers for the support score."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from assistant.checking.comparable_text import Quantity, Statement, read_statement

READ_CLOSELY = 4
TOGETHER = 3
NAME_WEIGHT = 1.5
MANY_SENTENCES = 400
LETTERS = 6
MANY_NAMES = 3
POLARITY_FROM = 2
UNNAMED_DENIAL = 0.2
# Long sentences share words by chance: each word of a sentence lowers its coverage by this.
LENGTH_COST = 0.002
LONGEST_TEXT = 1000
MANY_READ = 30  # sentences of evidence from which the network's score counts nothing: it reads only a few
# The network's score for a quotation; others are capped at it.
SURE_NUMBER = 6.0
QUOTED = 0.8  # least share of a quoting sentence that is the claim, to exclude "it is false that ..."
# Labels and URLs are no part of a claim.
_REFERENCES = re.compile(r"\[\d{1,3}\??\]|https?://\S+")


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim and the sentences that may support it; `close` are the indices of those most similar to it.

    `weights` are the weights of the claim's stems, higher for those rare in the evidence.
    """

    claim: Statement
    sentences: tuple[Statement, ...]
    weights: Mapping[str, float]
    close: tuple[int, ...]


def strip_references(text: str) -> str:
    """Return a text without citation labels and web addresses, white space normalised."""
    return " ".join(_REFERENCES.sub(" ", text).split())


def read_closely(claim: str, sentences: Sequence[str], most: int = READ_CLOSELY) -> Reading:
    """Read a claim and its sentences, and choose the few sentences that share most with it."""
    stated = read_statement(strip_references(claim))
    read = tuple(read_statement(strip_references(sentence)) for sentence in sentences)
    weights = _weights(stated, read)
    scores = [_coverage(stated, weights, [sentence]) - LENGTH_COST * len(sentence.stems) for sentence in read]
    close = sorted(
        (index for index, sentence in enumerate(read) if sentence.words), key=lambda index: -scores[index]
    )
    return Reading(stated, read, weights, tuple(close[:most]))


def close_text(claim: str, sentences: Sequence[str]) -> str:
    """Return the sentences that share most with a claim as one text in reading order."""
    return in_reading_order(sentences, read_closely(claim, sentences).close)


def in_reading_order(sentences: Sequence[str], chosen: Iterable[int]) -> str:
    """Return the chosen sentences as one text in reading order, each cut at LONGEST_TEXT."""
    return " ".join(strip_references(sentences[index])[:LONGEST_TEXT] for index in sorted(chosen))


def best_first(reading: Reading, likeness: Sequence[float]) -> tuple[int, ...]:
    """Return the close sentences by coverage of the claim plus cosine, best first.

    `likeness` are the cosines of the claim and each close sentence.
    """
    shares = [
        _coverage(reading.claim, reading.weights, [reading.sentences[index]]) for index in reading.close
    ]
    scores = {index: share + like for index, share, like in zip(reading.close, shares, likeness, strict=True)}
    return tuple(sorted(reading.close, key=lambda index: -scores[index]))


def compare(
    reading: Reading, order: Sequence[int], likeness: Sequence[float], pooled: float
) -> dict[str, float]:
    """Return the features of a claim against its sentences, by name.

    `order` ranks the sentences as `best_first` returns it, `likeness` has each one's cosine with the claim,
    and `pooled` that of the best ones together.
    """
    return {
        **_shared_words(reading, order),
        "meaning_together": pooled,
        "meaning_best": max(likeness),
        **_numbers(reading, order),
        **_names(reading, order),
        **_polarity(reading, order),
        "claim_length": math.log1p(len(reading.claim.words)),
        "sentences": math.log1p(min(len(reading.sentences), MANY_SENTENCES)),
    }


def is_quotation(reading: Reading) -> bool:
    """Return True if a close sentence is the claim word for word, with hardly anything else."""
    claim = " ".join(reading.claim.words)
    return any(
        f" {claim} " in f" {text} " and len(claim) >= QUOTED * len(text)
        for text in (" ".join(reading.sentences[index].words) for index in reading.close)
    )


def network_feature(number: float, reading: Reading) -> dict[str, float]:
    """Return the network's score as a feature, damped by the amount of evidence that it did not read."""
    longer = min(1.0, math.log1p(max(0, len(reading.sentences) - 1)) / math.log1p(MANY_READ))
    return {"network": max(-SURE_NUMBER, min(SURE_NUMBER, number)) * (1 - longer) ** 2}


def _weights(claim: Statement, sentences: Sequence[Statement]) -> dict[str, float]:
    holding = Counter(stem for sentence in sentences for stem in set(sentence.stems))
    rarity = {stem: math.log1p((len(sentences) + 1) / (holding[stem] + 0.5)) for stem in claim.stems}
    return {stem: rare * (NAME_WEIGHT if stem in claim.names else 1) for stem, rare in rarity.items()}


def _coverage(claim: Statement, weights: Mapping[str, float], sentences: Sequence[Statement]) -> float:
    """Return the weighted share of the claim that the sentences have; numbers weigh as the rarest stem."""
    held = set[str]().union(*(sentence.stems for sentence in sentences))
    each = max(weights.values(), default=1.0)
    numbers = set(claim.numbers)
    covered = sum(weight for stem, weight in weights.items() if stem in held)
    covered += each * (len(numbers) - len(_missing(numbers, sentences)))
    whole = sum(weights.values()) + each * len(numbers)
    return covered / whole if whole else 0.0


def _missing(numbers: Iterable[Quantity], sentences: Sequence[Statement]) -> list[Quantity]:
    quantities = [quantity for sentence in sentences for quantity in sentence.numbers]
    return [number for number in numbers if not any(number.says(quantity) for quantity in quantities)]


def _shared_words(reading: Reading, order: Sequence[int]) -> dict[str, float]:
    claim, sentences = reading.claim, reading.sentences
    best = [sentences[index] for index in order[:TOGETHER]]
    windows = [sentences[max(0, index - 1) : index + 2] for index in order]
    letters = _letters(claim)
    held = set[str]().union(*(_letters(sentence) for sentence in best))
    nearby = max(_coverage(claim, reading.weights, window) for window in windows)
    return {
        "words_nearby": nearby,
        "words_scattered": _coverage(claim, reading.weights, sentences) - nearby,
        "letters": len(letters & held) / max(1, len(letters)),
    }


def _letters(statement: Statement) -> set[str]:
    """Return all n-grams of LETTERS letters, which other forms of words share."""
    text = " ".join(statement.words)
    return {text[start : start + LETTERS] for start in range(max(1, len(text) - LETTERS + 1))}


def _numbers(reading: Reading, order: Sequence[int]) -> dict[str, float]:
    numbers = set(reading.claim.numbers)
    count = max(1, len(numbers))
    missing = len(_missing(numbers, reading.sentences))
    near = len(_missing(numbers, [reading.sentences[index] for index in order]))
    return {
        "numbers_found": (len(numbers) - missing) / count,
        "number_missing": float(missing > 0),
        "numbers_missing": missing / count,
        "numbers_missing_near": near / count,
    }


def _names(reading: Reading, order: Sequence[int]) -> dict[str, float]:
    names = reading.claim.names
    held = {stem for sentence in reading.sentences for stem in sentence.stems}
    near = {stem for index in order for stem in reading.sentences[index].stems}

    def without(stems: set[str]) -> float:
        return min(sum(weight for name, weight in names.items() if name not in stems), MANY_NAMES)

    return {
        "names_missing": without(held) / MANY_NAMES,
        "names_missing_near": without(near) / MANY_NAMES,
    }


def _polarity(reading: Reading, order: Sequence[int]) -> dict[str, float]:
    """Compare negations and directions with those of the best sentences, not of the whole evidence."""
    claim, best = reading.claim, [reading.sentences[index] for index in order[:POLARITY_FROM]]
    negated = set[str]().union(*(sentence.negated for sentence in best))
    affirmed = set[str]().union(*(set(sentence.stems) - sentence.negated for sentence in best))
    sides = set[int]().union(*(sentence.directions for sentence in best))
    return {
        "negation_added": _negation_added(claim, negated, affirmed),
        "negation_lost": max(_negation_lost(claim, sentence) for sentence in best),
        "direction_missing": len(claim.directions - sides) / max(1, len(claim.directions)),
        "direction_reversed": float(bool(claim.directions and sides) and not claim.directions & sides),
    }


def _negation_added(claim: Statement, negated: Set[str], affirmed: Set[str]) -> float:
    """Score the claim's negations of affirmed stems, 0..1, lower for stems that the sentences do not have."""
    if not claim.negations or claim.negated & negated:
        return 0.0
    return 1.0 if claim.negated & affirmed else UNNAMED_DENIAL


def _negation_lost(claim: Statement, sentence: Statement) -> float:
    """Return the share of the sentence's negated stems that the claim affirms."""
    affirmed = set(claim.stems) - claim.negated
    return len(affirmed & sentence.negated) / max(1, len(sentence.negated))
