"""Follow-up questions from the papers that an answer cites, each of which this corpus can answer.

No model is asked. The questions are on sections, aspects and shared topics of cited papers that the answer
does not use, and each is tried with a search.
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
from corpus.records import AspectName, Paper, Passage, Scope, TopicKind, passage_id, topic_key
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
# "AdapLeR: Speeding up ...": the name before the colon is the paper's system.
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
        """Return True if a short heading has one of these phrases: "4 Costs at search time"."""
        phrases_listed = [words(phrase) for phrase in self.headings.split(";")]
        held = words(heading)
        return len(held) <= LONGEST_HEADING and any(
            held[start : start + len(phrase)] == phrase
            for phrase in phrases_listed
            for start in range(len(held))
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
    """A question that may be suggested: its form and subject, and what its search must find.

    That is all of its `papers`, and one of its `passages` if there are any.
    """

    question: str
    form: str
    name: str
    papers: frozenset[str] = frozenset()
    passages: frozenset[str] = frozenset()


def follow_up_questions(
    turn: Turn, before: tuple[Turn, ...], corpus: Corpus, encoder: Encoder
) -> tuple[str, ...]:
    """Return up to three follow-up questions that the scope can answer and that were not asked `before`."""
    limits = _phrases().limits
    earlier_stems = [stems(earlier.question) for earlier in (*before, turn)]
    chosen: list[_Candidate] = []
    for tried, candidate in enumerate(_new(_candidates(turn, corpus), earlier_stems)):
        if tried >= limits.tried or len(chosen) >= limits.shown:
            break
        if all(
            candidate.form != earlier.form and candidate.name != earlier.name for earlier in chosen
        ) and _is_answerable(candidate, turn.scope, corpus, encoder):
            chosen.append(candidate)
    return tuple(candidate.question for candidate in chosen)


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
    """Return the papers that an answer cites, in its order, then the other papers by rank."""
    by_label = {paper.label: paper.paper for paper in turn.evidence.papers}
    labels = dict.fromkeys((*turn.answer.cited_labels, *sorted(by_label)))
    return [by_label[label] for label in labels if label in by_label]


def _of_sections(paper: Paper, turn: Turn, corpus: Corpus) -> Iterator[_Candidate]:
    """Yield a question for each section on the paper's subject that is not cited."""
    passages = corpus.passages(paper.id)
    cited = {citation.passage_id for sentence in turn.answer.sentences for citation in sentence.citations}
    told: dict[int, list[Passage]] = {}
    for passage in passages:
        place = _phrase_of(passage)
        if place is not None and passage.id not in cited:
            told.setdefault(place, []).append(passage)
    for place, about in sorted(told.items()):
        if name := _name_in(paper, passages, about):
            question = _phrases().section[place].question.format(name=name)
            passage_ids = frozenset(passage.id for passage in about)
            yield _Candidate(question, f"section {place}", name, frozenset({paper.id}), passage_ids)


def _name_in(paper: Paper, passages: tuple[Passage, ...], about: list[Passage]) -> str:
    """Return a section's subject: one of the paper that it mentions, or the paper's own name or title."""
    named = (name for name in subjects(paper) if any(_mentions(passage.text, name) for passage in about))
    default = own_name(paper) or next(iter(phrases_of_title(paper, passages)), "")
    return next(named, default)


def _phrase_of(passage: Passage) -> int | None:
    """Return the index of the phrase that fits the section of a passage, None for none."""
    heading = passage.section[-1].title if passage.section else ""
    return next((place for place, phrase in enumerate(_phrases().section) if phrase.is_about(heading)), None)


def _of_topics(cited: list[Paper], counts: Mapping[str, int], papers: int) -> Iterator[_Candidate]:
    """Yield a question for each topic of a cited paper that some, but not too many, papers share."""
    limits = _phrases().limits
    most = max(limits.fewest_papers, limits.largest_share * papers)
    for kind, phrase in _phrases().shared.items():
        topics = (topic for paper in cited for topic in sorted(paper.topics, key=lambda topic: -topic.score))
        for name in dict.fromkeys(topic.name for topic in topics if topic.kind == kind):
            held = counts.get(topic_key(kind, name), 0)
            if limits.fewest_papers <= held <= most and is_telling(name):
                yield _Candidate(phrase.format(name=name), f"shared {kind}", name)


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
    """Yield questions on aspects of the paper's system that the answer does not cite.

    A name that is a topic of several papers is not the paper's system: "ROUGE: What it misses".
    """
    name = own_name(paper)
    if not name or any(counts.get(topic_key(kind, name), 0) > 1 for kind in get_args(TopicKind)):
        return
    cited = {
        (citation.passage_id, citation.sentence)
        for each in turn.answer.sentences
        for citation in each.citations
    }
    told = {aspect.name: (passage_id(paper.id, aspect.passage), aspect.sentence) for aspect in paper.aspects}
    asked_of = _phrases().aspect_of_data if _is_of_data(paper) else _phrases().aspect
    for aspect, phrase in asked_of.items():
        if aspect in told and told[aspect] not in cited:
            yield _Candidate(phrase.format(name=name), f"aspect {aspect}", name, frozenset({paper.id}))


def _is_of_data(paper: Paper) -> bool:
    """Return True if a paper's title says that it presents a data set."""
    return not set(words(paper.title)).isdisjoint(_phrases().data["words"].split())


def own_name(paper: Paper) -> str:
    """Return the name of a paper's system, "" if its title does not give one."""
    match = _OWN_NAME.match(paper.title)
    name = match[1] if match else ""
    return name if name and any(map(_NAME_LIKE.fullmatch, name.split())) and is_telling(name) else ""


def subjects(paper: Paper) -> tuple[str, ...]:
    """Return the subjects that a question can name: the paper's system, or topics and names in its title."""
    system = own_name(paper)
    topics = sorted(paper.topics, key=lambda topic: -topic.score)
    named = (topic.name for topic in topics if topic.kind in ("method", "task"))
    in_title = (name for name in named if _mentions(paper.title, name))
    name_like = (match[0] for match in _NAME_LIKE.finditer(paper.title))
    every = dict.fromkeys(name for name in (system, *in_title, *name_like) if name and is_telling(name))
    return (system,) if system else tuple(every)


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
    """Return True if a name is specific enough for a question, and can be inserted into one."""
    return (
        2 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and not set("{}[]") & set(name)
        and name.lower() not in _phrases().general_names
    )


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _new(candidates: Iterator[_Candidate], asked: list[frozenset[str]]) -> Iterator[_Candidate]:
    """Yield the candidates whose content words are not all in an earlier question."""
    for candidate in candidates:
        # "approaches to knowledge graph completion" is what "How are knowledge graphs completed?" asks.
        is_topic = not candidate.papers
        about = _beginnings(stems(candidate.name if is_topic else candidate.question))
        if about and not any(about <= _beginnings(earlier) for earlier in asked):
            yield candidate


def _beginnings(stems_of: frozenset[str]) -> frozenset[str]:
    return frozenset(stem[:BEGINNING] for stem in stems_of)


def _is_answerable(candidate: _Candidate, scope: Scope, corpus: Corpus, encoder: Encoder) -> bool:
    """Return True if a search for the question finds its papers and passages, or papers on its topic."""
    rewrite = Rewrite(candidate.question, candidate.question)
    papers = retrieve(corpus, encoder, rewrite, AskOptions(scope, PAPERS_SEARCHED))
    first = papers[: max(AMONG_FIRST, len(candidate.papers))]
    passages = {hit.passage.id for paper in first for hit in paper.hits}
    if candidate.passages and not candidate.passages & passages:
        return False
    if candidate.papers:
        return candidate.papers <= {paper.paper.id for paper in first}
    mentioning = (
        any(_mentions(f"{paper.paper.title} {hit.passage.text}", candidate.name) for hit in paper.hits)
        for paper in papers
    )
    return sum(mentioning) >= _phrases().limits.fewest_papers
