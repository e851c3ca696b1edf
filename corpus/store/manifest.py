"""The manifest: the table versions that make up the corpus; a build replaces it in one step."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.places.address import place_at
from corpus.places.place import Place
from corpus.records import PassageSize

SCHEMA_VERSION = 5
FILE = "manifest.json"
_NAMED = 5
TABLES = ("collections", "papers", "passages", "links", "builds", "places", "clusters")


def rebuild_advice(place: Place) -> str:
    return f"Move the folder {place} away and build the corpus again: paper-trail index --help"


@dataclass(frozen=True, slots=True)
class CutSince:
    """The passage size of a collection from some version of its table on."""

    collection: str
    version: int
    size: PassageSize


@dataclass(frozen=True, slots=True)
class Manifest:
    """The versions of tables that make up a corpus; `versions` maps table names to numbers.

    `runtime` is what ran the encoder: another one gives nearly, but not exactly, the same vectors. `cuts`
    tells when a collection got passages of another size than before, and than most have.
    """

    encoder: str
    encoder_sha256: str
    dimension: int
    versions: Mapping[str, int]
    runtime: str = "torch"
    schema: int = SCHEMA_VERSION
    cuts: tuple[CutSince, ...] = ()

    def size_of(self, collection: str) -> PassageSize:
        """Return the passage size of a collection at these versions."""
        now = self.versions["passages"]
        sizes = [cut.size for cut in self.cuts if cut.collection == collection and cut.version <= now]
        return sizes[-1] if sizes else PassageSize()


_MANIFEST = TypeAdapter(Manifest)


def mixed_sizes(sizes: Mapping[str, PassageSize]) -> str:
    """Return the warning about collections cut to different passage sizes, "" for one size."""
    cut: dict[PassageSize, list[str]] = {}
    for collection, size in sorted(sizes.items()):
        cut.setdefault(size, []).append(collection)
    if len(cut) < 2:
        return ""
    told = "; ".join(
        f"{size} in {', '.join(names[:_NAMED])}{' and others' if len(names) > _NAMED else ''}"
        for size, names in cut.items()
    )
    return (
        f"Its passages are of several sizes, which a search compares as if they were of one: {told}. Build "
        "these collections again with one PAPER_TRAIL_PASSAGE_WORDS and PAPER_TRAIL_PASSAGE_OVERLAP."
    )


def read_manifest(path: Path | Place) -> Manifest:
    """Return the manifest of the corpus at `path`; raises CorpusError when it is missing or unreadable."""
    manifest, _ = find_manifest(path)
    if manifest is None:
        raise CorpusError(
            f"There is no corpus at {path}. Build one with: paper-trail index demo "
            "(or set PAPER_TRAIL_HOME to the folder that holds yours)."
        )
    return manifest


def find_manifest(path: Path | Place) -> tuple[Manifest | None, str]:
    """Return the manifest and the mark of its file, None and "" where there is none; raises CorpusError."""
    place = place_at(path)
    try:
        content, mark = (place / FILE).read_marked()
        raw = json.loads(content)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        raise CorpusError(
            f"The corpus manifest at {place} cannot be read: {error.strerror}. What may be wrong is said by: "
            "paper-trail doctor"
        ) from error
    except ValueError as error:
        raise CorpusError(
            f"The corpus manifest at {place} cannot be read ({error}). {rebuild_advice(place)}"
        ) from error
    return _parsed(raw, place), mark


def _parsed(raw: object, place: Place) -> Manifest:
    if isinstance(raw, dict) and raw.get("schema") != SCHEMA_VERSION:
        raise CorpusError(
            f"The corpus at {place} has schema {raw.get('schema')}; this version of Paper Trail reads schema "
            f"{SCHEMA_VERSION}. {rebuild_advice(place)}"
        )
    try:
        manifest = _MANIFEST.validate_python(raw)
    except ValidationError as error:
        raise _not_ours(place) from error
    if set(manifest.versions) != set(TABLES):
        raise _not_ours(place)
    return manifest


def _not_ours(place: Place) -> CorpusError:
    return CorpusError(f"The corpus manifest at {place} is not one of ours. {rebuild_advice(place)}")


def check_encoder(manifest: Manifest, encoder: Encoder) -> None:
    """Raise CorpusError unless `encoder` is the one that built the corpus."""
    if manifest.encoder != encoder.name:
        raise CorpusError(
            f"This corpus was built with the encoder {manifest.encoder!r}, but {encoder.name!r} is chosen. "
            f"Set PAPER_TRAIL_ENCODER={manifest.encoder}, or rebuild the corpus in a fresh PAPER_TRAIL_HOME."
        )
    if manifest.encoder_sha256 != encoder.sha256:
        raise CorpusError(
            f"This corpus was built with other weights of the encoder {encoder.name!r} than those installed "
            "now. Reinstall the ones it was built with, or rebuild the corpus in a fresh PAPER_TRAIL_HOME."
        )
    if manifest.runtime != encoder.runtime:
        raise CorpusError(
            f"This corpus was built with its encoder in {manifest.runtime}, but here it runs in "
            f"{encoder.runtime}. Set PAPER_TRAIL_ENCODER_RUNTIME={manifest.runtime}, or rebuild the corpus "
            "in a fresh PAPER_TRAIL_HOME."
        )


def write_manifest(path: Path | Place, manifest: Manifest, mark: str = "") -> str:
    """Publish the tables that a manifest names, which must have been settled before; return its mark.

    Raises ConflictError unless the manifest that is there has the `mark`.
    """
    content = json.dumps(asdict(manifest), indent=2).encode()
    return (place_at(path) / FILE).write_if(content, mark)
