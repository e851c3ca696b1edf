"""Libraries of visitors that are kept on disk: tables, PDFs and files in a private folder each."""

from corpus.kept.documents import (
    NewDocument,
    Parcel,
    add_documents,
    brought_files,
    pack,
    put_in_order,
    take_out,
)
from corpus.kept.encoding import Encode, Encoded, encode_anew
from corpus.kept.folder import LibraryFolder, LibraryGoneError, begun_folder, library_folders
from corpus.kept.room import OwnerFullError, Room

__all__ = [
    "Encode", "Encoded", "LibraryFolder", "LibraryGoneError", "NewDocument", "OwnerFullError", "Parcel",
    "Room", "add_documents", "begun_folder", "brought_files", "encode_anew", "library_folders", "pack",
    "put_in_order", "take_out"
]  # fmt: skip
