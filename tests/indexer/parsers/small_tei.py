"""TEI files as GROBID writes them, built from parts, and what is read from them."""

from indexer.parsers.document import Document, DocumentSection
from indexer.parsers.tei.document import read_tei


def tei(body: str = "", *, header: str = "", back: str = "", facsimile: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0" xml:space="preserve">'
        f"<teiHeader>{header}</teiHeader>{facsimile}"
        f'<text xml:lang="en"><body>{body}</body><back>{back}</back></text></TEI>'
    ).encode()


def div(head: str, *paragraphs: str, number: str = "") -> str:
    n = f' n="{number}"' if number else ""
    heading = f"<head{n}>{head}</head>" if head or number else ""
    return f"<div>{heading}{''.join(f'<p>{paragraph}</p>' for paragraph in paragraphs)}</div>"


def source_desc(inner: str) -> str:
    return f"<fileDesc><sourceDesc><biblStruct>{inner}</biblStruct></sourceDesc></fileDesc>"


def abstract(inner: str) -> str:
    return f"<profileDesc><abstract>{inner}</abstract></profileDesc>"


def headings(document: Document) -> list[str]:
    return [" > ".join(section.heading for section in found.path) for found in document.sections]


def texts(document: Document) -> list[str]:
    return [paragraph.text for section in document.sections for paragraph in section.paragraphs]


def sentences(section: DocumentSection) -> list[str]:
    return [sentence.text for paragraph in section.paragraphs for sentence in paragraph.sentences]


def paths_of(*heads: str | tuple[str, str]) -> list[str]:
    """Return the section paths of headings, a pair being (@n, text); a trailing "!" has no paragraph."""
    pairs = [head if isinstance(head, tuple) else ("", head) for head in heads]
    divisions = [
        div(
            text.removesuffix("!"),
            *([] if text.endswith("!") else [f"Text number {place} is here."]),
            number=n,
        )
        for place, (n, text) in enumerate(pairs)
    ]
    return headings(read_tei(tei("".join(divisions))))
