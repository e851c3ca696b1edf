"""Small files that the indexer reads as papers: TEI and PDF."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

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


def write_pdf(path: Path, title: str = "On Cats", lines: Sequence[str] = ()) -> Path:
    """Write a PDF of one page: a title in large type, an abstract and one numbered section."""
    text = lines or ["Cats sleep for most of the day and hunt at night.", "We watched forty of them."]
    set_lines = [(20, title), (12, "Abstract"), (10, "We watch cats all day long in this paper.")]
    set_lines += [(12, "1 Introduction"), *((10, line) for line in text)]
    content = "".join(
        f"BT /F {size} Tf 72 {720 - 30 * row} Td ({line}) Tj ET\n"
        for row, (size, line) in enumerate(set_lines)
    ).encode("cp1252")
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R "
        b"/Resources << /Font << /F 3 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % at for at in offsets)
    out += b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(out))
    return path
