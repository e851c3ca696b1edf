"""Where files of a corpus lie: in a folder."""

from corpus.places.place import ConflictError, Connection, Place
from corpus.places.folder import Folder, place_at

__all__ = ["ConflictError", "Connection", "Folder", "Place", "place_at"]
