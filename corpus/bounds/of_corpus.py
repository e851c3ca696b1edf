"""The bounds of the corpus's records."""

from corpus.bounds.bound import Bound, Bounds

SHARE = Bound(-0.01, 1.01)  # 0..1, with room for the rounding of 32-bit floats
SCORE = Bound(-1e6, 1e6)
POINTS = Bound(-1e6, 1e6)
PAGE = Bound(1, 100_000)
YEAR = Bound(0, 9_999)
PASSAGE_TEXT = Bound(longest=200_000)
REMARK = Bound(longest=20_000)

OF_CORPUS = Bounds(
    {
        "Box.page": PAGE,
        **dict.fromkeys(("Box.x", "Box.y", "Box.width", "Box.height"), POINTS),
        "Sentence.boxes": Bound(entries=2_000),
        "Sentence.references": Bound(entries=1_000),
        "Passage.number": Bound(0, 1_000_000),
        "Passage.page": PAGE,
        "Passage.text": PASSAGE_TEXT,
        "Passage.section": Bound(entries=100),
        "Passage.sentences": Bound(entries=20_000),
        "Section.title": REMARK,
        "Table.rows": Bound(longest=200_000, entries=20_000),
        "Paper.year": YEAR,
        # Older versions cut no abstract: their trails hold them as long as they were.
        "Paper.abstract": PASSAGE_TEXT,
        "Paper.bibtex": Bound(longest=100_000),
        "Paper.notes": REMARK,
        "Paper.url": Bound(longest=4_096),
        "Paper.pdf_url": Bound(longest=4_096),
        "Paper.page_count": Bound(0, 1_000_000),
        "Paper.scanned_pages": Bound(0, 1_000_000),
        "Paper.scan_confidence": SHARE,
        "Aspect.text": REMARK,
        "Aspect.overlap": SHARE,
        "Topic.score": SHARE,
        "Reference.text": PASSAGE_TEXT,
        "Reference.title": REMARK,
        "Reference.authors": REMARK,
        "Scope.years": YEAR,
    }
)
