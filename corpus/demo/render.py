"""Render the demonstration papers from their Typst sources, reproducibly."""

import json
from pathlib import Path

import typst

FOLDER = Path(__file__).resolve().parent


def render_paper(key: str, target: Path) -> None:
    """Write the PDF of a paper to `target`, with Typst's own fonts only."""
    pdf = typst.compile(FOLDER / "source" / f"{key}.typ", root=FOLDER, ignore_system_fonts=True)
    if not isinstance(pdf, bytes):
        raise TypeError(f"{key}: Typst gave several documents where one PDF was expected")
    target.write_bytes(pdf)


def main() -> None:
    """Render every paper of the catalogue into the folder of PDFs."""
    for paper in json.loads((FOLDER / "papers.json").read_text("utf-8"))["papers"]:
        target = FOLDER / "pdf" / f"{paper['key']}.pdf"
        render_paper(paper["key"], target)
        print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
