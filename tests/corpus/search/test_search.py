"""Hybrid search: the right paper, within the scope, in the same order, whatever is typed."""

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.records import Hit, PaperHits, Scope, Sentence
from corpus.search.hybrid import SearchMode, SearchWeights, fuse, search, similar_papers
from corpus.store.corpus import Corpus
from corpus.store.passage_index import Match, Similarity
from tests.small_corpus import make_paper, make_passages, write_corpus, write_with_sentences

RETRIEVAL = "field-notes-retrieval"
EVALUATION = "field-notes-evaluation"

QUESTIONS = [
    ("Which two parameters does BM25 have?", f"{RETRIEVAL}/bm25"),
    ("hard negatives for training a dual encoder", f"{RETRIEVAL}/dense-retrieval"),
    ("combining rankings with reciprocal rank fusion", f"{RETRIEVAL}/rank-fusion"),
    ("longest common subsequence between summary and reference", f"{EVALUATION}/rouge"),
    ("when should a system decline to answer", f"{EVALUATION}/refusal"),
]
HOSTILE = [
    'AND OR NOT ( ) " * : ~',
    "title:bm25 AND -dense^2 +(rank",
    '"unclosed phrase',
    "[* TO *] {a} \\ / ?",
    "🙂🦉👩‍👩‍👧",
    "the of and",
    ".",
    "x' OR 1=1 --",
    "日本語の検索",
    "a\x00b",
    "half a pair \ud800 of surrogates",
    "\u202eright to left",
    "word" * 2500,
    "long question " * 715,
]


def _papers(found: tuple[PaperHits, ...]) -> list[str]:
    return [paper.paper.id for paper in found]


@pytest.mark.parametrize(("question", "paper"), QUESTIONS)
def test_questions_find_their_papers(
    demo_corpus: Corpus, encoder: Encoder, question: str, paper: str
) -> None:
    assert _papers(search(demo_corpus, encoder, question, Scope()))[0] == paper


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: repr(query[:16]))
def test_no_query_text_breaks_the_search(demo_corpus: Corpus, encoder: Encoder, query: str) -> None:
    found = search(demo_corpus, encoder, query, Scope(), papers=15)
    assert 0 < len(found) <= 15
    assert all(0 <= paper.score <= 1 for paper in found)


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\ud800", "\x00"])
def test_a_query_without_text_finds_nothing(demo_corpus: Corpus, encoder: Encoder, query: str) -> None:
    assert search(demo_corpus, encoder, query, Scope()) == ()


def test_papers_are_found_once_with_best_passages_first_and_the_same_each_time(
    demo_corpus: Corpus, encoder: Encoder
) -> None:
    found = search(demo_corpus, encoder, "evaluation of retrieval", Scope(), papers=15, passages_per_paper=3)
    assert len(found) == len(set(_papers(found))) == 15
    scores = [paper.score for paper in found]
    assert scores == sorted(scores, reverse=True)
    for paper in found:
        own = [hit.score for hit in paper.hits]
        assert 1 <= len(own) <= 3
        assert own == sorted(own, reverse=True)
        assert paper.score == own[0]
        assert {hit.passage.paper_id for hit in paper.hits} == {paper.paper.id}
    first = search(demo_corpus, encoder, "scores of passages", Scope())
    again = Corpus.open(demo_corpus.path, encoder)
    assert all(search(again, encoder, "scores of passages", Scope()) == first for _ in range(3))


@pytest.mark.parametrize(("papers", "expected"), [(-1, 0), (0, 0), (1, 1), (15, 15), (100, 16)])
def test_the_limit_of_papers_holds(demo_corpus: Corpus, encoder: Encoder, papers: int, expected: int) -> None:
    assert len(search(demo_corpus, encoder, "retrieval", Scope(), papers=papers)) == expected


def test_papers_that_score_the_same_are_sorted_by_their_ids(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", key): ["Cats sleep."] for key in "dbca"})
    found = search(Corpus.open(tmp_path, encoder), encoder, "cats", Scope())
    assert _papers(found) == ["notes/a", "notes/b", "notes/c", "notes/d"]


@pytest.mark.parametrize(
    "scope",
    [
        Scope(collections=(EVALUATION,)),
        Scope(papers=(f"{EVALUATION}/rouge", f"{EVALUATION}/refusal")),
        Scope(collections=(EVALUATION,), years=(2020, 2030)),
    ],
)
def test_nothing_outside_the_scope_is_found(demo_corpus: Corpus, encoder: Encoder, scope: Scope) -> None:
    found = search(demo_corpus, encoder, "Which two parameters does BM25 have?", scope)
    assert found
    assert {paper.paper.collection_id for paper in found} == {EVALUATION}
    assert not scope.papers or {paper.paper.id for paper in found} <= set(scope.papers)


@pytest.mark.parametrize(
    "scope",
    [Scope(collections=("none", "x' OR 1=1 --")), Scope(papers=("' OR ''='",)), Scope(years=(1900, 1901))],
)
def test_an_empty_scope_finds_nothing(demo_corpus: Corpus, encoder: Encoder, scope: Scope) -> None:
    assert search(demo_corpus, encoder, "BM25", scope) == ()


def test_the_filter_comes_before_the_search(tmp_path: Path, encoder: Encoder) -> None:
    """Regression: a filter applied after the search loses what is deeper than the search went."""
    crowd = {make_paper("crowd", f"{n:02}", year=2020): [f"Cats sleep on mats, case {n}."] for n in range(30)}
    few = {make_paper("few", "only", year=2010): ["A dissertation about trains that mentions cats."]}
    write_corpus(tmp_path, encoder, crowd | few)
    corpus = Corpus.open(tmp_path, encoder)
    for scope in (Scope(collections=("few",)), Scope(papers=("few/only",)), Scope(years=(2009, 2011))):
        (found,) = search(corpus, encoder, "cats sleep on mats", scope, weights=SearchWeights(depth=3))
        (hit,) = found.hits
        assert hit.passage.id == "few/only#0"
        assert hit.dense is not None
        assert hit.lexical is not None


def test_the_better_of_both_sides_comes_first_and_one_alone_keeps_its_share() -> None:
    # Regression: distances taken for similarities, or scores sorted upwards, turn the fusion round.
    lexical = [Match("best", "p", 12.0), Match("middle", "p", 6.0), Match("worst", "p", 3.0)]
    cosines = {"best": (0.9, 0.8), "middle": (0.6, 0.6), "worst": (0.3, 0.4)}
    similarities = {key: Similarity(*both, 0) for key, both in cosines.items()}
    fused = fuse(lexical[::-1], similarities, lexical)
    assert [candidate.match.passage_id for candidate in fused] == ["best", "middle", "worst"]
    assert [candidate.score for candidate in fused] == pytest.approx([1.0, 0.5, 0.25 / 3])
    found = [Match("d", "p", 0.5), Match("l", "q", 3.0)]
    similarities = {"d": Similarity(0.5, 0.6, 1), "l": Similarity(0.1, 0.2, None)}
    by_id = {candidate.match.passage_id: candidate for candidate in fuse(found, similarities, found[1:])}
    assert (by_id["d"].score, by_id["d"].lexical) == (pytest.approx(2 / 3), None)
    assert (by_id["l"].score, by_id["l"].lexical) == (pytest.approx(1 / 3), 3.0)


def test_both_sides_are_closest_to_what_is_closest(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(
        tmp_path,
        encoder,
        {
            make_paper("notes", "cats"): ["Cats sleep on warm mats all day."],
            make_paper("notes", "kittens"): ["Young felines nap on a rug."],
            make_paper("notes", "bonds"): ["Cats aside, government bonds fell on Monday."],
        },
    )
    corpus = Corpus.open(tmp_path, encoder)
    found = {
        paper.paper.id: paper.hits[0] for paper in search(corpus, encoder, "cats sleep on mats", Scope())
    }
    hits: list[Hit] = [found[f"notes/{key}"] for key in ("cats", "kittens", "bonds")]
    dense = [hit.dense for hit in hits]
    assert None not in dense
    assert dense[0] == max(dense)
    assert dense[2] == min(dense)
    assert all(-1 <= value <= 1.0001 for value in dense if value is not None)
    assert hits[1].lexical is None
    assert (hits[0].lexical or 0) > (hits[2].lexical or 0) > 0
    assert next(iter(found)) == "notes/cats"


def test_a_sentence_that_answers_lifts_its_passage(tmp_path: Path, encoder: Encoder) -> None:
    on_topic = "Cats sleep on mats. Bonds fell on Monday. Rain is likely in May."
    papers = [make_paper("notes", key, title=title) for key, title in (("a", "Odds"), ("b", "Ends"))]
    passages = [
        replace(make_passages(paper, [text])[0], sentences=sentences)
        for paper, text, sentences in (
            (papers[0], on_topic, (Sentence(0, 20), Sentence(20, 42), Sentence(42, 64))),
            (papers[1], "Trains are late.", (Sentence(0, 16),)),
        )
    ]
    write_with_sentences(tmp_path, encoder, papers, passages)
    corpus = Corpus.open(tmp_path, encoder)
    (hit,) = search(corpus, encoder, "government bonds", Scope(papers=("notes/a",)))[0].hits
    assert hit.best_sentence == 1
    assert hit.passage.sentence_text(1) == "Bonds fell on Monday."
    assert (hit.sentence_score or 0) > (hit.dense or 0)
    (alone,) = encoder.encode_passages(["Bonds fell on Monday."])
    exact = float(alone @ encoder.encode_query("government bonds"))
    assert hit.sentence_score == pytest.approx(exact, abs=1e-3)


def test_similarities_do_not_depend_on_the_search_depth(demo_corpus: Corpus, encoder: Encoder) -> None:
    def measured(depth: int) -> dict[str, tuple[float | None, float | None, int | None]]:
        weights = SearchWeights(depth=depth)
        found = search(demo_corpus, encoder, QUESTIONS[2][0], Scope(), passages_per_paper=99, weights=weights)
        hits = [hit for paper in found for hit in paper.hits]
        return {hit.passage.id: (hit.dense, hit.sentence_score, hit.best_sentence) for hit in hits}

    few, all_read = measured(8), measured(1000)
    both = few.keys() & all_read.keys()
    assert len(few) == len(both) > 8
    assert {key: few[key] for key in both} == {key: all_read[key] for key in both}
    assert all(sentence is not None for _, _, sentence in few.values())


def test_without_sentence_vectors_passages_are_searched(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "cat"): ["Cats sleep."]})
    (hit,) = search(Corpus.open(tmp_path, encoder), encoder, "cats", Scope())[0].hits
    assert (hit.sentence_score, hit.best_sentence) == (hit.dense, None)


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_side_alone_scores_by_itself(demo_corpus: Corpus, encoder: Encoder, mode: SearchMode) -> None:
    found = search(demo_corpus, encoder, "reciprocal rank fusion", Scope(), papers=15, mode=mode)
    hits = [hit for paper in found for hit in paper.hits]
    assert found[0].score == pytest.approx(1.0, abs=0.1)
    assert all((hit.dense is None) == (mode == "lexical") for hit in hits)
    assert all((hit.lexical is None) for hit in hits) == (mode == "dense")
    measured = [hit.lexical if mode == "lexical" else hit.dense for hit in (paper.hits[0] for paper in found)]
    assert mode == "hybrid" or measured == sorted(measured, key=lambda score: -(score or 0))


def test_similar_papers_leave_their_own_out_and_a_passage_that_is_gone_has_none(demo_corpus: Corpus) -> None:
    own = demo_corpus.passages(f"{RETRIEVAL}/bm25")[0]
    found = _papers(similar_papers(demo_corpus, own, Scope(), 16))
    assert f"{RETRIEVAL}/bm25" not in found
    assert len(found) == len(set(found)) == 15
    gone = make_passages(make_paper("notes", "gone"), ["Gone."])[0]
    with pytest.raises(CorpusError, match="no passage 'notes/gone#0'"):
        similar_papers(demo_corpus, gone, Scope(), 5)


def test_a_book_has_similar_papers_too(tmp_path: Path, encoder: Encoder) -> None:
    """Regression: the passages of a long paper are nearest to each other and filled the whole search."""
    book, paper = make_paper("notes", "book"), make_paper("notes", "paper")
    write_corpus(
        tmp_path,
        encoder,
        {book: ["Cats sleep on mats."] * 230, paper: ["Bonds fell on Monday."]},
    )
    first = make_passages(book, ["Cats sleep on mats."])[0]
    assert _papers(similar_papers(Corpus.open(tmp_path, encoder), first, Scope(), 5)) == ["notes/paper"]
