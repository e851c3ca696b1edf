"""Pictures of pages that are kept: of a PDF that was taken away none is left, and others' stay."""

from pathlib import Path

from explorer.components.page_image import forget_pictures, pages_in
from tests.assistant.libraries.own_documents import PAGE
from tests.small_pdf import write_pdf


def test_removing_a_document_dropped_the_pictures_of_everybodys(tmp_path: Path) -> None:
    (tmp_path / "visit").mkdir()
    mine, others = (write_pdf(tmp_path / name, [PAGE]) for name in ("visit/a.pdf", "b.pdf"))
    assert (pages_in(str(mine)), pages_in(str(others))) == (1, 1)
    for path in (mine, others):
        path.unlink()
    # What is kept is shown without the file.
    assert (pages_in(str(mine)), pages_in(str(others))) == (1, 1)
    forget_pictures(mine)
    assert (pages_in(str(mine)), pages_in(str(others))) == (0, 1)
    write_pdf(mine, [PAGE, PAGE])
    forget_pictures(tmp_path / "visit")
    assert (pages_in(str(mine)), pages_in(str(others))) == (2, 1)
