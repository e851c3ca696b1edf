"""Features of whether a sentence belongs to the answer to a question."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.learned.features import relevance_features
from assistant.learned.relevance import network_features
from assistant.questions.abbreviations import abbreviations_of, common_terms, spelt_out, with_forms
from assistant.questions.names import says_name
from assistant.questions.perspective import in_plain_words
from assistant.questions.plan import QuestionPlan
from assistant.questions.vocabulary import stems, vocabulary
from assistant.ranking.candidates import Candidate, quotable_sentences
from assistant.ranking.defining import defines
from assistant.ranking.one_paper import ABOUT
from assistant.reading.finding import is_own, read_roles
from assistant.reading.parts import sentences_of_part
from assistant.reading.standing_alone import leans, points_away
from assistant.reading.telling import without_lead
from assistant.records import Evidence, RequestKind
from corpus.encoders.base import Encoder, Vectors
from corpus.language.abbreviations import Form
from corpus.language.stemming import function_words, holds
from corpus.text import words

Features = dict[str, list[float]]
ROLES = (
    *("introduction", "conclusion", "related", "method", "experiments", "limitations", "future"),
    *("discussion", "advice"),
)
# Features whose weights differ between kinds of questions.
BY_KIND = (
    *("approach", "outcome", "challenge", "own", "rank", "first", "part", "is_part", "abstract", "place"),
    *(
        "opening",
        "defines",
        "digits",
        "network_to_best",
        "cosine_to_best",
        "share",
        "paper_network",
        "finding",
    ),
)
FIRST = 3  # best sentences whose passages should have the names of the question
ANNOUNCED = 8  # words between "reports" and "which"
LEAST = 1e-4  # smallest probability, so that its odds are finite
# "Models have shown", "pruning has been studied", "systems usually copy": earlier work.
_KNOWN_BEFORE = re.compile(
    r"^(?:(?!\bwe\b)\S+\s+){1,9}(?:(?:ha(?:s|ve)\s+(?:\w+ly\s+)?(?:been|shown|become|drawn|\w+ed)\b)"
    r"|(?:usually|typically|often|traditionally|nowadays|generally|commonly)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asking:
    """A question for which sentences are ranked: its plan and vector, and its evidence.

    The plan is read from the query in the words of the papers. `rarity` is the weight of each stem of the
    query, `known` are stored vectors of sentences by text.
    """

    plan: QuestionPlan
    vector: Vectors
    evidence: Evidence
    rarity: Mapping[str, float]
    encoder: Encoder
    known: Mapping[str, Vectors]
    forms: tuple[Form, ...] = ()  # the abbreviations in the query, and the long forms that have one

    @property
    def query(self) -> str:
        return self.plan.query

    @property
    def kind(self) -> RequestKind:
        return self.plan.kind


def ask_of(
    plan: QuestionPlan, evidence: Evidence, encoder: Encoder, vectors: Mapping[str, Vectors]
) -> tuple[Asking, list[Candidate]]:
    """Return the question in the words of the papers, and the sentences that may be quoted for it."""
    texts = [passage.text for paper in evidence.papers for passage in paper.passages]
    terms = (*common_terms(plan.query, texts), *plan.rewrite.abbreviations)
    known = abbreviations_of(texts, terms)
    query = spelt_out(in_plain_words(plan.query), "\n".join(texts), known, terms)
    forms = tuple(known.forms_in(query))
    sentences = quotable_sentences(evidence, query, forms)
    spelt = plan.with_query(query)
    rarity = rarity_of(query, sentences, spelt.language)
    vector = encoder.encode_query(query)
    return Asking(spelt, vector, evidence, rarity, encoder, vectors, forms), sentences


def choice_features(asking: Asking, candidates: Sequence[Candidate], vectors: Vectors) -> Features:
    """Return the features of each candidate by name, (n,) each; `vectors` are those of their texts."""
    texts = [candidate.text for candidate in candidates]
    features = relevance_features(asking.query, texts, asking.vector, vectors)
    features |= _words(asking, candidates) | _places(asking, candidates)
    features |= _manner(asking, candidates) | _parts(asking, candidates)
    return features | _by_paper("cosine", features["cosine"], candidates)


def read_features(numbers: Sequence[float], candidates: Sequence[Candidate]) -> Features:
    """Return the features made from the network's score of each candidate."""
    return network_features(numbers) | _by_paper("network", numbers, candidates)


def answerable_features(features: Mapping[str, Sequence[float]], chances: Sequence[float]) -> Features:
    """Return features of whether any sentence answers: the best value among the sentences.

    `chances` are those of the sentences to belong to the answer.
    """
    first = sorted(range(len(chances)), key=lambda index: -chances[index])[:FIRST]
    best = chances[first[0]]
    told = {
        "chance": [math.log(max(best, LEAST) / max(1 - best, LEAST))],
        "named": [
            1.0 if not features["has_names"][0] else max(features["named_near"][index] for index in first)
        ],
        "cosine": [max(features["cosine"])],
    }
    return told | ({"network": [max(features["network"])]} if "network" in features else {})


def with_kind(features: Mapping[str, Sequence[float]], kind: RequestKind) -> dict[str, Sequence[float]]:
    """Return the features and copies of those in BY_KIND under names of the kind, "fact:rank"."""
    count = len(next(iter(features.values())))
    by_kind = {f"{kind}:{name}": features[name] for name in BY_KIND if name in features}
    return {**features, **by_kind, kind: [1.0] * count}


def rarity_of(query: str, candidates: Sequence[Candidate], language: str = "") -> dict[str, float]:
    """Return the inverse document frequency of each stem of the query among the candidates.

    Function words of the query's language are left out.
    """
    query_stems = stems(" ".join(word for word in words(query) if word not in function_words(language)))
    counts = {stem: sum(holds(candidate.stems, stem) for candidate in candidates) for stem in query_stems}
    return {stem: math.log((2 + len(candidates)) / (1 + counts[stem])) for stem in query_stems}


def share(rarity: Mapping[str, float], held: frozenset[str]) -> float:
    """Return the share of a query's weight that a text holds, 0..1."""
    return sum(weight for stem, weight in rarity.items() if holds(held, stem)) / (sum(rarity.values()) or 1.0)


def _words(asking: Asking, candidates: Sequence[Candidate]) -> Features:
    titles = {paper.label: stems(paper.paper.title) for paper in asking.evidence.papers}
    names, forms = asking.plan.names, asking.forms
    texts = {candidate.passage.id: with_forms(candidate.passage.text, forms) for candidate in candidates}
    passages = {
        candidate.passage.id: stems(texts[candidate.passage.id]) | titles[candidate.paper.label]
        for candidate in candidates
    }
    near = {
        candidate.passage.id: f"{candidate.paper.paper.title} {texts[candidate.passage.id]}"
        for candidate in candidates
    }
    return {
        "titled": [
            share(asking.rarity, candidate.stems | titles[candidate.paper.label]) for candidate in candidates
        ],
        "title_share": [share(asking.rarity, titles[candidate.paper.label]) for candidate in candidates],
        "in_passage": [share(asking.rarity, passages[candidate.passage.id]) for candidate in candidates],
        "named": [_named(names, with_forms(candidate.text, forms)) for candidate in candidates],
        "named_near": [_named(names, near[candidate.passage.id]) for candidate in candidates],
        "has_names": [float(bool(names))] * len(candidates),
    }


def _named(names: Sequence[str], text: str) -> float:
    return sum(says_name(text, name) for name in names) / max(1, len(names))


def _places(asking: Asking, candidates: Sequence[Candidate]) -> Features:
    papers = asking.evidence.papers
    role_by_passage = {paper.label: read_roles(paper.paper, paper.passages) for paper in papers}
    aspect_by_place = {
        (paper.label, aspect.passage, aspect.sentence): aspect.name
        for paper in papers
        for aspect in paper.paper.aspects
    }
    aspects = [aspect_by_place.get(_place(candidate)) for candidate in candidates]
    roles = [role_by_passage[item.paper.label].get(item.passage.number) for item in candidates]
    return {
        "rank": [math.log(candidate.paper.label) for candidate in candidates],
        "first": [float(candidate.paper.label == 1) for candidate in candidates],
        "abstract": [float(candidate.passage.number == 0) for candidate in candidates],
        "place": [item.sentence / max(1, len(item.passage.sentences) - 1) for item in candidates],
        "opening": [float(candidate.sentence == 0) for candidate in candidates],
        **{
            name: [float(aspect == name) for aspect in aspects]
            for name in ("challenge", "approach", "outcome")
        },
        **{f"in_{name}": [float(role == name) for role in roles] for name in ROLES},
    }


def _place(candidate: Candidate) -> tuple[int, int, int]:
    return candidate.paper.label, candidate.passage.number, candidate.sentence


def _manner(asking: Asking, candidates: Sequence[Candidate]) -> Features:
    asked, known = asking.plan.asked, vocabulary()
    return {
        "finding": [
            float(bool(known.finding.intersection(words(candidate.text)))) for candidate in candidates
        ],
        "own": [float(is_own(candidate.text)) for candidate in candidates],
        "before": [float(_says_known(candidate.text)) for candidate in candidates],
        "leaning": [float(leans(candidate.text) or points_away(candidate.text)) for candidate in candidates],
        "needed": [float(asked.may_be_answered_by(candidate.text)) for candidate in candidates],
        "defines": [defines(candidate, asked) for candidate in candidates],
        "digits": [float(any(map(str.isdigit, candidate.text))) for candidate in candidates],
        "announces": [float(_announces(candidate.text)) for candidate in candidates],
    }


def _announces(text: str) -> bool:
    """Return True if a sentence says which question a paper treats: "reports which biases were measured"."""
    known, read = vocabulary(), words(text)
    first = next((at for at, word in enumerate(read) if word in known.announcing), len(read))
    is_asked = not known.interrogative.isdisjoint(read[first + 1 : first + 1 + ANNOUNCED])
    return is_asked and known.finding.isdisjoint(read)


def _says_known(text: str) -> bool:
    """Return True if a sentence says what was known or missing before."""
    opening = words(without_lead(text))[:1]
    return bool(vocabulary().background.intersection(opening)) or _KNOWN_BEFORE.match(text) is not None


def _parts(asking: Asking, candidates: Sequence[Candidate]) -> Features:
    """Return features of how well each candidate states the part of a paper asked for."""
    part = asking.plan.part or (ABOUT if asking.kind == "summary" else None)
    scores: dict[tuple[int, int, int], float] = {}
    # Without an encoder no key elements are found, which is slow for several papers.
    encoder = asking.encoder if len(asking.evidence.papers) == 1 else None
    for paper in asking.evidence.papers if part else ():
        for rank, sentence in enumerate(sentences_of_part(paper, part, encoder) if part else ()):
            scores[paper.label, sentence.passage, sentence.sentence] = 1 / (1 + rank)
    held = [scores.get(_place(candidate), 0.0) for candidate in candidates]
    return {"part": held, "is_part": [float(score > 0) for score in held]}


def _by_paper(name: str, values: Sequence[float], candidates: Sequence[Candidate]) -> Features:
    """Return each candidate's difference to its paper's best, and its paper's to the best of all papers."""
    labels = [candidate.paper.label for candidate in candidates]
    best: dict[int, float] = {}
    for label, value in zip(labels, values, strict=True):
        best[label] = max(value, best.get(label, value))
    overall = max(best.values(), default=0.0)
    return {
        f"paper_{name}": [best[label] - overall for label in labels],
        f"own_{name}": [value - best[label] for label, value in zip(labels, values, strict=True)],
    }
