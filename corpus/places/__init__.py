"""Where files of a corpus lie: in a folder, or in a bucket."""

from corpus.places.place import ConflictError, Connection, Place
from corpus.places.folder import Folder
from corpus.places.cache import FileCache
from corpus.places.address import SCHEMES, is_address, place_at, place_of_address

__all__ = [
    "SCHEMES", "ConflictError", "Connection", "FileCache", "Folder", "Place", "is_address", "place_at",
    "place_of_address"
]  # fmt: skip
