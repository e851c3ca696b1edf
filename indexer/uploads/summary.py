"""A model's summary of a visitor's document: its aspects, and a passage of their sentences."""

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
    """A model that summarises documents; `label` is its name for readers."""

    label: str
    writer: AspectModel

    def summarise(self, document: ReadDocument) -> ReadDocument:
        """Return a document with the aspects that the model wrote, and a last passage made of them.

        An aspect that the document does not support is chosen from its sentences instead and is not part of
        the passage. Remarks say when the model failed or nothing it wrote was kept.
        """
        try:
            aspects = write_aspects(self.writer, document.paper, document.passages)
        except ModelError as error:
            remark = f"{self.label} could not sum it up: {error.fault.rstrip('.')}"
            return replace(document, remarks=(*document.remarks, remark))
        written = [aspect.text for aspect in aspects if aspect.writer]
        if not written:
            remark = f"{self.label} wrote no summary that the document bears out"
            return replace(document, remarks=(*document.remarks, remark))
        passages = (*document.passages, self._passage(document, written))
        return replace(document, paper=replace(document.paper, aspects=aspects), passages=passages)

    def _passage(self, document: ReadDocument, written: list[str]) -> Passage:
        """Return the texts as a passage whose heading names the model."""
        text, sentences = "", []
        for sentence in written:
            sentences.append(Sentence(len(text), len(text) + len(sentence)))
            text += f"{sentence} "
        paper, number = document.paper, len(document.passages)
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
    """Return the summariser of a model."""
    return DocumentSummariser(entry.label, open_aspect_model(entry, settings, encoder))
