"""New papers since a reader last looked, for what they follow. No Streamlit."""

from dataclasses import dataclass, replace

from assistant.storage.reading import Followed, Kept, PaperSet, ReadingStore
from corpus.encoders.base import Encoder
from corpus.records import Scope
from corpus.store.corpus import Corpus
from explorer.presenters.finding import search_papers

# Among more new papers than these is searched by looking through all.
_NAMED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Something that is followed, and the ids of the papers that came since its reader last looked."""

    kept: Kept[Followed]
    papers: tuple[str, ...]


def paper_set(corpus: Corpus) -> PaperSet:
    """Return the ids of all papers of a corpus as they are remembered for who follows something."""
    return corpus.reads.answer("paper set", lambda: PaperSet.of(_ids(corpus, Scope())))


def arrivals(store: ReadingStore, corpus: Corpus, encoder: Encoder, owner: str) -> tuple[Arrivals, ...]:
    """Return the owner's follows, each with its new papers; raises the store's errors."""
    return tuple(Arrivals(one, _new(store, corpus, encoder, one)) for one in store.followed(owner))


def _new(store: ReadingStore, corpus: Corpus, encoder: Encoder, kept: Kept[Followed]) -> tuple[str, ...]:
    if kept.seen == paper_set(corpus).digest:
        return ()

    def come() -> tuple[str, ...]:
        before = store.papers_of(kept.seen)
        return () if before is None else tuple(one for one in _ids(corpus, Scope()) if one not in before)

    new = corpus.reads.answer(("come since", kept.seen), come)
    asked = ("new of", kept.seen, kept.record.query, kept.record.scope)
    return corpus.reads.answer(asked, lambda: _matching(corpus, encoder, kept.record, new))


def _matching(corpus: Corpus, encoder: Encoder, followed: Followed, new: tuple[str, ...]) -> tuple[str, ...]:
    if not new:
        return ()
    if not followed.query:
        come = frozenset(new)
        return tuple(one for one in _ids(corpus, followed.scope) if one in come)
    few = len(new) <= _NAMED_AT_ONCE
    scope = replace(followed.scope, papers=new) if few else followed.scope
    come = frozenset(new)
    found = search_papers(corpus, encoder, followed.query, scope)
    return tuple(one.paper.id for one in found if one.paper.id in come)


def _ids(corpus: Corpus, scope: Scope) -> list[str]:
    ids: list[str] = corpus.statistics.sorted_ids(scope, "newest").to_pylist()
    return ids
