"""Fields of study: papers are labelled by the bundled encoder, and papers about something else are not."""

from collections.abc import Sequence

import numpy as np
import pytest

from corpus.encoders.base import Encoder, Vectors
from corpus.records import Paper, Topic
from indexer.enrich.fields import FieldLabeller

PAPERS = {
    "Machine translation": "Finnish into Sami\nWe train neural translation systems on parallel text.",
    "Summarization": "Summarizing Minutes\nWe compare extractive and abstractive summaries of long meetings.",
    "Morphology and phonology": "Inflecting Verbs\nA model of morphological inflection for Georgian verbs.",
    "Syntax and parsing": "A Faster Parser\nA transition-based dependency parser, tested on treebanks.",
    "Biomedicine and health": "Coding Notes\nWe assign medical codes to clinical notes of patients.",
    "Dialogue": "Booking Tables\nA task-oriented dialogue system that asks users back about their goals.",
    "Ethics and bias": "Nurses and Doctors\nWe measure gender bias in word embeddings and try to remove it.",
    "Resources and annotation": "A Workbench\nAn annotation tool with which translators annotate.",
    "Speech": "Recognising Dialects\nAcoustic models for speech recognition of spoken Swiss German.",
}
ELSEWHERE = [
    "On Prime Gaps\nWe prove a bound on the distance between consecutive primes in number fields.",
    "Dark Matter in Dwarf Galaxies\nWe measure the velocities of stars in twelve galaxies.",
    "Lithium Batteries\nA new electrolyte keeps the capacity of the cells over a thousand cycles.",
    "Quarks on the Lattice\nWe image the charge of the proton and compare it with two models.",
    "Nesting Storks\nWe counted the nests of storks in two valleys over ten years.",
]


def _paper(text: str) -> Paper:
    title, _, abstract = text.partition("\n")
    return Paper(title, "c", title, (), None, "", abstract)


def _labels(labeller: FieldLabeller, encoder: Encoder, texts: Sequence[str]) -> list[tuple[Topic, ...]]:
    return labeller.label([_paper(text) for text in texts], encoder.encode_passages(list(texts)))


@pytest.fixture(scope="module")
def labeller(encoder: Encoder) -> FieldLabeller:
    return FieldLabeller(encoder)


def test_papers_have_the_fields_they_are_about(encoder: Encoder, labeller: FieldLabeller) -> None:
    labels = _labels(labeller, encoder, list(PAPERS.values()))
    assert [topics[0].name for topics in labels] == list(PAPERS)
    for topics in labels:
        assert 1 <= len(topics) <= 3
        assert {topic.kind for topic in topics} == {"field"}
        assert all(0 < topic.score <= 1 for topic in topics)
        assert [topic.score for topic in topics] == sorted((t.score for t in topics), reverse=True)
    assert _labels(labeller, encoder, ELSEWHERE) == [()] * len(ELSEWHERE)
    # Language models write most papers' answers; few papers are about them.
    abstract = (
        "We fine-tune pre-trained transformer models such as BERT on large corpora and improve the results."
    )
    texts = [
        f"Coreference Resolution in Novels\n{abstract}",
        f"Pre-training Language Models on Novels\n{abstract}",
    ]
    first, second = _labels(labeller, encoder, texts)
    assert first[0].name == "Discourse and coreference"
    assert second[0].name == "Language models"


def test_no_papers_have_no_labels_and_load_nothing() -> None:
    class NoEncoder:
        name = sha256 = ""

        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("nothing is to be encoded")

        encode_query = encode_passages

    assert FieldLabeller(NoEncoder()).label([], np.empty((0, 384), dtype=np.float32)) == []  # type: ignore[arg-type]


def test_labels_mean_the_same_in_another_space(encoder: Encoder) -> None:
    """Similarities that all lie higher, in more dimensions, change no label."""

    class Crowded:
        name = sha256 = "crowded"

        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            vectors = encoder.encode_passages(texts)
            shared = np.full((len(vectors), 1), 3.0, dtype=np.float32)
            return np.hstack([vectors, shared]) / np.float32(10**0.5)

        def encode_query(self, text: str) -> Vectors:
            return self.encode_passages([text])[0]

    texts = [*PAPERS.values(), *ELSEWHERE]
    crowded = Crowded()
    plain = _labels(FieldLabeller(encoder), encoder, texts)
    other = _labels(FieldLabeller(crowded), crowded, texts)
    assert [[t.name for t in topics] for topics in plain] == [[t.name for t in topics] for topics in other]
