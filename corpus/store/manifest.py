"""The manifest: which versions of the tables make up the corpus; replaced in one step by a build."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from corpus.durable import replace_durably
from corpus.encoders import Encoder
from corpus.errors import CorpusError
from corpus.records import PassageSize

SCHEMA_VERSION = 5
_NAMED = 5
TABLES = ("collections", "papers", "passages", "links", "builds", "places", "clusters")


def rebuild_advice(path: Path) -> str:
    return f"Move the folder {path} away and build the corpus again: python -m indexer --help"


@dataclass(frozen=True, slots=True)
class CutSince:
    """How a collection's passages are cut from some version of their table on."""

    collection: str
    version: int
    size: PassageSize


@dataclass(frozen=True, slots=True)
class Manifest:
    """What makes a set of table versions a corpus; `versions` maps table names to numbers.

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
        """Return how a collection's passages were cut at these versions."""
        now = self.versions["passages"]
        sizes = [cut.size for cut in self.cuts if cut.collection == collection and cut.version <= now]
        return sizes[-1] if sizes else PassageSize()


_MANIFEST = TypeAdapter(Manifest)


def mixed_sizes(sizes: Mapping[str, PassageSize]) -> str:
    """Return what is to be said where collections are cut to passages of several sizes, "" where not."""
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


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of the corpus at `path`; raises CorpusError when it is missing or unreadable."""
    try:
        raw = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CorpusError(
            f"There is no corpus at {path}. Build one with: python -m indexer demo "
            "(or set PAPER_TRAIL_HOME to the folder that holds yours)."
        ) from error
    except (OSError, ValueError) as error:
        raise CorpusError(
            f"The corpus manifest at {path} cannot be read ({error}). {rebuild_advice(path)}"
        ) from error
    if isinstance(raw, dict) and raw.get("schema") != SCHEMA_VERSION:
        raise CorpusError(
            f"The corpus at {path} has schema {raw.get('schema')}; this version of Paper Trail reads schema "
            f"{SCHEMA_VERSION}. {rebuild_advice(path)}"
        )
    try:
        manifest = _MANIFEST.validate_python(raw)
    except ValidationError as error:
        raise _not_ours(path) from error
    if set(manifest.versions) != set(TABLES):
        raise _not_ours(path)
    return manifest


def _not_ours(path: Path) -> CorpusError:
    return CorpusError(f"The corpus manifest at {path} is not one of ours. {rebuild_advice(path)}")


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


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Publish the tables that a manifest names; they must have been synced before."""
    temporary = path / "manifest.json.new"
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(asdict(manifest), stream, indent=2)
    replace_durably(temporary, path / "manifest.json")
