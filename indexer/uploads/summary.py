"""The summary of a visitor's document that a model writes: its aspects, and a passage of its own."""

from dataclasses import dataclass, replace

from assistant.models.menu import ModelEntry
from assistant.models.protocol import ModelError
from corpus.encoders.base import Encoder
from corpus.records import Passage, Section, Sentence, passage_id
from corpus.settings import Settings
from indexer.enrich.written import AspectModel, open_aspect_model, write_aspects
from indexer.uploads.document import ReadDocument


@dataclass(frozen=True, slots=True)
class DocumentSummariser:
    """A model that sums documents up; `label` is its name for readers."""

    label: str
    writer: AspectModel

    def summarise(self, found: ReadDocument) -> ReadDocument:
        """Return a document with the aspects that the model wrote, which make a last passage of its own.

        What the document does not bear out gives way to its own sentences, which are not repeated in the
        passage. Where the model fails or nothing of it is kept, the remarks say so.
        """
        try:
            aspects = write_aspects(self.writer, found.paper, found.passages)
        except ModelError as error:
            remark = f"{self.label} could not sum it up: {error.fault.rstrip('.')}"
            return replace(found, remarks=(*found.remarks, remark))
        written = [aspect.text for aspect in aspects if aspect.writer]
        if not written:
            remark = f"{self.label} wrote no summary that the document bears out"
            return replace(found, remarks=(*found.remarks, remark))
        passages = (*found.passages, self._passage(found, written))
        return replace(found, paper=replace(found.paper, aspects=aspects), passages=passages)

    def _passage(self, found: ReadDocument, written: list[str]) -> Passage:
        """Return the texts as a passage whose heading says who wrote them."""
        text, sentences = "", []
        for own in written:
            sentences.append(Sentence(len(text), len(text) + len(own)))
            text += f"{own} "
        paper, number = found.paper, len(found.passages)
        return Passage(
            passage_id(paper.id, number),
            paper.id,
            paper.collection_id,
            number,
            "body",
            (Section("", f"Summary written by {self.label}"),),
            text.rstrip(),
            tuple(sentences),
        )


def open_summariser(entry: ModelEntry, settings: Settings, encoder: Encoder) -> DocumentSummariser:
    """Return a model that sums documents up."""
    return DocumentSummariser(entry.label, open_aspect_model(entry, settings, encoder))
