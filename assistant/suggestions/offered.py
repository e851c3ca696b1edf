"""Example questions on topics that papers share.

Each is asked once of the extractive writer; those it answered well are offered, alternating the kinds.
"""

import hashlib
import logging
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice, zip_longest
from pathlib import Path
from typing import Literal, get_args

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from assistant.chat import Assistant
from assistant.records import Answer, AskOptions, AssistantError
from assistant.suggestions.follow_up import is_telling
from corpus import VERSION
from corpus.errors import CorpusError
from corpus.records import Scope, TopicKind, parse_topic_key, topic_key
from corpus.store.corpus import Corpus
from corpus.store.tried_questions import TriedQuestion, TriedQuestions

QuestionKind = Literal["list", "definition", "comparison", "how", "overview"]

logger = logging.getLogger(__name__)

_FORMS = Path(__file__).with_name("offered.toml")


@checked_dataclass(frozen=True, slots=True)
class _Form:
    kind: QuestionKind
    of: TopicKind
    question: str
    cited: int

    @property
    def is_of_two(self) -> bool:
        return "{other}" in self.question


@checked_dataclass(frozen=True, slots=True)
class _Limits:
    fewest_papers: int
    largest_share: float
    tried: int
    seconds: float
    relevance: float
    collections: int
    compared: int


@checked_dataclass(frozen=True, slots=True)
class _Forms:
    """The forms of offered.toml, which says what each is for."""

    form: tuple[_Form, ...]
    limits: _Limits


@dataclass(frozen=True, slots=True)
class OfferedQuestion:
    """A question that can be asked of a collection, or with "" of all collections."""

    question: str
    kind: str
    names: tuple[str, ...]
    collection: str = ""


def offered_questions(corpus: Corpus, collections: Sequence[str], most: int) -> tuple[OfferedQuestion, ...]:
    """Return at most `most` questions that the collections answer well, on different topics.

    Kinds alternate. If none has been tried yet, as after a build, untried ones are returned.
    """
    tried = _kept(corpus)
    is_all = len(collections) > 1 and set(collections) == set(corpus.collection_ids())
    scopes = [""] if is_all else collections
    lists = [list(_best(tried.of(scope), scope)) for scope in scopes]
    if not any(lists):
        lists = [_first(corpus, scope) for scope in scopes[:1]]
    return tuple(islice(_each_of_its_own(_by_turns(lists)), most))


def try_next_question(assistant: Assistant) -> bool:
    """Ask the next candidate question and store the result; return False if none is left."""
    corpus = assistant.corpus
    tried = _kept(corpus)
    for collection in _scopes(corpus):
        earlier = tried.of(collection)
        if sum(question.seconds for question in earlier) >= _forms().limits.seconds:
            continue
        tried_questions = {question.question for question in earlier}
        first = _first(corpus, collection)
        if candidate := next(
            (question for question in first if question.question not in tried_questions), None
        ):
            return tried.add(collection, _tried(assistant, candidate))
    return False


@cache
def _forms() -> _Forms:
    return TypeAdapter(_Forms).validate_python(tomllib.loads(_FORMS.read_text(encoding="utf-8")))


def _kept(corpus: Corpus) -> TriedQuestions:
    return TriedQuestions(corpus.path, corpus.manifest, _rules())


@cache
def _rules() -> str:
    """Return a hash that changes with the question forms and the product version."""
    return hashlib.sha256(f"{VERSION} {_FORMS.read_text(encoding='utf-8')}".encode()).hexdigest()[:16]


def _scopes(corpus: Corpus) -> list[str]:
    """Return the scopes that get questions: "" for all papers, then the largest collections."""
    ordered = sorted(corpus.collections(), key=lambda entry: -entry.papers)
    largest = [entry.collection.id for entry in ordered[: _forms().limits.collections]]
    return ["", *largest] if len(ordered) > 1 else largest


def _scope(collection: str) -> Scope:
    return Scope(collections=(collection,) if collection else ())


def _candidates(corpus: Corpus, collection: str) -> Iterator[OfferedQuestion]:
    """Yield candidate questions on a collection, alternating the forms, the most shared topics first.

    If papers share none, topics of single papers are used.
    """
    scope = _scope(collection)
    names = _shared_names(corpus, scope)
    if not any(names.values()):
        names = _shared_names(corpus, scope, fewest=1)
    pairs = _named_together(corpus, collection, names)
    of_forms = (
        [_filled(form, about, collection) for about in (pairs if form.is_of_two else names)[form.of]]
        for form in _forms().form
    )
    yield from _by_turns(of_forms)


def _first(corpus: Corpus, collection: str) -> list[OfferedQuestion]:
    """Return the questions of a collection that are tried first."""
    return corpus.reads.answer(
        ("questions tried first", collection),
        lambda: list(islice(_candidates(corpus, collection), _forms().limits.tried)),
    )


def _filled(form: _Form, about: str | tuple[str, str], collection: str) -> OfferedQuestion:
    names = (about,) if isinstance(about, str) else about
    question = form.question.format(**dict(zip(("name", "other"), names, strict=False)))
    return OfferedQuestion(question, form.kind, names, collection)


def _shared_names(corpus: Corpus, scope: Scope, fewest: int | None = None) -> dict[TopicKind, list[str]]:
    """Return the topics of at least `fewest` papers of a scope, but not too many, the most frequent first."""
    limits = _forms().limits
    fewest = fewest or limits.fewest_papers
    most = max(fewest, limits.largest_share * corpus.count_papers(scope))
    names: dict[TopicKind, list[str]] = {kind: [] for kind in get_args(TopicKind)}
    for key, papers in corpus.statistics.topic_counts(scope).items():
        kind, name = parse_topic_key(key)
        if fewest <= papers <= most and is_telling(name):
            names[kind].append(name)
    return names


def _named_together(
    corpus: Corpus, collection: str, names: Mapping[TopicKind, Sequence[str]]
) -> dict[TopicKind, list[tuple[str, str]]]:
    """Return pairs of comparable topics of a kind that several papers share, each topic in one pair only.

    Comparable are those with the same last word: few-shot learning and contrastive learning.
    """
    limits = _forms().limits
    compared = {kind: tuple(names[kind][: limits.compared]) for kind in names}
    together = corpus.reads.answer(
        ("topics named together", collection, limits.compared),
        lambda: _counted_together(corpus, collection, compared),
    )
    pairs: dict[TopicKind, list[tuple[str, str]]] = {kind: [] for kind in names}
    taken: set[str] = set()
    for (first, second_key), papers in together.most_common():
        (kind, name), (_, second) = parse_topic_key(first), parse_topic_key(second_key)
        if papers >= limits.fewest_papers and taken.isdisjoint((first, second_key)):
            pairs[kind].append((name, second))
            taken |= {first, second_key}
    return pairs


def _counted_together(
    corpus: Corpus, collection: str, names: Mapping[TopicKind, Sequence[str]]
) -> Counter[tuple[str, str]]:
    """Count the papers that name each pair of comparable topics."""
    keys = [topic_key(kind, name) for kind in names for name in names[kind]]
    place = {key: number for number, key in enumerate(keys)}
    together: Counter[tuple[str, str]] = Counter()
    for batch in corpus.scan("papers", ["collection_id", "topic_keys"]):
        for row in batch.to_pylist():
            if collection in ("", row["collection_id"]):
                known = sorted(place.keys() & set(row["topic_keys"]), key=place.__getitem__)
                together.update(filter(_is_of_a_sort, combinations(known, 2)))
    return together


def _is_of_a_sort(pair: tuple[str, str]) -> bool:
    (kind, name), (other, second) = map(parse_topic_key, pair)
    is_one_of_the_other = name in second or second in name
    return kind == other and name.split()[-1] == second.split()[-1] and not is_one_of_the_other


def _tried(assistant: Assistant, candidate: OfferedQuestion) -> TriedQuestion:
    """Ask a question; one that cannot be asked counts as not answered."""
    clock = time.perf_counter()
    answer: Answer | None = None
    try:
        answer = assistant.answer(candidate.question, (), AskOptions(_scope(candidate.collection))).answer
    except (AssistantError, CorpusError) as error:
        logger.warning("%r cannot be tried: %s", candidate.question, error)
    return TriedQuestion(
        candidate.question,
        candidate.kind,
        candidate.names,
        len(set(answer.cited_labels)) if answer and not answer.refusal else 0,
        (answer.relevance or 0.0) if answer else 0.0,
        time.perf_counter() - clock,
    )


def _best(tried: Sequence[TriedQuestion], collection: str) -> Iterator[OfferedQuestion]:
    """Yield the questions that were answered well, alternating the kinds, the most relevant first."""
    kinds = dict.fromkeys(form.kind for form in _forms().form)
    well = sorted(filter(_is_answered_well, tried), key=lambda question: -question.relevance)
    made = (
        [
            OfferedQuestion(question.question, question.kind, question.names, collection)
            for question in well
            if question.kind == kind
        ]
        for kind in kinds
    )
    yield from _by_turns(made)


def _is_answered_well(tried: TriedQuestion) -> bool:
    fewest = min((form.cited for form in _forms().form if form.kind == tried.kind), default=1)
    return tried.cited >= fewest and tried.relevance >= _forms().limits.relevance


def _by_turns(lists: Iterable[Sequence[OfferedQuestion]]) -> Iterator[OfferedQuestion]:
    return (question for row in zip_longest(*lists) for question in row if question is not None)


def _each_of_its_own(questions: Iterable[OfferedQuestion]) -> Iterator[OfferedQuestion]:
    """Yield the questions that share no topic with an earlier one."""
    taken: set[str] = set()
    for question in questions:
        if taken.isdisjoint(question.names):
            taken.update(question.names)
            yield question
