"""Opens corpora to measure on: existing ones, and ones built from a list of papers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Runtime
from corpus.records import Collection, Paper
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from evaluation.input_files import home_folder, short_hash, write_text
from indexer.build.run import build_collection
from indexer.sources.protocol import SourcePaper


def open_home(
    path: Path, settings: Settings | None = None, runtime: Runtime | None = None
) -> tuple[Settings, Encoder, Corpus]:
    """Open a PAPER_TRAIL_HOME, or the corpus folder in it, with the encoder of the settings.

    Raises CorpusError.
    """
    settings = (settings or read_settings()).model_copy(update={"home": home_folder(path)})
    encoder = open_encoder(settings, runtime)
    return settings, encoder, Corpus.open(settings.corpus_path, encoder)


@dataclass(frozen=True, slots=True)
class ListedPapers:
    """A source for the indexer made from a list of papers.

    `texts` maps ids of papers to their full texts, which are written to `folder` for the indexer to read.
    """

    collection: Collection
    listed: Sequence[Paper]
    texts: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()

    def __len__(self) -> int:
        return len(self.listed)

    def papers(self) -> Iterator[SourcePaper]:
        for position, paper in enumerate(self.listed):
            file = self.folder / f"{short_hash(paper.id)}.txt" if paper.id in self.texts else None
            if file:
                write_text(file, self.texts[paper.id])
            yield SourcePaper(paper.id, replace(paper, position=position), file)

    def build(self, settings: Settings, encoder: Encoder) -> Corpus:
        """Index the papers in the home of `settings`; raises CorpusError and SourceError."""
        build_collection(settings, encoder, self, lambda _: None)
        return Corpus.open(settings.corpus_path, encoder)
