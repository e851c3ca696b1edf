"""The reason why two papers are similar: shared citations, topics, references or words. No Streamlit."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from assistant.questions.vocabulary import content_words, vocabulary
from corpus.language.stemming import stem
from corpus.records import Paper, Reference, TopicKind
from corpus.store.corpus import Corpus
from corpus.text import words
from explorer.presenters.safe_text import shortened

NAMED = 3
# Entries of one bibliography that are compared, so that a forged one cannot delay the screen.
ENTRIES_COMPARED = 1000
FEWEST_SHARED_ENTRIES = 2
SHORTEST_WORD = 5
_FEWEST_LETTERS = 12
_LONGEST_NAME = 40
# Not fields of study and metrics, which too many papers share.
_TELLING: tuple[TopicKind, ...] = ("task", "method", "dataset")


@dataclass(frozen=True, slots=True)
class Links:
    """The ids of the papers of this corpus that a paper cites, and of those that cite it."""

    cites: frozenset[str]
    cited_by: frozenset[str]


def reasons(corpus: Corpus, paper: Paper, others: Sequence[Paper]) -> Mapping[str, str]:
    """Return the reason why each of the others is similar to `paper`, by id, "" for no reason (cached)."""
    key = ("reasons", paper.id, tuple(other.id for other in others))
    return corpus.reads.answer(key, lambda: _reasons(corpus, paper, others))


def _reasons(corpus: Corpus, paper: Paper, others: Sequence[Paper]) -> Mapping[str, str]:
    links = Links(
        frozenset(link.cited for link in corpus.links.from_paper(paper.id)),
        frozenset(link.citing for link in corpus.links.to_paper(paper.id)),
    )
    entries = entry_keys(corpus.references(paper.id))
    topics, common = shared_topics(paper, others), shared_words(paper, others)
    texts = {}
    for other in others:
        shared = len(entries & entry_keys(corpus.references(other.id))) if entries else 0
        text = reason(other.id, links, topics[other.id], shared)
        if not text and common[other.id]:
            text = f"both say: {', '.join(common[other.id])}"
        texts[other.id] = text
    return texts


def reason(other: str, links: Links, topics: Collection[str], shared_entries: int) -> str:
    """Describe how two papers are related: "cites this paper · both: parsing", or ""."""
    parts = [_citation(other, links)]
    if topics:
        parts.append(f"both: {', '.join(topics)}")
    if shared_entries >= FEWEST_SHARED_ENTRIES:
        parts.append(f"{shared_entries:,} references in common")
    return " · ".join(part for part in parts if part)


def shared_topics(paper: Paper, others: Sequence[Paper]) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the tasks, methods and data sets that `paper` shares with each other paper, by id.

    Those that fewer of the others have come first.
    """
    own = {topic.key: topic.name for topic in paper.topics if topic.kind in _TELLING}
    theirs = {other.id: own.keys() & {topic.key for topic in other.topics} for other in others}
    holders = Counter(key for keys in theirs.values() for key in keys)

    def named(keys: Collection[str]) -> tuple[str, ...]:
        first = sorted(keys, key=lambda key: (holders[key], list(own).index(key)))
        names = dict.fromkeys(shortened(own[key], _LONGEST_NAME) for key in first)
        return tuple(name for name in names if name)[:NAMED]

    return {other: named(keys) for other, keys in theirs.items()}


def entry_keys(references: Sequence[Reference]) -> frozenset[str]:
    """Return the keys of a bibliography's entries, one each: title, DOI or arXiv id."""
    keys = set()
    for reference in references[:ENTRIES_COMPARED]:
        # The title first, as not every bibliography prints the DOI.
        title = " ".join(words(reference.title))
        is_long = len(title) >= _FEWEST_LETTERS
        keys.add(title if is_long else reference.doi.lower() or reference.arxiv_id.partition("v")[0])
    return frozenset(filter(None, keys))


def shared_words(paper: Paper, others: Sequence[Paper]) -> Mapping[str, tuple[str, ...]]:
    """Return the words that `paper` shares with each of the others, by id.

    Words of a title, or that both say more than once, come before the rest; among them first those that both
    say most often, then those that fewer of the others say.
    """
    words_here = _telling_words(paper)
    words_there = {other.id: _telling_words(other) for other in others}
    holders = Counter(word for there in words_there.values() for word in words_here.keys() & there.keys())

    def common(other: Paper) -> tuple[str, ...]:
        there = words_there[other.id]
        shared = words_here.keys() & there.keys()
        often = {word: min(len(words_here[word]), len(there[word])) for word in shared}
        titles = {stem(word) for word in content_words(f"{paper.title} {other.title}")}
        telling = [word for word in often if often[word] > 1 or word in titles]
        first = sorted(telling or often, key=lambda word: (-often[word], holders[word], word))
        return tuple(shortened(words_here[word][0], _LONGEST_NAME) for word in first[:NAMED])

    return {other.id: common(other) for other in others}


def _citation(other: str, links: Links) -> str:
    if other in links.cites:
        return "cited by this paper"
    return "cites this paper" if other in links.cited_by else ""


def _telling_words(paper: Paper) -> dict[str, list[str]]:
    """Return the occurrences of the telling words of title and abstract, by stem."""
    by_stem: dict[str, list[str]] = {}
    for word in content_words(f"{paper.title} {paper.abstract}"):
        if len(word) >= SHORTEST_WORD and word.isalpha() and word not in _common_words():
            by_stem.setdefault(stem(word), []).append(word)
    return by_stem


@cache
def _common_words() -> frozenset[str]:
    """Return the words that are common in papers on any subject."""
    lists = vocabulary()
    return lists.frame | lists.aspects | lists.verbs | lists.judging | lists.finding | lists.background
