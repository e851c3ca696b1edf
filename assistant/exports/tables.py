"""Tables for a spreadsheet: papers, a line each, and the key elements of a comparison."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from assistant.checking.overlap import score_digits
from assistant.comparing.grid import ELEMENT_TITLES, GridCell, element_grid
from assistant.comparing.records import Comparison
from assistant.comparing.wording import describe_place
from assistant.exports.escaping import in_spreadsheet
from assistant.exports.references import citation_keys
from corpus.records import Paper

COLUMNS = ("Key", "Id", "Title", "Authors", "Year", "Venue", "Pages", "DOI", "arXiv", "URL", "Abstract")


def papers_as_csv(papers: Iterable[Paper]) -> str:
    """Return a table of papers; `Key` is the citation key in the BibTeX file of the same papers."""
    listed = tuple(papers)
    keys = citation_keys(listed)
    return _table(COLUMNS, ((key, *_facts(paper)) for key, paper in zip(keys, listed, strict=True)))


def _facts(paper: Paper) -> tuple[str, ...]:
    return (
        paper.id,
        paper.title,
        "; ".join(author.name for author in paper.authors),
        str(paper.year or ""),
        paper.venue,
        paper.pages,
        paper.doi,
        paper.arxiv_id,
        paper.url,
        paper.abstract,
    )


def grid_to_csv(comparison: Comparison) -> str:
    """Return the grid for a spreadsheet: a line per paper, each element as text, support and evidence.

    Answers to the reader's own questions follow, each with the places of its sentences.
    """
    parts = ("", " (support)", " (evidence)")
    elements = [f"{title}{part}" for title in ELEMENT_TITLES.values() for part in parts]
    grid = element_grid(comparison)
    question_titles = [f"{question}{part}" for question in grid.questions for part in ("", " (places)")]
    rows = (
        (
            *(str(row.label), row.paper_id, row.title, str(row.year or ""), row.source),
            *_cells(row.cells),
            *_answers(comparison, row.answers),
        )
        for row in grid.rows
    )
    return _table(("Label", "Paper", "Title", "Year", "Read from", *elements, *question_titles), rows)


def _cells(cells: Iterable[GridCell]) -> Iterator[str]:
    for cell in cells:
        yield cell.shown
        yield "" if cell.support is None else score_digits(cell.support)
        yield " | ".join(source.text for source in cell.evidence)


def _answers(comparison: Comparison, cells: Iterable[GridCell]) -> Iterator[str]:
    for cell in cells:
        yield cell.shown
        yield " | ".join(f"{describe_place(comparison, quote)} ({quote.passage_id})" for quote in cell.quotes)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(map(in_spreadsheet, head))
    writer.writerows(map(in_spreadsheet, row) for row in rows)
    return lines.getvalue()
