"""A comparison as a LaTeX document, with the references it cites as BibTeX.

Text keeps its Unicode: lualatex and xelatex take all of it, pdflatex what its fonts hold.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from assistant import wording
from assistant.attribution import is_weak
from assistant.comparing import wording as said
from assistant.comparing.differences import differences
from assistant.comparing.grid import element_grid
from assistant.comparing.records import Comparison
from assistant.exports.comparison_grid import grid_to_latex, keys_by_label
from assistant.exports.escaping import in_latex, in_latex_comment
from assistant.exports.references import (
    papers_as_bibtex,
    papers_as_csl_json,
    papers_as_ris,
)
from assistant.exports.written import LINE, STRONG
from assistant.records import Answer, AnswerSentence
from corpus.records import Paper
from corpus.version import VERSION

BIBLIOGRAPHY = "references"
_RUN = re.compile(r"\s*((?:\[\d{1,3}\])+)")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# "[77?]": a label that names no paper.
_UNKNOWN = re.compile(r"\s*\[(\d{1,3})\?\]")
_HEAD = """% Exported from Paper Trail VERSION.
% The references are in BIBLIOGRAPHY.bib, which is exported too (as bib) and has to lie beside this file.
% Compile with lualatex, xelatex or pdflatex: that, then bibtex, then that twice more.
"""
_PREAMBLE = r"""\documentclass[a4paper]{article}
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
    keys = keys_by_label(comparison)
    name = bibliography if _FILE_NAME.fullmatch(bibliography) else BIBLIOGRAPHY
    parts = (
        _HEAD.replace("VERSION", VERSION).replace("BIBLIOGRAPHY", name)
        + "".join(f"{in_latex_comment(line)}\n" for line in _cautions(comparison))
        + _PREAMBLE,
        rf"\title{{{in_latex(said.title(comparison))}}}",
        "\\date{}\n\n\\begin{document}\n\\maketitle\n",
        summary_to_latex(comparison, keys),
        *_differences(comparison, keys),
        *_grid(comparison, keys),
        f"\n\\bibliographystyle{{plain}}\n\\bibliography{{{name}}}\n\\end{{document}}",
    )
    return "\n".join(parts) + "\n"


def _cautions(comparison: Comparison) -> Iterator[str]:
    """Yield what readers should know before they use the text."""
    answer = comparison.answer
    yield ""
    yield f"The summary was {said.writer_said(comparison.provenance.generator)}."
    yield f"Checked: {wording.checked(answer) or 'its citations were not counted'}."
    yield from (wording.PROBLEMS[problem] for problem in answer.problems)
    yield from comparison.remarks
    yield ""


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
    start = 0
    for line in comparison.answer.text.splitlines(keepends=True):
        mark = LINE.match(line)
        first = start + (mark.end() if mark else 0)
        is_item = bool(mark and not mark["mark"].startswith("#"))
        if is_item != in_list:
            lines.append(r"\begin{itemize}" if is_item else r"\end{itemize}")
            in_list = is_item
        text = _sentences(comparison.answer, first, start + len(line.rstrip()), keys)
        start += len(line)
        heading = mark and not is_item
        lines.append(rf"\item {text}" if is_item else rf"\paragraph{{{text}}}" if heading else text)
    return "\n".join([*lines, *([r"\end{itemize}"] if in_list else [])])


def _sentences(answer: Answer, start: int, end: int, keys: Mapping[int, str]) -> str:
    """Return the answer's text from `start` to `end`, a comment before each sentence that is in doubt."""
    within = {one.start: one for one in answer.sentences if start <= one.start < end}
    places = sorted({start, *within, end})
    parts: list[str] = []
    for first, last in pairwise(places):
        piece = answer.text[first:last]
        doubts = [in_latex_comment(doubt) for doubt in _doubts(piece, within.get(first))]
        if doubts and parts:
            parts.append("\n")
        parts += [f"{doubt}\n" for doubt in doubts]
        parts.append(_cited(_UNKNOWN.sub("", piece), keys))
    return "".join(parts)


def _doubts(piece: str, sentence: AnswerSentence | None) -> Iterator[str]:
    """Yield what readers should know of the sentence that follows."""
    if sentence and is_weak(sentence):
        score = "" if sentence.support is None else f" (support {sentence.support:.2f})"
        yield f"Only weakly supported{score}:"
    if sentence and sentence.needs_citation:
        yield "Makes a claim and cites nothing:"
    unknown = dict.fromkeys(_UNKNOWN.findall(piece))
    yield from (f"[{label}?] names no paper that was given, and is left out:" for label in unknown)


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
