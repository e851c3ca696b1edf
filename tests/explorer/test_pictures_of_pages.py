"""Pictures of pages: where they are drawn, and that of a PDF that was taken away none is left."""

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.components.page_image import forget_pictures, is_drawn_in_sandbox, pages_in
from indexer.uploads.sandbox import Limits
from tests.assistant.libraries.own_documents import PAGE
from tests.small_pdf import write_endless_pdf, write_pdf


@pytest.fixture
def pdfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the corpus's PDFs."""
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    (tmp_path / "pdf").mkdir()
    return tmp_path / "pdf"


def test_fault_what_a_file_said_of_a_paper_decided_where_its_pages_were_drawn(pdfs: Path) -> None:
    of_corpus = write_pdf(pdfs / "ab12.pdf", [PAGE])
    others = [
        pdfs.parent / place / "ab12.pdf" for place in ("libraries/one/pdf", "visits/server-1/visit-1/pdf")
    ]
    for path in others:
        path.parent.mkdir(parents=True)
        write_pdf(path, [PAGE])
    (pdfs / "linked.pdf").symlink_to(others[0])
    assert not is_drawn_in_sandbox(of_corpus)
    assert all(
        map(is_drawn_in_sandbox, [*others, pdfs / "linked.pdf", pdfs / "../libraries/one/pdf/ab12.pdf"])
    )


def show_first_page() -> None:
    import os  # noqa: PLC0415 - this is a script of its own
    from pathlib import Path  # noqa: PLC0415

    from explorer.components.page_image import show_page  # noqa: PLC0415

    show_page(Path(os.environ["PDF_TO_SHOW"]), 1, ())


def test_fault_a_kept_pdf_was_drawn_within_the_server(pdfs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An imported comparison named its paper as one of the corpus; its page took minutes, and all waited."""
    monkeypatch.setattr("explorer.components.page_image.DRAWING_LIMITS", Limits(seconds=1))
    kept = pdfs.parent / "libraries" / "one" / "pdf" / "ab12.pdf"
    kept.parent.mkdir(parents=True)
    write_endless_pdf(kept, depth=7)
    monkeypatch.setitem(os.environ, "PDF_TO_SHOW", str(kept))
    test = AppTest.from_function(show_first_page, default_timeout=60).run()
    assert not test.exception
    assert [text.value for text in test.text] == [
        "Drawing it took more than 1 seconds, the most that is given to one."
    ]


def test_removing_a_document_dropped_the_pictures_of_everybodys(pdfs: Path) -> None:
    (pdfs / "visit").mkdir()
    mine, others = (write_pdf(pdfs / name, [PAGE]) for name in ("visit/a.pdf", "b.pdf"))
    assert (pages_in(str(mine)), pages_in(str(others))) == (1, 1)
    for path in (mine, others):
        path.unlink()
    # A cached picture is shown without the file.
    assert (pages_in(str(mine)), pages_in(str(others))) == (1, 1)
    forget_pictures(mine)
    assert (pages_in(str(mine)), pages_in(str(others))) == (0, 1)
    write_pdf(mine, [PAGE, PAGE])
    forget_pictures(pdfs / "visit")
    assert (pages_in(str(mine)), pages_in(str(others))) == (2, 1)
