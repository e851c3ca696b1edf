"""Small files that the indexer reads as papers: TEI and PDF."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from tests.small_pdf import write_pdf

TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader><fileDesc><titleStmt><title level="a" type="main">{title}</title></titleStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename type="first">Ada</forename>
<surname>Lovelace</surname></persName></author></analytic></biblStruct></sourceDesc></fileDesc>
<profileDesc><abstract><p>{abstract}</p></abstract></profileDesc></teiHeader>
<text><body>{body}</body></text></TEI>
"""


def write_tei(
    path: Path,
    title: str = "On cats",
    abstract: str = "We watch cats.",
    body: Sequence[str] = ("Cats sleep.",),
) -> Path:
    """Write a TEI file as GROBID writes it, one paragraph of `body` per section."""
    sections = "".join(
        f'<div><head n="{n}">Part {n}</head><p>{escape(text)}</p></div>' for n, text in enumerate(body, 1)
    )
    content = TEI.format(title=escape(title), abstract=escape(abstract), body=sections)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def write_paper_pdf(path: Path, title: str = "On Cats", lines: Sequence[str] = ()) -> Path:
    """Write a PDF of one page: a title in large type, an abstract and one numbered section."""
    text = lines or ["Cats sleep for most of the day and hunt at night.", "We watched forty of them."]
    set_lines = [(20, title), (12, "Abstract"), (10, "We watch cats all day long in this paper.")]
    set_lines += [(12, "1 Introduction"), *((10, line) for line in text)]
    content = "".join(
        f"BT /F {size} Tf 72 {720 - 30 * row} Td ({line}) Tj ET\n"
        for row, (size, line) in enumerate(set_lines)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_pdf(path, [content])
