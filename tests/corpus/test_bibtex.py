"""BibTeX for papers whose source brings none."""

import io
import re
from dataclasses import replace

import pytest
from citeproc.source.bibtex.bibparse import BibTeXParser
from hypothesis import given
from hypothesis import strategies as st

from corpus.bibtex.entry import bibtex, citation_key, read_entry
from corpus.bibtex.latex import latex_to_text
from corpus.records import Author, Paper

PAPER = Paper(
    id="notes/a",
    collection_id="notes",
    title="The 90% Rule: A & B",
    authors=(Author("Ada", "van Dÿk"), Author("", "The Group")),
    year=2022,
    venue="Notes",
    abstract="An abstract is not part of an entry.",
    pages="1-9",
)


def test_an_entry_has_a_line_per_known_fact_and_one_for_a_paper_of_which_nothing_is_known() -> None:
    assert bibtex(PAPER).splitlines() == [
        "@inproceedings{dyk-2022-rule,",
        r"    title = {The 90\% Rule: A \& B},",
        "    author = {van Dÿk, Ada and {The Group}},",
        "    booktitle = {Notes},",
        "    year = {2022},",
        "    pages = {1--9},",
        "}",
    ]
    bare = replace(PAPER, title="", authors=(), year=None, venue="", pages="")
    assert bibtex(bare) == "@misc{paper,\n}"
    # Raised figures of LaTeX became other numbers.
    assert latex_to_text(r"10\textsuperscript{6} of CO\textsubscript{2}") == "10⁶ of CO₂"


@pytest.mark.parametrize(
    ("title", "value"),
    [
        (r"On $\alpha$-moss and $O(n^2)$", r"On $\alpha$-moss and $O(n^2)$"),
        ("CO₂ at 10⁻³ $ & 5$", r"CO$_{2}$ at 10$^{-3}$ \$ \& 5\$"),
        (r"$5 and $6, $a%b_c$, $\input{x}$", r"\$5 and \$6, \$a\%b\_c\$, \$\textbackslash{}input"),
        ("$x_{1}}$", r"\$x\_\textbraceleft{}1"),
    ],
)
def test_fault_formulas_were_escaped(title: str, value: str) -> None:
    assert f"title = {{{value}" in bibtex(replace(PAPER, title=title))


@pytest.mark.parametrize(
    ("family", "year", "title", "key"),
    [
        ("Müller", 2020, "On Größe", "muller-2020-groe"),
        ("de la Cruz", 2021, "It is so", "cruz-2021"),
        ("李", 2022, "检索增强生成", "2022"),
        ("O'Neil", None, "Dense Retrieval", "oneil-dense"),
        ("{x},", 2020, "\\evil} key", "x-2020-evil"),
    ],
)
def test_citation_keys_are_plain(family: str, year: int | None, title: str, key: str) -> None:
    assert citation_key(replace(PAPER, authors=(Author("", family),), year=year, title=title)) == key


def parsed(text: str) -> dict[str, dict[str, str]]:
    """Return the entries that a BibTeX parser finds, by their keys."""
    return dict(BibTeXParser(io.StringIO(text)))


@given(st.text(max_size=60), st.text(max_size=30))
def test_no_title_or_name_breaks_out_of_its_value(title: str, name: str) -> None:
    entry = bibtex(replace(PAPER, title=title, authors=(Author("", name),)))
    assert re.fullmatch(r"@inproceedings\{[a-z0-9-]+,", entry.splitlines()[0])
    for line in entry.splitlines()[1:-1]:
        assert re.fullmatch(r"    [a-z]+ = \{.*\},", line)
        assert line.count("{") == line.count("}")
    assert read_entry(entry)
    (found,) = parsed(entry).values()
    assert {"booktitle", "year", "pages"} <= found.keys() <= {*"title author booktitle year pages".split()}


def test_a_lone_brace_in_a_title_does_not_swallow_the_entries_after_it() -> None:
    """A backslash before a brace does not keep BibTeX from counting it."""
    lone = bibtex(replace(PAPER, title="Sets {1, 2"))
    assert parsed(lone + "\n\n" + bibtex(replace(PAPER, year=1999))).keys() == {
        "dyk-2022-sets",
        "dyk-1999-rule",
    }


@pytest.mark.parametrize(
    ("given", "family", "name"),
    [
        ("Ada", "Lovelace", "Lovelace, Ada"),
        ("Gabriel", "García Márquez", "García Márquez, Gabriel"),
        ("", "Plato", "{Plato}"),
        ("Procter and", "Gamble", "{Procter and Gamble}"),
        ("", "Google, Inc.", "{Google, Inc.}"),
    ],
)
def test_names_stay_whole(given: str, family: str, name: str) -> None:
    assert f"author = {{{name}}}," in bibtex(replace(PAPER, authors=(Author(given, family),)))


@pytest.mark.parametrize(
    ("text", "kind_and_key"),
    [
        ('@Article{smith:2020,\n  title = "{A} b",\n}', ("article", "smith:2020")),
        (" @misc { key-1 , title = {x}}\n", ("misc", "key-1")),
        ("@inproceedings{a,\r\n title = {x},\r\n}", ("inproceedings", "a")),
        ("", None),
        ("no entry", None),
        ("@article{a, title = {x}", None),
        ("@article{a, title = {x}}} @misc{b, title = {}}", None),
        ("@article{a, title = {x}} @misc{b, title = {}}", None),
        ("@article{a, title = {x}} and more", None),
        ("@string{a, b}", None),
        ("@comment{a, b}", None),
        ("@article{a b, title = {x}}", None),
        ("@article{, title = {x}}", None),
    ],
)
def test_only_one_whole_entry_is_read(text: str, kind_and_key: tuple[str, str] | None) -> None:
    entry = read_entry(text)
    assert (entry and (entry.kind, entry.key)) == kind_and_key
