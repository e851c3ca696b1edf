"""The TEI that a GROBID server would make of a small PDF, with sentences and coordinates."""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from lxml import etree

NAMESPACE = "http://www.tei-c.org/ns/1.0"
TEI = f"{{{NAMESPACE}}}"

_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader xml:lang="en"><fileDesc><titleStmt><title level="a" type="main">{title}</title></titleStmt>
<publicationStmt><publisher/><date type="published" when="2024-05-01"/></publicationStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename type="first">Ada</forename>
<surname>Lovelace</surname></persName></author><title level="a" type="main">{title}</title></analytic>
<monogr><imprint><date/></imprint></monogr></biblStruct></sourceDesc></fileDesc>
<encodingDesc><appInfo><application version="{version}" ident="GROBID" when="2026-05-01T00:00+0000">
<label type="revision">{revision}</label></application></appInfo></encodingDesc>
<profileDesc><abstract><div><p>{abstract}</p></div></abstract></profileDesc></teiHeader>
<facsimile><surface n="1" ulx="0.0" uly="0.0" lrx="612.0" lry="792.0"/></facsimile>
<text xml:lang="en"><body>
<div><head n="1" coords="1,72.0,170.0,120.0,12.0">Introduction</head>{paragraph}</div>
<figure xml:id="fig_0" coords="1,72.0,400.0,200.0,80.0"><head>Figure 1</head><label>1</label>
<figDesc><div><p>A figure of the paper.</p></div></figDesc></figure></body>
<back><div type="references"><listBibl><biblStruct xml:id="b0" coords="1,72.0,600.0,300.0,10.0">
<analytic><title level="a" type="main">An earlier paper</title></analytic>
<monogr><imprint><date type="published" when="1999"/></imprint></monogr>
<note type="raw_reference">C. Babbage. An earlier paper. 1999.</note></biblStruct></listBibl></div></back>
</text></TEI>
"""
_REFERENCE = '<ref type="bibr" target="#b0" coords="1,300.0,200.0,12.0,10.0">[1]</ref>'
_SHOWN_TEXT = re.compile(rb"\(((?:[^()\\]|\\.)*)\)\s*Tj")


def tei_of(pdf: bytes, version: str = "0.9.1", revision: str = "standin") -> bytes:
    """Return TEI of a small PDF: its first line is the title, the second the abstract, the rest sentences."""
    lines = [line.decode("cp1252") for line in _SHOWN_TEXT.findall(pdf)] or ["A paper"]
    title, abstract, *sentences = [*lines, "What the paper says."][: max(2, len(lines))]
    return _DOCUMENT.format(
        title=escape(title),
        abstract=escape(abstract),
        version=version,
        revision=revision,
        paragraph=_paragraph(sentences or ["The paper says little."]),
    ).encode()


def _paragraph(sentences: Sequence[str]) -> str:
    texts = [escape(text) for text in sentences]
    texts[0] += f" {_REFERENCE}"
    marked = [
        f'<s coords="1,72.0,{200 + 14 * row}.0,300.0,10.0">{text}</s>' for row, text in enumerate(texts)
    ]
    # No space between sentences: that is how the real server writes them.
    return f'<p coords="1,72.0,200.0,300.0,40.0">{"".join(marked)}</p>'


def empty_tei() -> bytes:
    """Return the server's reply for a document it understood nothing of."""
    root = etree.fromstring(tei_of(b""))
    for title in root.iter(f"{TEI}title"):
        title.text = None
    for name in ("abstract", "body", "back"):
        for element in root.iter(f"{TEI}{name}"):
            element[:] = []
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)
