"""A comparison as a LaTeX document, with the references it cites as BibTeX.

Text keeps its Unicode: lualatex and xelatex take all of it, pdflatex what its fonts hold.
"""

import re
from collections.abc import Iterator, Mapping

from assistant.comparing import wording as said
from assistant.comparing.differences import differences
from assistant.comparing.grid import element_grid
from assistant.comparing.records import Comparison
from assistant.exports.comparison_grid import grid_to_latex
from assistant.exports.escaping import in_latex
from assistant.exports.references import (
    citation_keys,
    papers_as_bibtex,
    papers_as_csl_json,
    papers_as_ris,
)
from assistant.exports.written import LINE, STRONG
from corpus.records import Paper
from corpus.version import VERSION

BIBLIOGRAPHY = "references"
_RUN = re.compile(r"\s*((?:\[\d{1,3}\])+)")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PREAMBLE = r"""% Exported from Paper Trail VERSION. Compile with lualatex, xelatex or pdflatex, and bibtex.
\documentclass[a4paper]{article}
\usepackage{iftex}
\ifpdftex
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
\else
  \usepackage{fontspec}
\fi
\usepackage{textcomp}
\usepackage[margin=25mm]{geometry}
\usepackage{array,booktabs,longtable,pdflscape}
"""


def comparison_to_latex(comparison: Comparison, bibliography: str = BIBLIOGRAPHY) -> str:
    """Return the summary, the grid and the differences as a document that cites every paper by its key.

    `bibliography` is the name, without its ending, of the file that `comparison_to_bibtex` fills.
    """
    keys = _keys(comparison)
    name = bibliography if _FILE_NAME.fullmatch(bibliography) else BIBLIOGRAPHY
    parts = (
        _PREAMBLE.replace("VERSION", VERSION),
        rf"\title{{{in_latex(said.title(comparison))}}}",
        "\\date{}\n\n\\begin{document}\n\\maketitle\n",
        summary_to_latex(comparison, keys),
        *_differences(comparison, keys),
        *_grid(comparison, keys),
        f"\n\\bibliographystyle{{plain}}\n\\bibliography{{{name}}}\n\\end{{document}}",
    )
    return "\n".join(parts) + "\n"


def compared_papers(comparison: Comparison) -> tuple[Paper, ...]:
    """Return the papers of a comparison by their labels, whether its summary cites them or not."""
    return tuple(one.paper for one in comparison.evidence.papers)


def comparison_to_bibtex(comparison: Comparison) -> str:
    """Return an entry per paper, under the keys that the LaTeX document cites."""
    return papers_as_bibtex(compared_papers(comparison))


def comparison_to_ris(comparison: Comparison) -> str:
    """Return a RIS record per paper."""
    return papers_as_ris(compared_papers(comparison))


def comparison_to_csl_json(comparison: Comparison) -> str:
    """Return the papers as a list of CSL-JSON items."""
    return papers_as_csl_json(compared_papers(comparison))


def summary_to_latex(comparison: Comparison, keys: Mapping[int, str]) -> str:
    r"""Return the summary's paragraphs, lists and headings, each label as a \cite of its paper's key."""
    lines: list[str] = []
    in_list = False
    for line in comparison.answer.text.splitlines():
        mark = LINE.match(line)
        is_item = bool(mark and not mark["mark"].startswith("#"))
        if is_item != in_list:
            lines.append(r"\begin{itemize}" if is_item else r"\end{itemize}")
            in_list = is_item
        text = _cited(line[mark.end() :] if mark else line, keys)
        heading = mark and not is_item
        lines.append(rf"\item {text}" if is_item else rf"\paragraph{{{text}}}" if heading else text)
    return "\n".join([*lines, *([r"\end{itemize}"] if in_list else [])])


def _cited(text: str, keys: Mapping[int, str]) -> str:
    r"""Return text with every run of labels as one \cite; labels that name no paper stay as they are."""
    parts: list[str] = []
    position = 0
    for run in _RUN.finditer(text):
        labels = [int(label) for label in re.findall(r"\d+", run[1])]
        if not all(label in keys for label in labels):
            continue
        tie = "~" if text[position : run.start()].strip() or parts else ""
        named = ",".join(keys[label] for label in dict.fromkeys(labels))
        parts += [_styled(text[position : run.start()]), rf"{tie}\cite{{{named}}}"]
        position = run.end()
    return "".join([*parts, _styled(text[position:])])


def _styled(text: str) -> str:
    """Return text with its **strong** words as such; white space at its edges stays."""
    parts = (
        rf"\textbf{{{in_latex(part)}}}" if index % 2 else _with_edges(part)
        for index, part in enumerate(STRONG.split(text))
    )
    return "".join(parts)


def _with_edges(text: str) -> str:
    inner = in_latex(text)
    if not inner:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{inner}{' ' * text[-1].isspace()}"


def _differences(comparison: Comparison, keys: Mapping[int, str]) -> Iterator[str]:
    found = differences(comparison)
    if not found.has_any:
        return
    lines = (*said.common_said(found), *said.alone_said(found), *said.stated_said(found))
    yield "\n\\section*{In common and apart}"
    yield in_latex(said.DIFFERENCES_NOTE)
    yield "\\begin{itemize}"
    yield from (rf"\item {_cited(line, keys)}" for line in lines)
    yield "\\end{itemize}"


def _grid(comparison: Comparison, keys: Mapping[int, str]) -> Iterator[str]:
    grid = element_grid(comparison)
    if not grid.is_empty:
        yield ""
        yield grid_to_latex(grid, keys)


def _keys(comparison: Comparison) -> dict[int, str]:
    papers = comparison.evidence.papers
    return dict(zip((one.label for one in papers), citation_keys(compared_papers(comparison)), strict=True))
