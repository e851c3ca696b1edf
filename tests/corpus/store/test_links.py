"""Which entries of bibliographies are papers of the corpus."""

from pathlib import Path

import pytest

from corpus.encoders.base import SentenceEncoder
from corpus.records import Collection, Link, Reference
from corpus.store import rows
from corpus.store.citation_links import Citable, link_references
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


def test_links_follow_what_comes_and_goes(tmp_path: Path, encoder: SentenceEncoder) -> None:
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
