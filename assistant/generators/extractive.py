"""A generator without a model: it selects sentences from the evidence, arranges and cites them.

Nothing it writes can be unsupported: every sentence is a paper's own, shortened at its start or put into
the third person and otherwise as it stands.
"""

import math
import re
import time
from collections.abc import Generator as Iteration
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from assistant.checking import ExtractiveWeights, overlap_word, score_attribution, thresholds, without_labels
from assistant.generators.protocol import EXTRACTIVE
from assistant.generators.sentence_rewriting import in_third_person, speaks_of_itself, without_lead
from assistant.generators.standing_alone import is_back_matter, is_quotable, points_back
from assistant.questions import Asked, read_question, rewrite_from_words, spelt_out, stems, vocabulary
from assistant.records import (
    NOTHING_NEAR,
    Call,
    CallLog,
    Draft,
    Evidence,
    LabelledPaper,
    RequestKind,
    Rewrite,
    Step,
    Turn,
)
from corpus.encoders import Encoder, Vectors, cosine_scales
from corpus.language import holds, spelt_as, stem
from corpus.records import Passage
from corpus.text import words

# "Models have shown", "pruning has been studied", "systems usually copy": what was known before.
_KNOWN_BEFORE = re.compile(
    r"^(?:(?!\bwe\b)\S+\s+){1,9}(?:(?:ha(?:s|ve)\s+(?:\w+ly\s+)?(?:been|shown|become|drawn|\w+ed)\b)"
    r"|(?:usually|typically|often|traditionally|nowadays|generally|commonly)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“([^”]+)”")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_VERB = re.compile(r",|\(.*|is|are|was|were|refers?|means?|[a-z]{2,}(?<!u)(?<!s)s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence that may be used, with where it stands."""

    paper: LabelledPaper
    passage: Passage
    sentence: int
    text: str
    stems: frozenset[str]


class ExtractiveGenerator:
    """Selects, arranges and cites sentences of the evidence; it needs the encoder and nothing else."""

    name = EXTRACTIVE
    label = "Extractive (no model)"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        started, clock = datetime.now(UTC), time.perf_counter()
        rewrite = rewrite_from_words(question, history)
        log.add(_call("rewrite", rewrite.search_query, started, time.perf_counter() - clock))
        return rewrite

    def write_draft(
        self,
        rewrite: Rewrite,
        history: tuple[Turn, ...],  # noqa: ARG002 - the search query already carries what matters of it
        evidence: Evidence,
        log: CallLog,
    ) -> Iteration[str, None, Draft]:
        """Yield the chosen sentences one by one; a draft without text says that none was near enough."""
        started, clock = datetime.now(UTC), time.perf_counter()
        pieces = _arrange(self._select(rewrite, evidence), rewrite.kind)
        yield from pieces
        draft = Draft("".join(pieces), "stop" if pieces else NOTHING_NEAR)
        call = _call("write", draft.text, started, time.perf_counter() - clock)
        log.add(replace(call, finish_reason=draft.finish_reason))
        return draft

    def _select(self, rewrite: Rewrite, evidence: Evidence) -> list[_Candidate]:
        if rewrite.kind == "summary":
            return self._summarise(summarised(rewrite.searched_for, evidence))
        text = "\n".join(passage.text for paper in evidence.papers for passage in paper.passages)
        query = spelt_out(rewrite.searched_for, text)
        asked, limits = read_question(query), _limits(rewrite.kind, len(evidence.papers))
        sentences = _to_the_point(_quotable_sentences(evidence, query), asked)
        return self._chosen(query, sentences, asked, limits)

    def _summarise(self, paper: LabelledPaper | None) -> list[_Candidate]:
        """Return a paper's challenge, approach and outcome, and then in reading order what else matters."""
        if paper is None:
            return []
        aspects = _aspects(paper)
        others = [item for item in _quotable_sentences(Evidence((paper,))) if item not in aspects]
        found = self._chosen(
            paper.paper.title, [*aspects, *others], Asked(), _limits("summary", papers=1), taken=aspects
        )
        more = [item for item in found if item not in aspects]
        return [*aspects, *sorted(more, key=_reading_order)]

    def _chosen(
        self,
        query: str,
        sentences: list[_Candidate],
        asked: Asked,
        weights: ExtractiveWeights,
        *,
        taken: Sequence[_Candidate] = (),
    ) -> list[_Candidate]:
        """Return the sentences that answer a query, best first, after those that are taken already."""
        rarity = _rarity(query, sentences)
        candidates = [
            *taken,
            *(item for item in _shortlist(sentences, rarity, weights.candidates) if item not in taken),
        ]
        if not candidates:
            return []
        vectors = self._encoder.encode_passages([candidate.text for candidate in candidates])
        similarity = _similarity(self._encoder.encode_query(query), vectors)
        relevance = _relevance(similarity, rarity, candidates, weights)
        relevance += weights.definition * np.asarray([_defines(item, asked) for item in candidates])
        alike = cosine_scales(self._encoder).alike(vectors @ vectors.T)
        chosen = _choose(candidates, relevance, alike, weights, len(taken))
        return [candidates[index] for index in chosen]


def summarised(query: str, evidence: Evidence) -> LabelledPaper | None:
    """Return the paper that a request for a summary means: the one it names by its title, else the first."""
    named = [paper for paper in evidence.papers if title_of(query) and _has_title(paper, title_of(query))]
    return next(iter(named or evidence.papers), None)


def title_of(query: str) -> str:
    """Return the title that a query quotes, "" of none."""
    quoted = _QUOTED.search(query)
    return quoted[1].removesuffix(" ...") if quoted else ""


def _has_title(paper: LabelledPaper, title: str) -> bool:
    return " ".join(paper.paper.title.split()).strip('“”"').startswith(title)


def _aspects(paper: LabelledPaper) -> list[_Candidate]:
    """Return the sentences of a paper's challenge, approach and outcome that the evidence has."""
    passages = {passage.number: passage for passage in paper.passages}
    found = []
    for name in ("challenge", "approach", "outcome"):
        aspect = next((one for one in paper.paper.aspects if one.name == name), None)
        passage = passages.get(aspect.passage) if aspect else None
        if aspect and passage and aspect.sentence < len(passage.sentences):
            text = passage.sentence_text(aspect.sentence)
            found.append(_Candidate(paper, passage, aspect.sentence, text, stems(text)))
    return [item for item in dict.fromkeys(found) if _stays_true(item) and not _leans(item)]


def _leans(item: _Candidate) -> bool:
    """Return True if a sentence opens with a word that points to the one before it."""
    return bool(vocabulary().unclear_start.intersection(words(without_lead(item.text))[:1]))


def _limits(kind: RequestKind, papers: int) -> ExtractiveWeights:
    """Return the weights with what the kind of request and the number of papers change in them."""
    weights = thresholds().extractive
    if kind != "synthesis":
        weights = weights.model_copy(update=getattr(weights, kind).model_dump())
    if papers > 1:
        return weights
    # Of the one paper asked about, what comes nearest is of use: "How is it evaluated?" names no subject.
    return weights.model_copy(update={"per_paper": weights.max_sentences, "floor": weights.fill_floor})


def _reading_order(item: _Candidate) -> tuple[int, int]:
    return item.passage.number, item.sentence


def _call(step: Step, reply: str, started: datetime, seconds: float) -> Call:
    return Call(
        step=step,
        model=ExtractiveGenerator.name,
        messages=(),
        parameters=None,
        reply=reply,
        started=started.isoformat(timespec="milliseconds"),
        seconds=seconds,
    )


def _quotable_sentences(evidence: Evidence, query: str = "") -> list[_Candidate]:
    signed = {paper.label: _signed(paper, query) for paper in evidence.papers}
    return [
        _Candidate(paper, passage, index, text, spelt_as(query, text, stems(text) | signed[paper.label]))
        for paper in evidence.papers
        for passage in paper.passages
        if not any(is_back_matter(section.title) for section in passage.section)
        for index in range(len(passage.sentences))
        if is_quotable(text := passage.sentence_text(index)) and text != paper.paper.title
    ]


def _signed(paper: LabelledPaper, query: str) -> frozenset[str]:
    """Return the stems of the authors whom a query names in full: every sentence of theirs is signed so."""
    asked = f" {' '.join(words(query))} "
    names = (" ".join(words(author.name)) for author in paper.paper.authors)
    return stems(" ".join(name for name in names if name and f" {name} " in asked))


def _to_the_point(sentences: list[_Candidate], asked: Asked) -> list[_Candidate]:
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


def _counts(sentence: _Candidate, asked: Asked) -> bool:
    """Return True if a sentence names what is asked about and then most of what is to be counted of it."""
    said = [stem(word) for word in words(sentence.text)]
    named = [
        at for at, word in enumerate(said) if any(holds(frozenset({word}), name) for name in asked.names)
    ]
    if not named:
        return False
    after = frozenset(said[named[0] + 1 :])
    return 2 * sum(holds(after, counted) for counted in asked.counted) >= len(asked.counted)


def _defines(candidate: _Candidate, asked: Asked) -> float:
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


def _shortlist(sentences: Sequence[_Candidate], rarity: dict[str, float], most: int) -> list[_Candidate]:
    """Return the sentences worth encoding: those that share most with the question, then the best papers'."""
    ranked = sorted(sentences, key=lambda sentence: -_share(rarity, sentence.stems))
    return [sentence for sentence in ranked[:most] if _stays_true(sentence)]


def _stays_true(candidate: _Candidate) -> bool:
    """Return True if a sentence is still its passage's own when it is in the third person."""
    if not speaks_of_itself(candidate.text):
        return True
    overlap = score_attribution(_rephrased(candidate), candidate.passage.text)
    return overlap_word(overlap) == "strong"


def _similarity(query: Vectors, vectors: Vectors) -> Vectors:
    """Return the cosine of each sentence and the query, both seen from the middle of the sentences.

    All sentences found are near the query; what they share ("language models") must not decide among them.
    """
    middle = vectors.mean(axis=0) if len(vectors) > 2 else np.zeros_like(query)
    around, asked = vectors - middle, query - middle
    lengths = np.linalg.norm(around, axis=1) * np.linalg.norm(asked)
    return np.asarray(around @ asked / np.maximum(lengths, 1e-6), dtype=np.float32)


def _relevance(
    similarity: Vectors,
    rarity: dict[str, float],
    candidates: Sequence[_Candidate],
    weights: ExtractiveWeights,
) -> Vectors:
    """Return how well each sentence answers the query, about 0..1."""
    context = {
        item.passage.id: _share(rarity, stems(f"{item.paper.paper.title} {item.passage.text}"))
        for item in candidates
    }
    lexical = np.asarray([_share(rarity, item.stems) for item in candidates])
    passage = np.asarray([context[item.passage.id] for item in candidates])
    manner = np.asarray([_manner(item.text, weights) for item in candidates])
    relevance = weights.dense * np.clip(similarity, 0, 1) + weights.lexical * lexical
    return np.asarray(relevance + weights.passage * passage + manner, dtype=np.float32)


def _rarity(query: str, candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Return the weight of each stem of the query: the fewer candidate sentences hold it, the more."""
    asked = stems(query)
    counts = {stem: sum(holds(candidate.stems, stem) for candidate in candidates) for stem in asked}
    return {stem: math.log((2 + len(candidates)) / (1 + counts[stem])) for stem in asked}


def _share(rarity: dict[str, float], held: frozenset[str]) -> float:
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


def _choose(
    candidates: Sequence[_Candidate],
    relevance: Vectors,
    alike: Vectors,
    weights: ExtractiveWeights,
    taken: int = 0,
) -> list[int]:
    """Return the indices of the sentences to use, best first (maximal marginal relevance).

    The first `taken` candidates are used in any case.
    """
    chosen = list(range(taken))
    best = float(relevance.max())
    if best < weights.floor:
        return chosen
    labels = np.asarray([candidate.paper.label for candidate in candidates])
    while len(chosen) < weights.max_sentences:
        likeness = alike[:, chosen].max(axis=1) if chosen else np.zeros(len(candidates))
        gain = relevance - weights.redundancy * np.clip(likeness - 0.5, 0, 1)
        unlike = likeness < weights.alike
        fresh = np.asarray([np.sum(labels[chosen] == label) < weights.per_paper for label in labels])
        if len(chosen) >= weights.min_sentences:
            pools = [unlike & fresh & (relevance >= max(weights.floor, weights.relative_floor * best))]
        else:
            near = unlike & (relevance >= weights.floor)
            # Where the other papers have nothing to say, one paper answers alone.
            pools = [
                near & fresh,
                near,
                unlike & (relevance >= max(weights.fill_floor, weights.fill_share * best)),
            ]
        pool = next((pool for pool in pools if pool.any()), None)
        if pool is None:
            break
        chosen.append(int(np.argmax(np.where(pool, gain, -np.inf))))
    return chosen


def _arrange(chosen: Sequence[_Candidate], kind: RequestKind) -> list[str]:
    """Return the sentences as text: a fact's and a summary's as they were chosen, the best first.

    A synthesis goes paper by paper in order of relevance, within a paper as it has them. Several papers make
    a list, so that nobody reads one paper's sentence as the next one's.
    """
    if kind != "synthesis":
        return [(" " if number else "") + _cited(item) for number, item in enumerate(chosen)]
    papers = dict.fromkeys(candidate.paper.label for candidate in chosen)
    groups = [[item for item in chosen if item.paper.label == label] for label in papers]
    bullets = len(groups) > 2
    pieces = []
    for number, group in enumerate(groups):
        lead = ("\n" if number else "") + "- " if bullets else (" " if number else "")
        pieces.append(lead + " ".join(_cited(item) for item in sorted(group, key=_reading_order)))
    return pieces


def _cited(candidate: _Candidate) -> str:
    sentence = _rephrased(candidate)
    body, stop = (sentence[:-1], sentence[-1]) if sentence[-1] in ".!" else (sentence, ".")
    return f"{without_labels(body)} [{candidate.paper.label}]{stop}"


def _rephrased(candidate: _Candidate) -> str:
    return in_third_person(without_lead(candidate.text), candidate.paper.paper.authors)
