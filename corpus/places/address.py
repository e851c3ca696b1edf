"""Addresses of places: a path, or a bucket and prefix."""

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
    """Return the place of a path on this machine; a place is returned unchanged."""
    return where if isinstance(where, Place) else Folder(where)


def place_of_address(address: str, cache: FileCache) -> Place:
    """Return the place of a bucket's address, without a request to it; raises CorpusError."""
    scheme, _, rest = address.partition("://")
    if scheme not in SCHEMES or not rest.partition("/")[0]:
        known = ", ".join(f"{known_scheme}://bucket/prefix" for known_scheme in SCHEMES)
        raise CorpusError(f"{address} is not the address of a corpus. It can be a folder, or one of {known}.")
    try:
        from corpus.places.bucket import Bucket  # noqa: PLC0415 - an optional package
    except ModuleNotFoundError as error:
        raise CorpusError(
            f"The package for {address} is not installed ({error.name}). Install it: {INSTALL}"
        ) from error
    return Bucket.at(address, cache)
