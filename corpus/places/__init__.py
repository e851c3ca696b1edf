"""Where files of a corpus lie: in a folder, or in a bucket."""

from corpus.places.place import ConflictError, Connection, Place
from corpus.places.folder import Folder
from corpus.places.cache import FileCache
from corpus.places.address import SCHEMES, is_address, place_at, place_of_address
from corpus.places.disk import MB, NoRoomError, check_free_disk, free_bytes, nearest_existing, refusals

__all__ = [
    "MB", "SCHEMES", "ConflictError", "Connection", "FileCache", "Folder", "NoRoomError", "Place",
    "check_free_disk", "free_bytes", "is_address", "nearest_existing", "place_at", "place_of_address",
    "refusals"
]  # fmt: skip
