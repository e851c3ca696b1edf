"""A lock file: one build writes to a corpus at a time."""

from filelock import FileLock, Timeout

from corpus.errors import CorpusError
from corpus.settings import Settings


def build_lock(settings: Settings) -> FileLock:
    """Return the lock of a build; entering it raises CorpusError while another build holds it."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CorpusError(f"The folder {settings.home} cannot be written: {error.strerror}.") from error
    return _BuildLock(settings.home / "build.lock", timeout=0)


class _BuildLock(FileLock):
    def __enter__(self) -> "_BuildLock":
        try:
            super().__enter__()
        except Timeout as error:
            raise CorpusError(
                "Another build is writing to this corpus. Wait for it to end, then run this again."
            ) from error
        except OSError as error:
            raise CorpusError(f"The corpus folder cannot be written: {error.strerror}.") from error
        return self
