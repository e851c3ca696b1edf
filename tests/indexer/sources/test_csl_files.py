"""CSL-JSON and its relatives, and the encodings of reference files."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.records import Author, Collection, Paper
from indexer.errors import SourceError
from indexer.sources.library import LibraryPapers
from indexer.sources.references import read_references, unreadable_entries


def read(path: Path) -> list[Paper]:
    return [listed.paper for listed in LibraryPapers(Collection("r", "R"), read_references(path)).papers()]


def read_json(folder: Path, content: object) -> list[Paper]:
    path = folder / "owls.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read(path)


def read_entry(folder: Path, **fields: Any) -> Paper:
    (paper,) = read_json(folder, [{"id": "owl", "title": "On nests", **fields}])
    return paper


@pytest.mark.parametrize(
    ("fields", "year"),
    [
        ({"issued": {"date-parts": [["2015", "3"]]}}, 2015),
        ({"issued": {"date-parts": [2015, 3]}}, 2015),
        ({"issued": {"date-parts": [[2015.0]]}}, 2015),
        ({"issued": {"date-parts": [["2015.0"]]}}, 2015),
        ({"issued": {"date-parts": [[2014], [2015]]}}, 2014),
        ({"issued": {"date-parts": [[]], "literal": "early 2015"}}, 2015),
        ({"issued": [{"year": 2015}]}, 2015),
        ({"issued": {"year": "2015"}}, 2015),
        ({"issued": "2015-05-01"}, 2015),
        ({"issued": 2015}, 2015),
        ({"issued": {"edtf": "2015-05/2016"}}, 2015),
        ({"issued": {"date-time": "2015-05-01T00:00:00Z"}}, 2015),
        ({"issued": {"date-parts": [[None]]}, "published-print": {"date-parts": [[2015]]}}, 2015),
        ({"published-online": {"date-parts": [[2015, 1, 2]]}, "created": {"date-parts": [[2019]]}}, 2015),
        ({"year": 2015}, 2015),
        ({"issued": {"date-parts": [[-350]]}}, None),
        ({"issued": {"date-parts": [[True]]}}, None),
        ({"accessed": {"date-parts": [[2015]]}}, None),
        ({"issued": {"raw": "n.d."}}, None),
    ],
)
def test_fault_dates_in_other_forms_were_lost(tmp_path: Path, fields: Any, year: int | None) -> None:
    assert read_entry(tmp_path, **fields).year == year


@pytest.mark.parametrize(
    ("written", "authors"),
    [
        ([{"family": "Uhu", "given": "Ada", "suffix": "Jr."}], [Author("Ada, Jr.", "Uhu")]),
        ([{"family": "Ito", "given": "Bo", "non-dropping-particle": "van"}], [Author("Bo", "van Ito")]),
        (
            [{"family": "Ito", "given": "Bo", "dropping-particle": "de", "non-dropping-particle": "La"}],
            [Author("Bo", "de La Ito")],
        ),
        ([{"family": "Ibis", "given": "Bo", "non-dropping-particle": "d’"}], [Author("Bo", "d’Ibis")]),
        ([{"family": "Kauz", "given": "Bo", "dropping-particle": "al-"}], [Author("Bo", "al-Kauz")]),
        ([{"literal": "Owl A"}, {"name": "Owl B"}], [Author("", "Owl A"), Author("", "Owl B")]),
        ([{"given": "Uhura"}, {"literal": "et al."}], [Author("", "Uhura")]),
        (["Uhu, Ada", "Bo Kauz"], [Author("Ada", "Uhu"), Author("Bo", "Kauz")]),
        ("Uhu, Ada and Kauz, Bo", [Author("Ada", "Uhu"), Author("Bo", "Kauz")]),
        ([{"family": "K&uuml;hn", "given": "<i>Bo</i>"}], [Author("Bo", "Kühn")]),
        ([None, 3, {"family": "", "given": ""}], []),
    ],
)  # fmt: skip
def test_fault_parts_of_names_were_lost(tmp_path: Path, written: Any, authors: list[Author]) -> None:
    assert list(read_entry(tmp_path, author=written).authors) == authors


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"title": ["Of nests"], "subtitle": ["A study"]}, {"title": "Of nests: A study"}),
        ({"container-title": ["Journal of Owls"], "publisher": "Owl Press"}, {"venue": "Journal of Owls"}),
        ({"short-container-title": ["J. Owls"], "publisher": "Owl Press"}, {"venue": "J. Owls"}),
        ({"institution": [{"name": "Owl Archive"}]}, {"venue": "Owl Archive"}),
        ({"number": "arXiv:2101.00001", "publisher": "arXiv"}, {"arxiv_id": "2101.00001"}),
        ({"number": "2101.00001", "publisher": "arXiv"}, {"arxiv_id": "2101.00001"}),
        ({"archive": "arXiv", "archive_location": "2101.00001v2"}, {"arxiv_id": "2101.00001v2"}),
        ({"number": "2101.00001", "publisher": "Owl Press"}, {"arxiv_id": ""}),
        ({"externalIds": {"ArXiv": "2101.00001"}}, {"arxiv_id": "2101.00001"}),
        ({"externalIds": {"DOI": "10.5555/nest"}}, {"doi": "10.5555/nest"}),
        ({"keyword": ["owl", "nest, moss"]}, {"labels": ("owl", "nest, moss")}),
        ({"subject": ["Birds"]}, {"keywords": ("Birds",)}),
        ({"authors": [{"name": "Ada Uhu"}]}, {"authors": (Author("Ada", "Uhu"),)}),
        ({"author": [], "editor": ["Uhu, Ada"]}, {"authors": (Author("Ada", "Uhu"),)}),
        ({"article-number": "e12"}, {"pages": "e12"}),
        ({"id": "http://x.example/items/1", "note": "Citation Key: uhu20\nseen"}, {"id": "r/uhu20"}),
        ({"type": "proceedings-article", "author": ["Uhu, A."]}, {"bibtex": "@inproceedings{"}),
    ],
)  # fmt: skip
def test_fields_of_relatives(tmp_path: Path, fields: Any, value: dict[str, Any]) -> None:
    paper = read_entry(tmp_path, **fields)
    found = {name: getattr(paper, name) for name in value}
    assert {**found, "bibtex": paper.bibtex[:15]} == {"bibtex": paper.bibtex[:15], **value}


ENTRY = {"id": "owl", "title": "On nests", "issued": {"date-parts": [[2015]]}}


@pytest.mark.parametrize(
    "content",
    [
        [ENTRY],
        ENTRY,
        {"references": [ENTRY]},
        {"items": [ENTRY], "total": 1},
        {"items": {"owl": ENTRY}},
        {"owl": {"title": "On nests", "issued": "2015"}},
        {"status": "ok", "message": {"items": [ENTRY]}},
        {"status": "ok", "message": ENTRY},
        [{"key": "K", "version": 3, "csljson": ENTRY}],
        [{"key": "K", "links": {}, "data": {"itemType": "book", "title": "On nests", "date": "May 2015"}}],
        "\n".join(json.dumps(entry) for entry in (ENTRY, {"itemType": "note", "note": "x"})),
    ],
)
def test_fault_other_lists_of_references_were_refused(tmp_path: Path, content: object) -> None:
    assert [(paper.title, paper.year) for paper in read_json(tmp_path, content)] == [("On nests", 2015)]


def test_fault_better_bibtex_json_had_neither_authors_nor_years(tmp_path: Path) -> None:
    item = {
        "itemKey": "AAAA1111",
        "citationKey": "uhu2015",
        "itemType": "bookSection",
        "title": "On nests",
        "creators": [
            {"firstName": "Ed", "lastName": "Itor", "creatorType": "editor"},
            {"firstName": "Ada", "lastName": "Uhu", "creatorType": "author"},
            {"name": "Night Team", "creatorType": "author"},
        ],
        "date": "2015-05",
        "bookTitle": "Book of Owls",
        "abstractNote": "Owls nest.",
        "tags": [{"tag": "owl"}, "nest"],
        "notes": [{"note": "<p>Seen.</p>"}],
        "extra": "arXiv: 2101.00001",
    }
    (paper,) = read_json(
        tmp_path, {"config": {"id": "x"}, "collections": {}, "items": [item, {"itemType": "note"}]}
    )
    assert paper.authors == (Author("Ada", "Uhu"), Author("", "Night Team"))
    assert (paper.id, paper.year, paper.venue) == ("r/uhu2015", 2015, "Book of Owls")
    assert (paper.abstract, paper.labels, paper.notes) == ("Owls nest.", ("owl", "nest"), ("Seen.",))
    assert (paper.arxiv_id, paper.bibtex[:13]) == ("2101.00001", "@incollection")


@pytest.mark.parametrize("content", ['{"rows": []}', '{"a": 1}', "{}", "3", '{"message": "no"}'])
def test_other_json_is_refused_with_what_it_lacks(tmp_path: Path, content: str) -> None:
    with pytest.raises(SourceError, match=r"no list of references in CSL's form.* Export the library"):
        read_json(tmp_path, content)


def test_entries_and_bytes_that_are_none_cost_only_themselves(tmp_path: Path) -> None:
    path = tmp_path / "owls.json"
    path.write_text(json.dumps([ENTRY, "no entry", None]))
    assert len(read_references(path)) == 1
    assert [line[:7] for line in unreadable_entries(path)] == ["Entry 2", "Entry 3"]
    path = tmp_path / "owls.ris"
    lines = (
        "TY  - JOUR\nTI  - Größe naïve œuvre 梟\nER  - \n".encode(),
        "TI  - Kühn\nER  - \n".encode("cp1252"),
    )
    path.write_bytes(b"TY  - JOUR\n".join(lines))
    assert [paper.title for paper in read(path)] == ["Größe naïve œuvre 梟", "Kühn"]
    (said,) = unreadable_entries(path)
    assert "not UTF-8" in said
    path = tmp_path / "owls.bib"
    path.write_bytes("% Encoding: Cp1250\n@book{a, title={Łąka sów}, author={Żuk, Ła}}".encode("cp1250"))
    (paper,) = read(path)
    assert (paper.title, paper.authors) == ("Łąka sów", (Author("Ła", "Żuk"),))
    (said,) = unreadable_entries(path)
    assert "cp1250" in said


WRITTEN = {
    ".bib": "@article{uhu, author={Kühn, Jörg}, title={Übung — naïve}, year={2013}}\r\n",
    ".ris": "TY  - JOUR\r\nAU  - Kühn, Jörg\r\nTI  - Übung — naïve\r\nPY  - 2013\r\nER  - \r\n",
    ".json": json.dumps(
        [{"author": [{"family": "Kühn", "given": "Jörg"}], "title": "Übung — naïve", "issued": "2013"}],
        ensure_ascii=False,
    ),
}


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_fault_files_in_other_encodings_lost_letters(tmp_path: Path, suffix: str, encoding: str) -> None:
    path = tmp_path / f"owls{suffix}"
    path.write_bytes(WRITTEN[suffix].encode(encoding))
    (paper,) = read(path)
    assert (paper.title, paper.authors, paper.year) == ("Übung — naïve", (Author("Jörg", "Kühn"),), 2013)
    said = unreadable_entries(path)
    assert [line.partition(":")[0] for line in said] == [path.name] * (encoding == "cp1252")
