"""Hybrid search over passages, grouped by paper.

Two sides find passages, the nearest vectors and BM25, and what either found is ranked by both. The first of
these have their sentences, each encoded alone, read and compared with the query too. The three scores count
the same: on SciFact nDCG@10 is .750, without the sentences .740. The note on retrieval in
docs/measurements/notes lists what else was tried.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from corpus.encoders.base import Encoder, Vectors
from corpus.encoders.scale import Scale, cosine_scales
from corpus.errors import CorpusError
from corpus.records import Hit, Paper, PaperHits, Passage, Scope
from corpus.search.named import Matches, Named, Sides, find_named
from corpus.search.query import Query, read_query
from corpus.search.together import together
from corpus.store.corpus import Corpus, FoundPassage
from corpus.store.passage_index import Match, Similarity
from corpus.store.query_cache import Once
from corpus.text import storable

SearchMode = Literal["hybrid", "dense", "lexical"]
MIN_PAPERS, MAX_PAPERS, DEFAULT_PAPERS = 1, 15, 10


@dataclass(frozen=True, slots=True)
class SearchWeights:
    """The weights of the scores; `depth` is the number of passages asked of each side.

    Of as many, the best by both, the sentences are read, and of what is shown; for those of the others the
    whole stands.
    """

    dense: float = 1.0
    sentence: float = 1.0
    lexical: float = 1.0
    depth: int = 200


WEIGHTS = SearchWeights()


@dataclass(frozen=True, slots=True)
class _Candidate:
    match: Match
    score: float
    similarity: Similarity | None
    lexical: float | None


_ByPaper = dict[str, list[_Candidate]]


def search(
    corpus: Corpus,
    encoder: Encoder,
    query: str | Query,
    scope: Scope,
    *,
    papers: int = DEFAULT_PAPERS,
    passages_per_paper: int = 3,
    weights: SearchWeights = WEIGHTS,
    mode: SearchMode = "hybrid",
) -> tuple[PaperHits, ...]:
    """Return the best papers for `query` in `scope`, each with its best passages, best first.

    A query is read first, unless it has been (`read_query`), and what it names comes before what is like it.
    `mode` measures one side of the search alone: by whole passages, or by words, nothing read.
    """
    if isinstance(query, str) and mode == "hybrid":
        query = read_query(corpus, query)
    meant = Query(storable(query).strip()) if isinstance(query, str) else query
    if not meant.text:
        return ()
    if mode == "lexical":
        matches = corpus.matching(meant.text, scope, weights.depth)
        candidates = fuse(matches, {}, matches, weights)
        return _read_papers(corpus, _best_of_papers(candidates, papers, passages_per_paper))
    if mode == "dense":
        weights = replace(weights, sentence=0.0, lexical=0.0)
    vector = Once(lambda: encoder.encode_query(meant.in_full or meant.text))
    texts = filter(None, (meant.text, meant.in_other_forms)) if weights.lexical else ()
    words = tuple(" ".join((text, *meant.also)) for text in texts)
    sides = Sides(corpus, vector, words, weights.depth)
    found, named = _found(sides, meant, scope)
    chosen = _best_of_papers(_ranked(sides, found, named, weights), papers, passages_per_paper)
    read, measured = together(lambda: _read(corpus, chosen, vector()), lambda: _measured(sides, chosen))
    grouped = _grouped(measured, *read)
    return _on(cosine_scales(encoder).asked, _marked(grouped, named))


def _found(sides: Sides, query: Query, scope: Scope) -> tuple[Sequence[Matches], tuple[Named, ...]]:
    """Return all that was found, and what the query names: that alone where it asks for nothing else."""
    if query.is_only_names:
        named = find_named(sides, query, scope)
        return [one.matches for one in named] or [sides.within(scope)], named
    like, named = together(lambda: sides.within(scope), lambda: find_named(sides, query, scope))
    return [*(one.matches for one in named), like], named


def _ranked(
    sides: Sides, found: Sequence[Matches], named: Sequence[Named], weights: SearchWeights
) -> Sequence[_Candidate]:
    """Return all that was found, scored together, best first."""
    lexical = merge(*(one.lexical for one in found))
    matches = merge(lexical, *(one.dense for one in found))
    rounded = sides.corpus.rounded_similarities(sides.vector(), matches)
    first = _raised(fuse(matches, rounded, lexical, weights), named)[: weights.depth]
    read = sides.corpus.similarities(
        sides.vector(), [one.match for one in first], rounded if weights.sentence else None
    )
    return _raised(fuse(matches, {**rounded, **read}, lexical, weights), named)


def _measured(sides: Sides, chosen: _ByPaper) -> _ByPaper:
    """Return candidates with the similarities of their sentences, where these were not read."""
    unread = [
        one.match for own in chosen.values() for one in own if one.similarity and not one.similarity.is_read
    ]
    read = sides.corpus.similarities(sides.vector(), unread)
    return {
        paper: [replace(one, similarity=read.get(one.match.passage_id, one.similarity)) for one in own]
        for paper, own in chosen.items()
    }


def _raised(candidates: Sequence[_Candidate], named: Sequence[Named]) -> Sequence[_Candidate]:
    """Return candidates with what is named raised above what is not, the scores still within 0..1."""
    if not named:
        return candidates
    most = 1 + sum(one.raised_by for one in named)

    def raised(candidate: _Candidate) -> _Candidate:
        by = sum(one.raised_by for one in named if candidate.match.paper_id in one.papers)
        return replace(candidate, score=(candidate.score + by) / most)

    return _best_first(map(raised, candidates))


def _marked(papers: tuple[PaperHits, ...], named: Sequence[Named]) -> tuple[PaperHits, ...]:
    """Mark the papers that the query surely names."""
    surely = {paper for one in named if one.is_sure for paper in one.papers}
    return tuple(replace(found, is_named=found.paper.id in surely) for found in papers)


def _on(scale: Scale, papers: tuple[PaperHits, ...]) -> tuple[PaperHits, ...]:
    """Convert the cosines of the hits to the scale on which they are judged."""
    return tuple(
        replace(found, hits=tuple(replace(hit, dense=scale(hit.dense)) for hit in found.hits))
        for found in papers
    )


def similar_papers(corpus: Corpus, passage: Passage, scope: Scope, papers: int) -> tuple[PaperHits, ...]:
    """Return the papers whose passages are nearest to `passage`, its own paper left out."""
    asked = ("similar", passage.id, scope, papers)
    return corpus.reads.answer(asked, lambda: _similar_papers(corpus, passage, scope, papers))


def _similar_papers(corpus: Corpus, passage: Passage, scope: Scope, papers: int) -> tuple[PaperHits, ...]:
    vector = corpus.vectors([passage.id]).get(passage.id)
    if vector is None:
        raise CorpusError(f"There is no passage {passage.id!r} in this corpus.")
    # A long paper's own passages are the nearest to each other: without room for them nothing else is found.
    depth = WEIGHTS.depth + len(corpus.passages(passage.paper_id))
    found = [match for match in corpus.nearest(vector, scope, depth) if match.paper_id != passage.paper_id]
    found = found[: WEIGHTS.depth]
    similarities = corpus.similarities(vector, found)
    alone = SearchWeights(sentence=0.0, lexical=0.0)
    return _read_papers(corpus, _best_of_papers(fuse(found, similarities, [], alone), papers, 1))


def merge(*found: Sequence[Match]) -> list[Match]:
    """Merge the matches of several searches, each passage once."""
    return list({match.passage_id: match for matches in found for match in matches}.values())


def fuse(
    found: Sequence[Match],
    similarities: Mapping[str, Similarity],
    lexical: Sequence[Match],
    weights: SearchWeights = WEIGHTS,
) -> list[_Candidate]:
    """Rank the matches by the weighted mean of their scaled scores, 0..1.

    Cosines are scaled over the range of what was found, BM25 as a share of the best match's: a passage that
    the lexical side did not find has none of it.
    """
    words = {match.passage_id: match.score for match in lexical}
    best = max(words.values(), default=1.0)
    dense = _scaled({key: close.passage for key, close in similarities.items()})
    sentence = _scaled({key: close.sentence for key, close in similarities.items()})
    total = weights.lexical + (weights.dense + weights.sentence if similarities else 0.0)

    def candidate(match: Match) -> _Candidate:
        key = match.passage_id
        score = weights.lexical * words.get(key, 0.0) / best
        score += weights.dense * dense.get(key, 0.0) + weights.sentence * sentence.get(key, 0.0)
        return _Candidate(match, score / total, similarities.get(key), words.get(key))

    return _best_first(map(candidate, found))


def _best_first(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    return sorted(candidates, key=lambda one: (-one.score, one.match.passage_id))


def _best_of_papers(candidates: Sequence[_Candidate], papers: int, passages_per_paper: int) -> _ByPaper:
    """Return the first `papers` papers with their first `passages_per_paper` candidates."""
    chosen: _ByPaper = {}
    for candidate in candidates:
        paper = candidate.match.paper_id
        if paper not in chosen and len(chosen) >= papers:
            continue
        own = chosen.setdefault(paper, [])
        if len(own) < passages_per_paper:
            own.append(candidate)
    return chosen


def _read_papers(corpus: Corpus, chosen: _ByPaper) -> tuple[PaperHits, ...]:
    return _grouped(chosen, *_read(corpus, chosen))


def _read(
    corpus: Corpus, chosen: _ByPaper, vector: Vectors | None = None
) -> tuple[tuple[Paper, ...], Mapping[str, FoundPassage]]:
    """Return the papers that were chosen, in that order, and their passages, by id."""
    matches = [candidate.match for own in chosen.values() for candidate in own]
    return together(lambda: corpus.papers_by_id(list(chosen)), lambda: corpus.passages_found(matches, vector))


def _grouped(
    chosen: _ByPaper, papers: Iterable[Paper], found: Mapping[str, FoundPassage]
) -> tuple[PaperHits, ...]:
    """Return papers with their hits."""
    return tuple(
        PaperHits(paper, _hits(chosen[paper.id], found), chosen[paper.id][0].score) for paper in papers
    )


def _hits(candidates: Iterable[_Candidate], found: Mapping[str, FoundPassage]) -> tuple[Hit, ...]:
    return tuple(_hit(found[candidate.match.passage_id], candidate) for candidate in candidates)


def _hit(found: FoundPassage, candidate: _Candidate) -> Hit:
    passage, close = found.passage, candidate.similarity
    if close is None:
        return Hit(passage, candidate.score, None, candidate.lexical)
    whole = close.passage if found.cosine is None else found.cosine
    sentence = whole if close.best_sentence is None else close.sentence
    return Hit(passage, candidate.score, whole, candidate.lexical, sentence, close.best_sentence)


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to 0..1 over their range; equal scores all become 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}
