"""Files of references as collections: CSL-JSON, BibTeX and RIS with the files they name."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.exports.references import papers_as_bibtex, papers_as_csl_json, papers_as_ris
from corpus.records import Author, Collection, Paper
from indexer.__main__ import app
from indexer.errors import SourceError
from indexer.sources.library import LibraryItem, LibraryPapers
from indexer.sources.references import read_references, unreadable_entries
from tests.indexer.build.small_papers import write_paper_pdf

CSL = [
    {
        "id": "http://zotero.org/users/1/items/BATS0001",
        "type": "article-journal",
        "title": "On Bats",
        "author": [{"family": "Lee", "given": "Ann"}, {"literal": "The Bat Group"}],
        "issued": {"date-parts": [["2019", 5]]},
        "container-title": "Journal of Night",
        "page": "1-9",
        "DOI": "10.1000/bats",
        "keyword": "to read, night",
        "file": "files/12/bats.pdf",
    }
]
BIBTEX = r"""@article{lee2019bats,
  title = {On {{Bats}} and {\"O}wls},
  author = {Lee, Ann and {The Bat Group} and M{\"u}ller, Bo},
  journal = {Journal of Night}, year = {2019}, pages = {1--9}, doi = {10.1000/bats},
  keywords = {to read, night}, annote = {Read twice.},
  file = {Full Text:files/12/bats.pdf:application/pdf;Lost:files/13/lost.pdf:application/pdf}
}
@broken{
@inproceedings{kim2020owls, title = {On Owls}, author = {Bo Kim},
  booktitle = {Proc. of Birds}, date = {2020-03}}
"""
RIS = """TY  - JOUR
ID  - lee2019
TI  - On Bats
AU  - Lee, Ann
AU  - Kim, Bo
PY  - 2019/05//
JO  - Journal of Night
SP  - 1
EP  - 9
DO  - 10.1000/bats
KW  - to read
KW  - night
N1  - <p>Read twice.</p>
L1  - files/12/bats.pdf
ER  -

TY  - CONF
TI  - On Owls
AU  - Kim, Bo
ER  -
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    write_paper_pdf(tmp_path / "files" / "12" / "bats.pdf", "On Bats", ["All bats sleep by day."])
    (tmp_path / "a.json").write_text(json.dumps(CSL))
    (tmp_path / "a.bib").write_text(BIBTEX)
    (tmp_path / "a.ris").write_text(RIS)
    return tmp_path


def papers(items: tuple[LibraryItem, ...]) -> list[Paper]:
    return [listed.paper for listed in LibraryPapers(Collection("r", "R"), items).papers()]


@pytest.mark.parametrize("name", ["a.json", "a.bib", "a.ris"])
def test_each_format_brings_metadata_labels_notes_and_the_file(export: Path, name: str) -> None:
    items = read_references(export / name)
    bats = papers(items)[0]
    assert bats.title.startswith("On Bats")
    assert bats.authors[0] == Author("Ann", "Lee")
    assert (bats.year, bats.venue, bats.pages, bats.doi) == (2019, "Journal of Night", "1-9", "10.1000/bats")
    assert set(bats.labels) == {"to read", "night"}
    assert items[0].files == ((export / "files/12/bats.pdf").resolve(),)
    assert bats.notes == (() if name == "a.json" else ("Read twice.",))


def test_bibtex_is_read_as_printed_and_a_broken_entry_costs_itself(export: Path) -> None:
    bats, owls = papers(read_references(export / "a.bib"))
    assert bats.title == "On Bats and Öwls"
    assert bats.authors[1:] == (Author("", "The Bat Group"), Author("Bo", "Müller"))
    assert (owls.title, owls.authors, owls.year) == ("On Owls", (Author("Bo", "Kim"),), 2020)
    assert read_references(export / "a.bib")[0].missing == ("lost.pdf",)


@pytest.mark.parametrize("name", ["../../secret.pdf", "/etc/passwd", "files/../../secret.pdf", "x" * 5000])
def test_fault_a_reference_that_names_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    write_paper_pdf(tmp_path / "secret.pdf", "Secret", ["It is secret."])
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps([{"id": "x", "title": "X", "file": name}]))
    (item,) = read_references(folder / "a.json")
    assert item.files == ()


def test_a_reference_to_a_file_elsewhere_is_named_in_the_report(tmp_path: Path) -> None:
    secret = write_paper_pdf(tmp_path / "secret.pdf", "Secret", ["It is secret."])
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link.pdf").symlink_to(secret)
    inside = write_paper_pdf(tmp_path / "a" / "own.pdf", "Own", ["It is our own."])
    entries = [
        {"id": str(n), "title": "X", "file": str(f)} for n, f in enumerate((secret, "link.pdf", inside))
    ]
    (tmp_path / "a" / "a.json").write_text(json.dumps(entries))
    listed = list(LibraryPapers(Collection("r", "R"), read_references(tmp_path / "a" / "a.json")).papers())
    assert [entry.file for entry in listed] == [None, None, inside.resolve()]
    assert [bool("outside" in note) for entry in listed for note in entry.notes] == [True, True]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "x", "none of .json, .bib, .ris"),
        ("a.json", "{", "not JSON"),
        ("a.json", '"text"', "no list of references"),
        ("a.json", "[]", "holds no references"),
        ("a.bib", "no entry at all", "holds no references"),
        ("a.ris", "", "holds no references"),
    ],
)
def test_fault_a_file_that_holds_no_references(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=said):
        read_references(tmp_path / name)
    with pytest.raises(SourceError, match="cannot be read"):
        read_references(tmp_path / f"other{Path(name).suffix}.json")


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(CSL[0])), inner, max_size=6)
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(st.dictionaries(st.sampled_from(list(CSL[0])), json_like), min_size=1, max_size=3))
def test_no_json_breaks_the_reader(tmp_path: Path, entries: list[object]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(entries))
    assert len(read_references(tmp_path / "a.json")) == len(entries)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=300), suffix=st.sampled_from([".bib", ".ris"]))
def test_no_text_breaks_the_readers(tmp_path: Path, text: str, suffix: str) -> None:
    start = "@article{a, title={" if suffix == ".bib" else "TY  - JOUR\nTI  - "
    (tmp_path / f"a{suffix}").write_text(start + text, encoding="utf-8", errors="replace")
    try:
        papers(read_references(tmp_path / f"a{suffix}"))
    except SourceError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("write", "name"), [(papers_as_csl_json, "b.json"), (papers_as_bibtex, "b.bib"), (papers_as_ris, "b.ris")]
)
def test_what_is_exported_comes_back_the_same(export: Path, write: object, name: str) -> None:
    known = papers(read_references(export / "a.json"))
    (export / name).write_text(write(known), encoding="utf-8")  # type: ignore[operator]
    (back,) = papers(read_references(export / name))
    (first,) = known
    assert (back.title, back.year, back.venue, back.doi) == (first.title, first.year, first.venue, first.doi)
    assert back.authors == first.authors


def test_the_command_indexes_a_file_and_follows_it(export: Path) -> None:
    environment = {"PAPER_TRAIL_HOME": str(export / "home")}

    def run() -> dict[str, int]:
        command = ["references", str(export / "a.ris"), "--collection", "mine", "--title", "Mine", "--json"]
        done = CliRunner().invoke(app, command, env=environment)
        assert done.exit_code == 0, done.output
        (build,) = json.loads(done.stdout)["builds"]
        return {name: build[name] for name in ("added", "changed", "unchanged", "removed")}

    assert run() == {"added": 2, "changed": 0, "unchanged": 0, "removed": 0}
    (export / "a.ris").write_text(RIS.replace("On Owls", "On Tame Owls"))
    # Without a key of its own an item is known by its title.
    assert run() == {"added": 1, "changed": 0, "unchanged": 1, "removed": 1}


def test_what_cannot_be_read_or_has_no_title_is_named_with_its_reason(tmp_path) -> None:
    file = tmp_path / "some.bib"
    file.write_text("@article{a, title={One}}\n@article{b, title={Two, year=2020}\n")
    assert [item.key for item in read_references(file)] == ["a"]
    (said,) = unreadable_entries(file)
    assert said.startswith("Line 2 of some.bib") and "@article{b" in said
    # Regression: an entry without a title vanished, and one whose key was taken could not be read.
    path = tmp_path / "all.bib"
    path.write_text(OF_ALL_KINDS)
    (double,) = unreadable_entries(path)
    assert "has the key of another before it" in double and "Another" in double
    assert LibraryPapers(Collection("c", "C"), read_references(path)).nameless == ("nameless",)


OF_ALL_KINDS = """
@article{a, title = {On Owls}, author = {Lee, Ann and others}, journal = {Journal of Night}, year = 2019}
@book{b, title = {Owls}, author = {Kim, Bo}, publisher = {Night Press}, year = 2020}
@phdthesis{t, title = {Of Owls}, author = {Ito, Cy}, school = {University of Night}, year = 2021}
@article{a, title = {Another}, author = {Lee, Ann}, year = 2022}
@misc{nameless, author = {Nobody}, year = 2001}
"""


def test_publications_stay_what_they_are(tmp_path: Path) -> None:
    """Regression: an article came back as a paper of a conference of its journal's name."""
    path = tmp_path / "all.bib"
    path.write_text(OF_ALL_KINDS)
    article, book, thesis = papers(read_references(path))
    assert [author.name for author in article.authors] == ["Ann Lee"]
    entries = papers_as_bibtex([article, book, thesis])
    assert "@article{" in entries and "journal = {Journal of Night}" in entries
    assert "@book{" in entries and "publisher = {Night Press}" in entries
    assert "@phdthesis{" in entries and "school = {University of Night}" in entries
    ris = papers_as_ris([article, book, thesis])
    assert [line for line in ris.splitlines() if line.startswith("TY")] == [
        "TY  - JOUR", "TY  - BOOK", "TY  - THES"
    ]  # fmt: skip
    for name, write in (("all.ris", papers_as_ris), ("all.json", papers_as_csl_json)):
        (tmp_path / name).write_text(write([article, book, thesis]))
        again = papers(read_references(tmp_path / name))
        assert [paper.bibtex.partition("{")[0] for paper in again] == ["@article", "@book", "@phdthesis"]


@pytest.mark.parametrize("suffix", [".json", ".bib", ".ris"])
def test_fault_markup_stood_in_titles_and_took_sentences_of_abstracts(tmp_path: Path, suffix: str) -> None:
    title = "<i>Strix nivalis</i> in CO<sub>2</sub> with <span>NIGHTNET</span> &amp; owls"
    abstract = "<jats:title>Abstract</jats:title><p>If e<f and f<g, p<0.05.</p><p>10<sup>6</sup> owls.</p>"
    venue = "J. of <i>Night</i> &amp; Day"
    written = {
        ".json": json.dumps([{"title": title, "abstract": abstract, "container-title": venue}]),
        ".bib": f"@article{{a, title={{{title}}}, abstract={{{abstract}}}, journal={{{venue}}}}}".replace(
            "&", "\\&"
        ),
        ".ris": f"TY  - JOUR\nTI  - {title}\nAB  - {abstract}\nJO  - {venue}\nER  - \n",
    }
    path = tmp_path / f"a{suffix}"
    path.write_text(written[suffix])
    (paper,) = papers(read_references(path))
    assert paper.title == "Strix nivalis in CO₂ with NIGHTNET & owls"
    assert paper.abstract == "If e<f and f<g, p<0.05. 10⁶ owls."
    assert paper.venue == "J. of Night & Day"
