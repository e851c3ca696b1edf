"""Questions tried on a corpus beforehand, with their results, in a file beside its tables."""

import logging
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from corpus.places.place import Place
from corpus.store.manifest import Manifest

FILE = "questions.json"

logger = logging.getLogger(__name__)


@checked_dataclass(frozen=True, slots=True)
class TriedQuestion:
    """A question, the names in it, and its result; `cited` papers are 0 without an answer."""

    question: str
    kind: str
    names: tuple[str, ...]
    cited: int
    relevance: float
    seconds: float


@checked_dataclass(frozen=True, slots=True)
class _Kept:
    """The tried questions of each collection ("" for all together) in one build of a corpus."""

    made_of: str = ""
    tried: Mapping[str, tuple[TriedQuestion, ...]] = field(default_factory=dict)


_FILE = TypeAdapter(_Kept)


class TriedQuestions:
    """The questions tried on a published corpus; `rules` identify the way questions are made.

    The file only saves work: results of other rules or of an earlier build do not count. If it cannot be read
    or written, a warning is logged; no method raises.
    """

    def __init__(self, place: Place, manifest: Manifest, rules: str) -> None:
        self._file = place / FILE
        versions = (manifest.versions[name] for name in ("papers", "passages"))
        self._made_of = " ".join([*map(str, versions), rules])

    def of(self, collection: str) -> tuple[TriedQuestion, ...]:
        """Return the tried questions of a collection ("" for all together) in order."""
        return self._kept().tried.get(collection, ())

    def add(self, collection: str, tried: TriedQuestion) -> bool:
        """Keep a question's result; return True if it could be written."""
        earlier = self._kept().tried
        kept = _Kept(self._made_of, {**earlier, collection: (*earlier.get(collection, ()), tried)})
        try:
            self._file.write(_FILE.dump_json(kept))
        except OSError as error:
            logger.warning("what was tried is not kept: %s", error)
            return False
        return True

    def _kept(self) -> _Kept:
        try:
            kept = _read(self._file, self._file.stamp())
        except FileNotFoundError:
            return _Kept()
        except (OSError, ValidationError) as error:
            logger.warning("what was tried cannot be read: %s", error)
            return _Kept()
        return kept if kept.made_of == self._made_of else _Kept()


@lru_cache(maxsize=4)
def _read(file: Place, _stamp: str) -> _Kept:
    return _FILE.validate_json(file.read_bytes())
