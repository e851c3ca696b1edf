"""BibTeX and biblatex files as papers: strings, names, LaTeX, identifiers, inherited fields, own entries."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.exports.references import citation_keys, papers_as_bibtex, papers_as_csl_json, papers_as_ris
from corpus.bibtex.entry import read_entry
from corpus.bibtex.syntax import parse_bibtex
from corpus.records import Author, Collection, Paper
from indexer.__main__ import app
from indexer.sources.library import LibraryPapers
from indexer.sources.references import read_references, unreadable_entries


def read(folder: Path, text: str) -> list[Paper]:
    """Return the papers of a BibTeX file of this text."""
    (folder / "moss.bib").write_text(text, encoding="utf-8")
    items = read_references(folder / "moss.bib")
    return [entry.paper for entry in LibraryPapers(Collection("moss", "Moss"), items).papers()]


def read_field(folder: Path, field: str, printed: str) -> Paper:
    """Return the paper of an entry of which one field is printed so, with braces or marks round it."""
    title = "" if field == "title" else "title = {On Moss}, "
    (paper,) = read(folder, f"@article{{moss, {title}{field} = {printed}, language = {{en}}}}")
    return paper


@pytest.mark.parametrize(
    ("printed", "venue"),
    [
        ("fens # bogs", "Letters on Fens and Bogs"),
        ('"On " # {the } # fens', "On the Letters on Fens"),
        ("FENS", "Letters on Fens"),
        ("{fens # bogs}", "fens # bogs"),
        ('"a {"}quoted{"} word"', 'a "quoted" word'),
        ('"the "wet" one"', 'the "wet" one'),
        ("unknown", "unknown"),
        ("Wet Places Weekly", "Wet Places Weekly"),
        ('"Part " # 2', "Part 2"),
        ("{Ends in a backslash\\\\}", "Ends in a backslash"),
    ],
)
def test_fault_strings_were_not_joined(tmp_path: Path, printed: str, venue: str) -> None:
    strings = '@string{fens = "Letters on " # {Fens}}\n@STRING(bogs = { and Bogs})\n'
    (paper,) = read(
        tmp_path, f"{strings}@article{{moss, title = {{On Moss}}, journal = {printed}, year = 2011}}"
    )
    assert (paper.venue, paper.year) == (venue, 2011)


@pytest.mark.parametrize(
    "entry",
    [
        "@article{moss, title = {On Moss} author = {Bo Fen}, year = 2011}",
        "@article{moss, title = {On Moss},, author = {Bo Fen}, , year = 2011,,}",
        "@article{moss, title = {On Moss}, author = {Bo Fen}, year = 2011, year = 2012, title = {Twice}}",
        "@article{moss title = {On Moss}, author = {Bo Fen}, year = 2011}",
        "@article{moss, title = {On Moss}}, author = {Bo Fen}, year = 2011}",
        "@article{moss, title = {On Moss}, author = {Bo Fen}, year = 2011\n",
        "@article{moss, title = {On Moss}, % a remark\n % year = 1999,\n author = {Bo Fen}, year = 2011}",
        '@Article ( moss , Title="On Moss", AUTHOR = {Bo Fen}, note, year = 20 # 11 )',
        "@article{title = {On Moss}, author = {Bo Fen}, year = 2011}",
    ],
)
def test_fault_a_comma_or_a_brace_cost_an_entry_or_its_fields(tmp_path: Path, entry: str) -> None:
    first, second = read(tmp_path, f"{entry}\n@misc{{next, title = {{Next}}}}")
    assert (first.title, first.authors, first.year) == ("On Moss", (Author("Bo", "Fen"),), 2011)
    assert second.title == "Next"
    assert unreadable_entries(tmp_path / "moss.bib") == ()


def test_entries_that_cannot_be_read_are_named_with_line_key_and_reason(tmp_path: Path) -> None:
    entries = [
        "@misc{a, title = {Whole}}",
        "@misc{wet, title = {Open {brace}, year = 2001}",
        '@misc{dry, title = "Open mark, year = 2001}',
        "@misc[odd, title = {Bracket}]",
        "@misc{a, title = {Key of the first}}",
        "@misc{, title = {No key}}",
        "@misc{, title = {No key again}}",
    ]
    papers = read(tmp_path, "\n".join(entries))
    assert [paper.title for paper in papers] == ["Whole", "No key", "No key again"]
    for said, (line, key, reason) in zip(
        unreadable_entries(tmp_path / "moss.bib"),
        [
            (2, "wet", "brace"),
            (3, "dry", "quotation mark"),
            (4, "odd", "no brace"),
            (5, "a, Key", "of another"),
        ],
        strict=True,
    ):
        assert said.startswith(f"Line {line} of moss.bib") and key in said and reason in said


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        (
            "Ida van der Fen and van Mire, Bo and Leo de la Marsh",
            "Ida/van der Fen; Bo/van Mire; Leo/de la Marsh",
        ),
        ("van Mire and Cher", "/van Mire; /Cher"),
        ("ida may fen", "ida may/fen"),
        ("Ida {de la Fen} and {van Mire}, Bo", "Ida/de la Fen; Bo/van Mire"),
        ("Fen, Jr., Ida Q. and von Mire, III, Bo", "Ida Q., Jr./Fen; Bo, III/von Mire"),
        ("Ida Fen Jr. and Ida Fen, Jr. and Fen, Ida, Jr. and Fen Jr., Ida", "; ".join(4 * ["Ida, Jr./Fen"])),
        (
            "{Mire and Sons, Ltd.} and {{The Fen Group}} and Fen, Ida",
            "/Mire and Sons, Ltd.; /The Fen Group; Ida/Fen",
        ),
        (r"{\"O}zl{\"u} {\c S}en and {\L}eo F{\'\i}n and \O yvind Mire", "Özlü/Şen; Łeo/Fín; Øyvind/Mire"),
        (r"M{\'a}ria {F{\'e}n L{\'o}}", "Mária/Fén Ló"),
        ("Ida~B. Fen\nAND\nLeo\\ Mire and others", "Ida B./Fen; Leo/Mire"),
        ("Anders, Bo and Band Andersson and {Rand} and", "Bo/Anders; Band/Andersson; /Rand"),
        (
            "family=Fen, given=Ida, prefix=de, useprefix=true and given={Leo Bo}, family=Mire, suffix=Jr."
            ' and family={Fen and Sons} and "family=Bog, Inc."',
            "Ida/de Fen; Leo Bo, Jr./Mire; /Fen and Sons; /Bog, Inc.",
        ),
        ("沼, 青", "青/沼"),
        ("{Fen, Ida}", "/Fen, Ida"),
        ("Fen, Ida et al.", "Ida/Fen"),
    ],
)
def test_fault_names_were_taken_apart_at_the_wrong_places(tmp_path: Path, printed: str, names: str) -> None:
    paper = read_field(tmp_path, "author", f"{{{printed}}}")
    assert "; ".join(f"{author.given}/{author.family}" for author in paper.authors) == names


def test_a_suffix_stands_behind_the_whole_name(tmp_path: Path) -> None:
    paper = read_field(tmp_path, "author", "{van Fen, Jr., Ida}")
    assert [author.name for author in paper.authors] == ["Ida van Fen Jr."]
    own, made = paper, Paper("p", "c", "On Moss", paper.authors, None, "", "")
    assert "author = {van Fen, Jr., Ida}" in papers_as_bibtex([own])
    assert "author = {van Fen, Jr., Ida}" in papers_as_bibtex([made])
    assert "AU  - van Fen, Ida, Jr." in papers_as_ris([made])
    (item,) = json.loads(papers_as_csl_json([made]))
    assert item["author"] == [{"family": "van Fen", "given": "Ida", "suffix": "Jr."}]


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        (r"Wet \href{https://fen.example/a_b%20c}{The {Link}}", "Wet The Link"),
        (r"See \url{https://fen.example/~ida_a--b%20c}", "See https://fen.example/~ida_a--b%20c"),
        (r"\texttt{code} \textsf{a} \mbox{FEN-4} \textsc{Fen} \underline{wet}", "code a FEN-4 Fen wet"),
        (r"\LaTeX{} and {\TeX}s in \BibTeX", "LaTeX and TeXs in BibTeX"),
        (r"{\textless}2 and {\textgreater} 3 \textbar{} \textasciitilde", "<2 and > 3 | ~"),
        (r"\enquote{Wet} \enquote*{dry} ``so'' -- and---on", "“Wet” “dry” “so” – and—on"),
        (r"\verb|x_y| and \verb+a|b+", "x_y and a|b"),
        (r"In $\mathcal{O}(n^{2})$ and {$\ell_1$}", r"In $\mathcal{O}(n^{2})$ and $\ell_1$"),
        (r"\unknown{kept} \textcolor{red}{wet} {\bf bold} {\relax W}et", "kept wet bold Wet"),
        (r"\{1, 2\} {{Deep} {brac{es}}}", "{1, 2} Deep braces"),
        (r"F{\'e}n M\"ur {\aa} \v{z} {\ss} \i{} \c c", "Fén Mür å ž ß ı ç"),
        ("Half 50% of #1, a_b & R\\&D 5\\%", "Half 50% of #1, a_b & R&D 5%"),
        ("Broken \\href{only", "Broken only"),
        ("Wet\\\\b", "Wet b"),
        ("Wet\\\\ and~dry\\,x \\noopsort{b}", "Wet and dry x"),
    ],
)
def test_fault_words_were_lost_with_their_latex(tmp_path: Path, printed: str, title: str) -> None:
    entry = f"@misc{{moss, title = {{{printed}{'}' * (printed.count('{') - printed.count('}'))}}}}}"
    (paper,) = read(tmp_path, entry)
    assert paper.title == title


@pytest.mark.parametrize(
    ("field", "printed", "attribute", "value"),
    [
        ("url", "{https://fen.example/a_b%20c?x=1&y=2#d~e}", "url", "https://fen.example/a_b%20c?x=1&y=2#d~e"),
        ("url", r"{\url{https://fen.example/a\_b\%20c\~{}e}}", "url", "https://fen.example/a_b%20c~e"),
        ("howpublished", r"{Online: \url{https://fen.example/a}}", "url", "https://fen.example/a"),
        ("abstract", r"{A 5% rise, a 6\% fall, a &lt; b.}", "abstract", "A 5% rise, a 6% fall, a < b."),
        ("keywords", r"""{Ida's, to "read", 50% off, a\b, R\&D; {x, y}}""", "labels",
         ("Ida's", 'to "read"', "50% off", "a\\b", "R&D", "x, y")),
        ("doi", r"{https://doi.org/10.5432/a\_b{\_}c(d)}", "doi", "10.5432/a_b_c(d)"),
        ("doi", "{10.5432/(SICI)1(19)2<45::AID>3.0;2-Q}", "doi", "10.5432/(SICI)1(19)2<45::AID>3.0;2-Q"),
        ("doi", "{https://doi.org/10.5432/(SICI)1%3C45::AID%3E3.0}", "doi", "10.5432/(SICI)1<45::AID>3.0"),
        ("url", "{https://doi.org/10.5432/abc}", "doi", "10.5432/abc"),
        ("subtitle", "{A Tale}", "title", "On Moss: A Tale"),
        ("date", "{1987-05/1988}", "year", 1987),
        ("year", "{{1987}}", "year", 1987),
        ("journaltitle", "{Fens}, journalsubtitle = {A Journal}", "venue", "Fens: A Journal"),
    ],
)  # fmt: skip
def test_fault_fields_were_cut_or_not_read(
    tmp_path: Path, field: str, printed: str, attribute: str, value: object
) -> None:
    assert getattr(read_field(tmp_path, field, printed), attribute) == value


@pytest.mark.parametrize(
    ("fields", "identifier"),
    [
        ("eprint = {2101.01234v2}, eprinttype = {arxiv}", "2101.01234v2"),
        ("eprint = {arXiv:2101.01234}", "2101.01234"),
        ("eprint = {2101.01234 [cs.CL]}, archivePrefix = {arXiv}", "2101.01234"),
        ("eprint = {https://arxiv.org/abs/2101.01234v3}, eprinttype = arxiv", "2101.01234v3"),
        ("eprint = {0309136}, archiveprefix = {arXiv}, primaryclass = {math.GT}", "math/0309136"),
        ("eprint = {math.GT/0309136}, archiveprefix = {arXiv}", "math/0309136"),
        ("eprint = {hep-th/9711200}", "hep-th/9711200"),
        ("journal = {arXiv preprint arXiv:2101.01234}", "2101.01234"),
        ("journal = {CoRR}, volume = {abs/2101.01234}", "2101.01234"),
        ("howpublished = {\\url{https://arxiv.org/abs/2101.01234}}", "2101.01234"),
        ("publisher = {arXiv}, number = {arXiv:2101.01234}", "2101.01234"),
        ("doi = {10.48550/arXiv.2101.01234}", "2101.01234"),
        ("arxivId = {2101.01234}", "2101.01234"),
        ("eprint = {2101.01234}, eprinttype = {jstor}", ""),
        ("journal = {Fens}, volume = {2101}, number = {2101.01234}", ""),
    ],
)
def test_fault_arxiv_ids_were_not_read(tmp_path: Path, fields: str, identifier: str) -> None:
    (paper,) = read(tmp_path, f"@misc{{moss, title = {{On Moss}}, {fields}}}")
    assert paper.arxiv_id == identifier


def test_fault_fields_of_the_whole_were_not_inherited(tmp_path: Path) -> None:
    papers = read(
        tmp_path,
        """@inproceedings{part, title = {Part}, author = {Ida Fen}, crossref = {Whole}}
        @incollection{chapter, title = {Chapter}, author = {Ida Fen}, xdata = {print, wet}, year = 1999}
        @inproceedings{lone, title = {Lone}, author = {Ida Fen}, crossref = {gone}, year = 2000}
        @xdata{print, publisher = {Fen Press}, date = {1998}, xdata = {print}}
        @xdata{wet, booktitle = {Wet Places}}
        @proceedings{whole, title = {Proceedings of Fens}, editor = {Ed Bog}, year = 2011,
          doi = {10.5432/whole}}""",
    )
    part, chapter, lone, whole = papers
    assert (part.venue, part.year, part.doi, part.authors) == (
        "Proceedings of Fens",
        2011,
        "",
        (Author("Ida", "Fen"),),
    )
    assert (chapter.venue, chapter.year, whole.doi) == ("Wet Places", 1998, "10.5432/whole")
    exported = papers_as_bibtex([part, chapter])
    assert "booktitle = {Proceedings of Fens}" in exported and "publisher = {Fen Press}" in exported
    assert "crossref" not in exported and "xdata" not in exported
    listed = LibraryPapers(Collection("m", "M"), read_references(tmp_path / "moss.bib")).papers()
    assert [note for entry in listed for note in entry.notes] == [
        "its entry refers to gone, which the file does not hold"
    ]
    assert lone.year == 2000


OWN = r"""@article{Fen2019_Moss:a, title = {On {Moss} in $\mathcal{O}(n)$ and \href{https://fen.example}{Mud}},
 author = {Fen, Ida}, journal = {Letters on } # {Fens \& Bogs}, volume = 12, number = {3}, pages = {1--9},
 publisher = {Fen Press}, issn = {1234-5678}, eprint = {2101.01234}, archiveprefix = {arXiv}, year = 2019,
 abstract = {It does \input{/etc/passwd} and \textcolor{red}{more}.}, file = {:/home/ida/secret.pdf:PDF}}
"""


def test_fault_own_entries_did_not_come_out_again(tmp_path: Path) -> None:
    (paper,) = read(tmp_path, OWN)
    assert citation_keys([paper]) == ("Fen2019_Moss:a",)
    (entry,) = parse_bibtex(papers_as_bibtex([paper])).entries
    assert (entry.kind, entry.key) == ("article", "Fen2019_Moss:a")
    assert entry.fields["title"] == r"On {Moss} in $\mathcal{O}(n)$ and {Mud}"
    assert entry.fields["journal"] == r"Letters on Fens \& Bogs"
    kept = {"volume": "12", "number": "3", "pages": "1--9", "publisher": "Fen Press", "eprint": "2101.01234"}
    assert kept.items() <= entry.fields.items()
    # Commands that do more than typeset, and places on somebody's machine, stay at home.
    assert not {r"\input", r"\textcolor", "secret.pdf"} & set(
        papers_as_bibtex([paper]).replace("{", " ").split()
    )
    ris = papers_as_ris([paper])
    assert all(
        f"{line}\r\n" in ris for line in ("ID  - Fen2019_Moss:a", "VL  - 12", "IS  - 3", "PB  - Fen Press")
    )
    (item,) = json.loads(papers_as_csl_json([paper]))
    assert (item["id"], item["volume"], item["issue"], item["publisher"]) == (
        "Fen2019_Moss:a",
        "12",
        "3",
        "Fen Press",
    )


@pytest.mark.parametrize(
    ("key", "own"), [("a b", "a-b"), ("fén:1", "fén:1"), ("", "fen-2019-moss"), ("{}", "fen-2019-moss")]
)
def test_keys_that_cannot_be_cited_are_replaced(tmp_path: Path, key: str, own: str) -> None:
    (paper,) = read(tmp_path, f"@misc{{{key}, title = {{On Moss}}, author = {{Ida Fen}}, year = 2019}}")
    assert citation_keys([paper]) == (own,)


pieces = st.sampled_from(
    [*'{}",=@%$#\\~&()\n aé', "@misc{", "title", "author", r"\href", r"\"", "and ", "^^5c"]
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(pieces, max_size=60).map("".join))
def test_no_entry_breaks_the_reader_or_its_export(tmp_path: Path, text: str) -> None:
    papers = read(
        tmp_path,
        f"@misc{{first, title = {{First}}}}\n@article{{x, title = {{{text}\n@misc{{last, title = {{L}}}}",
    )
    assert papers[0].title == "First"
    assert all(read_entry(paper.bibtex) for paper in papers if paper.bibtex)
    assert len(parse_bibtex(papers_as_bibtex(papers)).entries) == len(papers)


def test_the_command_prints_papers_and_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The process of the tests has threads, and could not be confined.
    monkeypatch.setattr("indexer.uploads.reading.has_other_threads", lambda: False)
    monkeypatch.setattr("indexer.uploads.reading.bound", lambda *_: None)
    monkeypatch.setattr("indexer.uploads.reading.confine", lambda *_, **__: None)
    file = tmp_path / "moss.bib"
    file.write_text(OWN + "@misc{open, title = {Open\n@misc{nobody, year = 2001}\n")
    done = CliRunner().invoke(app, ["read", str(file), "--json"])
    found = json.loads(done.stdout)
    (paper,) = found["papers"]
    assert (paper["authors"], paper["year"]) == (
        [{"given": "Ida", "family": "Fen", "affiliations": []}],
        2019,
    )
    assert paper["arxiv_id"] == "2101.01234" and paper["bibtex"].startswith("@article{Fen2019_Moss:a,")
    assert (paper["file"], paper["remarks"]) == (
        "",
        ["secret.pdf lies outside the library's folder, and is not read"],
    )
    assert ["open" in found["problems"][0], "nobody" in found["problems"][1], len(found["problems"])] == [
        True,
        True,
        2,
    ]
    assert "On Moss" in CliRunner().invoke(app, ["read", str(file)]).stdout
    file.write_text("@misc{open, title = {Open")
    done = CliRunner().invoke(app, ["read", str(file), "--json"])
    assert (done.exit_code, len(json.loads(done.stdout)["problems"])) == (2, 1)
