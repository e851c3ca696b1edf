"""A place: a folder or a file of a corpus, wherever it lies."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from corpus.errors import CorpusError


class ConflictError(CorpusError):
    """Somebody else has written a file since it was read; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The address and options with which LanceDB opens the tables of a folder."""

    uri: str
    options: Mapping[str, str]


class Place(ABC):
    """A folder or a file of a corpus; `str` is what it is called.

    Methods raise FileNotFoundError for what is not there, and OSError with a `strerror` that says why for
    what cannot be read or written.
    """

    is_shared: ClassVar[bool]
    """Whether builders of several machines may write to it, among whom no lock of a file decides."""

    @abstractmethod
    def __truediv__(self, name: str) -> Self: ...

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def exists(self) -> bool: ...

    @abstractmethod
    def is_folder(self) -> bool:
        """Return True if it is a folder; one in a bucket is there as long as anything is in it."""

    @abstractmethod
    def make_folder(self) -> None:
        """Make a folder and those above it, where there are such things."""

    @abstractmethod
    def size(self) -> int | None:
        """Return the bytes of a file, None for one that is not there."""

    @abstractmethod
    def read_bytes(self) -> bytes: ...

    @abstractmethod
    def read_marked(self) -> tuple[bytes, str]:
        """Return the content of a file and a mark of it, for `write_if`."""

    @abstractmethod
    def changed(self) -> float:
        """Return when a file was last written, in seconds since 1970."""

    @abstractmethod
    def stamp(self) -> str:
        """Return a token that changes with the file; cheaper than to read it."""

    @abstractmethod
    def write(self, content: bytes) -> None:
        """Write a file so that it is there whole or not at all, and outlives a power loss.

        Folders are made as needed, here and below.
        """

    @abstractmethod
    def write_if(self, content: bytes, mark: str) -> str:
        """Write a file if it is still what was read with a mark, or, for "", not there; return the new mark.

        Raises ConflictError otherwise.
        """

    @abstractmethod
    def copy_from(self, file: Path) -> None:
        """Write what a file of this machine holds."""

    @abstractmethod
    def files(self, pattern: str = "*") -> list[Self]:
        """Return the files in a folder whose names match a pattern, sorted; none where there is no folder."""

    @abstractmethod
    def files_below(self) -> list[Self]:
        """Return all files in a folder and the folders in it."""

    @abstractmethod
    def total_size(self) -> int:
        """Return the bytes of all files below."""

    @abstractmethod
    def delete(self) -> None:
        """Delete a file; one that is not there is left."""

    @abstractmethod
    def local(self) -> Path:
        """Return a file on this machine with the same content; one whose content never changes."""

    @abstractmethod
    def connection(self) -> Connection: ...

    @abstractmethod
    def settle(self, names: list[str]) -> None:
        """Have what others wrote into folders of this one outlive a power loss."""
