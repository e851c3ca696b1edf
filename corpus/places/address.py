"""Addresses of places."""

from pathlib import Path

from corpus.errors import CorpusError
from corpus.places.cache import FileCache
from corpus.places.folder import Folder
from corpus.places.place import Place

SCHEMES = ("s3", "gs", "az")
INSTALL = "pip install 'paper-trail[s3]'"


def is_address(text: str) -> bool:
    return "://" in text


def place_at(where: Path | Place) -> Place:
    """Return a place for a path on this machine; a place is one already."""
    return where if isinstance(where, Place) else Folder(where)


def place_of_address(address: str, cache: FileCache) -> Place:
    """Return the place in a bucket, of which nothing is asked yet; raises CorpusError."""
    scheme, _, rest = address.partition("://")
    if scheme not in SCHEMES or not rest.partition("/")[0]:
        known = ", ".join(f"{one}://bucket/prefix" for one in SCHEMES)
        raise CorpusError(f"{address} is not the address of a corpus. It can be a folder, or one of {known}.")
    try:
        from corpus.places.bucket import Bucket  # noqa: PLC0415 - an optional package, for those who ask
    except ModuleNotFoundError as error:
        raise CorpusError(
            f"The package for {address} is not installed ({error.name}). Install it: {INSTALL}"
        ) from error
    return Bucket.at(address, cache)
