"""Questions that were tried on a corpus beforehand and how they did, in a file beside its tables."""

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
    """A question, the names it is made of, and how many papers its answer cited: none where there was none.

    `relevance` is the answer's, `seconds` is what it took.
    """

    question: str
    kind: str
    names: tuple[str, ...]
    cited: int
    relevance: float
    seconds: float


@checked_dataclass(frozen=True, slots=True)
class _Kept:
    """The tried questions of each collection, "" for all together, of one build of a corpus."""

    made_of: str = ""
    tried: Mapping[str, tuple[TriedQuestion, ...]] = field(default_factory=dict)


_FILE = TypeAdapter(_Kept)


class TriedQuestions:
    """The questions tried on a published corpus; `rules` identify how questions are made.

    It saves work and is never needed: what was tried by other rules, or before a later build, does not count,
    and where the file cannot be read or written, a warning is logged, and no method raises.
    """

    def __init__(self, place: Place, manifest: Manifest, rules: str) -> None:
        self._file = place / FILE
        versions = (manifest.versions[name] for name in ("papers", "passages"))
        self._made_of = " ".join([*map(str, versions), rules])

    def of(self, collection: str) -> tuple[TriedQuestion, ...]:
        """Return the tried questions of a collection, of all together for "", in order."""
        return self._kept().tried.get(collection, ())

    def add(self, collection: str, tried: TriedQuestion) -> bool:
        """Keep how a question did; return True if it could be written."""
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
