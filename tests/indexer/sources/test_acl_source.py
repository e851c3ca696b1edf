"""Volumes of the ACL Anthology: the real ones where they are at hand, and a small one made here."""

import os
import pkgutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from acl_anthology.config import DefaultConfig, config
from omegaconf import OmegaConf

from corpus.records import Author, Collection
from indexer.errors import SourceError
from indexer.sources.acl_anthology import AclPapers, all_volumes, open_volumes, papers_of
from indexer.sources.pdf_folder import PdfFolder
from indexer.sources.protocol import SourcePaper
from indexer.web.downloads import Downloads
from tests.standin_files import PDF, Served, StandinFiles

VOLUME = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="2099.trail">
  <volume id="main" type="proceedings">
    <meta><booktitle>Proceedings of the <fixed-case>T</fixed-case>rail</booktitle>
      <publisher>Nobody</publisher><year>2099</year><venue>trail</venue></meta>
    <frontmatter><bibkey>trail-2099-main</bibkey></frontmatter>
    <paper id="1">
      <title><fixed-case>BERT</fixed-case> in <tex-math>O(n^2)</tex-math> &amp; <i>more</i></title>
      <author><first>Ada</first><last>Lovelace</last></author>
      <author><last>Plato</last></author>
      <pages>1–9</pages>
      <abstract>We <b>follow</b> a trail of <tex-math>\\alpha</tex-math> papers.</abstract>
      <pdf hash="00000000">2099.trail-main.1</pdf>
      <doi>10.1/trail</doi>
      <bibkey>lovelace-2099-bert</bibkey>
    </paper>
    <paper id="2"><title>Nobody wrote this</title><bibkey>nobody-2099</bibkey></paper>
  </volume>
</collection>
"""
PAPER = (
    "<paper id='{id}'>{title}<author><first>A</first><last>B</last></author>{more}"
    "<bibkey>b-{id}</bibkey></paper>"
)
OTHERS = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="{id}">{volumes}</collection>
"""
# Volume: papers, and the titles of the first, the tenth and the last.
REAL = {
    "2022.acl-long": (
        603,
        "AdapLeR: Speeding up Inference by Adaptive Length Reduction",
        "Dynamic Schema Graph Fusion Network for Multi-Domain Dialogue State Tracking",
        "Probing for the Usage of Grammatical Number",
    ),
    "2022.acl-short": (
        97,
        "BitFit: Simple Parameter-efficient Fine-tuning for Transformer-based Masked Language-models",
        "Automatic Detection of Entity-Manipulated Text using Factual Knowledge",
        "Text Smoothing: Enhance Various Data Augmentation Methods on Text Classification Tasks",
    ),
    "2022.acl-demo": (
        27,
        "DoTAT: A Domain-oriented Text Annotation Tool",
        "OpenPrompt: An Open-source Framework for Prompt-learning",
        "QuickGraph: A Rapid Annotation Tool for Knowledge Graph Extraction from Technical Text",
    ),
    "2022.acl-srw": (
        39,
        "Evaluating zero-shot transfers and multilingual models for dependency parsing and POS tagging "
        "within the low-resource language family Tupían",
        "Compositional Semantics and Inference System for Temporal Order based on Japanese CCG",
        "A Dataset and BERT-based Models for Targeted Sentiment Analysis on Turkish Texts",
    ),
    "2022.findings-acl": (
        331,
        "“Is Whole Word Masking Always Better for Chinese BERT?”: Probing on Chinese Grammatical Error "
        "Correction",
        "Controlled Text Generation Using Dictionary Prior in Variational Autoencoders",
        "What is wrong with you?: Leveraging User Sentiment for Automatic Dialog Evaluation",
    ),
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return an Anthology data directory with one volume of two papers."""
    data = tmp_path / "data"
    (data / "xml").mkdir(parents=True)
    (data / "xml" / "schema.rnc").write_bytes(pkgutil.get_data("acl_anthology", "data/schema.rnc") or b"")
    (data / "xml" / "2099.trail.xml").write_text(VOLUME, encoding="utf-8")
    return data


@pytest.fixture(scope="module")
def real(shared: Path) -> dict[str, AclPapers]:
    opened = open_volumes(list(REAL), shared / "data" / "acl_anthology", Path("never"))
    return {volume.collection.id: volume for volume in opened}


def _write(data: Path, collection: str, **volumes: str) -> None:
    """Add a file of the Anthology to a data directory, with the given papers in its volumes."""
    whole = "".join(
        f'<volume id="{name}" type="proceedings"><meta><booktitle>{name}</booktitle><year>2098</year>'
        f"<venue>trail</venue><venue>ws</venue></meta><frontmatter><bibkey>f-{name}</bibkey></frontmatter>"
        f"{papers}</volume>"
        for name, papers in volumes.items()
    )
    text = OTHERS.format(id=collection, volumes=whole)
    (data / "xml" / f"{collection}.xml").write_text(text, encoding="utf-8")


def _entry(number: str, title: str = "<title>T</title>", more: str = "") -> str:
    return PAPER.format(id=number, title=title, more=more)


def _pdf_folder(directory: Path, *names: str) -> PdfFolder:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(PDF)
    return PdfFolder(directory)


def _open(data: Path, *ids: str) -> list[AclPapers]:
    return open_volumes(list(ids), data, data / "never")


def test_a_volume_lists_its_papers_without_front_matter_markup_and_own_addresses(small: Path) -> None:
    (volume,) = _open(small, "2099.trail-main")
    assert (volume.collection.id, volume.collection.title) == ("2099.trail-main", "Proceedings of the Trail")
    assert len(volume) == 2
    paper, bare = (entry.paper for entry in volume.papers())
    assert (paper.id, bare.id) == ("2099.trail-main.1", "2099.trail-main.2")
    assert paper.title == "BERT in O(n²) & more"
    assert paper.abstract == "We follow a trail of 𝛼 papers."
    assert paper.authors == (Author("Ada", "Lovelace"), Author("", "Plato"))
    assert (paper.year, paper.venue, paper.pages, paper.doi) == (2099, "TRAIL 2099", "1–9", "10.1/trail")
    assert paper.url == "https://aclanthology.org/2099.trail-main.1/"
    assert paper.pdf_url == "https://aclanthology.org/2099.trail-main.1.pdf"
    assert paper.bibtex.startswith('@inproceedings{lovelace-2099-bert,\n    title = "{BERT} in $O(n^2)$')
    assert "abstract" not in paper.bibtex and "follow" not in paper.bibtex
    assert (bare.authors, bare.abstract, bare.pdf_url) == ((), "", "")
    assert bare.bibtex.startswith("@inproceedings{nobody-2099,")
    # The library's templates are filled in once, for speed: with what it would fill in itself.
    _open(small, "2099.trail-main")
    fresh = OmegaConf.structured(DefaultConfig)
    assert {name: config[name] for name in config} == {name: fresh[name] for name in fresh}


@pytest.mark.parametrize(
    "volume", ["2099.none-main", "2099.trail-none", "2099.trail", "P19", "", "-", "../x"]
)
def test_an_unknown_volume_is_named(small: Path, volume: str) -> None:
    with pytest.raises(SourceError, match="volume"):
        _open(small, "2099.trail-main", volume)


def test_a_directory_without_anthology_data_is_named_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no Anthology data in .*'xml'.*--anthology"):
        _open(tmp_path, "2099.trail-main")
    (tmp_path / "xml").mkdir()
    with pytest.raises(SourceError, match=r"not complete: .*schema\.rnc"):
        _open(tmp_path, "2099.trail-main")


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        ("<title><fixed-case>B</fixed-case>ERT <tex-math>\\frac{1}{2}</tex-math></title>", "BERT 1⁄2"),
        ("<title>Ŋandi 中文 العربية</title>", "Ŋandi 中文 العربية"),
        ("<title>50% of <i>{braces}</i> &lt;b&gt;</title>", "50% of {braces} <b>"),
        ("<title>Two\n   lines</title>", "Two lines"),
        ("<title><tex-math>\\nosuchmacro{x}</tex-math></title>", "\\nosuchmacro{x}"),
        (
            "<title>At <tex-math>3 \\times 10^{-6}</tex-math> of <tex-math>2^n</tex-math></title>",
            "At 3 × 10⁻⁶ of 2ⁿ",
        ),
        ("<title><tex-math>\\{x_i\\}_{i=1}^{N}</tex-math> paths</title>", "{x_i}_{i=1}^N paths"),
        ("<title>CO<sub>2</sub> and <i>m<sup>3</sup></i></title>", "CO₂ and m³"),
        ("<title><tex-math>\\frac{a+b}{12}</tex-math> <tex-math>7\\,m</tex-math></title>", "(a+b)⁄12 7 m"),
        ("<title>Half <tex-math>x_{</tex-math></title>", "Half x_{"),
    ],
)
def test_titles_of_all_kinds_are_read(small: Path, entry: str, title: str) -> None:
    _write(small, "2098.trail", main=_entry("1", entry))
    (found,) = _open(small, "2098.trail-main")[0].papers()
    assert (found.problem, found.paper.title) == ("", title)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("<paper id='2'><title>No key</title></paper>", "bibkey"),
        ("<paper id='2'><bibkey>no-title</bibkey></paper>", "title"),
        ("<paper id='Two'><title>T</title><bibkey>bad-id</bibkey></paper>", "Two"),
        (_entry("2", more="<surprise/>"), "surprise"),
        (_entry("2", more="<author/>"), "entry cannot be read"),
        (_entry("1"), "another paper under the same id"),
        ("<paper id='2' type='novel'><title>T</title><bibkey>bad-type</bibkey></paper>", "novel"),
    ],
)
def test_an_entry_that_cannot_be_read_costs_itself(small: Path, bad: str, words: str) -> None:
    """Regression: the library gives up a whole file of the Anthology for one bad entry."""
    _write(small, "2098.trail", main=_entry("1") + bad + _entry("3"))
    (volume,) = _open(small, "2098.trail-main")
    first, second, third = volume.papers()
    assert len(volume) == 3
    assert (first.problem, third.problem) == ("", "")
    assert words in second.problem
    assert second.name.startswith("2098.trail-main.")
    assert (second.paper.title, second.paper.position, third.paper.position) == ("", 1, 2)


def test_an_entry_says_what_the_anthology_knows_beside_its_fields(small: Path) -> None:
    title = "<title>Half a <tex-math>\\{ x }}</tex-math></title>"
    _write(small, "2098.trail", main=_entry("1", title))
    (found,) = _open(small, "2098.trail-main")[0].papers()
    assert (found.problem, found.paper.bibtex) == ("", "")
    assert found.notes == ("The Anthology's BibTeX of this paper cannot be made.",)
    _write(
        small, "2098.trail", main=_entry("1", more="<retracted date='2099-01-01'>It was wrong.</retracted>")
    )
    (found,) = _open(small, "2098.trail-main")[0].papers()
    assert found.notes == ("The Anthology marks this paper as retracted: It was wrong.",)
    _write(small, "2098.trail", main=_entry("1"))
    (small / "json").mkdir()
    table = '{"trail": {"acronym": "TrAIL", "name": "Trails"}, "ws": {"acronym": "WS", "name": "Workshops"}}'
    (small / "json" / "venues.json").write_text(table)
    (found,) = _open(small, "2098.trail-main")[0].papers()
    assert found.paper.venue == "TrAIL 2098"


OLD = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="2098.trail"><volume id="main" ingest-date="2098-01-01">
  <meta><booktitle>Old Trail</booktitle><year>2098</year><venue>trail</venue>
    <url hash="00000000">2098.trail-main</url></meta>
  <frontmatter><url hash="00000000">2098.trail-main.0</url><bibkey>f</bibkey></frontmatter>
  <paper id="1"><title>T</title><author><first>Ada</first><last>Uhu Jr.</last></author>
    <url hash="0000abcd">2098.trail-main.1</url><url>https://x.example/code</url>
    <pwccode url="https://x.example" additional="true"/><award>Best Trail</award>
    <erratum id="1" hash="00000000">2098.trail-main.1e1</erratum>
    <revision id="1" href="2098.trail-main.1v1" hash="00000000"/><bibkey>uhu-2098-t</bibkey></paper>
  <paper id="2"><title>U</title><url>2098.trail-main.2</url><bibkey>uhu-u</bibkey></paper>
  <paper id="3"><title>V</title><url>https://x.example/v.pdf</url><bibkey>uhu-v</bibkey></paper>
</volume></collection>
"""


def test_data_of_earlier_years_and_volumes_with_papers_are_read(small: Path) -> None:
    _write(small, "2098.trail", empty="", main=_entry("1"), side=_entry("1") + _entry("2"))
    whole = all_volumes(small, small / "never")
    for _ in range(2):
        assert [(it.collection.id, len(it)) for it in whole] == [
            ("2098.trail-main", 1),
            ("2098.trail-side", 2),
            ("2099.trail-main", 2),
        ]
    assert whole.problems == []
    # Data of earlier years could not be read.
    (small / "xml" / "2098.trail.xml").write_text(OLD, "utf-8")
    (volume,) = _open(small, "2098.trail-main")
    first, second, third = volume.papers()
    assert [found.problem for found in (first, second, third)] == ["", "", ""]
    assert first.paper.authors == (Author("Ada, Jr.", "Uhu"),)
    assert first.paper.pdf_url == "https://aclanthology.org/2098.trail-main.1.pdf"
    assert second.paper.pdf_url == "https://aclanthology.org/2098.trail-main.2.pdf"
    assert third.paper.pdf_url == ""


def test_a_broken_file_costs_itself(small: Path) -> None:
    _write(small, "2097.trail", main=_entry("1"), bad="")
    _write(small, "2098.trail", main=_entry("1"))
    file = small / "xml" / "2098.trail.xml"
    file.write_text(file.read_text("utf-8").replace("</collection>", ""), "utf-8")
    file = small / "xml" / "2097.trail.xml"
    file.write_text(file.read_text("utf-8").replace("bad</booktitle><year>2098", "bad</booktitle><year>soon"))
    whole = all_volumes(small, small / "never")
    assert [it.collection.id for it in whole] == ["2097.trail-main", "2099.trail-main"]
    volume, broken = whole.problems
    assert volume.startswith("The volume '2097.trail-bad' cannot be read.")
    assert broken.startswith("The Anthology's file 2098.trail.xml cannot be read:")
    with pytest.raises(SourceError, match=r"'2097\.trail-bad' cannot be read"):
        _open(small, "2097.trail-bad")
    with pytest.raises(SourceError, match=r"'2098\.trail-main' cannot be read"):
        _open(small, "2098.trail-main")
    assert len(_open(small, "2097.trail-main")[0]) == 1


def test_pdfs_named_by_ids_join_their_papers(small: Path, tmp_path: Path) -> None:
    names = ("sub/2099.TRAIL-main.1.PDF", "P19-1001.pdf", "2099.trail-main.0.pdf", "notes.pdf")
    pdfs = _pdf_folder(tmp_path / "pdfs", *names)
    (volume,) = open_volumes(["2099.trail-main"], small, small / "never", pdfs=pdfs)
    first, second = volume.papers()
    assert first.file == tmp_path / "pdfs" / "sub" / "2099.TRAIL-main.1.PDF"
    assert first.paper.title.startswith("BERT in")
    assert second.file is None
    assert pdfs.unmatched == ["2099.trail-main.0.pdf", "P19-1001.pdf", "notes.pdf"]


def test_the_papers_of_a_folder_are_one_collection(small: Path, tmp_path: Path) -> None:
    _write(small, "P98", **{"1": _entry("1") + _entry("2")})
    names = (
        "2099.trail-main.2.pdf",
        "p98-1002.pdf",
        "P98-1009.pdf",
        "x/P98-1002.pdf",
        "Q01-1001.pdf",
        "-.pdf",
    )
    pdfs = _pdf_folder(tmp_path / "pdfs", *names)
    mine = Collection("acl-pdfs", "ACL papers with PDFs")
    papers = papers_of(pdfs, mine, small, small / "never")
    found: list[SourcePaper] = list(papers.papers())
    assert (papers.collection, len(papers)) == (mine, 2)
    assert [(it.name, it.paper.collection_id) for it in found] == [
        ("2099.trail-main.2", "acl-pdfs"),
        ("P98-1002", "acl-pdfs"),
    ]
    assert [it.file.name for it in found if it.file] == ["2099.trail-main.2.pdf", "p98-1002.pdf"]
    assert pdfs.unmatched == ["-.pdf", "P98-1009.pdf", "Q01-1001.pdf", "x/P98-1002.pdf"]
    assert len(papers_of(pdfs, mine, small, small / "never")) == 0, "all are taken"
    assert len(papers_of(_pdf_folder(tmp_path / "other", "a.pdf"), mine, small, small / "never")) == 0


def test_pdfs_are_fetched_and_checked(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = f"<pdf hash='{zlib.crc32(PDF):08x}'>2098.trail-main.1</pdf>"
    other = "<pdf hash='00000000'>2098.trail-main.2</pdf>"
    missing = "<pdf hash='00000000'>2098.trail-main.3</pdf>"
    entries = (_entry("1", more=good), _entry("2", more=other), _entry("3", more=missing), _entry("4"))
    _write(small, "2098.trail", main="".join(entries))
    files = {f"/2098.trail-main.{number}.pdf": Served(PDF) for number in (1, 2)}
    with StandinFiles(files) as site, Downloads(tmp_path / "got", pause=0) as downloads:
        _open(small, "2098.trail-main")  # fills in the templates
        monkeypatch.setitem(config, "pdf_location_template", site.url + "/{}.pdf")
        (volume,) = open_volumes(["2098.trail-main"], small, small / "never", downloads=downloads)
        assert site.requests == []
        found = list(volume.papers())
        assert found == list(volume.papers())
        assert [it.path for it in site.requests].count("/2098.trail-main.1.pdf") == 1
    assert [it.file.name if it.file else None for it in found] == ["2098.trail-main.1.pdf", None, None, None]
    notes = [" ".join(it.notes) for it in found]
    assert notes[0] == ""
    assert "its checksum is" in notes[1]
    assert "There is no PDF at" in notes[2]
    assert notes[3] == "The Anthology has no PDF of this paper."
    assert not any(it.problem for it in found)


def _index_acl(
    root: Path, home: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the real command in an environment of its own."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return subprocess.run(
        [sys.executable, "-m", "indexer", "acl", "2099.trail-main", *arguments],
        cwd=root,
        env=kept | {"PAPER_TRAIL_HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_without_a_connection_one_clear_sentence_says_what_to_do(root: Path, tmp_path: Path) -> None:
    done = _index_acl(root, tmp_path, https_proxy="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "could not be downloaded: there is no connection" in done.stderr
    assert "--anthology" in done.stderr
    assert "Traceback" not in done.stderr


def test_local_data_need_no_git_and_downloads_do(root: Path, tmp_path: Path, small: Path) -> None:
    """Regression: on a machine without git, even local data ended in a traceback."""
    done = _index_acl(root, tmp_path, "2099.none-main", "--anthology", str(small), PATH=str(tmp_path))
    assert done.stderr.startswith("The Anthology has no volume '2099.none-main'")
    done = _index_acl(root, tmp_path, PATH=str(tmp_path))
    assert done.returncode == 2
    assert "without the program git" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("volume", REAL)
def test_real_volumes_have_the_papers_they_are_known_for(real: dict[str, AclPapers], volume: str) -> None:
    papers = [entry.paper for entry in real[volume].papers()]
    size, first, tenth, last = REAL[volume]
    assert len(papers) == len(real[volume]) == size
    assert (papers[0].title, papers[9].title, papers[-1].title) == (first, tenth, last)
    assert [paper.position for paper in papers] == list(range(size))
    assert len({paper.id for paper in papers}) == size


def test_real_entries_are_whole_and_plain(real: dict[str, AclPapers]) -> None:
    papers = [entry.paper for volume in real.values() for entry in volume.papers()]
    assert len(papers) == 1097
    for paper in papers:
        assert paper.title
        assert paper.authors, paper.id
        assert not any(mark in paper.title + paper.abstract for mark in ("<fixed-case", "<tex-math", "</")), (
            paper.id
        )
        assert "\n    abstract" not in paper.bibtex
        assert paper.bibtex.startswith("@inproceedings{")
        assert paper.url == f"https://aclanthology.org/{paper.id}/"
    titles = {paper.title for paper in papers}
    assert "∞-former: Infinite Memory Transformer" in titles
    assert "Efficient Cluster-Based k-Nearest-Neighbor Machine Translation" in titles


def test_real_pdfs_old_volumes_and_journals_are_read(shared: Path) -> None:
    pdfs = PdfFolder(shared / "data" / "acl_pdfs")
    mine = Collection("acl-pdfs", "ACL papers with PDFs")
    papers = list(papers_of(pdfs, mine, shared / "data" / "acl_anthology", Path("never")).papers())
    assert len(papers) == 29
    assert pdfs.unmatched == ["P134_n09.pdf"]
    assert all(it.file and it.file.stem == it.paper.id and it.paper.title for it in papers)
    by_id = {it.paper.id: it.paper for it in papers}
    assert by_id["P05-1053"].title == "Exploring Various Knowledge in Relation Extraction"
    assert by_id["W11-2214"].year == 2011
    data = shared / "data" / "acl_anthology"
    names = ["J93-2", "2021.tacl-1", "W19-50", "1952.earlymt-1", "L08-1"]
    volumes = open_volumes(names, data, Path("never"))
    for volume in volumes:
        papers = list(volume.papers())
        assert papers
        assert not [it.problem for it in papers if it.problem]
        assert all(it.paper.title and it.paper.bibtex for it in papers)
    journal = next(volumes[0].papers()).paper
    assert journal.bibtex.startswith("@article{")
    assert 'journal = "Computational Linguistics"' in journal.bibtex
