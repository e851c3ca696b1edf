"""A place in a bucket of S3 (or a compatible server), Google Cloud Storage or Azure; imports obstore.

Keys, regions and endpoints come from the environment variables of the storage's own tools, which LanceDB
reads as well.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

# The most retries of a request, and the time for them.
RETRIES, PATIENCE_SECONDS = 8, 60
_TIMEOUT_SECONDS, _CONNECT_SECONDS = 60, 5
# The error code and the status in the reply of a storage.
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
    """A prefix or an object of a bucket: `root` is the bucket's address, `key` the path in it."""

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
        with _translating_errors(self):
            return any(chunk for chunk in self._store.list(self._prefix, chunk_size=1))

    def make_folder(self) -> None:
        """Do nothing: a bucket has no folders."""

    def size(self) -> int | None:
        try:
            with _translating_errors(self):
                return self._store.head(self.key)["size"]
        except FileNotFoundError:
            return None

    def changed(self) -> float:
        with _translating_errors(self):
            return self._store.head(self.key)["last_modified"].timestamp()

    def stamp(self) -> str:
        with _translating_errors(self):
            return str(self._store.head(self.key)["e_tag"])

    def read_bytes(self) -> bytes:
        return self.read_marked()[0]

    def read_marked(self) -> tuple[bytes, str]:
        with _translating_errors(self):
            reply = self._store.get(self.key)
            return bytes(reply.bytes()), str(reply.meta["e_tag"])

    def write(self, content: bytes) -> None:
        with _translating_errors(self):
            self._store.put(self.key, content)

    def write_if(self, content: bytes, mark: str) -> str:
        try:
            with _translating_errors(self):
                written = self._store.put(self.key, content, mode={"e_tag": mark} if mark else "create")
                return str(written["e_tag"])
        except (OSError, ConflictError):
            # This very call may have written it, with only the reply lost.
            with suppress(OSError):
                stored, new_mark = self.read_marked()
                if stored == content:
                    return new_mark
            raise

    def copy_from(self, file: Path) -> None:
        with _translating_errors(self):
            self._store.put(self.key, file)

    def files(self, pattern: str = "*") -> list["Bucket"]:
        with _translating_errors(self):
            listed = self._store.list_with_delimiter(self._prefix)["objects"]
        files = (self._of(entry["path"]) for entry in listed)
        return sorted((file for file in files if fnmatchcase(file.name, pattern)), key=lambda file: file.key)

    def files_below(self) -> list["Bucket"]:
        return [self._of(key) for key, _ in self._listed()]

    def total_size(self) -> int:
        return sum(size for _, size in self._listed())

    def _listed(self) -> list[tuple[str, int]]:
        with _translating_errors(self):
            listed = self._store.list(self._prefix)
            return [(entry["path"], entry["size"]) for chunk in listed for entry in chunk]

    def delete(self) -> None:
        with _translating_errors(self):
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
        """Do nothing: an accepted object is durable."""

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
        # For custom endpoints, whose address decides between HTTP and HTTPS.
        "allow_http": True,
    }
    if root.startswith("s3:"):
        # Not all S3 servers support bulk delete.
        alone: S3Config = {"disable_bulk_delete": True}
        return S3Store.from_url(root, config=alone, client_options=client, retry_config=retries)
    return from_url(root, client_options=client, retry_config=retries)


@contextmanager
def _translating_errors(place: Bucket) -> Iterator[None]:
    """Translate the errors of obstore into those of `Place`."""
    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise ConflictError(f"{place} was written by somebody else meanwhile.") from error
    except FileNotFoundError as error:
        # A missing bucket is not a missing file.
        kind = OSError if "NoSuchBucket" in str(error) else FileNotFoundError
        raise kind(errno.EIO, _reason(error), str(place)) from error
    except BaseError as error:
        raise OSError(errno.EIO, _reason(error), str(place)) from error


def _reason(error: Exception) -> str:
    """Return the reason of a storage's refusal, without the parts of the request that it repeats."""
    text = str(error)
    code, status = _CODE.search(text), _STATUS.search(text)
    if code:
        return _REASONS.get(code[1], f"the storage answered {code[1]}")
    if status:
        return f"the storage answered {status[1].strip()}"
    return "the storage cannot be reached, or its reply was cut off"
