"""Links from entries of bibliographies to papers of the corpus."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.encoders.base import Encoder
from corpus.records import Collection, Link, Reference
from corpus.store import rows
from corpus.store.citation_links import Bibliography, Citable, citing, link_references, may_be_cited
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from tests.small_corpus import add, make_paper, write_corpus

TITLE = "Speeding up inference of large models by adaptive length reduction"
PAPERS = [
    Citable("a", TITLE, 2022, "10.18653/v1/X.1", "2203.08991v1"),
    Citable("b", "Attention", 2017, "", ""),
    Citable("c", "Speeding up inference of large models", 2019, "", ""),
    Citable("d", "", None, "", ""),
]


def _entry(
    text: str = "", title: str = "", year: int | None = None, doi: str = "", arxiv: str = ""
) -> Reference:
    return Reference(text, title, (), year, doi, arxiv)


@pytest.mark.parametrize(
    ("entry", "cited"),
    [
        (_entry(doi="https://doi.org/10.18653/V1/x.1"), "a"),
        (_entry(arxiv="2203.08991"), "a"),
        (_entry(title=TITLE.upper() + "."), "a"),
        (_entry(text=f"A. Doe and B. Roe. 2022. {TITLE}. In Proceedings of ACL."), "a"),
        (_entry(text=f"[3] Doe, A.: “{TITLE}”, arXiv preprint, 2021", year=2021), "a"),
        (_entry(text="Doe. 2019. Speeding up inference of large models. EMNLP.", year=2019), "c"),
        (_entry(title="Attention"), None),
        (_entry(text="Attention is all you need"), None),
        (_entry(title=TITLE, year=2010), None),
        (_entry(title=TITLE + " revisited"), None),
        (_entry(text="", title=""), None),
        (_entry(doi="10.1/unknown", title=TITLE), "a"),
    ],
)
def test_an_entry_is_recognised_by_its_ids_or_its_title(entry: Reference, cited: str | None) -> None:
    found = [link.cited for link in link_references(PAPERS, [("z", [entry])])]
    assert found == ([cited] if cited else [])


def test_a_paper_is_linked_once_and_never_to_itself() -> None:
    entries = [_entry(title=TITLE), _entry(text="nothing"), _entry(title=TITLE)]
    assert list(link_references(PAPERS, [("a", entries)])) == []
    links = list(link_references(PAPERS, [("z", entries)]))
    assert links == [Link("z", 0, "a")]


def test_links_follow_what_comes_and_goes(tmp_path: Path, encoder: Encoder) -> None:
    cited = make_paper("old", "owl", title="The long hours of the barn owl")
    write_corpus(tmp_path, encoder, {cited: ["Owls hoot."]})
    writer = CorpusWriter(tmp_path, encoder)
    citing = make_paper("new", "review", title="A review of owls")
    writer.put_collections([Collection("new", "New")])
    reference = Reference("Roe, The Long Hours of the Barn Owl, 2020.", year=2020)
    add(writer, encoder, {make_paper("new", "other"): ["Other."]})
    writer.add_papers(rows.paper_rows([rows.PaperEntry(citing, (reference,))]).to_batches(), ())
    writer.publish()
    corpus = Corpus.open(tmp_path, encoder)
    link = Link(citing.id, 0, cited.id)
    assert corpus.links.from_paper(citing.id) == corpus.links.to_paper(cited.id) == (link,)
    assert corpus.links.to_paper(citing.id) == ()
    writer.remove_collection("old")
    writer.publish()
    assert Corpus.open(tmp_path, encoder).links.from_paper(citing.id) == ()
    assert corpus.links.from_paper(citing.id) == (link,), "a reader keeps the version it opened"


def test_links_of_a_changed_corpus_are_those_of_a_new_one(tmp_path: Path, encoder: Encoder) -> None:
    subjects = [
        f"{bird} in the {place} of the north" for bird in ("owls", "gulls") for place in ("cold", "dark")
    ]
    papers = [make_paper("birds", str(number), title=title) for number, title in enumerate(subjects)]
    cited = {
        paper: tuple(Reference(f"Roe, {other.title}, 2020.") for other in papers if other.id != paper.id)
        for paper in papers
    }
    writer = CorpusWriter(tmp_path / "changed", encoder)
    add(writer, encoder, dict.fromkeys(papers[:3], ("Birds.",)), cited)
    writer.publish()
    writer.remove_papers([papers[0].id])
    add(writer, encoder, {papers[3]: ("Birds.",)}, cited)
    writer.publish()
    another_title = pa.table({"id": [papers[1].id], "title": ["Of something else entirely"]})
    writer.update_papers(another_title)
    writer.publish()
    changed = replace(papers[1], title="Of something else entirely")
    cited[changed] = cited[papers[1]]
    whole = CorpusWriter(tmp_path / "whole", encoder)
    add(whole, encoder, dict.fromkeys([changed, *papers[2:]], ("Birds.",)), cited)
    whole.publish()
    changed_links, links = (
        sorted(row for batch in corpus.scan("links", rows.LINKS.names) for row in map(str, batch.to_pylist()))
        for corpus in (Corpus.open(tmp_path / name, encoder) for name in ("changed", "whole"))
    )
    assert changed_links == links
    assert len(links) == 4


# Titles that begin alike, lie within each other, have accents, hyphens, ligatures and no plain word at all.
_TITLES = (
    TITLE, "Speeding up inference of large models", "speeding-up: inference of LARGE models", "Attention",
    "Naïve Bayes for text classification", "Ναΐσκος σοφίας", "稠密检索模型的研究进展",
    "Eﬃcient retrieval of many ﬁne passages", "A survey of the İstanbul corpus", "", "a b c d e f",
)  # fmt: skip
_titles = st.sampled_from(_TITLES)
_dois = st.sampled_from(("", "10.1/a", "https://doi.org/10.1/A.", "10.1/ΑΣ", "x https://doi.org/10.1/a"))
_arxiv_ids = st.sampled_from(("", "2203.08991", "2203.08991v1", "v2", "cs/v1v3"))
_years = st.sampled_from((None, 2015, 2017, 2022))
_entries = st.builds(
    Reference,
    text=st.builds("{}{}{}".format, st.sampled_from(("", "Doe. ", "Doe 2019 ")), _titles, _titles),
    title=_titles,
    year=_years,
    doi=_dois,
    arxiv_id=_arxiv_ids,
)
_papers = st.tuples(st.builds(Citable, st.just(""), _titles, _years, _dois, _arxiv_ids), st.lists(_entries))
_corpora = st.dictionaries(st.sampled_from("abcdefgh"), _papers, max_size=6)


def _linked(papers: dict[str, Citable], bibliographies: list[Bibliography]) -> set[Link]:
    return set(link_references(papers.values(), bibliographies))


def _batch(bibliographies: list[Bibliography]) -> pa.RecordBatch:
    entries = [rows.PaperEntry(make_paper("of", name), tuple(own)) for name, own in bibliographies]
    ids = pa.array([name for name, _ in bibliographies], pa.string())
    table = rows.paper_rows(entries).select(["references"]).add_column(0, "id", ids)
    return table.combine_chunks().to_batches()[0]


@given(_corpora, _corpora)
def test_links_found_by_what_changed_are_those_found_anew(before: dict, after: dict) -> None:  # type: ignore[type-arg]
    was, now = (
        {name: replace(paper, id=name) for name, (paper, _) in corpus.items()} for corpus in (before, after)
    )
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    gone = [was[name] for name in changed & was.keys()]
    new = [now[name] for name in changed & now.keys()]
    entries = [(name, own) for name, (_, own) in after.items()]
    again = changed | set(citing([*gone, *new], [_batch(entries)] if entries else []))
    own = [entry for entry in entries if entry[0] in again]
    candidates = {name: paper for name, paper in now.items() if may_be_cited(own)(paper)}
    kept = {
        link for link in _linked(was, [(n, o) for n, (_, o) in before.items()]) if link.citing not in again
    }
    assert kept | _linked(candidates, own) == _linked(now, entries)
