"""Why papers are held to be similar: what two of them share, in one line that is true. No Streamlit."""

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
# Of one bibliography; two long ones are compared quickly, a forged one cannot hold the screen up.
ENTRIES_COMPARED = 1000
FEWEST_SHARED_ENTRIES = 2
SHORTEST_WORD = 5
_FEWEST_LETTERS = 12
_LONGEST_NAME = 40
# Fields of study and metrics are shared by too many to say why.
_TELLING: tuple[TopicKind, ...] = ("task", "method", "dataset")


@dataclass(frozen=True, slots=True)
class Links:
    """The papers of this corpus that one of them cites, and those that cite it, by their ids."""

    cites: frozenset[str]
    cited_by: frozenset[str]


def reasons(corpus: Corpus, paper: Paper, others: Sequence[Paper]) -> Mapping[str, str]:
    """Return why each of some similar papers is one, by its id; "" where nothing can be said."""
    asked = ("reasons", paper.id, tuple(other.id for other in others))
    return corpus.reads.answer(asked, lambda: _reasons(corpus, paper, others))


def _reasons(corpus: Corpus, paper: Paper, others: Sequence[Paper]) -> Mapping[str, str]:
    links = Links(
        frozenset(link.cited for link in corpus.links.from_paper(paper.id)),
        frozenset(link.citing for link in corpus.links.to_paper(paper.id)),
    )
    entries = entry_keys(corpus.references(paper.id))
    topics, said = shared_topics(paper, others), shared_words(paper, others)
    found = {}
    for other in others:
        shared = len(entries & entry_keys(corpus.references(other.id))) if entries else 0
        found[other.id] = reason(other.id, links, topics[other.id], shared) or format_shared_words(
            said[other.id]
        )
    return found


def reason(other: str, links: Links, topics: Collection[str], shared_entries: int) -> str:
    """Describe how two papers are related: "cites this paper · both: parsing", or ""."""
    parts = [_citation(other, links)]
    if topics:
        parts.append(f"both: {', '.join(topics)}")
    if shared_entries >= FEWEST_SHARED_ENTRIES:
        parts.append(f"{shared_entries:,} references in common")
    return " · ".join(part for part in parts if part)


def shared_topics(paper: Paper, others: Sequence[Paper]) -> Mapping[str, tuple[str, ...]]:
    """Return the tasks, methods and data sets that `paper` and each of the others name, by their ids.

    Those that fewer of the others have come first: they say more.
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
    """Return the keys by which a bibliography's entries are recognised: title, DOI or arXiv id.

    An entry has one key, so that what two bibliographies share is counted in entries.
    """
    keys = (_entry_key(reference) for reference in references[:ENTRIES_COMPARED])
    return frozenset(key for key in keys if key)


def shared_words(paper: Paper, others: Sequence[Paper]) -> Mapping[str, tuple[str, ...]]:
    """Return the words that `paper` shares with each of the others, by their ids.

    Words of a title, or that both say more than once, are taken before the rest; of these first what both
    say most often, then what fewer of the others say.
    """
    own = _telling_words(paper)
    theirs = {other.id: _telling_words(other) for other in others}
    holders = Counter(one for said in theirs.values() for one in own.keys() & said.keys())

    def common(other: Paper) -> tuple[str, ...]:
        said = theirs[other.id]
        often = {one: min(len(own[one]), len(said[one])) for one in own.keys() & said.keys()}
        titles = {stem(word) for word in content_words(f"{paper.title} {other.title}")}
        telling = [one for one in often if often[one] > 1 or one in titles]
        first = sorted(telling or often, key=lambda one: (-often[one], holders[one], one))
        return tuple(shortened(own[one][0], _LONGEST_NAME) for one in first[:NAMED])

    return {other.id: common(other) for other in others}


def format_shared_words(shared: Collection[str]) -> str:
    """Return shared words as a reason, "" for none."""
    return f"both say: {', '.join(shared)}" if shared else ""


def _citation(other: str, links: Links) -> str:
    if other in links.cites:
        return "cited by this paper"
    return "cites this paper" if other in links.cited_by else ""


def _entry_key(reference: Reference) -> str:
    # The title first: one bibliography prints the DOI, the next does not.
    title = " ".join(words(reference.title))
    if len(title) >= _FEWEST_LETTERS:
        return title
    return reference.doi.lower() or reference.arxiv_id.partition("v")[0]


def _telling_words(paper: Paper) -> dict[str, list[str]]:
    """Return the content words of title and abstract by their stems, as often as they stand there."""
    found: dict[str, list[str]] = {}
    for word in content_words(f"{paper.title} {paper.abstract}"):
        if len(word) >= SHORTEST_WORD and word.isalpha() and word not in _common_words():
            found.setdefault(stem(word), []).append(word)
    return found


@cache
def _common_words() -> frozenset[str]:
    """Return words that papers of any subject say."""
    lists = vocabulary()
    return lists.frame | lists.aspects | lists.verbs | lists.judging | lists.finding | lists.background
