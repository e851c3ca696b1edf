"""A place in a bucket, of S3 or what speaks its language, Google Cloud Storage or Azure; imports obstore.

Keys, regions and endpoints come from the environment by the names that the storage's own tools have, for
LanceDB reads them there too.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import ObjectStore, S3Store, from_url

from corpus.places.cache import FileCache
from corpus.places.place import ConflictError, Connection, Place

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

# A storage that is busy, or away for a moment, is asked again so often and so long.
RETRIES, PATIENCE_SECONDS = 8, 60
_TIMEOUT_SECONDS, _CONNECT_SECONDS = 60, 5
# Of the reply of a storage: what went wrong, in its own words.
_CODE, _STATUS = re.compile(r"<Code>(\w{1,60})</Code>"), re.compile(r"status code: (\d{3}[ \w]*)")
_REASONS = {
    "NoSuchBucket": "there is no such bucket",
    "InvalidAccessKeyId": "the storage does not know the access key",
    "SignatureDoesNotMatch": "the secret does not belong to the access key",
    "ExpiredToken": "the session token has expired",
    "AccessDenied": "the access key may not do this",
    "SlowDown": "the storage is asked too often, and said so each time",
}


@dataclass(frozen=True, slots=True)
class Bucket(Place):
    """A prefix or an object of a bucket: `root` is its address, `key` what stands behind it."""

    root: str
    key: str
    cache: FileCache
    is_shared: ClassVar[bool] = True

    @classmethod
    def at(cls, address: str, cache: FileCache) -> "Bucket":
        scheme, _, rest = address.partition("://")
        bucket, _, key = rest.partition("/")
        return cls(f"{scheme}://{bucket}", key.strip("/"), cache)

    def __truediv__(self, name: str) -> "Bucket":
        return Bucket(self.root, f"{self.key}/{name}".strip("/"), self.cache)

    def __str__(self) -> str:
        return f"{self.root}/{self.key}"

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    def exists(self) -> bool:
        return self.size() is not None

    def is_folder(self) -> bool:
        with _asked(self):
            return any(chunk for chunk in self._store.list(self._prefix, chunk_size=1))

    def make_folder(self) -> None:
        """Do nothing: a bucket has names with strokes in them, and no folders."""

    def size(self) -> int | None:
        try:
            with _asked(self):
                return self._store.head(self.key)["size"]
        except FileNotFoundError:
            return None

    def changed(self) -> float:
        with _asked(self):
            return self._store.head(self.key)["last_modified"].timestamp()

    def stamp(self) -> str:
        with _asked(self):
            return str(self._store.head(self.key)["e_tag"])

    def read_bytes(self) -> bytes:
        return self.read_marked()[0]

    def read_marked(self) -> tuple[bytes, str]:
        with _asked(self):
            found = self._store.get(self.key)
            return bytes(found.bytes()), str(found.meta["e_tag"])

    def write(self, content: bytes) -> None:
        with _asked(self):
            self._store.put(self.key, content)

    def write_if(self, content: bytes, mark: str) -> str:
        try:
            with _asked(self):
                written = self._store.put(self.key, content, mode={"e_tag": mark} if mark else "create")
                return str(written["e_tag"])
        except (OSError, ConflictError):
            # It may have been written by this very call, with only the reply lost.
            now, new_mark = self._now()
            if now == content:
                return new_mark
            raise

    def _now(self) -> tuple[bytes, str]:
        try:
            return self.read_marked()
        except OSError:
            return b"", ""

    def copy_from(self, file: Path) -> None:
        with _asked(self):
            self._store.put(self.key, file)

    def files(self, pattern: str = "*") -> list["Bucket"]:
        with _asked(self):
            listed = self._store.list_with_delimiter(self._prefix)["objects"]
        found = (self._of(one["path"]) for one in listed)
        return sorted((one for one in found if fnmatchcase(one.name, pattern)), key=lambda one: one.key)

    def files_below(self) -> list["Bucket"]:
        return [self._of(key) for key, _ in self._listed()]

    def total_size(self) -> int:
        return sum(size for _, size in self._listed())

    def _listed(self) -> list[tuple[str, int]]:
        with _asked(self):
            listed = self._store.list(self._prefix)
            return [(one["path"], one["size"]) for chunk in listed for one in chunk]

    def delete(self) -> None:
        with _asked(self):
            self._store.delete(self.key)

    def local(self) -> Path:
        return self.cache.get(str(self), self.read_bytes)

    def connection(self) -> Connection:
        options = {
            "client_max_retries": str(RETRIES),
            "client_retry_timeout": str(PATIENCE_SECONDS),
            "allow_http": "true",
        }
        return Connection(str(self), options)

    def settle(self, names: list[str]) -> None:
        """Do nothing: what a storage has accepted is there."""

    @property
    def _prefix(self) -> str | None:
        return f"{self.key}/" if self.key else None

    def _of(self, key: str) -> "Bucket":
        return Bucket(self.root, key, self.cache)

    @property
    def _store(self) -> ObjectStore:
        return _store(self.root)


@lru_cache(maxsize=8)
def _store(root: str) -> ObjectStore:
    patience = timedelta(seconds=PATIENCE_SECONDS)
    retries: RetryConfig = {"max_retries": RETRIES, "retry_timeout": patience}
    client: ClientConfig = {
        "timeout": timedelta(seconds=_TIMEOUT_SECONDS),
        "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
        # An endpoint of one's own says by its address whether it is spoken to in the clear.
        "allow_http": True,
    }
    if root.startswith("s3:"):
        # Every storage deletes a file; several at once not all do.
        alone: S3Config = {"disable_bulk_delete": True}
        return S3Store.from_url(root, config=alone, client_options=client, retry_config=retries)
    return from_url(root, client_options=client, retry_config=retries)


@contextmanager
def _asked(place: Bucket) -> Iterator[None]:
    """Raise what a place raises for what obstore does."""
    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise ConflictError(f"{place} was written by somebody else meanwhile.") from error
    except FileNotFoundError as error:
        # One of the bucket is no news of a file.
        kind = OSError if "NoSuchBucket" in str(error) else FileNotFoundError
        raise kind(errno.EIO, _reason(error), str(place)) from error
    except BaseError as error:
        raise OSError(errno.EIO, _reason(error), str(place)) from error


def _reason(error: Exception) -> str:
    """Return why a storage refused, without what it repeats of the request."""
    text = str(error)
    code, status = _CODE.search(text), _STATUS.search(text)
    if code:
        return _REASONS.get(code[1], f"the storage answered {code[1]}")
    if status:
        return f"the storage answered {status[1].strip()}"
    return "the storage cannot be reached, or its reply was cut off"
