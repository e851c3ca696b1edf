"""Files that references name, as other machines and programs spell them."""

import unicodedata
from pathlib import Path

import pytest

from indexer.sources.file_links import find_files

FILES = (
    "files/7/moss.pdf",
    "files/7/mud; fen.pdf",
    "files/7/a:b.pdf",
    "files/7/Fen - 2019 - On Moss.pdf",
    "files/7/50% wet & #2_x.pdf",
    unicodedata.normalize("NFD", "files/Ödland/Fén.pdf"),
    "fen.pdf",
    "My.Data/PDF/0123/own.pdf",
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"%PDF-1.7\n")
    return folder


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("files/7/moss.pdf", "moss.pdf"),
        ("Full Text:files/7/moss.pdf:application/pdf", "moss.pdf"),
        (":files/7/moss.pdf:PDF", "moss.pdf"),
        ("files/7/moss.pdf:PDF", "moss.pdf"),
        (r"moss.pdf:files\\7\\moss.pdf:application/pdf", "moss.pdf"),
        (r"files\7\moss.pdf", "moss.pdf"),
        (r"C:\Users\ida\library\files\7\moss.pdf", "moss.pdf"),
        (r":C\:\\Users\\ida\\files\\7\\moss.pdf:PDF", "moss.pdf"),
        (r":C$\backslash$:/Users/ida/files/7/moss.pdf:pdf", "moss.pdf"),
        ("/home/ida/papers/files/7/moss.pdf", "moss.pdf"),
        ("/home/ida/library/fen.pdf", "fen.pdf"),
        ("file:///C:/Users/ida/files/7/moss.pdf", "moss.pdf"),
        ("file://localhost/home/ida/library/files/7/moss.pdf", "moss.pdf"),
        ("file:///x/files/7/Fen%20-%202019%20-%20On%20Moss.pdf", "Fen - 2019 - On Moss.pdf"),
        ("files/7/Fen%20-%202019%20-%20On%20Moss.pdf", "Fen - 2019 - On Moss.pdf"),
        ("files/7/Fen - 2019 -\n On Moss.pdf", "Fen - 2019 - On Moss.pdf"),
        ("internal-pdf://0123/own.pdf", "own.pdf"),
        ("internal-pdf://7/moss.pdf", "moss.pdf"),
        ("files/7/mud; fen.pdf", "mud; fen.pdf"),
        (r"mud\; fen.pdf:files/7/mud\; fen.pdf:application/pdf", "mud; fen.pdf"),
        (r"a\:b.pdf:files/7/a\:b.pdf:application/pdf", "a:b.pdf"),
        ("x:files/7/a:b.pdf:application/pdf", "a:b.pdf"),
        (r"x:files/7/50\% wet \& \#2\_x.pdf:application/pdf", "50% wet & #2_x.pdf"),
        ("files/7/50% wet & #2_x.pdf", "50% wet & #2_x.pdf"),
        (r"x:files/7/50\% wet {\&} \#2{\_}x.pdf:application/pdf", "50% wet & #2_x.pdf"),
        ("files/Ödland/Fén.pdf", "Fén.pdf"),
        (r"F{\'e}n.pdf:files/{\"O}dland/F{\'{e}}n.pdf:application/pdf", "Fén.pdf"),
        ("files/%C3%96dland/F%C3%A9n.pdf", "Fén.pdf"),
        ("Files/7/MOSS.PDF", "moss.pdf"),
        ("Snapshot:files/7/gone.html:text/html;Text:files/7/moss.pdf:application/pdf", "moss.pdf"),
        ("files/7/gone.pdf;files/7/moss.pdf", "moss.pdf"),
    ],
)
def test_fault_files_were_missing_that_lay_in_the_folder(library: Path, field: str, found: str) -> None:
    named = find_files(library, [field])
    assert [unicodedata.normalize("NFC", file.name) for file in named.files] == [found]
    assert all(name.startswith("gone.") for name in named.missing) and not named.outside


@pytest.mark.parametrize(
    ("field", "missing", "outside"),
    [
        ("https://fen.example/moss.pdf", (), ()),
        ("Link:https://fen.example/moss.pdf:text/html", (), ()),
        ("zotero://select/items/1", (), ()),
        ("", (), ()),
        ("files/7/gone.pdf", ("gone.pdf",), ()),
        (r"files\7\gone.pdf", ("gone.pdf",), ()),
        ("files/7/gone; mud.pdf", ("gone; mud.pdf",), ()),
        ("gone%20now.pdf", ("gone now.pdf",), ()),
        ("../secret.pdf", (), ("secret.pdf",)),
        (r"..\secret.pdf", (), ("secret.pdf",)),
        ("/home/ida/moss.pdf", (), ("moss.pdf",)),
        (r"D:\papers\moss.pdf", (), ("moss.pdf",)),
        ("x" * 9_000 + ".pdf", ("x" * 9_000 + ".pdf",), ()),
        ("a\0b.pdf", (), ("a\0b.pdf",)),
    ],
)
def test_files_elsewhere_are_named_and_addresses_are_no_files(
    library: Path, field: str, missing: tuple[str, ...], outside: tuple[str, ...]
) -> None:
    (library.parent / "secret.pdf").write_bytes(b"%PDF-1.7\n")
    assert find_files(library, [field]) == ((), missing, outside)


def test_each_file_comes_once_and_a_link_leads_to_none_outside(library: Path) -> None:
    (library.parent / "secret.pdf").write_bytes(b"%PDF-1.7\n")
    (library / "files" / "out").symlink_to(library.parent)
    assert find_files(library, ["files/out/secret.pdf", "/x/files/out/SECRET.pdf"]).files == ()
    named = find_files(library, ["files/7/moss.pdf", ":files/7/moss.pdf:PDF;:fen.pdf:PDF"])
    assert [file.name for file in named.files] == ["moss.pdf", "fen.pdf"]
