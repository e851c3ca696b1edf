"""The seven key elements of a text, each found as the sentence or two that state it."""

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

# Of an endless text the rest is not read.
MOST_SENTENCES = 3000
# Where a paper says "the method" it means its own; where it reports results, they are its own.
_SPEAKS_OF_OWN: frozenset[Role] = frozenset({"abstract", "conclusion", "advice", "future", "limitations"})
_SUMMARY: frozenset[Role] = frozenset({"abstract"})
_FINDINGS: frozenset[Role] = frozenset({"experiments", "discussion"})
# "However, ..." names a problem where the authors have not turned to their own work yet; "In this paper, ..."
# says what they do.
Lead = Literal["turning", "announcing", ""]
_LEADS: tuple[tuple[Lead, str], ...] = (
    ("turning", r"\s*(?:however|but|yet|unfortunately|nevertheless|nonetheless|still)\b"),
    ("announcing", r"\s*(?:in )?(?:this|the present|our) (?:paper|work|study|article|note|report)\b"),
)
# The first that is met decides: "Conclusions and future work" concludes, "Related work" is no work of theirs.
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
# "NER systems typically use", "Recent approaches", "In recent years": the state of things before.
_BEFORE = re.compile(
    r"\b(?:typically|usually|commonly|traditionally|conventionally|nowadays|in practice|in recent years)\b"
    r"|^(?:most|many|some|several|existing|previous|prior|recent|current|traditional|conventional)\b",
    re.IGNORECASE,
)
_CITES = re.compile(r"\bet al\b|\betc\. (?:used|proposed)|\(\s*(?:19|20)\d\d[a-z]?\s*\)")


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A sentence that can stand alone, as `text`, and where it was found.

    `is_own` says that it speaks of its authors' work, `is_foreign` that it cites others and does not;
    `is_before` that it stands in an abstract before the authors turn to their own work, `is_after` that
    it stands behind and does not speak of it. `lead` is what the sentence began with and has lost.
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
    """A sentence for an element, and how well it fits."""

    name: ElementName
    index: int
    score: float


def find_elements(paper: LabelledPaper, encoder: Encoder) -> Mapping[ElementName, str]:
    """Return a text's sentences for each of the seven elements; missing ones are left out."""
    authors = paper.paper.authors
    speak = (lambda text: told(text, authors, paper.paper.title)) if paper.label else (lambda text: text)
    found = element_sentences(paper, list(read_sentences(paper)), encoder)
    return {name: " ".join(speak(sentence.text) for sentence in some) for name, some in found.items()}


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
    """Yield the sentences of running text that can stand alone, each once, in reading order."""
    roles = read_roles(paper.paper, paper.passages)
    seen: set[str] = set()
    for passage in paper.passages:
        role = roles.get(passage.number, "back")
        if role == "back":
            continue
        wholes = [passage.sentence_text(index) for index in range(len(passage.sentences))]
        turn = _turn(wholes) if role == "abstract" else 0
        for index, whole in enumerate(wholes):
            text = plain(whole)
            if text not in seen and can_stand_alone(text):
                seen.add(text)
                own = is_own(whole)
                foreign = not own and is_of_others(whole)
                yield CandidateSentence(
                    passage.number,
                    index,
                    role,
                    text,
                    own,
                    foreign,
                    is_before=index < turn,
                    is_after=0 < turn < index and not own,
                    lead=_lead(whole),
                )
        if len(seen) >= MOST_SENTENCES:
            return


def is_own(text: str) -> bool:
    """Return True if a sentence speaks of its authors' own work."""
    return _OWN.search(text) is not None


def is_of_others(text: str) -> bool:
    """Return True if a sentence cites others, or says what was usual before."""
    cites = _CITES.search(text) is not None or any(re.search(r"\d", one) for one in brackets(text))
    return cites or _BEFORE.search(text) is not None


def _lead(sentence: str) -> Lead:
    return next((lead for lead, pattern in _LEADS if re.match(pattern, sentence, re.IGNORECASE)), "")


def _turn(sentences: Sequence[str]) -> int:
    """Return where an abstract turns to its authors' own work; 0 where it never says so."""
    return next((index for index, sentence in enumerate(sentences) if is_own(sentence)), 0)


def _offers(
    paper: LabelledPaper, sentences: Sequence[CandidateSentence], known: Cues, encoder: Encoder
) -> tuple[list[_Offer], Mapping[int, Vectors]]:
    """Return the likeliest sentences of every element with their scores, and the vectors of these sentences.

    Wording and place make the short list; only what is on it is encoded.
    """
    short = {name: _short_list(paper, sentences, name, one, known) for name, one in known.elements.items()}
    listed = sorted({index for found in short.values() for index in found})
    if not listed:
        return [], {}
    encoded = encoder.encode_passages([sentences[index].text for index in listed])
    meanings = dict(zip(listed, encoded, strict=True))
    scale = cosine_scales(encoder).alike
    central = dict(zip(listed, _centrality(paper, sentences, encoder, encoded), strict=True))
    asked = _asked(encoder)
    offers = []
    for name, found in short.items():
        for index, score in found.items():
            meant = known.choice.meaning * scale(float((asked[name] @ meanings[index]).max()))
            offers.append(_Offer(name, index, score + meant + known.choice.central * central[index]))
    return offers, meanings


@lru_cache(maxsize=4)
def _asked(encoder: Encoder) -> Mapping[ElementName, Vectors]:
    """Return the phrasings of each question, encoded once for all papers."""
    return {name: encoder.encode_passages(one.questions) for name, one in cues().elements.items()}


def _centrality(
    paper: LabelledPaper, sentences: Sequence[CandidateSentence], encoder: Encoder, encoded: Vectors
) -> list[float]:
    """Return the similarity of sentences to the title and abstract."""
    opening = [one.text for one in sentences if one.role == "abstract"][:8] or [sentences[0].text]
    title = paper.paper.title
    about = encoder.encode_passages([*([title] * 2 if title else []), *opening])
    scale = cosine_scales(encoder).alike
    # The cosine of each with the sum of what says it, from those of each two.
    length = float(np.sqrt(max(0.0, scale(about @ about.T).sum()))) or 1.0
    central: list[float] = (scale(encoded @ about.T).sum(axis=1) / length).tolist()
    return central


def _short_list(
    paper: LabelledPaper,
    sentences: Sequence[CandidateSentence],
    name: ElementName,
    one: ElementCues,
    known: Cues,
) -> dict[int, float]:
    weights = known.choice
    named = [aspect for aspect in paper.paper.aspects if aspect.name in one.aspects]
    aspects = {(aspect.passage, aspect.sentence) for aspect in named}
    scores: dict[int, float] = {}
    for index, sentence in enumerate(sentences):
        said, strong = one.worded(sentence.text, weights)
        is_aspect = (sentence.passage, sentence.sentence) in aspects
        if _is_signalled(sentence, name):
            said, strong = said + weights.lead, True
        # The indexer's choice does for a cue where something else speaks for the sentence too.
        speaks = said > 0 or (sentence.is_before and said == 0)
        if not strong and (one.needs_strong or not is_aspect or not speaks):
            continue
        length = max(0, len(words(sentence.text)) - weights.short_words)
        scores[index] = (
            said
            + one.roles.get(sentence.role, 0.0)
            + (weights.aspect if is_aspect else 0.0)
            - (weights.pointing if points_away(sentence.text) else 0.0)
            - (weights.leaning if leans(sentence.text) else 0.0)
            - weights.long * length
            - _distance(sentence, name, known)
        )
    best = sorted(scores, key=lambda index: (-scores[index], index))[: weights.candidates]
    return {index: scores[index] for index in best}


def _is_signalled(sentence: CandidateSentence, name: ElementName) -> bool:
    """Return True if what a sentence began with says that it answers a question."""
    if points_away(sentence.text):
        return False
    if name == "research_questions":
        return sentence.is_before and sentence.lead == "turning"
    return name == "contributions" and sentence.role == "abstract" and sentence.lead == "announcing"


def _distance(sentence: CandidateSentence, name: ElementName, known: Cues) -> float:
    """Return the penalty of a sentence on the world in general or on the work of others."""
    weights = known.choice
    off = weights.foreign if sentence.is_foreign else 0.0
    if name == "research_questions" and sentence.role in ("abstract", "introduction"):
        # Behind the turn an abstract speaks of what was done about the problem.
        return weights.general if sentence.is_after else 0.0
    if sentence.is_before:
        return off + weights.before
    # A general statement in an abstract is a problem that is solved, not a limit that is left.
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
    """Give each element its best sentence, the surest choice first; no two elements say the same.

    The surest is what lies farthest above its element's floor.
    """
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
    """The sentences chosen by now, by element."""

    meanings: Mapping[int, Vectors]
    scale: Scale
    alike: float
    sentences: dict[ElementName, list[int]] = field(default_factory=dict)

    def add(self, offer: _Offer) -> None:
        self.sentences.setdefault(offer.name, []).append(offer.index)

    def times(self, index: int) -> int:
        return sum(index in found for found in self.sentences.values())

    def says(self, index: int) -> bool:
        """Return True if some element's sentence says the same."""
        taken = [other for found in self.sentences.values() for other in found]
        meant = self.meanings[index]
        return any(self.scale(float(meant @ self.meanings[other])) >= self.alike for other in taken)


def _share(chosen: _Chosen, sentences: Sequence[CandidateSentence], known: Cues) -> None:
    """Let a sentence fill a second element that nothing else fills, where it plainly answers it too."""
    for name in known.choice.share_order:
        if name in chosen.sentences:
            continue
        one = known.elements[name]
        given = [index for other in one.shared_with for index in chosen.sentences.get(other, ())]
        fitting = (index for index in given if one.shares(sentences[index].text) and chosen.times(index) == 1)
        if (index := next(fitting, None)) is not None:
            chosen.sentences[name] = [index]


def _join_second(
    offers: Sequence[_Offer], chosen: _Chosen, sentences: Sequence[CandidateSentence], weights: ChoiceWeights
) -> None:
    """Join to an element's short sentence a second one that is nearly as good and says more."""
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
    """Return the role of every passage of running text, by its number.

    The title standing for an abstract has none, nor have captions and notes. A section whose heading says
    nothing introduces where it is the first of several, and else says how things were done.
    """
    text = [one for one in passages if one.kind in ("abstract", "body") and one.text != paper.title]
    tops = list(dict.fromkeys(one.section[:1] for one in text if one.kind == "body"))
    return {one.number: _role(one, tops) for one in text}


def _role(passage: Passage, tops: Sequence[tuple[Section, ...]]) -> Role:
    if passage.kind == "abstract":
        return "abstract"
    if any(is_back_matter(section.title) for section in passage.section):
        return "back"
    # The innermost heading knows best, but for "Results" within "Related work".
    for section in reversed(passage.section):
        if role := _said_by(section.title):
            return role
    return "introduction" if len(tops) > 1 and passage.section[:1] == tops[0] else "method"


def _said_by(title: str) -> Role | None:
    return next((role for role, pattern in _HEADINGS if re.search(pattern, title, re.IGNORECASE)), None)
