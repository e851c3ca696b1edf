"""Render the demonstration papers from their Typst sources, always to the same bytes."""

import json
from pathlib import Path

import typst

FOLDER = Path(__file__).resolve().parent


def paper_keys(catalogue: Path = FOLDER / "papers.json") -> tuple[str, ...]:
    """Return the keys of the papers in the order of the catalogue."""
    return tuple(paper["key"] for paper in json.loads(catalogue.read_text("utf-8"))["papers"])


def render_paper(key: str, target: Path) -> None:
    """Write the PDF of one paper to `target`; only the fonts that Typst brings are used."""
    pdf = typst.compile(FOLDER / "source" / f"{key}.typ", root=FOLDER, ignore_system_fonts=True)
    if not isinstance(pdf, bytes):
        raise TypeError(f"{key}: Typst gave several documents where one PDF was expected")
    target.write_bytes(pdf)


def main() -> None:
    """Render every paper of the catalogue into the folder of PDFs."""
    for key in paper_keys():
        target = FOLDER / "pdf" / f"{key}.pdf"
        render_paper(key, target)
        print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
