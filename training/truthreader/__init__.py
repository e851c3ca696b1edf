"""TruthReader's data (its section 3.1): documents in, cited dialogues out, each step a pure function."""

from training.truthreader.construct import Construction, Sizes, construct
from training.truthreader.documents import read_documents
from training.truthreader.ledger import AskedModel, Ledger
from training.truthreader.output import ledger_path, write_construction
from training.truthreader.records import SourceDocument

__all__ = [
    "AskedModel", "Construction", "Ledger", "Sizes", "SourceDocument", "construct", "ledger_path",
    "read_documents", "write_construction"
]  # fmt: skip
