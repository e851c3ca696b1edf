"""The build: what is new is indexed, what is unchanged left alone, what fails said and no more."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from assistant.provenance import provenance_of
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.records import Build, Collection, Failure, PassageSize, Scope
from corpus.search.hybrid import search
from corpus.sentences import repeated
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.build.run import build_collection
from indexer.build.staging import Staging
from indexer.lock import build_lock
from indexer.maintenance.compact import compact_home
from indexer.maintenance.doctor import examine
from indexer.parsers.document import Document
from indexer.parsers.registry import read_document
from indexer.parsers.sandbox import IsolatedProcesses
from indexer.prepare.preparer import PreparedPaper, Task, prepare
from indexer.sources.folder import PDF_SUFFIXES, TEI_SUFFIXES, Folder
from indexer.sources.protocol import SourcePaper
from tests.counting_encoder import CountingEncoder
from tests.indexer.build.small_papers import write_paper_pdf, write_tei

NOTES = Collection("notes", "Notes", source="Folder of TEI files")
LETTERS = Collection("letters", "Letters", source="Folder of TEI files")


class Workplace:
    """A folder of papers and the corpus that is built from it."""

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self.papers = folder / "papers"
        self.papers.mkdir()
        self.settings = Settings(home=folder / "home")
        self.encoder = CountingEncoder(encoder)
        self.collection = NOTES
        self.suffixes = TEI_SUFFIXES
        self.source = Folder
        self.progress: Callable[[str], None] = lambda _: None

    def build(self) -> Build:
        source = self.source(self.papers, self.collection, self.suffixes)
        return build_collection(self.settings, self.encoder, source, self.progress)

    @property
    def embedded(self) -> int:
        """The number of embedded passages: all of these begin with a title, fields of study do not."""
        return sum(text.startswith("On ") and "\n" in text for text in self.encoder.texts)

    @property
    def corpus(self) -> Corpus:
        return Corpus.open(self.settings.corpus_path, self.encoder)

    def ids(self) -> list[str]:
        return [paper.id for paper in self.corpus.papers()]


@pytest.fixture
def work(tmp_path: Path, encoder: Encoder) -> Workplace:
    return Workplace(tmp_path, encoder)


def _counts(build: Build) -> tuple[int, int, int, int, int]:
    return build.added, build.changed, build.unchanged, build.removed, len(build.failures)


def test_a_folder_becomes_papers_that_can_be_found(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml", "On cats", "We watch cats.", ["Cats sleep.", "Cats purr."])
    write_tei(work.papers / "owls.tei.xml", "On owls", "We watch owls.", ["Owls hoot at night."])
    build = work.build()
    assert _counts(build) == (2, 0, 0, 0, 0)
    assert build.passages == work.embedded == 5
    assert (build.encoder, build.encoder_sha256) == (work.encoder.name, work.encoder.sha256)
    cats, _ = work.corpus.papers()
    assert (cats.id, cats.title, cats.abstract) == ("notes/cats", "On cats", "We watch cats.")
    assert (cats.authors[0].name, cats.source, cats.full_text) == ("Ada Lovelace", "cats.tei.xml", True)
    assert cats.bibtex.startswith("@misc{lovelace-cats,")
    assert search(work.corpus, work.encoder, "hooting birds", Scope())[0].paper.title == "On owls"


def test_a_second_build_embeds_nothing_and_publishes_nothing_but_a_new_title(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml")
    (work.papers / "broken.tei.xml").write_text("<TEI")
    work.build()
    before, manifest = work.embedded, work.corpus.manifest
    build = work.build()
    assert _counts(build) == (0, 0, 1, 0, 1)
    assert build.passages == 0
    assert work.embedded == before
    assert work.corpus.manifest == manifest
    assert len(work.corpus.builds()) == 1
    work.collection = replace(NOTES, title="Better notes")
    work.build()
    assert work.corpus.collections()[0].collection.title == "Better notes"
    assert work.embedded == before


def test_a_changed_file_is_indexed_alone_and_a_broken_one_kept(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml", body=["Cats sleep.", "Cats purr."])
    write_tei(work.papers / "owls.tei.xml", "On owls")
    work.build()
    before = work.embedded
    write_tei(work.papers / "cats.tei.xml", body=["Cats hunt."])
    assert _counts(work.build()) == (0, 1, 1, 0, 0)
    assert work.embedded == before + 2
    passages = work.corpus.passages("notes/cats")
    assert [passage.text for passage in passages] == ["We watch cats.", "Cats hunt."]
    (work.papers / "cats.tei.xml").write_text("<TEI")
    build = work.build()
    assert _counts(build) == (0, 0, 1, 0, 1)
    assert build.failures[0].item == "cats.tei.xml"
    assert "not well-formed" in build.failures[0].reason
    assert work.corpus.passages("notes/cats") == passages
    assert work.corpus.collections()[0].failed == 1


def test_a_file_in_front_of_the_others_moves_them_and_embeds_only_itself(work: Workplace) -> None:
    """Regression: a paper's place in the folder was part of what it is made from."""
    for name in ("cats", "dogs", "owls"):
        write_tei(work.papers / f"{name}.tei.xml", f"On {name}")
    work.build()
    before = work.embedded
    write_tei(work.papers / "ants.tei.xml", "On ants")
    assert _counts(work.build()) == (1, 0, 3, 0, 0)
    assert work.embedded == before + 2
    assert work.ids() == ["notes/ants", "notes/cats", "notes/dogs", "notes/owls"]
    assert [paper.position for paper in work.corpus.papers()] == [0, 1, 2, 3]
    _a_removed_file_is_removed_with_its_passages(work)


def _a_removed_file_is_removed_with_its_passages(work: Workplace) -> None:
    (work.papers / "cats.tei.xml").unlink()
    assert _counts(work.build()) == (0, 0, 3, 1, 0)
    assert work.ids() == ["notes/ants", "notes/dogs", "notes/owls"]
    assert work.corpus.passages("notes/cats") == ()
    assert work.corpus.matching("cats", Scope(papers=("notes/cats",)), 10) == []


def test_passages_of_another_size_are_cut_anew_and_the_trail_says_of_which(work: Workplace) -> None:
    long = " ".join(f"Case {n} tells of cats that sleep all day on warm mats at home." for n in range(60))
    write_tei(work.papers / "cats.tei.xml", body=[long])
    work.build()
    usual = work.corpus
    work.settings = Settings(home=work.settings.home, passage_words=400, passage_overlap=40)
    build = work.build()
    assert (_counts(build), build.remarks) == ((0, 1, 0, 0, 0), ())
    assert len(work.corpus.passages("notes/cats")) < len(usual.passages("notes/cats"))
    _, first, second, *_ = work.corpus.passages("notes/cats")
    assert repeated(first, second) == 2
    assert _counts(work.build()) == (0, 0, 1, 0, 0)
    compact_home(work.settings, work.encoder, timedelta(days=1))
    assert provenance_of(work.corpus, "extractive", "").passages == (PassageSize(400, 40),)
    before = Corpus.open_at(work.settings.corpus_path, work.encoder, usual.manifest.versions)
    assert provenance_of(before, "extractive", "").passages == (PassageSize(),)


def test_collections_of_several_sizes_are_reported(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml")
    work.build()
    work.settings = Settings(home=work.settings.home, passage_words=300)
    work.collection, work.papers = LETTERS, work.papers / "letters"
    write_tei(work.papers / "owls.tei.xml", "On owls")
    (remark,) = work.build().remarks
    assert remark.item == "the corpus"
    assert "300 words in letters; 200 words in notes" in remark.text
    corpus = next(check for check in examine(work.settings) if check.name == "corpus")
    assert (corpus.state, "of several sizes" in corpus.text) == ("warning", True)


def test_a_paper_that_cannot_be_cut_anew_is_said_to_keep_its_size(work: Workplace) -> None:
    for name in ("cats", "owls"):
        write_tei(work.papers / f"{name}.tei.xml", f"On {name}")
    work.build()
    (work.papers / "owls.tei.xml").write_text("<TEI")
    work.settings = Settings(home=work.settings.home, passage_words=300)
    build = work.build()
    assert _counts(build) == (0, 1, 0, 0, 1)
    assert [remark.text for remark in build.remarks] == [
        "1 of its papers could not be read anew and keep passages of 200 words"
    ]


def test_a_bad_file_costs_one_file(work: Workplace) -> None:
    write_tei(work.papers / "a.tei.xml")
    (work.papers / "b.tei.xml").write_bytes(b"\xff\xfe\x00")
    (work.papers / "c.tei.xml").write_bytes(b"")
    (work.papers / "d.tei.xml").symlink_to(work.papers / "nowhere")
    os.mkfifo(work.papers / "e.tei.xml")
    write_tei(work.papers / "f.tei.xml")
    build = work.build()
    assert _counts(build) == (2, 0, 0, 0, 4)
    assert [failure.item for failure in build.failures] == [f"{name}.tei.xml" for name in "bcde"]
    assert all(failure.reason for failure in build.failures)
    assert work.ids() == ["notes/a", "notes/f"]


def faulty(task: Task, source: Path, *_: object) -> PreparedPaper:
    return prepare(task, read_document(source) if source.name != "cats.md" else Document(title=1 / 0))


def frozen(task: Task, source: Path, *_: object) -> PreparedPaper:
    while source.name == "cats.md":
        pass
    return prepare(task, read_document(source))


@pytest.mark.parametrize(
    ("parser", "reason"),
    [
        (faulty, "the parser failed with ZeroDivisionError; please report it"),
        (frozen, "took more than 3 s"),
    ],
)
def test_a_text_that_breaks_or_freezes_its_parser_costs_one_file(
    work: Workplace,
    monkeypatch: pytest.MonkeyPatch,
    parser: Callable[[Task, Path], PreparedPaper],
    reason: str,
) -> None:
    """Regression: only PDFs were read apart; Word, Markdown, text and TEI files were read without limits."""
    work.suffixes = (".md",)
    for name in ("cats", "owls"):
        (work.papers / f"{name}.md").write_text(f"# On {name}\n\nThey sleep by day.")
    processes = IsolatedProcesses(parser, 1, seconds=3 if parser is frozen else 60)
    monkeypatch.setattr(sys.modules["indexer.prepare.preparer"], "_processes", lambda _: processes)
    build = work.build()
    processes.close()
    assert _counts(build) == (1, 0, 0, 0, 1)
    assert reason in build.failures[0].reason


def test_a_pdf_is_read_where_the_tei_beside_it_is_broken(work: Workplace) -> None:
    """Regression: a broken TEI file cost the PDF of the same name, and the report named only the TEI."""
    work.suffixes = (".tei.xml", ".pdf")
    write_paper_pdf(work.papers / "cats.pdf", "On Cats")
    (work.papers / "cats.tei.xml").write_text("<TEI")
    build = work.build()
    assert _counts(build) == (1, 0, 0, 0, 0)
    assert "cats.tei.xml" in build.remarks[0].text
    assert build.remarks[0].text.endswith("its PDF is read instead")
    (paper,) = work.corpus.papers()
    assert (paper.title, paper.parser) == ("On Cats", "pypdfium2")


def test_a_corpus_whose_manifest_is_gone_is_not_built_over(work: Workplace) -> None:
    """Regression: without its manifest a whole corpus was dropped by the next build, in silence."""
    write_tei(work.papers / "cats.tei.xml")
    work.build()
    manifest = work.settings.home / "corpus" / "manifest.json"
    manifest.rename(manifest.with_name("kept"))
    with pytest.raises(CorpusError, match=r"holds tables of a corpus but no manifest\.json"):
        work.build()
    manifest.with_name("kept").rename(manifest)
    assert work.ids() == ["notes/cats"]


@pytest.mark.parametrize("left", ["places.lance", "places.lance/_versions", "papers.lance/data"])
def test_fault_a_build_killed_while_it_made_its_first_tables_could_not_be_gone_on_with(
    work: Workplace, left: str
) -> None:
    write_tei(work.papers / "cats.tei.xml")
    (work.settings.home / "corpus" / left).mkdir(parents=True)
    work.build()
    assert work.ids() == ["notes/cats"]


def test_data_without_a_version_are_not_built_over(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml")
    data = work.settings.home / "corpus" / "papers.lance" / "data" / "a.lance"
    data.parent.mkdir(parents=True)
    data.write_bytes(b"rows, perhaps")
    with pytest.raises(CorpusError, match=r"holds tables of a corpus but no manifest\.json"):
        work.build()
    assert data.exists()


def test_damaged_tables_are_named_as_such(work: Workplace) -> None:
    """Regression: reading a table whose files were cut ended in a traceback of the database."""
    write_tei(work.papers / "cats.tei.xml")
    work.build()
    for file in (work.settings.home / "corpus" / "passages.lance" / "data").iterdir():
        file.write_bytes(file.read_bytes()[:10])
    with pytest.raises(CorpusError, match="'passages' of the corpus cannot be read"):
        work.corpus.passages("notes/cats")
    with pytest.raises(CorpusError, match="'passages' of the corpus cannot be read"):
        work.corpus.nearest(work.encoder.encode_query("cats"), Scope(), 3)


def test_staged_files_count_nothing_twice(work: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a build killed just after it published counted its papers as changed when run again."""
    write_tei(work.papers / "cats.tei.xml")
    with monkeypatch.context() as patch:
        patch.setattr(Staging, "discard", lambda *_: None)
        work.build()
    assert list((work.settings.home / "staging").glob("*.papers.arrow"))
    manifest = work.corpus.manifest
    assert _counts(work.build()) == (0, 0, 1, 0, 0)
    assert work.corpus.manifest == manifest
    assert not list((work.settings.home / "staging").glob("*.arrow"))


def test_without_memory_figures_none_are_told(work: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a build needed the module `resource`, which Windows has not."""
    monkeypatch.setitem(sys.modules, "resource", None)
    write_tei(work.papers / "cats.tei.xml")
    assert work.build().peak_memory_mib == 0


def test_a_folder_of_nothing_but_bad_files_can_be_searched_and_mended(work: Workplace) -> None:
    (work.papers / "a.tei.xml").write_text("<TEI")
    assert _counts(work.build()) == (0, 0, 0, 0, 1)
    assert search(work.corpus, work.encoder, "cats", Scope()) == ()
    write_tei(work.papers / "a.tei.xml")
    assert _counts(work.build()) == (1, 0, 0, 0, 0)
    assert len(search(work.corpus, work.encoder, "cats", Scope())) == 1
    assert work.corpus.collections()[0].failed == 0


def test_a_paper_that_its_source_lists_twice_is_built_once_with_a_remark(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml")

    class Doubled(Folder):
        def papers(self):
            (entry,) = super().papers()
            yield entry
            yield replace(entry, name="the same again")

    work.source = Doubled
    build = work.build()
    assert build.failures == (
        Failure("the same again", "the source lists this paper twice; the first was taken"),
    )
    assert work.ids() == ["notes/cats"]
    assert len(work.corpus.passages("notes/cats")) == 2


def test_what_the_source_knows_wins_over_what_the_file_says(work: Workplace) -> None:
    file = write_tei(work.papers / "cats.tei.xml")

    class Catalogue(Folder):
        def papers(self):
            (entry,) = super().papers()
            yield SourcePaper("cats", replace(entry.paper, title="From the catalogue", year=1999), file)

    work.source = Catalogue
    work.build()
    (paper,) = work.corpus.papers()
    assert (paper.title, paper.year, paper.abstract) == ("From the catalogue", 1999, "We watch cats.")
    assert work.corpus.count_papers(Scope(years=(1999, 1999))) == 1


@pytest.mark.parametrize("dies_at", [1, 2])
def test_a_build_that_dies_changes_nothing_and_can_be_repeated(work: Workplace, dies_at: int) -> None:
    """The first build of a corpus may die like any other."""
    for name in ("cats", "owls"):
        write_tei(work.papers / f"{name}.tei.xml", f"On {name}")

    calls = count(1)

    def die(_: str) -> None:
        if next(calls) == dies_at:
            raise KeyboardInterrupt

    if dies_at == 2:
        work.build()
        write_tei(work.papers / "cats.tei.xml", "On cats again")
        write_tei(work.papers / "owls.tei.xml", "On owls again")
        titles = ["On cats", "On owls"]
    work.progress = die
    with pytest.raises(KeyboardInterrupt):
        work.build()
    if dies_at == 2:
        assert [paper.title for paper in work.corpus.papers()] == titles
    else:
        with pytest.raises(CorpusError, match="no corpus"):
            _ = work.corpus
    work.progress = lambda _: None
    build = work.build()
    assert build.added + build.changed == 2
    assert work.ids() == ["notes/cats", "notes/owls"]
    assert len(work.corpus.passages("notes/cats")) == 2


def test_a_second_build_at_once_is_told_to_wait(work: Workplace) -> None:
    write_tei(work.papers / "cats.tei.xml")
    with build_lock(work.settings), pytest.raises(CorpusError, match="Another build is writing"):
        work.build()
    assert _counts(work.build()) == (1, 0, 0, 0, 0)


@pytest.mark.parametrize("blocked", ["", "home", "home/corpus", "home/build.lock"])
def test_an_unwritable_home_is_named(work: Workplace, blocked: str) -> None:
    write_tei(work.papers / "cats.tei.xml")
    home = work.settings.home
    if blocked == "home/build.lock":
        (home / "build.lock").mkdir(parents=True)
    else:
        obstacle = home.parent / (blocked or "file")
        obstacle.parent.mkdir(exist_ok=True)
        obstacle.write_text("in the way")
        work.settings = Settings(home=home if blocked else obstacle / "home")
    with pytest.raises(CorpusError, match="cannot be written"):
        work.build()


def test_a_pdf_is_kept_beside_the_corpus_under_its_hash(work: Workplace) -> None:
    work.suffixes = PDF_SUFFIXES
    original = write_paper_pdf(work.papers / "cats.pdf")
    assert _counts(work.build()) == (1, 0, 0, 0, 0)
    (paper,) = work.corpus.papers()
    kept = work.settings.home / "pdf" / f"{paper.pdf_sha256}.pdf"
    assert kept.read_bytes() == original.read_bytes()
    assert (paper.title, paper.page_count, paper.parser) == ("On Cats", 1, "pypdfium2")
    assert any(sentence.boxes for p in work.corpus.passages(paper.id) for sentence in p.sentences)
    assert [file.name for file in (work.settings.home / "pdf").iterdir()] == [kept.name]


def test_a_place_for_pdfs_that_cannot_be_written_is_named(work: Workplace) -> None:
    work.suffixes = PDF_SUFFIXES
    write_paper_pdf(work.papers / "cats.pdf")
    work.settings.home.mkdir()
    (work.settings.home / "pdf").write_text("in the way")
    with pytest.raises(CorpusError, match=r"cats\.pdf cannot be copied"):
        work.build()


def test_a_corpus_of_another_encoder_is_not_built_upon(work: Workplace, encoder: Encoder) -> None:
    write_tei(work.papers / "cats.tei.xml")
    work.build()
    work.encoder = CountingEncoder(encoder, name="another/encoder")
    with pytest.raises(CorpusError, match="built with the encoder"):
        work.build()
    assert work.embedded == 0


def test_two_builds_within_a_second_are_told_apart(work: Workplace) -> None:
    """Regression: with the same time stamp, the failures of either could pass for the last ones."""
    write_tei(work.papers / "cats.tei.xml")
    failed = []
    for broken in (True, False, True, False):
        (work.papers / "owls.tei.xml").unlink(missing_ok=True)
        if broken:
            (work.papers / "owls.tei.xml").write_text("<TEI")
        work.build()
        failed.append(work.corpus.collections()[0].failed)
    assert failed == [1, 0, 1, 0]
    assert len({build.id for build in work.corpus.builds()}) == 4


def test_the_demonstration_is_whole(demo_corpus: Corpus) -> None:
    evaluation, retrieval = demo_corpus.collections()
    for summary in (evaluation, retrieval):
        assert (summary.papers, summary.full_texts, summary.failed) == (8, 8, 0)
        assert summary.passages > 60
    for paper in demo_corpus.papers():
        passages = demo_corpus.passages(paper.id)
        assert passages[0].text == paper.abstract
        assert all(sentence.boxes for sentence in passages[0].sentences), paper.id
        assert demo_corpus.references(paper.id)
        assert {passage.kind for passage in passages} >= {"abstract", "body"}
