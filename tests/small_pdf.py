"""Small PDFs, written byte by byte."""

from pathlib import Path

FONTS = {"F": "Helvetica", "B": "Helvetica-Bold", "I": "Helvetica-Oblique"}


def put(x: float, y: float, text: str, size: float = 10, font: str = "F") -> str:
    """Return the content of a page that sets `text` at a place, in points from the lower left corner."""
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf {x} {y} Td ({escaped}) Tj ET\n"


def write_pdf(
    path: Path,
    pages: list[str],
    page: str = "",
    trailer: str = "",
    *,
    resources: str = "",
    catalog: str = "",
    form: str = "",
    letters: str = "",
) -> Path:
    """Write a PDF of content streams with the fonts F (plain), B (bold) and I (italic).

    `page` and `resources` go into each page's dictionary, `trailer` into the trailer; `form` is the content
    of a form of the size of a page, which a page paints with "/X Do". With `letters` there is a font U, in
    which "a", "b", "c" and so on are these letters, and "z" is none.
    """
    kids = " ".join(f"{6 + 2 * i} 0 R" for i in range(len(pages)))
    fonts = " ".join(f"/{name} {number} 0 R" for number, name in enumerate(FONTS, 3))
    fonts += f" /U {6 + 2 * len(pages) + bool(form)} 0 R" if letters else ""
    resources += f" /XObject << /X {6 + 2 * len(pages)} 0 R >>" if form else ""
    box = "" if "/MediaBox" in page else "/MediaBox [0 0 612 792]"
    bodies = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
    ]
    for font in FONTS.values():
        bodies.append(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>".encode()
        )
    for index, content in enumerate(pages):
        stream = content.encode("cp1252")
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R {box} {page} /Contents {7 + 2 * index} 0 R "
            f"/Resources << /Font << {fonts} >> {resources} >> >>".encode()
        )
        bodies.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    if form:
        bodies.append(
            f"<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << {fonts} >> >> "
            f"/Length {len(form)} >>\nstream\n{form}\nendstream".encode("cp1252")
        )
    if letters:
        number = 7 + 2 * len(pages) + bool(form)
        codes = [(97 + at, letter.encode("utf-16-be").hex()) for at, letter in enumerate(letters)]
        lines = [f"<{code:02x}> <{letter}>" for code, letter in [*codes, (122, "0000")]]
        cmap = (
            "/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def "
            "1 begincodespacerange <00> <ff> endcodespacerange "
            f"{len(lines)} beginbfchar {' '.join(lines)} endbfchar endcmap end"
        )
        bodies.append(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode {number} 0 R >>".encode()
        )
        bodies.append(f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream".encode())
    return _write(path, bodies, trailer)


def write_endless_pdf(path: Path, depth: int = 9) -> Path:
    """Write a PDF of about 2 kB with two lines of text on a form that draws itself ten times, `depth` deep.

    At a depth of 5 or less it can be read in a second, as no text is covered; drawing it takes longer.
    """
    text = b"BT /F 12 Tf 60 700 Td (Pages that never end) Tj 0 -40 Td (They are drawn without an end.) Tj ET"
    font = b"/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X %d 0 R >> >>"
    contents = [(b"", b"/X Do " + text)]
    contents += [(form % number, b"/X Do " * 10) for number in range(6, 5 + depth)]
    contents += [(form.split(b" /Resources")[0], b"1 0 0 rg 0 0 600 700 re f")]
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /XObject << /X 5 0 R >> " + font + b" >> >>",
    ]
    streams = ((entry, len(content), content) for entry, content in contents)
    return _write(path, [*bodies, *map(b"<< %s /Length %d >>\nstream\n%s\nendstream".__mod__, streams)])


def _write(path: Path, bodies: list[bytes], trailer: str = "") -> Path:
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += (
        f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    path.write_bytes(bytes(out))
    return path
