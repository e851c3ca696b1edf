"""Provenance: everything that must be the same to reproduce a result."""

from assistant.learned.followups import FOLLOW_UPS
from assistant.learned.parts import part_in_use
from assistant.learned.relevance import RELEVANCE
from assistant.records import Provenance, TableVersion
from corpus import VERSION
from corpus.store.corpus import Corpus


def provenance_of(corpus: Corpus, generator: str, scorer: str) -> Provenance:
    """Return the provenance of a result that `generator` writes from the corpus now."""
    manifest = corpus.manifest
    return Provenance(
        product=f"Paper Trail {VERSION}",
        generator=generator,
        encoder=manifest.encoder,
        encoder_sha256=manifest.encoder_sha256,
        encoder_runtime=manifest.runtime,
        corpus=tuple(TableVersion(name, number) for name, number in sorted(manifest.versions.items())),
        scorer=scorer,
        learned=(str(part_in_use(FOLLOW_UPS)), str(part_in_use(RELEVANCE))),
        passages=tuple(sorted(set(corpus.passage_sizes().values()), key=str)),
    )
