"""Which sentences answer a question, by words, meaning and manner."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assistant.checking import ExtractiveWeights
from assistant.generators.extractive.candidates import Candidate, stays_true
from assistant.learned import LearnedError, open_relevance
from assistant.questions import Asked, stems, vocabulary
from assistant.reading import points_back, without_lead
from corpus.encoders import Vectors
from corpus.language import holds, stem
from corpus.text import words

# "Models have shown", "pruning has been studied", "systems usually copy": what was known before.
_KNOWN_BEFORE = re.compile(
    r"^(?:(?!\bwe\b)\S+\s+){1,9}(?:(?:ha(?:s|ve)\s+(?:\w+ly\s+)?(?:been|shown|become|drawn|\w+ed)\b)"
    r"|(?:usually|typically|often|traditionally|nowadays|generally|commonly)\b)",
    re.IGNORECASE,
)
LEARNED = 0.3  # of what decides which sentence answers; more of it leaves one sentence alone
MOST_READ = 32  # sentences that the network reads: those that are likeliest without it
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_VERB = re.compile(r",|\(.*|is|are|was|were|refers?|means?|[a-z]{2,}(?<!u)(?<!s)s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences with how well each answers the question, about 0..1.

    `near` holds the cosine of each with the question, (n,), `alike` those of each two, (n, n).
    """

    candidates: list[Candidate]
    relevance: Vectors
    near: Vectors
    alike: Vectors

    def best_first(self, chosen: Iterable[int]) -> list[int]:
        return sorted(chosen, key=lambda index: -float(self.relevance[index]))


def to_the_point(sentences: list[Candidate], asked: Asked) -> list[Candidate]:
    """Return what may answer: where a near miss would mislead, only sentences about the very thing asked.

    A question of yes or no or of a number that names something is not answered from other things' sentences.
    """
    sentences = [sentence for sentence in sentences if asked.may_be_answered_by(sentence.text)]
    if not asked.names:
        return sentences
    everything = frozenset().union(*(sentence.stems for sentence in sentences))
    if not all(holds(everything, name) for name in asked.names):
        return []
    return [sentence for sentence in sentences if not asked.counted or _counts(sentence, asked)]


def _counts(sentence: Candidate, asked: Asked) -> bool:
    """Return True if a sentence names what is asked about and then most of what is to be counted of it."""
    said = [stem(word) for word in words(sentence.text)]
    named = [
        at for at, word in enumerate(said) if any(holds(frozenset({word}), name) for name in asked.names)
    ]
    if not named:
        return False
    after = frozenset(said[named[0] + 1 :])
    return 2 * sum(holds(after, counted) for counted in asked.counted) >= len(asked.counted)


def defines(candidate: Candidate, asked: Asked) -> float:
    """Return how much a sentence looks like the definition asked for, 0..1.

    It opens with the subject and a verb ("BM25 ranks ..."), and the more so where papers define: in the
    abstract and the introduction, and first of all in their first sentences.
    """
    if not asked.defined:
        return 0.0
    opening = _ARTICLE.sub("", without_lead(candidate.text)).replace(",", " ,").split()
    subject, verb = opening[: len(asked.defined)], opening[len(asked.defined) :][:1]
    if stems(" ".join(subject)) != asked.defined or not verb or not _VERB.fullmatch(verb[0]):
        return 0.0
    if candidate.passage.number > 1:
        return 0.4
    return 1.0 if candidate.sentence == 0 else 0.6


def shortlist(sentences: Sequence[Candidate], rarity: dict[str, float], most: int) -> list[Candidate]:
    """Return the sentences worth encoding: those that share most with the question, then the best papers'."""
    ranked = sorted(sentences, key=lambda sentence: -share(rarity, sentence.stems))
    return [sentence for sentence in ranked[:most] if stays_true(sentence)]


def centred_cosines(query: Vectors, vectors: Vectors) -> Vectors:
    """Return the cosine of each sentence and the query, both seen from the middle of the sentences.

    All sentences found are near the query; what they share ("language models") must not decide among them.
    """
    middle = vectors.mean(axis=0) if len(vectors) > 2 else np.zeros_like(query)
    around, asked = vectors - middle, query - middle
    lengths = np.linalg.norm(around, axis=1) * np.linalg.norm(asked)
    return np.asarray(around @ asked / np.maximum(lengths, 1e-6), dtype=np.float32)


def relevance_of(
    similarity: Vectors,
    rarity: dict[str, float],
    candidates: Sequence[Candidate],
    weights: ExtractiveWeights,
) -> Vectors:
    """Return how well each sentence answers the query, about 0..1."""
    context = {
        item.passage.id: share(rarity, stems(f"{item.paper.paper.title} {item.passage.text}"))
        for item in candidates
    }
    lexical = np.asarray([share(rarity, item.stems) for item in candidates])
    passage = np.asarray([context[item.passage.id] for item in candidates])
    manner = np.asarray([_manner(item.text, weights) for item in candidates])
    relevance = weights.dense * np.clip(similarity, 0, 1) + weights.lexical * lexical
    return np.asarray(relevance + weights.passage * passage + manner, dtype=np.float32)


def beside_learned(
    query: str, candidates: Sequence[Candidate], relevance: Vectors, asked: Vectors, vectors: Vectors
) -> Vectors:
    """Return a measure of sentences with what was learned of the best of them beside it, on its scale.

    `asked` and `vectors` are the unit vectors of query and sentences. Where nothing was learned, the measure
    stays as it is.
    """
    read = np.argsort(-relevance)[:MOST_READ]
    texts = [candidates[at].text for at in read]
    titles = [candidates[at].paper.paper.title for at in read]
    try:
        shares = np.asarray(open_relevance().score(query, texts, titles, asked, vectors[read]))
    except LearnedError:
        return relevance
    beside = np.zeros_like(relevance)
    beside[read] = shares / (float(shares.max()) or 1.0) * max(0.0, float(relevance.max()))
    return np.asarray((1 - LEARNED) * relevance + LEARNED * beside, dtype=np.float32)


def rarity_of(query: str, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return the weight of each stem of the query: the fewer candidate sentences hold it, the more."""
    asked = stems(query)
    counts = {stem: sum(holds(candidate.stems, stem) for candidate in candidates) for stem in asked}
    return {stem: math.log((2 + len(candidates)) / (1 + counts[stem])) for stem in asked}


def share(rarity: dict[str, float], held: frozenset[str]) -> float:
    """Return the share of the query's weight that a text holds, 0..1."""
    return sum(weight for stem, weight in rarity.items() if holds(held, stem)) / (sum(rarity.values()) or 1.0)


def _manner(sentence: str, weights: ExtractiveWeights) -> float:
    """Return what a sentence's wording adds to or takes off its relevance."""
    known = vocabulary()
    said = words(without_lead(sentence))
    score = weights.finding if known.finding.intersection(said) else 0.0
    if said[0] in known.background or _KNOWN_BEFORE.match(sentence):
        score -= weights.background
    leans = said[0] in known.unclear_start or points_back(sentence)
    return score - weights.unclear_start if leans else score
