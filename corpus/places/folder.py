"""A place on a disk of this machine."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from corpus.durable import replace_durably, sync, sync_parents, sync_tree
from corpus.places.place import ConflictError, Connection, Place


@dataclass(frozen=True, slots=True, order=True)
class Folder(Place):
    """A folder or a file; a lock file (`indexer.lock`) keeps a second builder out of a corpus."""

    path: Path
    is_shared: ClassVar[bool] = False

    def __truediv__(self, name: str) -> "Folder":
        return Folder(self.path / name)

    def __str__(self) -> str:
        return str(self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    def exists(self) -> bool:
        return self.path.exists()

    def is_folder(self) -> bool:
        return self.path.is_dir()

    def make_folder(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    def size(self) -> int | None:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return None

    def read_bytes(self) -> bytes:
        return self.path.read_bytes()

    def read_marked(self) -> tuple[bytes, str]:
        content = self.path.read_bytes()
        return content, hashlib.sha256(content).hexdigest()

    def changed(self) -> float:
        return self.path.stat().st_mtime

    def stamp(self) -> str:
        status = self.path.stat()
        return f"{status.st_mtime_ns} {status.st_size}"

    def write(self, content: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._temporary.write_bytes(content)
        replace_durably(self._temporary, self.path)

    def write_if(self, content: bytes, mark: str) -> str:
        try:
            now = self.read_marked()[1]
        except FileNotFoundError:
            now = ""
        if now != mark:
            raise ConflictError(f"{self} was written by somebody else meanwhile.")
        self.write(content)
        return hashlib.sha256(content).hexdigest()

    def copy_from(self, file: Path) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, self._temporary)
        replace_durably(self._temporary, self.path)

    def files(self, pattern: str = "*") -> list["Folder"]:
        return [Folder(path) for path in sorted(self.path.glob(pattern)) if path.is_file()]

    def files_below(self) -> list["Folder"]:
        return [Folder(path) for path in self.path.rglob("*") if path.is_file()]

    def total_size(self) -> int:
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    def local(self) -> Path:
        if not self.path.is_file():
            raise FileNotFoundError(f"There is no file {self}.")
        return self.path

    def connection(self) -> Connection:
        return Connection(str(self.path), {})

    def settle(self, names: list[str]) -> None:
        for name in names:
            sync_tree(self.path / name)
        sync(self.path)
        sync_parents(self.path)

    @property
    def _temporary(self) -> Path:
        return self.path.with_name(f"{self.path.name}.new")
