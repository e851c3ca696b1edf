"""Where each data set comes from, where it is looked for, and how it is fetched."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation.tables.records import MissingError

_FILE = Path(__file__).with_name("sources.toml")


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HubFile(_Table):
    """A file of a data set on the hub: in which repository, at which path, and where it goes.

    `to` is a path in the data folder; `sha256`, of the file as the hub has it, is checked where it is known.
    """

    repository: str
    path: str
    to: str
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    revision: str = "main"

    @property
    def address(self) -> str:
        revision = quote(self.revision, safe="")
        return f"https://huggingface.co/datasets/{self.repository}/resolve/{revision}/{self.path}"


class Form(_Table):
    """A form in which a data set can lie in the data folder.

    `path` is a file, or a folder with all of `files`. `stands_in` says what it is where it is not what the
    paper measured on; `counts` are how many of what it has.
    """

    path: str
    files: tuple[str, ...] = ()
    counts: dict[str, int] = {}
    stands_in: str = ""

    def is_in(self, data: Path) -> bool:
        place = data / self.path
        return all((place / name).is_file() for name in self.files) if self.files else place.is_file()


class DataSet(_Table):
    """A data set: its title, licence and address, the forms it is read in, best first, and its files."""

    title: str
    licence: str
    address: str
    forms: tuple[Form, ...] = ()
    hub: tuple[HubFile, ...] = ()

    @model_validator(mode="after")
    def _check_places(self) -> Self:
        within = [form.path for form in self.forms] + [file for form in self.forms for file in form.files]
        for path in (*within, *(file.to for file in self.hub)):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise ValueError(f"{path} is not below the data folder")
        return self


@dataclass(frozen=True, slots=True)
class Found:
    """A data set as it lies here."""

    name: str
    data_set: DataSet
    form: Form
    path: Path

    @property
    def stand_in(self) -> str:
        return f"{self.data_set.title}: {self.form.stands_in}" if self.form.stands_in else ""


@cache
def data_sets() -> Mapping[str, DataSet]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: DataSet.model_validate(table) for name, table in tables.items()}


def find(name: str, data: Path) -> Found:
    """Return where a data set lies, in its best form; raises MissingError that says where to put it."""
    data_set = data_sets()[name]
    for form in data_set.forms:
        if form.is_in(data):
            return Found(name, data_set, form, data / form.path)
    raise MissingError(data_set.title, _advice(name, data_set, data))


def check_count(found: Found, what: str, count: int) -> None:
    """Raise MissingError where a data set has another number of something than is known of its version."""
    known = found.form.counts.get(what)
    if known is not None and known != count:
        raise MissingError(
            found.data_set.title,
            f"{found.path} has {count:,} {what} where {known:,} are known of it: another version, or not"
            f" all of it. Fetch it again: paper-trail eval fetch {found.name}",
        )


def _advice(name: str, data_set: DataSet, data: Path) -> str:
    places = " or ".join(f"{data / form.path}{_listed(form.files)}" for form in data_set.forms)
    fetched = f"paper-trail eval fetch {name} --data {data}, or put it " if data_set.hub else "put it "
    return f"{fetched}at {places}. It comes from {data_set.address} ({data_set.licence})."


def _listed(files: Sequence[str]) -> str:
    return f" ({', '.join(files)})" if files else ""


def content_hash(path: Path) -> str:
    """Return a hash of a file's content, or of all files below a folder with their names."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file()):
        digest.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as content:
            while block := content.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def not_here(names: Sequence[str], data: Path) -> list[str]:
    """Return the titles of the data sets that the data folder lacks."""
    known = data_sets()
    return [known[name].title for name in names if not any(form.is_in(data) for form in known[name].forms)]
