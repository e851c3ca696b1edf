"""The papers that are new in followed searches. No Streamlit."""

from dataclasses import dataclass, replace

from assistant.storage.reading import Followed, Kept, PaperSet, ReadingStore
from corpus.encoders.base import Encoder
from corpus.records import Scope
from corpus.store.corpus import Corpus
from explorer.presenters.finding import search_papers

# At most this many new papers are named in the scope of a search; otherwise its results are filtered.
_NAMED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A followed search, and the ids of the papers that are new since its reader last looked."""

    kept: Kept[Followed]
    papers: tuple[str, ...]


def paper_set(corpus: Corpus) -> PaperSet:
    """Return the set of all paper ids of a corpus, which follows are compared with."""
    return corpus.reads.answer("paper set", lambda: PaperSet.of(_ids(corpus, Scope())))


def arrivals(store: ReadingStore, corpus: Corpus, encoder: Encoder, owner: str) -> tuple[Arrivals, ...]:
    """Return the owner's followed searches with their new papers; raises AssistantError."""
    return tuple(Arrivals(kept, _new(store, corpus, encoder, kept)) for kept in store.followed(owner))


def _new(store: ReadingStore, corpus: Corpus, encoder: Encoder, kept: Kept[Followed]) -> tuple[str, ...]:
    if kept.seen == paper_set(corpus).digest:
        return ()

    def papers_since() -> tuple[str, ...]:
        before = store.papers_of(kept.seen)
        return () if before is None else tuple(id_ for id_ in _ids(corpus, Scope()) if id_ not in before)

    new = corpus.reads.answer(("come since", kept.seen), papers_since)
    key = ("new of", kept.seen, kept.record.query, kept.record.scope)
    return corpus.reads.answer(key, lambda: _matching(corpus, encoder, kept.record, new))


def _matching(corpus: Corpus, encoder: Encoder, followed: Followed, new: tuple[str, ...]) -> tuple[str, ...]:
    if not new:
        return ()
    if followed.query:
        scope = replace(followed.scope, papers=new) if len(new) <= _NAMED_AT_ONCE else followed.scope
        ids = [match.paper.id for match in search_papers(corpus, encoder, followed.query, scope)]
    else:
        ids = _ids(corpus, followed.scope)
    new_ids = frozenset(new)
    return tuple(id_ for id_ in ids if id_ in new_ids)


def _ids(corpus: Corpus, scope: Scope) -> list[str]:
    ids: list[str] = corpus.statistics.sorted_ids(scope, "newest").to_pylist()
    return ids
