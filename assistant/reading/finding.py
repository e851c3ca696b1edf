"""The seven key elements of a text, each as the one or two sentences that state it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from assistant.reading.cues import ChoiceWeights, Cues, ElementCues, Role, cues
from assistant.reading.standing_alone import can_stand_alone, is_back_matter, leans, points_away
from assistant.reading.telling import brackets, plain, told
from assistant.records import ElementName, LabelledPaper
from corpus.encoders.base import Encoder, Vectors
from corpus.encoders.scale import Scale, cosine_scales
from corpus.records import Paper, Passage, Section
from corpus.text import words

MOST_SENTENCES = 3000
# Sections in which a paper means its own work without saying so.
_SPEAKS_OF_OWN: frozenset[Role] = frozenset({"abstract", "conclusion", "advice", "future", "limitations"})
_SUMMARY: frozenset[Role] = frozenset({"abstract"})
_FINDINGS: frozenset[Role] = frozenset({"experiments", "discussion"})
# "However, ..." before the authors' own work names a problem; "In this paper, ..." says what they do.
Lead = Literal["turning", "announcing", ""]
_LEADS: tuple[tuple[Lead, str], ...] = (
    ("turning", r"\s*(?:however|but|yet|unfortunately|nevertheless|nonetheless|still)\b"),
    ("announcing", r"\s*(?:in )?(?:this|the present|our) (?:paper|work|study|article|note|report)\b"),
)
# The first match decides: "Conclusions and future work" is a conclusion.
_HEADINGS: tuple[tuple[Role, str], ...] = (
    ("back", r"^\W*(?:acknowledge?ments?|references|bibliography|appendi|ethic|funding|author contrib)"),
    ("limitations", r"\blimitations?\b|\bcaveats?\b"),
    ("conclusion", r"\bconclu|\bsummary\b|\bfinal remarks\b"),
    ("advice", r"\badvice\b|\brecommendations?\b|\btake-?aways?\b"),
    ("future", r"\bfuture\b|\boutlook\b|\bopen (?:problems|questions|issues)\b"),
    ("discussion", r"\bdiscussions?\b|\berror analys|\badvantages?\b|\blessons\b"),
    ("related", r"\brelated\b|\b(?:previous|prior) (?:work|research)|\bbackground\b|\bliterature\b"),
    ("introduction", r"\bintroduct|\bmotivation\b|\boverview\b"),
    ("experiments", r"\bexperiment|\bevaluat|\bresults?\b|\banalys[ie]s\b|\bperformance\b|\bcompar"),
    ("method", r"\bmethod|\bapproach|\bmodel|\balgorithm|\bsystem\b|\barchitecture\b|\bfeatures?\b"),
)
_OWN = re.compile(
    r"\b(?:we|our|ours|us)\b|\bI(?=\s+[a-z])|\b[Mm]y\b"
    r"|\b(?:this|the present|the current) (?:paper|work|study|article|report|thesis|research|note)\b"
    r"|\b(?:the|this) (?:proposed|presented) \w+"
    r"|\b(?:is|are) (?:\w+ )?(?:proposed|presented|introduced|described|investigated)\b(?! (?:by|in [A-Z(]))",
    re.IGNORECASE,
)
# "NER systems typically use", "Recent approaches", "In recent years": earlier work.
_BEFORE = re.compile(
    r"\b(?:typically|usually|commonly|traditionally|conventionally|nowadays|in practice|in recent years)\b"
    r"|^(?:most|many|some|several|existing|previous|prior|recent|current|traditional|conventional)\b",
    re.IGNORECASE,
)
_CITES = re.compile(r"\bet al\b|\betc\. (?:used|proposed)|\(\s*(?:19|20)\d\d[a-z]?\s*\)")


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A sentence that can stand alone, as `text`, with its place.

    `is_own`: it is about its authors' work; `is_foreign`: it cites others and is not. In an abstract,
    `is_before`: it precedes the first sentence on the authors' work; `is_after`: it follows that and is not
    about it. `lead` is the kind of connective that was removed from its beginning.
    """

    passage: int
    sentence: int
    role: Role
    text: str
    is_own: bool
    is_foreign: bool
    is_before: bool
    is_after: bool
    lead: Lead


@dataclass(frozen=True, slots=True)
class _Offer:
    """A sentence for an element, by index, and its score."""

    name: ElementName
    index: int
    score: float


def find_elements(paper: LabelledPaper, encoder: Encoder) -> Mapping[ElementName, str]:
    """Return a text's sentences for each of the seven elements, joined; missing elements are left out."""
    authors = paper.paper.authors
    speak = (lambda text: told(text, authors, paper.paper.title)) if paper.label else (lambda text: text)
    by_element = element_sentences(paper, list(read_sentences(paper)), encoder)
    return {
        name: " ".join(speak(sentence.text) for sentence in chosen) for name, chosen in by_element.items()
    }


def element_sentences(
    paper: LabelledPaper, sentences: Sequence[CandidateSentence], encoder: Encoder
) -> Mapping[ElementName, list[CandidateSentence]]:
    """Select the one or two sentences of a paper that state each of the seven elements."""
    if not sentences:
        return {}
    known = cues()
    offers, meanings = _offers(paper, sentences, known, encoder)
    chosen = _assign(offers, meanings, sentences, known, cosine_scales(encoder).alike)
    return {name: [sentences[index] for index in found] for name, found in chosen.items()}


def read_sentences(paper: LabelledPaper) -> Iterator[CandidateSentence]:
    """Yield the sentences of running text that can stand alone, without duplicates, in reading order."""
    roles = read_roles(paper.paper, paper.passages)
    seen: set[str] = set()
    for passage in paper.passages:
        role = roles.get(passage.number, "back")
        if role == "back":
            continue
        wholes = [passage.sentence_text(index) for index in range(len(passage.sentences))]
        turn = (
            next((index for index, sentence in enumerate(wholes) if is_own(sentence)), 0)
            if role == "abstract"
            else 0
        )
        for index, whole in enumerate(wholes):
            text = plain(whole)
            if text not in seen and can_stand_alone(text):
                seen.add(text)
                speaks_of_own = is_own(whole)
                foreign = not speaks_of_own and is_of_others(whole)
                yield CandidateSentence(
                    passage.number,
                    index,
                    role,
                    text,
                    speaks_of_own,
                    foreign,
                    is_before=index < turn,
                    is_after=0 < turn < index and not speaks_of_own,
                    lead=next(
                        (lead for lead, pattern in _LEADS if re.match(pattern, whole, re.IGNORECASE)), ""
                    ),
                )
        if len(seen) >= MOST_SENTENCES:
            return


def is_own(text: str) -> bool:
    """Return True if a sentence is about its authors' own work."""
    return _OWN.search(text) is not None


def is_of_others(text: str) -> bool:
    """Return True if a sentence cites others, or is about earlier work in general."""
    cites = _CITES.search(text) is not None or any(re.search(r"\d", citation) for citation in brackets(text))
    return cites or _BEFORE.search(text) is not None


def _offers(
    paper: LabelledPaper, sentences: Sequence[CandidateSentence], known: Cues, encoder: Encoder
) -> tuple[list[_Offer], Mapping[int, Vectors]]:
    """Return the best sentences for every element with their scores, and the vectors of these sentences.

    Wording and place make a short list; only its sentences are encoded.
    """
    short = {
        name: _short_list(paper, sentences, name, element, known) for name, element in known.elements.items()
    }
    listed = sorted({index for scores in short.values() for index in scores})
    if not listed:
        return [], {}
    encoded = encoder.encode_passages([sentences[index].text for index in listed])
    meanings = dict(zip(listed, encoded, strict=True))
    scale = cosine_scales(encoder).alike
    central = dict(zip(listed, _centrality(paper, sentences, encoder, encoded), strict=True))
    question_vectors = _asked(encoder)
    offers = []
    for name, scores in short.items():
        for index, score in scores.items():
            meant = known.choice.meaning * scale(float((question_vectors[name] @ meanings[index]).max()))
            offers.append(_Offer(name, index, score + meant + known.choice.central * central[index]))
    return offers, meanings


@lru_cache(maxsize=4)
def _asked(encoder: Encoder) -> Mapping[ElementName, Vectors]:
    """Return the phrasings of each question, encoded once for all papers."""
    return {name: encoder.encode_passages(element.questions) for name, element in cues().elements.items()}


def _centrality(
    paper: LabelledPaper, sentences: Sequence[CandidateSentence], encoder: Encoder, encoded: Vectors
) -> list[float]:
    """Return the similarity of sentences to the title and abstract."""
    opening = [sentence.text for sentence in sentences if sentence.role == "abstract"][:8] or [
        sentences[0].text
    ]
    title = paper.paper.title
    about = encoder.encode_passages([*([title] * 2 if title else []), *opening])
    scale = cosine_scales(encoder).alike
    # The cosine with the sum of these vectors, from scaled pairwise cosines.
    length = float(np.sqrt(max(0.0, scale(about @ about.T).sum()))) or 1.0
    central: list[float] = (scale(encoded @ about.T).sum(axis=1) / length).tolist()
    return central


def _short_list(
    paper: LabelledPaper,
    sentences: Sequence[CandidateSentence],
    name: ElementName,
    cues_of: ElementCues,
    known: Cues,
) -> dict[int, float]:
    weights = known.choice
    named = [aspect for aspect in paper.paper.aspects if aspect.name in cues_of.aspects]
    aspects = {(aspect.passage, aspect.sentence) for aspect in named}
    scores: dict[int, float] = {}
    for index, sentence in enumerate(sentences):
        wording, strong = cues_of.worded(sentence.text, weights)
        is_aspect = (sentence.passage, sentence.sentence) in aspects
        if _is_signalled(sentence, name):
            wording, strong = wording + weights.lead, True
        # An aspect chosen by the indexer replaces a strong cue if there is other evidence too.
        speaks = wording > 0 or (sentence.is_before and wording == 0)
        if not strong and (cues_of.needs_strong or not is_aspect or not speaks):
            continue
        length = max(0, len(words(sentence.text)) - weights.short_words)
        scores[index] = (
            wording
            + cues_of.roles.get(sentence.role, 0.0)
            + (weights.aspect if is_aspect else 0.0)
            - (weights.pointing if points_away(sentence.text) else 0.0)
            - (weights.leaning if leans(sentence.text) else 0.0)
            - weights.long * length
            - _distance(sentence, name, known)
        )
    best = sorted(scores, key=lambda index: (-scores[index], index))[: weights.candidates]
    return {index: scores[index] for index in best}


def _is_signalled(sentence: CandidateSentence, name: ElementName) -> bool:
    """Return True if the lead of a sentence shows that it states the element."""
    if points_away(sentence.text):
        return False
    if name == "research_questions":
        return sentence.is_before and sentence.lead == "turning"
    return name == "contributions" and sentence.role == "abstract" and sentence.lead == "announcing"


def _distance(sentence: CandidateSentence, name: ElementName, known: Cues) -> float:
    """Return the penalty of a general sentence or one on the work of others."""
    weights = known.choice
    off = weights.foreign if sentence.is_foreign else 0.0
    if name == "research_questions" and sentence.role in ("abstract", "introduction"):
        # After that point an abstract says what was done about the problem.
        return weights.general if sentence.is_after else 0.0
    if sentence.is_before:
        return off + weights.before
    # A general statement in an abstract is the problem that was solved, not a limitation.
    expected = _SPEAKS_OF_OWN - (_SUMMARY if name == "limitations" else frozenset())
    expected |= _FINDINGS if name == "results" else frozenset()
    is_general = not sentence.is_own and sentence.role not in expected
    return off + (weights.general if is_general else 0.0)


def _assign(
    offers: Sequence[_Offer],
    meanings: Mapping[int, Vectors],
    sentences: Sequence[CandidateSentence],
    known: Cues,
    scale: Scale,
) -> dict[ElementName, list[int]]:
    """Assign each element its best sentences, by margin above its floor, without near duplicates."""
    margins = sorted(
        ((offer.score - known.elements[offer.name].floor, offer) for offer in offers),
        key=lambda entry: (-entry[0], known.choice.order.index(entry[1].name), entry[1].index),
    )
    chosen = _Chosen(meanings, scale, known.choice.alike)
    for margin, offer in margins:
        if margin >= 0 and offer.name not in chosen.sentences and not chosen.says(offer.index):
            chosen.add(offer)
    for name in list(chosen.sentences):
        if known.elements[name].may_have_second:
            _join_second([offer for offer in offers if offer.name == name], chosen, sentences, known.choice)
    _share(chosen, sentences, known)
    return {name: sorted(chosen.sentences[name]) for name in known.elements if name in chosen.sentences}


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The sentences chosen so far, by element."""

    meanings: Mapping[int, Vectors]
    scale: Scale
    alike: float
    sentences: dict[ElementName, list[int]] = field(default_factory=dict)

    def add(self, offer: _Offer) -> None:
        self.sentences.setdefault(offer.name, []).append(offer.index)

    def times(self, index: int) -> int:
        return sum(index in found for found in self.sentences.values())

    def says(self, index: int) -> bool:
        """Return True if a chosen sentence is a near duplicate."""
        taken = [other for found in self.sentences.values() for other in found]
        meant = self.meanings[index]
        return any(self.scale(float(meant @ self.meanings[other])) >= self.alike for other in taken)


def _share(chosen: _Chosen, sentences: Sequence[CandidateSentence], known: Cues) -> None:
    """Let a chosen sentence fill a second, empty element that it clearly states too."""
    for name in known.choice.share_order:
        if name in chosen.sentences:
            continue
        element = known.elements[name]
        candidates = [index for other in element.shared_with for index in chosen.sentences.get(other, ())]
        fitting = (
            index
            for index in candidates
            if element.shares(sentences[index].text) and chosen.times(index) == 1
        )
        if (index := next(fitting, None)) is not None:
            chosen.sentences[name] = [index]


def _join_second(
    offers: Sequence[_Offer], chosen: _Chosen, sentences: Sequence[CandidateSentence], weights: ChoiceWeights
) -> None:
    """Add to an element's short sentence a second one that is nearly as good and says something else."""
    (first,) = chosen.sentences[offers[0].name]
    if len(words(sentences[first].text)) > weights.second_words:
        return
    enough = weights.second * max(offer.score for offer in offers if offer.index == first)
    for offer in sorted(offers, key=lambda offer: (-offer.score, offer.index)):
        is_short = len(words(sentences[offer.index].text)) <= weights.short_words
        if offer.score >= enough and is_short and not chosen.says(offer.index):
            chosen.add(offer)
            return


def read_roles(paper: Paper, passages: Sequence[Passage]) -> dict[int, Role]:
    """Return the role of every passage of running text by its number.

    A title in place of an abstract has none, nor have captions and notes. A section with an uninformative
    heading is the introduction if it is the first of several, and a method otherwise.
    """
    text = [
        passage
        for passage in passages
        if passage.kind in ("abstract", "body") and passage.text != paper.title
    ]
    tops = list(dict.fromkeys(passage.section[:1] for passage in text if passage.kind == "body"))
    return {passage.number: _role(passage, tops) for passage in text}


def _role(passage: Passage, tops: Sequence[tuple[Section, ...]]) -> Role:
    if passage.kind == "abstract":
        return "abstract"
    if any(is_back_matter(section.title) for section in passage.section):
        return "back"
    for section in reversed(passage.section):
        for role, pattern in _HEADINGS:
            if re.search(pattern, section.title, re.IGNORECASE):
                return role
    return "introduction" if len(tops) > 1 and passage.section[:1] == tops[0] else "method"
