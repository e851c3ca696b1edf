"""TruthReader's data (its section 4.2.1): cited dialogues made of documents and of published dialogues."""

from training.truthreader.dialogues import Dialogue, nearest, read_dialogues

__all__ = ["Dialogue", "nearest", "read_dialogues"]
