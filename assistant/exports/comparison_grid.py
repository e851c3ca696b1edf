"""The element grid of a comparison as a table: for a spreadsheet, in Markdown, and in LaTeX."""

import csv
import io
from collections.abc import Mapping

from assistant.comparing import wording as said
from assistant.comparing.grid import ELEMENT_TITLES, Grid, GridCell, GridRow, element_grid
from assistant.comparing.records import Comparison
from assistant.exports.escaping import escaped, in_latex, in_spreadsheet
from assistant.exports.references import citation_keys
from assistant.wording import score_said

# A row of a printed table cannot be broken over pages: longer text would run off the page.
LONGEST_CELL = 320
_NEEDED = r"""% Into a document with \usepackage{array,booktabs,longtable,pdflscape}.
% The papers are cited by the keys of the BibTeX file of the same comparison."""


def grid_to_csv(comparison: Comparison) -> str:
    """Return the grid for a spreadsheet: a line per paper, each element as text, support and evidence."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    parts = ("", " (support)", " (evidence)")
    elements = [f"{title}{part}" for title in ELEMENT_TITLES.values() for part in parts]
    writer.writerow(["Label", "Paper", "Title", "Year", "Read from", *elements])
    for row in element_grid(comparison).rows:
        facts = [
            row.label,
            in_spreadsheet(row.paper_id),
            in_spreadsheet(row.title),
            row.year or "",
            row.source,
        ]
        writer.writerow([*facts, *(value for cell in row.cells for value in _values(cell))])
    return lines.getvalue()


def _values(cell: GridCell) -> tuple[str, str, str]:
    support = "" if cell.support is None else f"{cell.support:.2f}"
    evidence = in_spreadsheet(" | ".join(one.text for one in cell.evidence))
    return in_spreadsheet(cell.shown), support, evidence


def grid_to_markdown(comparison: Comparison) -> str:
    """Return the grid as a table in Markdown, the support beside each text."""
    lines = [["", *ELEMENT_TITLES.values()], ["---"] * (1 + len(ELEMENT_TITLES))]
    for row in element_grid(comparison).rows:
        lines.append([_row_title(row), *map(_markdown_cell, row.cells)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _row_title(row: GridRow) -> str:
    label = "" if row.is_description else f"\\[{row.label}\\] "
    year = f" ({row.year})" if row.year else ""
    return f"{label}**{escaped(row.title)}**{year}"


def _markdown_cell(cell: GridCell) -> str:
    if not cell.text:
        return f"*{cell.shown}*"
    if cell.is_weak:
        return f"*{cell.mark}:* {escaped(cell.text)}"
    return f"{escaped(cell.text)} ({score_said('support', cell.support)})"


def comparison_to_latex_grid(comparison: Comparison) -> str:
    """Return the grid alone, to be put into a document; what it needs there stands above it."""
    grid = element_grid(comparison)
    table = (
        "% No key elements were found." if grid.is_empty else grid_to_latex(grid, keys_by_label(comparison))
    )
    return f"{_NEEDED}\n{table}\n"


def keys_by_label(comparison: Comparison) -> dict[int, str]:
    """Return the citation keys of a comparison's papers, as its BibTeX has them, by their labels."""
    papers = comparison.evidence.papers
    keys = citation_keys([one.paper for one in papers])
    return dict(zip((one.label for one in papers), keys, strict=True))


def grid_to_latex(grid: Grid, keys: Mapping[int, str]) -> str:
    """Return the grid as a longtable with the rules of booktabs, on a page on its side.

    `keys` are the papers' citation keys by their labels.
    """
    columns = r">{\raggedright\arraybackslash}p{0.106\linewidth}"
    heads = " & ".join(rf"\textbf{{{title}}}" for title in ("Paper", *ELEMENT_TITLES.values()))
    rows = "\n\\addlinespace\n".join(_latex_row(row, keys) for row in grid.rows)
    return "\n".join(
        (
            r"\begin{landscape}",
            r"\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{*{{{len(ELEMENT_TITLES) + 1}}}{{{columns}}}}}",
            rf"\caption{{{_caption(grid)}}}\\",
            rf"\toprule {heads} \\ \midrule \endfirsthead",
            rf"\toprule {heads} \\ \midrule \endhead",
            r"\bottomrule \endfoot",
            rows,
            r"\end{longtable}",
            r"\end{landscape}",
        )
    )


def _caption(grid: Grid) -> str:
    weak = any(cell.is_weak for row in grid.rows for cell in row.cells)
    marked = "Marked ones were written, but their texts do not carry them. " if weak else ""
    return f"{in_latex(said.elements_said(grid.generator))}. {marked}Longer ones are cut."


def _latex_row(row: GridRow, keys: Mapping[int, str]) -> str:
    cited = rf"~\cite{{{keys[row.label]}}}" if row.label in keys else ""
    cells = (f"{in_latex(_shortened(row.title))}{cited}", *map(_latex_cell, row.cells))
    return " &\n".join(cells) + r" \\"


def _latex_cell(cell: GridCell) -> str:
    if not cell.text:
        return rf"\textit{{{cell.shown}}}"
    if cell.is_weak:
        return rf"\textit{{{cell.mark}:}} {in_latex(_shortened(cell.text))}"
    return in_latex(_shortened(cell.text))


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_CELL else f"{line[:LONGEST_CELL].rstrip()} …"
