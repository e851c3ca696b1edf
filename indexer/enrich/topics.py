"""The tasks, methods, data sets and metrics that a paper names: listed ones, and names next to a noun."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log2
from typing import get_args

from corpus.records import Paper, Passage, Topic, TopicKind
from indexer.enrich.data_file import Table, listed, read_data
from indexer.enrich.heads import HeadRules, Heads
from indexer.enrich.names import Named, NameRules, Names
from indexer.enrich.phrases import Phrases, tokens
from indexer.enrich.runs import term_words

_ELSEWHERE = re.compile(r"\b(?:related|previous|prior) (?:work|research|studies)|acknowledg", re.IGNORECASE)
_SHORT_ACRONYM = re.compile(r"[A-Z]{2,3}s?")


class _Score(Table):
    """The weights of a topic's score, 0..1, and the most topics of a paper."""

    title: float
    abstract: float
    abstract_again: float
    body: float
    body_fewest: int
    own: float
    most: int
    most_per_kind: int


class _Rules(Table):
    dataset_nouns: str
    own_dataset: str
    own_metric: str
    own_method: str
    not_names: str


class _HeadNouns(Table):
    task: str
    method: str
    metric: str
    techniques: str
    technique_ends: str
    studies: str
    measures: str
    computing: str
    registers: str
    not_first: str
    nothing: str


class _File(Table):
    heads: _HeadNouns
    task: dict[str, str]
    method: dict[str, str]
    dataset: dict[str, str]
    metric: dict[str, str]
    rules: _Rules
    score: _Score


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The forms of listed topics; `long_phrases` are without short acronyms."""

    phrases: Phrases[Named]
    long_phrases: Phrases[Named]
    names: Names
    heads: Heads
    score: _Score


@dataclass(slots=True)
class _Mentions:
    """The mentions of each topic in each part of a paper; `own` are the paper's contributions."""

    title: Counter[Named] = field(default_factory=Counter)
    abstract: Counter[Named] = field(default_factory=Counter)
    body: Counter[Named] = field(default_factory=Counter)
    own: set[Named] = field(default_factory=set)
    unlisted: set[Named] = field(default_factory=set)


def find_topics(paper: Paper, passages: Sequence[Passage]) -> tuple[Topic, ...]:
    """Return the tasks, methods, data sets and metrics that a paper names, the strongest first.

    Title and abstract count for more than the body, where one mention is not enough; sections on related
    work do not count. Unlisted names are taken only where the words around them give their kind.
    """
    vocabulary = _vocabulary()
    mentions = _count(paper, passages, vocabulary)
    named, score = _one_kind_each(mentions), vocabulary.score
    topics = (Topic(*topic, round(_score(topic, mentions, score), 3)) for topic in named)
    ranked = sorted(
        (topic for topic in topics if topic.score > 0),
        key=lambda topic: (-topic.score, topic.kind, topic.name),
    )
    kinds: Counter[TopicKind] = Counter()
    best = []
    for topic in ranked:
        if kinds[topic.kind] < score.most_per_kind and kinds.total() < score.most:
            kinds[topic.kind] += 1
            best.append(topic)
    return tuple(best)


def _one_kind_each(mentions: _Mentions) -> list[Named]:
    """Return the topics, each unlisted name with one kind: the paper's own, else the most frequent."""
    counts = mentions.title + mentions.abstract + mentions.body
    ranked = sorted(counts, key=lambda topic: (topic not in mentions.own, -counts[topic], topic))
    topics: dict[str, Named] = {}
    for topic in ranked:
        topics.setdefault(topic[1].lower() if topic in mentions.unlisted else "/".join(topic), topic)
    return list(topics.values())


def _count(paper: Paper, passages: Sequence[Passage], vocabulary: _Vocabulary) -> _Mentions:
    mentions = _Mentions()
    abstract = "" if paper.abstract == paper.title else paper.abstract
    _add(mentions.title, mentions, paper.title, vocabulary.phrases, vocabulary.names)
    _add(mentions.abstract, mentions, abstract, vocabulary.phrases, vocabulary.names)
    for passage in passages:
        if passage.number > 0 and not _ELSEWHERE.search(passage.section_path):
            # In the body a short acronym is ambiguous: OCR is oxygen consumption too.
            _add(mentions.body, mentions, passage.text, vocabulary.long_phrases, vocabulary.names)
    mentions.own.update(vocabulary.names.own(paper.title, abstract))
    unlisted = {*mentions.own, *vocabulary.heads.found(paper.title, abstract)}
    mentions.unlisted.update(unlisted)
    mentions.abstract.update(unlisted)
    title = paper.title.lower()
    mentions.title.update(topic for topic in unlisted if topic[1].lower() in title)
    return mentions


def _add(
    counts: Counter[Named], mentions: _Mentions, text: str, phrases: Phrases[Named], names: Names
) -> None:
    counts.update(phrases.found(tokens(text)))
    unlisted = list(names.datasets(text))
    mentions.unlisted.update(unlisted)
    counts.update(unlisted)


def _score(topic: Named, mentions: _Mentions, score: _Score) -> float:
    """Score how strongly a paper is about a topic, 0..1; 0 for a passing mention."""
    title, abstract, body = mentions.title[topic], mentions.abstract[topic], mentions.body[topic]
    if not title and not abstract and body < score.body_fewest:
        return 0.0
    total = score.title * bool(title) + score.abstract * bool(abstract) + score.own * (topic in mentions.own)
    total += score.abstract_again * min(1.0, max(0, abstract - 1) / 2)
    return min(1.0, total + score.body * min(1.0, log2(1 + body) / 5))


def _forms(file: _File) -> Iterator[tuple[str, Named]]:
    """Yield every form of every topic; a form in square brackets replaces the name itself."""
    tables: Mapping[str, Mapping[str, str]] = {
        "task": file.task, "method": file.method, "dataset": file.dataset, "metric": file.metric
    }  # fmt: skip
    for kind in (kind for kind in get_args(TopicKind) if kind in tables):
        for name, written in tables[kind].items():
            forms = listed(written)
            if not any(form.startswith("[") for form in forms):
                yield name, (kind, name)
            for form in forms:
                yield form.strip("[]"), (kind, name)


@cache
def _vocabulary() -> _Vocabulary:
    file = read_data("topics", _File)
    forms = list(_forms(file))
    phrases = Phrases(forms)
    long_phrases = Phrases((form, topic) for form, topic in forms if not _SHORT_ACRONYM.fullmatch(form))
    rules = file.rules
    names = NameRules(
        frozenset(listed(rules.dataset_nouns)),
        {
            "dataset": listed(rules.own_dataset),
            "metric": listed(rules.own_metric),
            "method": listed(rules.own_method),
        },
        frozenset(rules.not_names.split()),
    )
    return _Vocabulary(
        phrases, long_phrases, Names(names, phrases), Heads(_head_rules(file), phrases), file.score
    )


def _head_rules(file: _File) -> HeadRules:
    heads = file.heads
    nouns: dict[TopicKind, str] = {"task": heads.task, "method": heads.method, "metric": heads.metric}
    phrases: dict[TopicKind, str] = {"method": heads.studies, "metric": heads.measures}
    forms = [(name, (kind, name)) for kind, names in phrases.items() for name in listed(names)]
    return HeadRules(
        {noun: kind for kind, written in nouns.items() for noun in listed(written)},
        frozenset(listed(heads.techniques)),
        tuple(end.lower() for end in listed(heads.technique_ends)),
        Phrases(forms),
        [cue.lower() for cue in listed(heads.computing)],
        frozenset(listed(heads.registers)),
        frozenset(listed(heads.not_first)),
        frozenset(listed(heads.nothing)) | term_words().nothing,
        frozenset(file.rules.not_names.lower().split()),
    )
