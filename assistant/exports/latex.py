"""A comparison as a LaTeX document, or its grid alone, with citations by the keys of its BibTeX file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

from assistant import wording
from assistant.comparing import wording as said
from assistant.comparing.records import Comparison
from assistant.exports.answer_text import STRONG, AnswerLine, lines_with_sentences
from assistant.exports.escaping import in_latex, in_latex_comment, markup
from assistant.exports.references import citation_keys
from assistant.exports.rendering import difference_lines, render
from assistant.records import Answer, AnswerSentence
from assistant.wording import sentence_warnings

BIBLIOGRAPHY = "references"
# LaTeX does not break a table's row over pages: longer text would run off the page.
LONGEST_CELL = 320
_RUN = re.compile(r"(?<!\s)\s*+((?:\[\d{1,3}\])++)")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# "[77?]": a label that names no paper.
_UNKNOWN = re.compile(r"(?:(?<!\s)\s++)?\[(\d{1,3})\?\]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a summary in LaTeX."""

    kind: str
    text: Markup


def comparison_to_latex(comparison: Comparison, bibliography: str = BIBLIOGRAPHY) -> str:
    """Return the summary, the grid and the differences as a document that cites every paper by its key.

    `bibliography` is the name, without its ending, of the file that holds the papers as BibTeX.
    """
    keys = _keys_by_label(comparison)
    name = bibliography if _FILE_NAME.fullmatch(bibliography) else BIBLIOGRAPHY
    answer = comparison.answer
    lines = [_line(answer, line, within, keys) for line, within in lines_with_sentences(answer)]
    return render(
        "comparison.tex",
        comparison=comparison,
        bibliography=markup(name),
        cautions=tuple(_cautions(comparison)),
        summary=[(kind, tuple(group)) for kind, group in groupby(lines, lambda line: line.kind == "item")],
        differences=[_cited(line, keys) for line in difference_lines(comparison)],
        keys=keys,
        longest=LONGEST_CELL,
    )


def comparison_to_latex_grid(comparison: Comparison) -> str:
    """Return the grid alone for another document, after a comment on what it needs there."""
    keys = _keys_by_label(comparison)
    return render("grid_alone.tex", comparison=comparison, keys=keys, longest=LONGEST_CELL)


def _keys_by_label(comparison: Comparison) -> dict[int, Markup]:
    """Return the citation keys of a comparison's papers by label, as in its BibTeX file."""
    papers = comparison.evidence.papers
    keys = citation_keys([paper.paper for paper in papers])
    # Keys are checked to have no special characters.
    return {paper.label: markup(key) for paper, key in zip(papers, keys, strict=True)}


def _cautions(comparison: Comparison) -> Iterator[str]:
    """Yield warnings for readers before they use the text."""
    answer = comparison.answer
    yield ""
    served = wording.served_by(entry.call for entry in comparison.calls)
    yield f"The summary was {said.describe_writer(comparison.provenance.generator)}{served}."
    yield f"Checked: {wording.checked(answer) or 'its citations were not counted'}."
    yield from wording.notices(answer)
    yield from comparison.remarks
    yield ""


def _line(
    answer: Answer, line: AnswerLine, within: Mapping[int, AnswerSentence], keys: Mapping[int, Markup]
) -> Line:
    r"""Return a line of the summary with labels as \cite, and a comment before each doubtful sentence."""
    kind = "item" if line.is_item else "heading" if line.mark else "text"
    parts: list[Markup] = []
    for first, last in pairwise(sorted({line.start, *within, line.end})):
        piece = answer.text[first:last]
        unknown = dict.fromkeys(_UNKNOWN.findall(piece))
        warnings = [in_latex_comment(line) for line in sentence_warnings(within.get(first), unknown)]
        if warnings and parts:
            parts.append(Markup("\n"))
        parts += [warning + Markup("\n") for warning in warnings]
        parts.append(_cited(_UNKNOWN.sub("", piece), keys))
    return Line(kind, Markup().join(parts))


def _cited(text: str, keys: Mapping[int, Markup]) -> Markup:
    r"""Return text with every run of labels as one \cite; unknown labels do not change."""
    parts: list[Markup] = []
    position = 0
    for run in _RUN.finditer(text):
        labels = dict.fromkeys(int(label) for label in re.findall(r"\d+", run[1]))
        if not keys.keys() >= labels.keys():
            continue
        tie = markup("~" if text[position : run.start()].strip() or parts else "")
        named = Markup(",").join(keys[label] for label in labels)
        parts += [_styled(text[position : run.start()]), tie, markup(r"\cite{"), named, Markup("}")]
        position = run.end()
    return Markup().join([*parts, _styled(text[position:])])


def _styled(text: str) -> Markup:
    """Return text with **strong** words in bold; white space at its edges is kept."""
    parts = (
        rf"\textbf{{{in_latex(part)}}}" if index % 2 else _with_edges(part)
        for index, part in enumerate(STRONG.split(text))
    )
    return markup("".join(parts))


def _with_edges(text: str) -> str:
    inner = in_latex(text)
    if not inner:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{inner}{' ' * text[-1].isspace()}"
