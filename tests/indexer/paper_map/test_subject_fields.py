"""Fields of study of collections on subjects other than language: groups of papers with lasting names."""

from pathlib import Path

from corpus.encoders.base import Encoder
from corpus.records import Collection, Scope
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.build.run import build_collection
from indexer.enrich.fields import field_names
from indexer.sources.folder import TEI_SUFFIXES, Folder
from tests.indexer.build.small_papers import write_tei

BIRDS = ("storks", "swallows", "herons", "kestrels", "owls", "plovers", "terns", "wrens", "larks")
SALTS = ("lithium", "sodium", "zinc", "magnesium", "potassium", "calcium", "aluminium", "sulphur", "iron")
GALAXIES = ("dwarf", "spiral", "elliptical", "barred", "lenticular", "ring", "irregular", "faint", "distant")
LANGUAGE = {
    "parser": "A Faster Parser\nA transition-based dependency parser, tested on treebanks of six languages.",
    "sami": "Finnish into Sami\nWe train neural machine translation systems on parallel text.",
    "minutes": "Summarizing Minutes\nWe compare extractive and abstractive summaries of long meetings.",
}


def _write_nature(folder: Path, first: int = 0, last: int = 8) -> None:
    for bird in BIRDS[first:last]:
        text = f"We counted eggs and nestlings of {bird} in two valleys: clutch size fell with rain."
        write_tei(folder / f"{bird}.tei.xml", f"Clutch size and nestlings of {bird}", text)
    for salt in SALTS[first:last]:
        text = f"An electrolyte of {salt} keeps the capacity of battery cells over a thousand cycles."
        write_tei(folder / f"{salt}.tei.xml", f"Electrolyte for {salt} battery cells", text)
    for galaxy in GALAXIES[first:last]:
        text = f"We measure velocities of stars in {galaxy} galaxies and weigh their dark matter."
        write_tei(folder / f"{galaxy}.tei.xml", f"Dark matter and stars in {galaxy} galaxies", text)


def _write_language(folder: Path) -> None:
    for name, text in LANGUAGE.items():
        title, _, abstract = text.partition("\n")
        write_tei(folder / f"{name}.tei.xml", title, abstract)


def _build(tmp_path: Path, encoder: Encoder, collection: str = "nature") -> Corpus:
    settings = Settings(home=tmp_path / "home")
    source = Folder(tmp_path / collection, Collection(collection, collection), TEI_SUFFIXES)
    build_collection(settings, encoder, source, lambda _: None)
    return Corpus.open(settings.corpus_path, encoder)


def _fields(corpus: Corpus, collection: str = "nature") -> dict[str, list[str]]:
    papers = corpus.papers(Scope((collection,)))
    return {paper.id: [topic.name for topic in paper.topics if topic.kind == "field"] for paper in papers}


def _by_subject(fields: dict[str, list[str]], subject: tuple[str, ...]) -> set[str]:
    return {name for paper in subject for name in fields.get(f"nature/{paper}", ())}


def test_fault_a_collection_on_nature_had_fields_of_language(tmp_path: Path, encoder: Encoder) -> None:
    _write_nature(tmp_path / "nature")
    corpus = _build(tmp_path, encoder)
    fields = _fields(corpus)
    assert all(len(own) == 1 for own in fields.values())
    names = [_by_subject(fields, subject) for subject in (BIRDS, SALTS, GALAXIES)]
    assert [len(own) for own in names] == [1, 1, 1]
    assert len(set.union(*names)) == 3
    assert not set.union(*names) & field_names()
    # A filter finds papers and passages by them.
    (birds,) = names[0]
    scope = Scope(topics=(f"field:{birds}",))
    assert corpus.count_papers(scope) == corpus.statistics.topic_counts()[f"field:{birds}"] == 8
    matches = corpus.nearest(encoder.encode_query("eggs"), scope, 100)
    papers = {match.paper_id for match in matches}
    assert papers == {f"nature/{bird}" for bird in BIRDS[:8]}
    # Later papers join the fields and change none.
    _write_nature(tmp_path / "nature")
    before = _fields(_build(tmp_path, encoder))
    _write_nature(tmp_path / "nature", 8, 9)
    after = _fields(_build(tmp_path, encoder))
    assert len(after) == len(before) + 3
    assert {paper: after[paper] for paper in before} == before
    for subject in (BIRDS, SALTS, GALAXIES):
        assert len(_by_subject(after, subject)) == 1


def test_the_order_of_collections_changes_no_field_and_few_papers_have_none(
    tmp_path: Path, encoder: Encoder
) -> None:
    _write_nature(tmp_path / "nature", 0, 2)
    assert set(map(tuple, _fields(_build(tmp_path, encoder)).values())) == {()}
    for folder in ("first", "second"):
        _write_nature(tmp_path / folder / "nature")
        _write_language(tmp_path / folder / "language")
    _build(tmp_path / "first", encoder, "language")
    first = _build(tmp_path / "first", encoder, "nature")
    _build(tmp_path / "second", encoder, "nature")
    second = _build(tmp_path / "second", encoder, "language")
    assert _fields(first) == _fields(second)
    assert _fields(first, "language") == _fields(second, "language")
    assert {name for own in _fields(first, "language").values() for name in own} <= field_names()
    assert all(_fields(first, "language").values())


def test_fields_follow_a_collection_that_changes_its_subject(tmp_path: Path, encoder: Encoder) -> None:
    """A collection is judged as it is now, not as it was first."""
    _write_nature(tmp_path / "mixed", 0, 7)
    _write_language(tmp_path / "mixed")
    names = {name for own in _fields(_build(tmp_path, encoder, "mixed"), "mixed").values() for name in own}
    assert names
    assert not names & field_names()
    for file in (tmp_path / "mixed").glob("*.tei.xml"):
        if file.name.partition(".")[0] not in LANGUAGE:
            file.unlink()
    found = _fields(_build(tmp_path, encoder, "mixed"), "mixed")
    assert found["mixed/parser"][0] == "Syntax and parsing"
    assert found["mixed/sami"][0] == "Machine translation"
