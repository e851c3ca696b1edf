"""Hybrid search over passages, grouped by paper.

Passages are found by vector search and by BM25, and ranked by both scores. The sentences of the best of them,
each with a vector of its own, are compared with the query as well. The three scores have equal weights: on
SciFact nDCG@10 is .750, without the sentences .740. The note on retrieval in docs/measurements/notes lists
what else was tried.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from corpus.encoders.base import Encoder, Vectors
from corpus.encoders.scale import cosine_scales
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
    """The weights of the scores; `depth` is the number of passages that each search finds.

    The sentences of the best `depth` passages by both scores, and of those shown, are compared; for the
    others the score of the whole passage takes the place of that of the sentences.
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

    A text is interpreted first (`read_query`); papers that the query names come before similar ones. The
    other values of `mode` are for measuring one search alone, by whole passages or by words, without
    interpretation.
    """
    if isinstance(query, str) and mode == "hybrid":
        query = read_query(corpus, query)
    parsed = Query(storable(query).strip()) if isinstance(query, str) else query
    if not parsed.text:
        return ()
    if mode == "lexical":
        matches = corpus.matching(parsed.text, scope, weights.depth)
        candidates = fuse(matches, {}, matches, weights)
        return _read_papers(corpus, _best_of_papers(candidates, papers, passages_per_paper))
    if mode == "dense":
        weights = replace(weights, sentence=0.0, lexical=0.0)
    vector = Once(lambda: encoder.encode_query(parsed.in_full or parsed.text))
    texts = filter(None, (parsed.text, parsed.in_other_forms)) if weights.lexical else ()
    words = tuple(" ".join((text, *parsed.also)) for text in texts)
    sides = Sides(corpus, vector, words, weights.depth)
    found, named = _find(sides, parsed, scope)
    chosen = _best_of_papers(_rank(sides, found, named, weights), papers, passages_per_paper)
    read, compared = together(
        lambda: _read(corpus, chosen, vector()), lambda: _compare_sentences(sides, chosen)
    )
    # Thresholds are set for the scale of the bundled encoder.
    scale = cosine_scales(encoder).asked
    certain = {paper_id for name in named if name.is_sure for paper_id in name.papers}
    return tuple(
        replace(
            paper_hits,
            is_named=paper_hits.paper.id in certain,
            hits=tuple(replace(hit, dense=scale(hit.dense)) for hit in paper_hits.hits),
        )
        for paper_hits in _group(compared, *read)
    )


def _find(sides: Sides, query: Query, scope: Scope) -> tuple[Sequence[Matches], tuple[Named, ...]]:
    """Return all matches, and those of names; only the latter if the query has nothing but names."""
    if query.is_only_names:
        named = find_named(sides, query, scope)
        return [name.matches for name in named] or [sides.within(scope)], named
    similar, named = together(lambda: sides.within(scope), lambda: find_named(sides, query, scope))
    return [*(name.matches for name in named), similar], named


def _rank(
    sides: Sides, found: Sequence[Matches], named: Sequence[Named], weights: SearchWeights
) -> Sequence[_Candidate]:
    """Return all matches as candidates with scores, best first."""
    lexical = merge(*(of_search.lexical for of_search in found))
    matches = merge(lexical, *(of_search.dense for of_search in found))
    rounded = sides.corpus.rounded_similarities(sides.vector(), matches)
    first = _raise_named(fuse(matches, rounded, lexical, weights), named)[: weights.depth]
    exact = sides.corpus.similarities(
        sides.vector(), [candidate.match for candidate in first], rounded if weights.sentence else None
    )
    return _raise_named(fuse(matches, {**rounded, **exact}, lexical, weights), named)


def _compare_sentences(sides: Sides, chosen: _ByPaper) -> _ByPaper:
    """Return candidates with the similarities of their sentences, also where these were not read before."""
    unread = [
        candidate.match
        for candidates in chosen.values()
        for candidate in candidates
        if candidate.similarity and not candidate.similarity.is_read
    ]
    similarities = sides.corpus.similarities(sides.vector(), unread)
    return {
        paper: [
            replace(
                candidate,
                similarity=similarities.get(candidate.match.passage_id, candidate.similarity),
            )
            for candidate in candidates
        ]
        for paper, candidates in chosen.items()
    }


def _raise_named(candidates: Sequence[_Candidate], named: Sequence[Named]) -> Sequence[_Candidate]:
    """Return candidates with named papers raised above others, all scores still within 0..1."""
    if not named:
        return candidates
    most = 1 + sum(name.raised_by for name in named)

    def raised(candidate: _Candidate) -> _Candidate:
        bonus = sum(name.raised_by for name in named if candidate.match.paper_id in name.papers)
        return replace(candidate, score=(candidate.score + bonus) / most)

    return _best_first(map(raised, candidates))


def similar_papers(corpus: Corpus, passage: Passage, scope: Scope, papers: int) -> tuple[PaperHits, ...]:
    """Return the papers whose passages are nearest to `passage`, without its own paper."""
    key = ("similar", passage.id, scope, papers)
    return corpus.reads.answer(key, lambda: _similar_papers(corpus, passage, scope, papers))


def _similar_papers(corpus: Corpus, passage: Passage, scope: Scope, papers: int) -> tuple[PaperHits, ...]:
    vector = corpus.vectors([passage.id]).get(passage.id)
    if vector is None:
        raise CorpusError(f"There is no passage {passage.id!r} in this corpus.")
    # The passages of a long paper are nearest to each other: there must be room for them and for others.
    depth = WEIGHTS.depth + len(corpus.passages(passage.paper_id))
    matches = [match for match in corpus.nearest(vector, scope, depth) if match.paper_id != passage.paper_id]
    matches = matches[: WEIGHTS.depth]
    similarities = corpus.similarities(vector, matches)
    alone = SearchWeights(sentence=0.0, lexical=0.0)
    return _read_papers(corpus, _best_of_papers(fuse(matches, similarities, [], alone), papers, 1))


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

    Cosines are scaled over the range of the matches, BM25 scores by the best match; a passage without a BM25
    score counts as 0.
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
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.match.passage_id))


def _best_of_papers(candidates: Sequence[_Candidate], papers: int, passages_per_paper: int) -> _ByPaper:
    """Return the first `papers` papers with their first `passages_per_paper` candidates."""
    chosen: _ByPaper = {}
    for candidate in candidates:
        paper = candidate.match.paper_id
        if paper not in chosen and len(chosen) >= papers:
            continue
        of_paper = chosen.setdefault(paper, [])
        if len(of_paper) < passages_per_paper:
            of_paper.append(candidate)
    return chosen


def _read_papers(corpus: Corpus, chosen: _ByPaper) -> tuple[PaperHits, ...]:
    return _group(chosen, *_read(corpus, chosen))


def _read(
    corpus: Corpus, chosen: _ByPaper, vector: Vectors | None = None
) -> tuple[tuple[Paper, ...], Mapping[str, FoundPassage]]:
    """Return the chosen papers, in order, and their passages by id."""
    matches = [candidate.match for of_paper in chosen.values() for candidate in of_paper]
    return together(lambda: corpus.papers_by_id(list(chosen)), lambda: corpus.passages_found(matches, vector))


def _group(
    chosen: _ByPaper, papers: Iterable[Paper], found: Mapping[str, FoundPassage]
) -> tuple[PaperHits, ...]:
    """Return papers with their hits."""
    grouped = []
    for paper in papers:
        candidates = chosen[paper.id]
        hits = tuple(_hit(found[candidate.match.passage_id], candidate) for candidate in candidates)
        grouped.append(PaperHits(paper, hits, candidates[0].score))
    return tuple(grouped)


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
