"""Compare papers of the corpus and export the result as Markdown and BibTeX.

python examples/compare_and_export.py OUTPUT_FOLDER "DESCRIPTION" PAPER_ID PAPER_ID ...
"""

import sys
from pathlib import Path

from assistant.comparing.records import Compared, ComparisonRequest
from assistant.exports.registry import COMPARISON_FORMATS
from assistant.serving.library import PublishedLibrary


def main(folder: str, about: str, *papers: str) -> None:
    comparer = PublishedLibrary().now().comparer()
    for event in comparer.compare(ComparisonRequest(papers, about)):
        print(type(event).__name__)  # the steps on the way; the last event holds the comparison
        if isinstance(event, Compared):
            comparison = event.comparison
    print(comparison.answer.text)

    for wanted in ("md", "bib"):
        (form,) = (form for form in COMPARISON_FORMATS if form.name == wanted)
        written = form.write(comparison)
        path = Path(folder, f"comparison.{form.name}")
        path.write_bytes(written if isinstance(written, bytes) else written.encode())
        print("Wrote", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
