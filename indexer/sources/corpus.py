"""Papers of the corpus, to be parsed again from their kept PDFs."""

import json
from collections.abc import Iterator
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from corpus.places.place import Place
from corpus.records import Collection, Paper, Reference, Scope
from corpus.store.corpus import Corpus
from indexer.errors import SourceError
from indexer.sources.protocol import SourcePaper

_PAPER = TypeAdapter(Paper)
_REFERENCES = TypeAdapter(tuple[Reference, ...])


class KeptPapers:
    """The papers of a collection that have a PDF and that `parser` did not read."""

    def __init__(self, corpus: Corpus, collection: Collection, pdf_folder: Place, parser: str) -> None:
        self.collection = collection
        self._corpus = corpus
        self._pdf_folder = pdf_folder
        papers = corpus.papers(Scope(collections=(collection.id,)))
        self._papers = [paper for paper in papers if paper.pdf_sha256 and paper.parser != parser]

    def __len__(self) -> int:
        return len(self._papers)

    def papers(self) -> Iterator[SourcePaper]:
        for paper in self._papers:
            yield self._listed(paper)

    def _listed(self, paper: Paper) -> SourcePaper:
        """Return the paper as its source listed it, with the kept PDF as its file."""
        try:
            described = json.loads(self._corpus.listed(paper.id))
            listed = _PAPER.validate_python(described["paper"])
            references = _REFERENCES.validate_python(described["references"])
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise SourceError(
                f"What the source of {paper.id} said of it is damaged. "
                "Build its collection again from its source."
            ) from error
        placed = replace(listed, position=paper.position)
        entry = SourcePaper(str(described["name"]), placed, references=references)
        try:
            return replace(entry, file=(self._pdf_folder / f"{paper.pdf_sha256}.pdf").local())
        except FileNotFoundError:
            return replace(entry, problem="its PDF is no longer kept; build its collection again")
        except OSError as error:
            return replace(entry, problem=f"its PDF cannot be read: {error.strerror}")
