"""Hybrid search over passages, grouped by paper.

Two sides find passages, the nearest vectors and BM25. All that either found are then compared with the query
once more, exactly: the passage as a whole, and its sentences, each encoded alone. The three scores count
the same: on SciFact nDCG@10 is .750, without the sentences .740 (evaluation/README.md says what else was
tried).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from corpus.encoders import Encoder, Scale, cosine_scales
from corpus.errors import CorpusError
from corpus.records import Hit, PaperHits, Passage, Scope
from corpus.store import Corpus, Match, Similarity
from corpus.text import storable

SearchMode = Literal["hybrid", "dense", "lexical"]
MIN_PAPERS, MAX_PAPERS, DEFAULT_PAPERS = 1, 15, 10


@dataclass(frozen=True, slots=True)
class SearchWeights:
    """How much each score counts; `depth` is how many passages each side is asked for."""

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


def search(
    corpus: Corpus,
    encoder: Encoder,
    query: str,
    scope: Scope,
    *,
    papers: int = DEFAULT_PAPERS,
    passages_per_paper: int = 3,
    weights: SearchWeights = WEIGHTS,
    mode: SearchMode = "hybrid",
) -> tuple[PaperHits, ...]:
    """Return the best papers for `query` in `scope`, each with its best passages, best first.

    `mode` measures one side of the search alone: by whole passages, or by words.
    """
    query = storable(query).strip()
    if not query:
        return ()
    lexical = [] if mode == "dense" else corpus.matching(query, scope, weights.depth)
    if mode == "lexical":
        return group_by_paper(corpus, fuse(lexical, {}, lexical, weights), papers, passages_per_paper)
    vector = encoder.encode_query(query)
    found = merge(corpus.nearest(vector, scope, weights.depth), lexical)
    similarities = corpus.similarities(vector, found)
    if mode == "dense":
        weights = replace(weights, sentence=0.0, lexical=0.0)
    fused = fuse(found, similarities, lexical, weights)
    return _on(cosine_scales(encoder).asked, group_by_paper(corpus, fused, papers, passages_per_paper))


def _on(scale: Scale, papers: tuple[PaperHits, ...]) -> tuple[PaperHits, ...]:
    """Return what was found with its cosines on the scale on which they are judged."""
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
    return group_by_paper(corpus, fuse(found, similarities, [], alone), papers, 1)


def merge(dense: Sequence[Match], lexical: Sequence[Match]) -> list[Match]:
    """Return what either side found, once."""
    return list({match.passage_id: match for match in (*lexical, *dense)}.values())


def fuse(
    found: Sequence[Match],
    similarities: Mapping[str, Similarity],
    lexical: Sequence[Match],
    weights: SearchWeights = WEIGHTS,
) -> list[_Candidate]:
    """Return what was found, best first, scored 0..1 by the weighted mean of its scaled scores.

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

    return sorted(map(candidate, found), key=lambda one: (-one.score, one.match.passage_id))


def group_by_paper(
    corpus: Corpus, candidates: Sequence[_Candidate], papers: int, passages_per_paper: int
) -> tuple[PaperHits, ...]:
    """Return the first `papers` papers with their first `passages_per_paper` candidates as hits."""
    groups: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        paper = candidate.match.paper_id
        if paper not in groups and len(groups) >= papers:
            continue
        group = groups.setdefault(paper, [])
        if len(group) < passages_per_paper:
            group.append(candidate)
    passages = corpus.passages_found([candidate.match for group in groups.values() for candidate in group])
    return tuple(
        PaperHits(paper, _hits(groups[paper.id], passages), groups[paper.id][0].score)
        for paper in corpus.papers_by_id(list(groups))
    )


def _hits(candidates: Iterable[_Candidate], passages: Mapping[str, Passage]) -> tuple[Hit, ...]:
    return tuple(_hit(passages[candidate.match.passage_id], candidate) for candidate in candidates)


def _hit(passage: Passage, candidate: _Candidate) -> Hit:
    close = candidate.similarity
    if close is None:
        return Hit(passage, candidate.score, None, candidate.lexical)
    return Hit(
        passage, candidate.score, close.passage, candidate.lexical, close.sentence, close.best_sentence
    )


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to 0..1 over their range; equal scores all become 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}
