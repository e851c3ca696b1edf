"""The papers a collection lists: pages, orders, searches, years."""

import pytest

from corpus.records import Author, Scope
from corpus.wording import short_authors
from explorer.app.resources import Library
from explorer.paper.sections import paper_sections
from explorer.presenters import coverage
from explorer.presenters.coverage import (
    asked_about,
    covered,
    demonstration_questions,
    example_questions,
)
from explorer.presenters.finding import Finding, query_terms, snippet, year_range
from explorer.presenters.wording import collection_facts, day


def titles(
    library: Library, query: str = "", order: str = "position", page: int = 1, scope: Scope | None = None
) -> list[str]:
    listing = finding(library, query, scope).papers(order, page)  # type: ignore[arg-type]
    return [paper.paper.title for paper in listing.papers]


def finding(library: Library, query: str = "", scope: Scope | None = None) -> Finding:
    return Finding(library.corpus, library.encoder, query, scope or Scope())


def test_papers_are_listed_in_order_and_found_by_subject_and_author(library: Library) -> None:
    listing = finding(library).papers("position", 1)
    assert (listing.total, listing.page, listing.pages, len(listing.papers)) == (16, 1, 1, 16)
    assert finding(library).papers("title", 99).page == 1
    assert titles(library, order="title") == sorted(titles(library), key=str.lower)
    assert "Rank Fusion" in titles(library, "reciprocal rank fusion", "relevance")[0]
    assert len(titles(library, "Paper Trail contributors", "relevance")) == 16
    assert titles(library, scope=Scope(years=(1990, 1991))) == []
    found = finding(library, "dense retreival").papers("relevance", 1)
    assert (found.searched_for, [word.asked for word in found.respelt]) == ("dense retrieval", ["retreival"])
    kept = Finding(library.corpus, library.encoder, "dense retreival", Scope(), verbatim=True)
    assert kept.papers("relevance", 1).respelt == ()


@pytest.mark.parametrize("order", ["title", "newest", "oldest", "position", "relevance", "cited"])
def test_a_search_can_be_put_in_every_order(library: Library, order: str) -> None:
    assert sorted(titles(library, "rouge", order)) == sorted(titles(library, "rouge", "relevance"))


@pytest.mark.parametrize("query", ["", "rouge"])
def test_the_whole_list_has_the_ids_of_its_pages(library: Library, query: str) -> None:
    listing = finding(library, query).papers("title", 1)
    ids = finding(library, query).ids("title", 200)
    assert [paper.paper.id for paper in listing.papers] == list(ids[: len(listing.papers)])
    assert len(ids) == listing.total
    assert set(listing.found) == (set(ids) if query else set())


@pytest.mark.parametrize("query", ["zzzqqqxxyy wwvvq", "' OR 1=1 --", '"', "AND OR NOT (", "*" * 50])
def test_strange_searches_find_little_and_fail_never(library: Library, query: str) -> None:
    assert set(titles(library, query, "relevance")) <= set(titles(library))


def test_a_snippet_stands_round_the_first_match_of_the_words_that_matter() -> None:
    assert query_terms("the retrieval of BM25 and why") == {"retriev", "bm25"}
    text = "word " * 100 + "needle " + "word " * 100
    cut = snippet(text, query_terms("needles"), 60)
    assert "needle" in cut and len(cut) < 70
    assert cut.startswith("… ") and cut.endswith(" …")
    assert snippet("short", frozenset({"x"})) == "short"


@pytest.mark.parametrize(
    ("chosen", "expected"), [((2020, 2024), None), ((2021, 2022), (2021, 2022)), (None, None), ("x", None)]
)
def test_years_count_only_where_they_restrict(chosen: object, expected: tuple[int, int] | None) -> None:
    assert year_range(2020, 2024, chosen) == expected


def test_examples_are_written_or_generated(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [collection.collection.id for collection in library.corpus.collections()]
    assert example_questions(library.corpus, held)[0] in demonstration_questions()
    others = example_questions(library.corpus, held[:1])
    assert all(example.collection == held[0] for example in others)
    assert example_questions(library.corpus, ()) == ()
    monkeypatch.setattr(coverage, "demonstration_questions", tuple)
    found = example_questions(library.corpus, ["field-notes-retrieval"])
    assert {example.collection for example in found} == {"field-notes-retrieval"}
    assert not any(paper.title in listed.question for paper in library.corpus.papers() for listed in found)
    both = example_questions(library.corpus, library.corpus.collection_ids())
    assert {example.collection for example in both} == {""}


def test_a_scope_says_what_it_covers(library: Library) -> None:
    first, second = library.corpus.papers(limit=2)
    assert covered(library.corpus, Scope(papers=(first.id,))) == (first.title,)
    assert asked_about(library.corpus, Scope(papers=(first.id,))) == f"Ask about: {first.title}"
    assert asked_about(library.corpus, Scope(papers=(first.id, second.id))) == "Ask about these 2 papers"
    assert len(covered(library.corpus, Scope(collections=("field-notes-evaluation",)))) == 1
    assert len(covered(library.corpus, Scope())) == 2
    every = tuple(paper.id for paper in library.corpus.papers())
    assert covered(library.corpus, Scope(papers=every))[-1] == "and 8 more"


def test_sections_hold_every_passage_but_the_abstract(library: Library) -> None:
    paper = library.corpus.papers(limit=1)[0]
    passages = library.corpus.passages(paper.id)
    sections = paper_sections(passages)
    assert [passage for section in sections for passage in section.passages] == [
        passage for passage in passages if passage.kind != "abstract"
    ]
    assert len({section.anchor for section in sections}) == len(sections)


def test_facts_dates_and_names_are_written_for_readers(library: Library) -> None:
    assert collection_facts(library.corpus.collections()).startswith(
        "16 papers · 2026 · 16 full texts · built "
    )
    assert day("2026-11-21T15:09:52+00:00") == "21 November 2026"
    assert day("yesterday") == "yesterday"
    lin, ruan, group = Author("A", "Lin"), Author("B", "Ruan"), Author("", "Group")
    assert short_authors((lin,)) == "Lin"
    assert short_authors((lin, ruan)) == "Lin and Ruan"
    assert short_authors((lin, ruan, group)) == "Lin et al."
    assert short_authors(()) == ""
