"""Papers as a table for a spreadsheet: a line each, with what is known of it."""

import csv
import io
from collections.abc import Iterable

from assistant.exports.escaping import in_spreadsheet
from assistant.exports.references import citation_keys
from corpus.records import Paper

COLUMNS = ("Key", "Id", "Title", "Authors", "Year", "Venue", "Pages", "DOI", "arXiv", "URL", "Abstract")


def papers_as_csv(papers: Iterable[Paper]) -> str:
    """Return a table of papers; `Key` is that of each paper's entry in the BibTeX file of the same papers."""
    listed = tuple(papers)
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for key, paper in zip(citation_keys(listed), listed, strict=True):
        writer.writerow([in_spreadsheet(value) for value in (key, *_values(paper))])
    return lines.getvalue()


def _values(paper: Paper) -> tuple[str, ...]:
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
