"""Questions to go on with, taken from what an answer cites, each one that this corpus can answer.

No model is asked: what the cited papers have and the answer has not told (a section, a sentence about them, a
topic that other papers share) makes the question, and a search makes sure of it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import get_args

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from assistant.questions.phrases import phrases
from assistant.questions.vocabulary import stems
from assistant.records import AskOptions, Rewrite, Turn
from assistant.retrieve import retrieve
from corpus.encoders.base import Encoder
from corpus.records import AspectName, Paper, PaperHits, Passage, Scope, TopicKind, passage_id, topic_key
from corpus.store.corpus import Corpus
from corpus.text import words

LONGEST_NAME = 40
LONGEST_HEADING = 4
BEGINNING = 6
# Passages that must contain a phrase of the title before a question names it.
FEWEST_PASSAGES = 3
# A paper asked about must be among the first of what its question finds.
AMONG_FIRST = 3
PAPERS_SEARCHED = 5
# "AdapLeR: Speeding up ...": what stands before the colon is the paper's own.
_OWN_NAME = re.compile(r"^([^\s:]+(?: [^\s:]+)?):\s")
# A word with two capitals, or one and a digit, is a name wherever it stands.
_NAME_LIKE = re.compile(
    r"(?=[A-Za-z])(?=(?:[^\sA-Z]{0,60}+[A-Z]){2}|(?=[^\sA-Z]{0,60}+[A-Z])[^\s\d]{0,60}+\d)[A-Za-z][\w+-]*[\w+]"
)


@checked_dataclass(frozen=True, slots=True)
class _SectionPhrase:
    headings: str
    question: str

    def is_about(self, heading: str) -> bool:
        """Return True if a heading says one of these and hardly more: "4 Costs at search time"."""
        said = [words(one) for one in self.headings.split(";")]
        held = words(heading)
        return len(held) <= LONGEST_HEADING and any(
            held[at : at + len(one)] == one for one in said for at in range(len(held))
        )


@checked_dataclass(frozen=True, slots=True)
class _Limits:
    fewest_papers: int
    largest_share: float
    shown: int
    tried: int
    papers_read: int


@checked_dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of follow_up.toml, which says what each is for."""

    section: tuple[_SectionPhrase, ...]
    aspect: dict[AspectName, str]
    aspect_of_data: dict[AspectName, str]
    data: dict[str, str]
    shared: dict[TopicKind, str]
    pair: dict[str, str]
    too_general: dict[str, str]
    limits: _Limits

    @property
    def general_names(self) -> frozenset[str]:
        return frozenset(" ".join(name.split()) for name in self.too_general["names"].split(";"))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question that may be asked: what it is about, and the papers of which one must be found for it.

    Where there are `passages`, one of them must be found too.
    """

    question: str
    form: str
    name: str
    papers: frozenset[str] = frozenset()
    passages: frozenset[str] = frozenset()


def follow_up_questions(
    turn: Turn, before: tuple[Turn, ...], corpus: Corpus, encoder: Encoder
) -> tuple[str, ...]:
    """Return up to three questions that go on from a turn and that the papers it asked can answer.

    What was asked `before` is not asked again. None is better than a question that leads nowhere.
    """
    limits = _phrases().limits
    asked = [stems(one.question) for one in (*before, turn)]
    found: list[_Candidate] = []
    for tried, candidate in enumerate(_new(_candidates(turn, corpus), asked)):
        if tried >= limits.tried or len(found) >= limits.shown:
            break
        if _is_other_than(candidate, found) and _is_answerable(candidate, turn.scope, corpus, encoder):
            found.append(candidate)
    return tuple(candidate.question for candidate in found)


@cache
def _phrases() -> _Phrases:
    text = Path(__file__).with_name("follow_up.toml").read_text(encoding="utf-8")
    return TypeAdapter(_Phrases).validate_python(tomllib.loads(text))


def _candidates(turn: Turn, corpus: Corpus) -> Iterator[_Candidate]:
    """Yield candidate questions, alternating the kinds."""
    cited = _cited_papers(turn)[: _phrases().limits.papers_read]
    counts = corpus.statistics.topic_counts(turn.scope)
    kinds = (
        chain.from_iterable(_of_sections(paper, turn, corpus) for paper in cited),
        _of_topics(cited, counts, corpus.count_papers(turn.scope)),
        chain(_of_pairs(cited), chain.from_iterable(_of_aspects(paper, turn, counts) for paper in cited)),
    )
    for row in zip_longest(*kinds):
        yield from (candidate for candidate in row if candidate is not None)


def _cited_papers(turn: Turn) -> list[Paper]:
    """Return the papers that an answer cites, in its order, and after them those that were found first."""
    given = {paper.label: paper.paper for paper in turn.evidence.papers}
    labels = dict.fromkeys((*turn.answer.cited_labels, *sorted(given)))
    return [given[label] for label in labels if label in given]


def _of_sections(paper: Paper, turn: Turn, corpus: Corpus) -> Iterator[_Candidate]:
    """Yield a question for each section that tells of the paper's subject and is not cited."""
    passages = corpus.passages(paper.id)
    cited = _passages_cited(turn)
    told: dict[int, list[Passage]] = {}
    for passage in passages:
        place = _phrase_of(passage)
        if place is not None and passage.id not in cited:
            told.setdefault(place, []).append(passage)
    for place, about in sorted(told.items()):
        if name := _name_in(paper, passages, about):
            question = _phrases().section[place].question.format(name=name)
            found = frozenset(passage.id for passage in about)
            yield _Candidate(question, f"section {place}", name, frozenset({paper.id}), found)


def _name_in(paper: Paper, passages: tuple[Passage, ...], about: list[Passage]) -> str:
    """Return a section's subject: the paper's own, or one that title and section name."""
    named = (name for name in subjects(paper) if any(_mentions(one.text, name) for one in about))
    own = own_name(paper) or next(iter(phrases_of_title(paper, passages)), "")
    return next(named, own)


def _phrase_of(passage: Passage) -> int | None:
    """Return the index of the phrase that fits the section of a passage, None for none."""
    heading = passage.section[-1].title if passage.section else ""
    return next((place for place, one in enumerate(_phrases().section) if one.is_about(heading)), None)


def _of_topics(cited: list[Paper], counts: Mapping[str, int], papers: int) -> Iterator[_Candidate]:
    """Yield a question for each topic of a cited paper that other papers asked share, but not too many."""
    limits = _phrases().limits
    most = max(limits.fewest_papers, limits.largest_share * papers)
    for kind, phrase in _phrases().shared.items():
        for name in dict.fromkeys(_topics(cited, kind)):
            held = counts.get(topic_key(kind, name), 0)
            if limits.fewest_papers <= held <= most and is_telling(name):
                yield _Candidate(phrase.format(name=name), f"shared {kind}", name)


def _topics(papers: list[Paper], kind: TopicKind) -> Iterator[str]:
    """Yield the topics of that kind, those of the papers cited first, first."""
    for paper in papers:
        ordered = sorted(paper.topics, key=lambda topic: -topic.score)
        yield from (topic.name for topic in ordered if topic.kind == kind)


def _of_pairs(cited: list[Paper]) -> Iterator[_Candidate]:
    """Yield questions on the difference between the systems of two papers that share a topic."""
    named = [(name, paper) for paper in cited if (name := own_name(paper)) and not _is_of_data(paper)]
    for (name, paper), (other, second) in pairwise(named):
        if name != other and _keys(paper) & _keys(second):
            question = _phrases().pair["question"].format(name=name, other=other)
            yield _Candidate(question, "pair", f"{name} {other}", frozenset({paper.id, second.id}))


def _keys(paper: Paper) -> set[str]:
    return {topic.key for topic in paper.topics if topic.kind in ("task", "method")}


def _of_aspects(paper: Paper, turn: Turn, counts: Mapping[str, int]) -> Iterator[_Candidate]:
    """Yield questions on aspects of the paper's own system that the answer does not cite.

    A name that other papers have for a topic is not the paper's own: "ROUGE: What it misses".
    """
    name = own_name(paper)
    if not name or _is_shared(name, counts):
        return
    cited = {(one.passage_id, one.sentence) for each in turn.answer.sentences for one in each.citations}
    told = {aspect.name: (passage_id(paper.id, aspect.passage), aspect.sentence) for aspect in paper.aspects}
    asked_of = _phrases().aspect_of_data if _is_of_data(paper) else _phrases().aspect
    for aspect, phrase in asked_of.items():
        if aspect in told and told[aspect] not in cited:
            yield _Candidate(phrase.format(name=name), f"aspect {aspect}", name, frozenset({paper.id}))


def _is_of_data(paper: Paper) -> bool:
    """Return True if what a paper names is a data set, by its title."""
    return not set(words(paper.title)).isdisjoint(_phrases().data["words"].split())


def _is_shared(name: str, counts: Mapping[str, int]) -> bool:
    return any(counts.get(topic_key(kind, name), 0) > 1 for kind in get_args(TopicKind))


def own_name(paper: Paper) -> str:
    """Return the name of a paper's own system, "" where its title does not give it."""
    found = _OWN_NAME.match(paper.title)
    name = found[1] if found else ""
    return name if name and any(map(_NAME_LIKE.fullmatch, name.split())) and is_telling(name) else ""


def subjects(paper: Paper) -> tuple[str, ...]:
    """Return the subjects of a paper that a question can name: its own system, or what its title names."""
    own = own_name(paper)
    topics = sorted(paper.topics, key=lambda topic: -topic.score)
    named = (topic.name for topic in topics if topic.kind in ("method", "task"))
    in_title = (name for name in named if _mentions(paper.title, name))
    like = (found[0] for found in _NAME_LIKE.finditer(paper.title))
    every = dict.fromkeys(name for name in (own, *in_title, *like) if name and is_telling(name))
    return (own,) if own else tuple(every)


def phrases_of_title(paper: Paper, passages: tuple[Passage, ...]) -> tuple[str, ...]:
    """Return phrases from the beginning of the title that the paper uses later, the most used first."""
    begins = paper.title.partition(":")[0].split()
    title = " ".join(word if _NAME_LIKE.match(word) else word.lower() for word in begins)
    used = {
        phrase.text: sum(_mentions(passage.text, phrase.text) for passage in passages)
        for phrase in phrases(title)
        if 2 <= len(phrase.text.split()) <= 3 and is_telling(phrase.text)
    }
    often = (phrase for phrase, times in used.items() if times >= FEWEST_PASSAGES)
    return tuple(sorted(often, key=lambda phrase: -used[phrase]))


def is_telling(name: str) -> bool:
    """Return True if a name is worth a question, and can be put into one."""
    return (
        2 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and not set("{}[]") & set(name)
        and name.lower() not in _phrases().general_names
    )


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _passages_cited(turn: Turn) -> set[str]:
    return {one.passage_id for sentence in turn.answer.sentences for one in sentence.citations}


def _new(candidates: Iterator[_Candidate], asked: list[frozenset[str]]) -> Iterator[_Candidate]:
    """Yield the questions that no question before has asked, whatever its other words were."""
    for candidate in candidates:
        # "approaches to knowledge graph completion" is what "How are knowledge graphs completed?" asks.
        is_topic = not candidate.papers
        about = _beginnings(stems(candidate.name if is_topic else candidate.question))
        if about and not any(about <= _beginnings(one) for one in asked):
            yield candidate


def _beginnings(of: frozenset[str]) -> frozenset[str]:
    return frozenset(one[:BEGINNING] for one in of)


def _is_other_than(candidate: _Candidate, found: list[_Candidate]) -> bool:
    """Return True if a question is of another form, and about something else, than those there are."""
    return all(candidate.form != one.form and candidate.name != one.name for one in found)


def _is_answerable(candidate: _Candidate, scope: Scope, corpus: Corpus, encoder: Encoder) -> bool:
    """Return True if the question finds what it was made from."""
    rewrite = Rewrite(candidate.question, candidate.question)
    found = retrieve(corpus, encoder, rewrite, AskOptions(scope, PAPERS_SEARCHED))
    first = found[: max(AMONG_FIRST, len(candidate.papers))]
    passages = {hit.passage.id for one in first for hit in one.hits}
    if candidate.passages and not candidate.passages & passages:
        return False
    if candidate.papers:
        return candidate.papers <= {one.paper.id for one in first}
    return sum(_tells_of(one, candidate.name) for one in found) >= _phrases().limits.fewest_papers


def _tells_of(found: PaperHits, name: str) -> bool:
    return any(_mentions(f"{found.paper.title} {hit.passage.text}", name) for hit in found.hits)
