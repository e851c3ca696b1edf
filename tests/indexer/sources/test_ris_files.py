"""RIS as its many writers write it."""

from pathlib import Path

import pytest

from corpus.records import Author, Collection, Paper
from indexer.sources.formats.names import read_name
from indexer.sources.library import LibraryPapers
from indexer.sources.references import read_references


def read(folder: Path, text: str) -> list[Paper]:
    path = folder / "owls.ris"
    path.write_text(text, encoding="utf-8")
    return [listed.paper for listed in LibraryPapers(Collection("r", "R"), read_references(path)).papers()]


def read_record(folder: Path, *lines: str) -> Paper:
    (paper,) = read(folder, "\n".join([*lines, "ER  - "]))
    return paper


@pytest.mark.parametrize(
    "form",
    [
        "{tag}  - {value}",
        "{tag}  -{value}",
        "{tag} - {value}",
        "{tag}- {value}",
        "  {tag}  - {value}",
        "\t{tag} - {value}",
        "{tag}\u00a0\u00a0- {value}",
        "{tag}  – {value}",
    ],
)
def test_fault_tags_in_other_forms_lost_letters_or_whole_files(tmp_path: Path, form: str) -> None:
    fields = [("TY", "JOUR"), ("AU", "Uhu, Ada"), ("TI", "Nests of owls"), ("PY", "2014"), ("ER", "")]
    (paper,) = read(tmp_path, "\n".join(form.format(tag=tag, value=value) for tag, value in fields))
    assert (paper.title, paper.authors, paper.year) == ("Nests of owls", (Author("Ada", "Uhu"),), 2014)


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nTI  - One\n{}TY  - BOOK\nTI  - Two\nER  - \n",
        "Provider: Owl Press\n\nTY  - JOUR\n\nTI  - One\n\nER  -\n{}\n\n2.\nTY  - BOOK\nTI  - Two",
        "\ufeffTY  - JOUR\r\nTI  - One\r\nER\r\n{}\ufeffTY  - BOOK\r\nTI  - Two\r\nER  - ",
        "ID  - 1\nTY  - JOUR\nTI  - One\n{}ER  - \nER  - \nID  - 2\nTY  - BOOK\nTI  - Two\nEF  - \n",
        "TI  - One\n{}ER  - \nTY  - BOOK\nTI  - Two\nER  - ",
        "TY  - Journal Article\nTI  - One\n{}TY  - Whole Book\nTI  - Two",
        "TY  - JOUR\rTI  - One\r{}ER  - \rTY  - BOOK\rTI  - Two\r",
    ],
)
def test_fault_a_record_without_an_end_swallowed_the_next(tmp_path: Path, text: str) -> None:
    assert [paper.title for paper in read(tmp_path, text.format(""))] == ["One", "Two"]


@pytest.mark.parametrize(
    ("lines", "venue"),
    [
        (["TY  - JOUR", "JF  - Journal of Owls", "JO  - J. Owls", "PB  - Owl Press"], "Journal of Owls"),
        (["TY  - JOUR", "JO  - J. Owls", "T2  - Journal of Owls"], "Journal of Owls"),
        (["TY  - JOUR", "JA  - J. Owls", "PB  - Owl Press"], "J. Owls"),
        (["TY  - CHAP", "BT  - Book of Owls", "T2  - Series of Birds", "PB  - Owl Press"], "Book of Owls"),
        (["TY  - CHAP", "T2  - Book of Owls", "PB  - Owl Press"], "Book of Owls"),
        (["TY  - CONF", "T2  - Owl Days", "C3  - Proceedings of Owl Days"], "Proceedings of Owl Days"),
        (["TY  - EDBOOK", "BT  - On nests", "PB  - Owl Press"], "Owl Press"),
        (["TY  - THES", "PB  - University of Owls", "T2  - Biology"], "University of Owls"),
    ],
)
def test_fault_publishers_and_abbreviations_stood_for_journals_and_books(
    tmp_path: Path, lines: list[str], venue: str
) -> None:
    assert read_record(tmp_path, *lines, "TI  - On nests", "AU  - Uhu, A.").venue == venue


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["A1  - Uhu, Ada Q.", "A1  - van der Kauz, Ruud"], ["Ada Q. Uhu", "Ruud van der Kauz"]),
        (["A1  - Uhu A.", "AU  - Kauz, Bo", "AU  - Kauz, Bo"], ["A. Uhu", "Bo Kauz"]),
        (["AU  - Uhu, A., Jr.", "AU  - Ito, III, C."], ["A. Uhu Jr.", "C. Ito III"]),
        (["AU  - Uhu, A.", "AU  - et al."], ["A. Uhu"]),
        (["AU  - Uhu, A. et al"], ["A. Uhu"]),
        (["AU  - Uhu, A.; Kauz, B."], ["A. Uhu", "B. Kauz"]),
        (["AU  - Uhu, A. and Kauz, B."], ["A. Uhu", "B. Kauz"]),
        (["AU  - Uhu AQ, Kauz B, van Ito C"], ["AQ Uhu", "B Kauz", "C van Ito"]),
        (["AU  - Uhu, A.", "Kauz, B."], ["A. Uhu", "B. Kauz"]),
        (["AU  - The Long Consortium", "for Nests"], ["The Long Consortium for Nests"]),
        (["AU  - Institute for Nests,"], ["Institute for Nests"]),
        (["A2  - Uhu, A.", "ED  - Kauz, B."], ["A. Uhu", "B. Kauz"]),
        (["AU  - Uhu, A.", "A2  - Kauz, B."], ["A. Uhu"]),
        (["AU  -", "AU  - :", "A3  - Kauz, B."], ["B. Kauz"]),
    ],
)  # fmt: skip
def test_fault_authors_of_other_vendors_were_lost(tmp_path: Path, lines: list[str], names: list[str]) -> None:
    paper = read_record(tmp_path, "TY  - BOOK", "TI  - On nests", *lines)
    assert [author.name for author in paper.authors] == names


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Y1  - 2012/05//", {"year": 2012}),
        ("PY  -\nDA  - 2014 Mar 5", {"year": 2014}),
        ("PY  - in press\nY1  - 1-6 June 2019", {"year": 2019}),
        ("Y2  - 2020", {"year": None}),
        ("SP  - 1\nEP  - 9", {"pages": "1-9"}),
        ("SP  - 1–9\nEP  - 9", {"pages": "1-9"}),
        ("SP  -\nC7  - 1042", {"pages": "1042"}),
        ("DO  - http://dx.doi.org/10.5555/nest.1", {"doi": "10.5555/nest.1"}),
        ("UR  - https://doi.org/10.5555/nest.1", {"doi": "10.5555/nest.1"}),
        ("M3  - doi: 10.5555/nest.1", {"doi": "10.5555/nest.1"}),
        ("UR  - https://x.example/a;b=1\nUR  - https://y.example", {"url": "https://x.example/a;b=1"}),
        ("L1  - https://x.example/a.pdf", {"url": "https://x.example/a.pdf"}),
        ("JO  - arXiv preprint arXiv:2101.00001", {"arxiv_id": "2101.00001"}),
        ("N2  - Owls\nnest.", {"abstract": "Owls nest."}),
        ("AB  - Aim: owls\nTI  - a tag\nAB  - nest.", {"abstract": "Aim: owls TI - a tag nest."}),
        ("AB  - Owls with\nAI - based nests", {"abstract": "Owls with AI - based nests"}),
        ("KW  - *owl\nnest\nKW  -\nKW  - moss; stone", {"labels": ("owl", "nest", "moss", "stone")}),
        ("N1  - Seen\ntwice", {"notes": ("Seen\ntwice",)}),
    ],
)
def test_fields_of_vendors(tmp_path: Path, line: str, value: dict[str, object]) -> None:
    paper = read_record(tmp_path, "TY  - JOUR", "TI  - On nests", "AU  - Uhu, Ada", line)
    assert {name: getattr(paper, name) for name in value} == value


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ("T1  - On nests", "On nests"),
        ("CT  - On nests", "On nests"),
        ("BT  - On nests", "On nests"),
        ("TI  -\nT1  - On nests\nTT  - Of nests", "On nests"),
        ("TI  - On\nnests", "On nests"),
    ],
)
def test_titles_of_vendors(tmp_path: Path, lines: str, title: str) -> None:
    assert read_record(tmp_path, "TY  - BOOK", lines).title == title


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Martin Lock Uhu Jr.", Author("Martin Lock, Jr.", "Uhu")),
        ("Sam Kauz, III", Author("Sam, III", "Kauz")),
        ("Kauz, Sam Q. 3rd", Author("Sam Q., 3rd", "Kauz")),
        ("Kauz Sr., Sam", Author("Sam, Sr.", "Kauz")),
        ("Jan van der Ito", Author("Jan", "van der Ito")),
        ("Ana Van der Ito", Author("Ana", "Van der Ito")),
        ("Lea De Luna", Author("Lea", "De Luna")),
        ("Thi Van Anh Ngo", Author("Thi Van Anh", "Ngo")),
        ("Sung In Cho", Author("Sung In", "Cho")),
        ("Uhu", Author("", "Uhu")),
        ("Night Team", Author("", "Night Team")),
        ("The Owl Collaboration", Author("", "The Owl Collaboration")),
        ("Ministry of Nests", Author("", "Ministry of Nests")),
        ("Department of Moss, University of Stone", Author("", "Department of Moss, University of Stone")),
        ("Uhu et al.", Author("", "Uhu")),
        (":", None),
        ("et al.", None),
        ("others", None),
        ("", None),
    ],
)
def test_names_in_one_piece(text: str, author: Author | None) -> None:
    assert read_name(text) == author
