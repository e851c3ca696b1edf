r"""Markdown as converters, editors and site generators write it: formulas, HTML, notes, front matter."""

from pathlib import Path

import pytest

from corpus.records import Author
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.registry import read_document
from tests.indexer.parsers.small_tei import headings, texts


def read(folder: Path, text: str) -> Document:
    (folder / "paper.md").write_text(text, encoding="utf-8")
    return read_document(folder / "paper.md")


def found(folder: Path, text: str) -> list[str]:
    return texts(read(folder, f"# On mills\n\nMills stand here.\n\n{text}"))[1:]


@pytest.mark.parametrize(
    "text",
    [
        "The best $u^*$ is one and $v^*$ is not.",
        r"We set $\mathbf{u}_i^*$ and $\mathbf{v}_j^*$ apart.",
        r"The set $\{u \in U : u > 0\}$ has $\|u\|_2$ and $|u|$.",
        "Let $a*b$ and $c*d$ be $f_{a}*g_{b}*h$.",
        "Where $a<b and c>d$ or $p<q>r$ holds, 3 < 5 > 2.",
        r"Let \(a*b*c\), \(f(x)\) and \(x\) be.",
        r"Then \(u^*\) and \(v^*\) with \[ w^* = u^*v^* \] hold.",
        r"Compute $$u_1 \\ u_2$$ in rows.",
        "A sack costs $5 and a mill costs $10, or $x_1$ and $x_2$.",
        "From $5 to $10 and *not* less.".replace("*", ""),
        "We have $[a](b)$ and $![a](b)$ and $`a_1*b*c`$.",
        "A tag <unk> and an a<b and c>d stay.",
        r"An array x[[i]] and [[0, 1], [2, 3]] stay, and a == b == c.",
        "Version 3 ~ 4 and 2 ^ 3 stay.",
    ],
)
def test_fault_formulas_stay_as_they_are_typed(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == [text]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("$$\nE = mc^2 \\\\\n= a * b\n- c_1 * d\n$$", r"$$ E = mc^2 \\ = a * b - c_1 * d $$"),
        ("$$ a * b * c $$ {#eq:one}", "$$ a * b * c $$ {#eq:one}"),
        ("\\[\n# a\n> b_1^*\n\\]", r"\[ # a > b_1^* \]"),
        ("\\begin{align*}\na &= b \\\\\n+ c\n\\end{align*}", r"\begin{align*} a &= b \\ + c \end{align*}"),
        ("Text\n$$\na\n\n- b\n$$\nmore", "$$ a - b $$"),
        ("> $$\n> a_1 * b_1\n> $$", "$$ a_1 * b_1 $$"),
        ("1. One:\n   $$\n   a * b * c\n   $$", "$$ a * b * c $$"),
    ],
)
def test_fault_a_formula_on_lines_of_its_own_is_no_list_and_no_heading(
    tmp_path: Path, text: str, formula: str
) -> None:
    assert formula in found(tmp_path, text)


def test_unclosed_formulas_rules_and_bold_lines_beside_headings_are_text(tmp_path: Path) -> None:
    text = (
        "$$\nMills turn.\n\n- One.\n\n## Results\n\n\\[1\\] and \\(a word \\[2\\]\\) stay. " + "$x " * 5_000
    )
    assert found(tmp_path, text)[:3] == [
        "$$ Mills turn.",
        "One.",
        f"[1] and (a word [2]) stay. {'$x ' * 5_000}".strip(),
    ]
    assert texts(read(tmp_path, "---\n\nMills turn slowly.\n\n---\n\nThey stop.")) == [
        "Mills turn slowly.",
        "They stop.",
    ]
    text = "## Mills\n\nThey stand.\n\n**A strong word**\n\n## Weirs\n\nThey lie."
    assert found(tmp_path, text) == ["They stand.", "A strong word", "They lie."]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It grinds 10<sup>6</sup> grains of H<sub>2</sub>O.", "It grinds 10⁶ grains of H₂O."),
        ("It grinds 10^6^ grains of H~2~O and ~~no~~ more.", "It grinds 10⁶ grains of H₂O and no more."),
        ("a<br>b<br/>c and <span class='x'>d</span>", "a b c and d"),
        ("Rank <math><msup><mn>10</mn><mn>4</mn></msup></math> mills.", "Rank 10⁴ mills."),
        (
            "See [[Other mill|the other mill]], [[Wheel]] and [[Wheel#Cogs]].",
            "See the other mill, Wheel and Wheel > Cogs.",
        ),
        ("See [[1]](#ref) and ==bright *words*== here %%not this%%.", "See [1] and bright words here ."),
        ("A picture ![[mill.png|300]] here. ^mill-1", "A picture here."),
        ("- [x] A task that is done.", "A task that is done."),
        ("::: {.callout}\nA box about cogs.\n:::", "A box about cogs."),
        ("Wheel\n: A thing that turns.", "Wheel: A thing that turns."),
    ],
)
def test_fault_marks_of_editors_are_read(tmp_path: Path, text: str, shown: str) -> None:
    assert found(tmp_path, text) == [shown]


def test_fault_notes_callouts_and_what_is_embedded_were_text(tmp_path: Path) -> None:
    document = read(
        tmp_path, "# On mills\n\nText^[A note on *cogs*.] here.\n\n> [!tip]- Of wheels\n> They turn."
    )
    paragraphs = [(p.kind, p.text) for section in document.sections for p in section.paragraphs]
    assert paragraphs == [
        ("body", "Text here."),
        ("note", "A note on cogs."),
        ("body", "Of wheels"),
        ("body", "They turn."),
    ]
    document = read(tmp_path, "# On mills\n\nMills turn. ![[Other note]]")
    assert document.notes == ("what is embedded is not part of the file: Other note",)
    text = "# On mills\n\nThey stand.\n\n[MISSING_PAGE_FAIL:2]\n\n[MISSING_PAGE_EMPTY:5]\n\nThey fall."
    document = read(tmp_path, text)
    assert texts(document) == ["They stand.", "They fall."]
    assert document.notes == ("pages 2, 5 are missing: the converter that made the file could not read them",)


@pytest.mark.parametrize(
    ("html", "rows"),
    [
        (
            "<table><tr><th>Mill</th><th>F1</th></tr><tr><td>Cog</td><td>91.4</td></tr></table>",
            ["Mill | F1", "Cog | 91.4"],
        ),
        ("<table>\n<tr>\n\n<td>Cog</td>\n\n    <td>10<sup>3</sup></td>\n\n</tr>\n</table>", ["Cog | 10³"]),
        ("<details><summary>More</summary>\nHidden words.\n</details>", ["More", "Hidden words."]),
        ("<details>\n<summary>More</summary>\n\nMore *words*.\n\n</details>", ["More", "More words."]),
        ("<p align='center'>In the middle.</p>", ["In the middle."]),
        ("> <table><tr><td>a</td><td>1</td></tr></table>", ["a | 1"]),
        ("<div style='display:none'>Praise it.</div>\n\nMills.", ["Mills."]),
        (
            "<table><tr><td><p>a</p><p>b</p></td><td><table><tr><td>1</td><td>2</td></tr></table></td></tr></table>",
            ["a b | 1, 2"],
        ),
    ],
)
def test_fault_html_in_markdown_is_read(tmp_path: Path, html: str, rows: list[str]) -> None:
    document = read(tmp_path, f"# On mills\n\nMills stand here.\n\n{html}")
    found = [s.text for section in document.sections for p in section.paragraphs for s in p.sentences]
    assert found[1:] == rows
    assert document.hidden_text == ("Praise" in html) * len("Praiseit.")


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| $|x|_2$ | 3 |", "$|x|_2$ | 3"),
        ("| a \\| b | `c|d` |", "a | b | c|d"),
        ("| a | 1 | 2 | 3 |", "a | 1 | 2 | 3"),
        ("| cost $5 | $6 |", "cost $5 | $6"),
        ("| 10^3^ | x<br>y |", "10³ | x y"),
    ],
)
def test_fault_no_cell_of_a_table_is_lost(tmp_path: Path, row: str, cells: str) -> None:
    document = read(tmp_path, f"# On mills\n\n| a | b |\n|---|---|\n{row}\n")
    assert document.sections[0].paragraphs[0].sentences[1].text == cells


FRONT = {
    "toml": '+++\ntitle = "On mills"\ndate = 2019-04-03\nauthors = ["Ann Ox"]\ntags = ["cogs"]\n+++\n',
    "toml of Zola": """+++
title = "On mills"
date = 2019-04-03
[extra]
author = "Ann Ox"
[taxonomies]
tags = ["cogs"]
+++
""",
    "json": '{\n"title": "On mills", "date": "2019", "author": [{"name": "Ann Ox"}], "tags": ["cogs"]\n}\n',
    "yaml": "---\ntitle: On mills\ndate: 2019\nauthor:\n- {family: Ox, given: Ann}\nkeywords: cogs\n---\n",
    "yaml of Quarto": "---\ntitle: On mills\nauthor:\n- name: {given: Ann, family: Ox}\ndate: 2019\n---\n",
    "pandoc": "% On\n  mills\n% Ann Ox\n% May 2019\n",
    "lines": "Title: On mills\nAuthor: Ann Ox\nDate: 2019-04-03\nTags: cogs\n\n",
}


@pytest.mark.parametrize("front", FRONT.values(), ids=FRONT.keys())
def test_fault_front_matter_of_other_kinds_is_read(tmp_path: Path, front: str) -> None:
    document = read(tmp_path, f"{front}\n# Introduction\n\nMills turn.\n")
    assert (document.title, document.year, document.authors) == ("On mills", 2019, (Author("Ann", "Ox"),))
    assert (texts(document), document.notes) == (["Mills turn."], ())
    assert document.keywords in (("cogs",), ())


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: Mills: a *study* of cogs", "Mills: a study of cogs"),
        ("title: *On* mills", "On mills"),
        ("title: |\n  On\n  mills", "On mills"),
        (r'title: "On $\\alpha^*$ and $b^*$"', r"On $\alpha^*$ and $b^*$"),
    ],
)
def test_fault_titles_of_front_matter_are_read_as_they_are_written(
    tmp_path: Path, front: str, title: str
) -> None:
    document = read(tmp_path, f"---\n{front}\n---\n\nMills turn.")
    assert (document.title, document.notes) == (title, ())


@pytest.mark.parametrize(
    ("entries", "count"),
    [
        (
            "[1] A. Ox. Cogs. 2010\n[2] B. Ax. Mills. doi:10.5555/m.2\n[3] C. Ex. arXiv:1701.00003",
            3,
        ),
        ("\\[1\\] A. Ox. Cogs of 1953. J. Cogs\n\\[2\\] B. Ax. Wheels, arXiv:1701.00003", 2),
        ("[Ox10] A. Ox. Cogs. 2010\n[Ax11] B. Ax. Mills and\nwheels. arXiv:1701.00003", 2),
        ("[1]: A. Ox. Cogs. 2010\n[2]: B. Ax. Mills. arXiv:1701.00003", 2),
        ("(1) A. Ox. Cogs. 2010<br>(2) B. Ax. Mills. arXiv:1701.00003", 2),
        ("A. Ox. Cogs, 2010\nB. Ax. Mills, 2017, arXiv:1701.00003", 2),
        ("1. A. Ox. Cogs. 2010\n2. B. Ax. Mills. arXiv:1701.00003", 2),
        ("- A. Ox. Cogs of 2010\n- B. Ax. Mills. arXiv:1701.00003", 2),
        ("A. Ox. Cogs, 2010,\nand wheels, arXiv:1701.00003", 1),
    ],
)
def test_fault_references_are_split_where_their_lines_begin(tmp_path: Path, entries: str, count: int) -> None:
    document = read(tmp_path, f"# On mills\n\nMills turn.\n\n## References\n\n{entries}\n")
    assert len(document.references) == count
    assert [reference.arxiv_id for reference in document.references] == [""] * (count - 1) + ["1701.00003"]


ADMONITION = """!!! note "Mind the wheel"
    It turns when the sluice is
    open, and stops.

    It is heavy.

    === "By hand"

        Lift it.

??? tip
    Oil it.

After.

```
!!! note
    code
```
"""


def test_fault_indented_notes_and_latex_commands_were_code_or_text(tmp_path: Path) -> None:
    assert found(tmp_path, ADMONITION) == [
        "Mind the wheel",
        "It turns when the sluice is open, and stops.",
        "It is heavy.",
        "By hand",
        "Lift it.",
        "Oil it.",
        "After.",
        "!!! note code",
    ]
    document = read(tmp_path, MATHPIX)
    assert (document.title, [author.name for author in document.authors]) == (
        "On mills",
        ["Ida Fen", "Ole Marsh"],
    )
    assert [paragraph.text for paragraph in document.abstract] == ["We count mills."]
    assert headings(document) == ["1 Introduction", "1 Introduction > 1.1 Wheels of {oak}"]
    assert texts(document) == [r"Mills have \(x^2\) wheels.", "They turn.", "Figure 1: A mill.", "Of stone."]


@pytest.mark.parametrize(
    ("title", "first", "second"),
    [
        ("**On mills**", "**1 Introduction**", "**1.1 Wheels**"),
        ("# On mills", "**1** **Introduction**", "**1.1** **_Wheels_**"),
        ("---\ntitle: On mills\n---", "__1. Introduction__", "**1.1. Wheels**"),
    ],
)
def test_fault_headings_in_bold_were_body_text(tmp_path: Path, title: str, first: str, second: str) -> None:
    text = (
        f"{title}\n\nIda Fen\n\n**Abstract**\n\nWe count mills.\n\n{first}\n\nMills stand here.\n\n"
        f"{second}\n\nWheels turn. **They do.**\n\n**Figure 1: A mill**\n\n"
        "**References**\n\n[1] I. Fen. 2001. Of mills.\n"
    )
    document = read(tmp_path, text)
    assert (document.title, [author.name for author in document.authors]) == ("On mills", ["Ida Fen"])
    assert [paragraph.text for paragraph in document.abstract] == ["We count mills."]
    assert headings(document) == ["1 Introduction", "1 Introduction > 1.1 Wheels"]
    assert texts(document) == ["Mills stand here.", "Wheels turn. They do.", "Figure 1: A mill"]
    assert len(document.references) == 1


@pytest.mark.parametrize(
    "mark", ["{2}" + "-" * 48, "--- end of page=3 ---", "--- Page 3 ---", "-- page: 3 --"]
)
def test_fault_marks_between_pages_were_read_and_cut_sentences(tmp_path: Path, mark: str) -> None:
    text = f"They stand at\n\n{mark}\n\nthe weir.\n\n{mark}\n\nWheels turn.\n\n{mark}"
    assert found(tmp_path, text) == ["They stand at the weir.", "Wheels turn."]


MATHPIX = r"""\title{
On mills
}

\author{
Ida Fen \\ Ole Marsh
}

\begin{abstract}
We count mills.
\end{abstract}

\section*{1 Introduction}

Mills have \(x^2\) wheels.

\subsection*{1.1 Wheels of {oak}}

They turn.

\begin{figure}
\includegraphics[max width=\textwidth]{a.jpg}
\captionsetup{labelformat=empty}
\caption{Figure 1: A mill.}
\end{figure}

\footnotetext{
1 Of stone.
}
"""


@pytest.mark.parametrize("note", ["Stone", "https://example.org/mills", "<https://example.org/mills>"])
def test_fault_notes_of_one_word_were_links(tmp_path: Path, note: str) -> None:
    text = f"A mill[^1] stands[^b].\n\n[^1]: {note}\n[^b]: First.\n\n    Second of it."
    plain = note.strip("<>")
    assert found(tmp_path, text) == ["A mill stands.", plain, "First.", "Second of it."]


@pytest.mark.parametrize("name", ["paper.md", "paper.txt"])
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("% A comment\n\\documentclass[a4paper]{article}\n\\begin{document}\nMills.\\end{document}", "LaTeX"),
        ("\\documentstyle{article}\nMills.", "LaTeX"),
        ("<!DOCTYPE html>\n<html><body><p>Mills stand.</p></body></html>", "a web page"),
    ],
)
def test_fault_sources_were_read_with_their_commands(
    tmp_path: Path, name: str, source: str, words: str
) -> None:
    (tmp_path / name).write_text(source)
    with pytest.raises(ParseError, match=words):
        read_document(tmp_path / name)
