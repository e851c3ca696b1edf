"""Volumes of the ACL Anthology: the real ones where they are at hand, and a small one made here."""

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.records import Author
from indexer.sources.acl_anthology import AclVolume, open_volumes
from indexer.sources.protocol import SourceError

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
def real(shared: Path) -> dict[str, AclVolume]:
    opened = open_volumes(list(REAL), shared / "data" / "acl_anthology", Path("never"))
    return {volume.collection.id: volume for volume in opened}


def _open(data: Path, *ids: str) -> list[AclVolume]:
    return open_volumes(list(ids), data, data / "never")


def test_a_volume_lists_its_papers_without_the_front_matter(small: Path) -> None:
    (volume,) = _open(small, "2099.trail-main")
    assert (volume.collection.id, volume.collection.title) == ("2099.trail-main", "Proceedings of the Trail")
    assert len(volume) == 2
    assert [entry.paper.id for entry in volume.papers()] == ["2099.trail-main.1", "2099.trail-main.2"]


def test_markup_becomes_plain_text(small: Path) -> None:
    paper = next(_open(small, "2099.trail-main")[0].papers()).paper
    assert paper.title == "BERT in O(n2) & more"
    assert paper.abstract == "We follow a trail of 𝛼 papers."
    assert paper.authors == (Author("Ada", "Lovelace"), Author("", "Plato"))
    assert (paper.year, paper.venue, paper.pages, paper.doi) == (2099, "TRAIL 2099", "1–9", "10.1/trail")
    assert paper.url == "https://aclanthology.org/2099.trail-main.1/"
    assert paper.pdf_url == "https://aclanthology.org/2099.trail-main.1.pdf"


def test_bibtex_is_the_anthologys_own_without_the_abstract(small: Path) -> None:
    paper = next(_open(small, "2099.trail-main")[0].papers()).paper
    assert paper.bibtex.startswith('@inproceedings{lovelace-2099-bert,\n    title = "{BERT} in $O(n^2)$')
    assert "abstract" not in paper.bibtex
    assert "follow" not in paper.bibtex


def test_an_entry_without_authors_and_abstract_survives(small: Path) -> None:
    _, entry = _open(small, "2099.trail-main")[0].papers()
    assert (entry.paper.authors, entry.paper.abstract, entry.paper.pdf_url) == ((), "", "")
    assert entry.paper.bibtex.startswith("@inproceedings{nobody-2099,")


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
        timeout=60,
        check=False,
    )


def test_without_a_connection_one_clear_sentence_says_what_to_do(root: Path, tmp_path: Path) -> None:
    done = _index_acl(root, tmp_path, https_proxy="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "could not be downloaded: there is no connection" in done.stderr
    assert "--anthology" in done.stderr
    assert "Traceback" not in done.stderr


def test_local_data_need_no_git_program_and_a_download_says_that_it_does(
    root: Path, tmp_path: Path, small: Path
) -> None:
    """Regression: on a machine without git, even local data ended in a traceback."""
    done = _index_acl(root, tmp_path, "2099.none-main", "--anthology", str(small), PATH=str(tmp_path))
    assert done.stderr.startswith("The Anthology has no volume '2099.none-main'")
    done = _index_acl(root, tmp_path, PATH=str(tmp_path))
    assert done.returncode == 2
    assert "without the program git" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_volume_of_broken_xml_is_named(root: Path, tmp_path: Path, small: Path) -> None:
    file = small / "xml" / "2099.trail.xml"
    file.write_text(file.read_text("utf-8")[:-300], "utf-8")
    done = _index_acl(root, tmp_path, "--anthology", str(small))
    assert done.returncode == 2
    assert "'2099.trail-main' cannot be read" in done.stderr


@pytest.mark.parametrize("volume", REAL)
def test_real_volumes_have_the_papers_they_are_known_for(real: dict[str, AclVolume], volume: str) -> None:
    papers = [entry.paper for entry in real[volume].papers()]
    size, first, tenth, last = REAL[volume]
    assert len(papers) == len(real[volume]) == size
    assert (papers[0].title, papers[9].title, papers[-1].title) == (first, tenth, last)
    assert [paper.position for paper in papers] == list(range(size))
    assert len({paper.id for paper in papers}) == size


def test_real_entries_are_whole_and_plain(real: dict[str, AclVolume]) -> None:
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
