"""What learned parts cost is measured on answers of ten papers."""

import pytest

from corpus.encoders.base import SentenceEncoder
from corpus.store import Corpus
from evaluation.bench.speed import measure_learned


@pytest.mark.long
def test_the_steps_of_an_answer_are_timed_beside_those_without_networks(
    demo_corpus: Corpus, encoder: SentenceEncoder
) -> None:
    steps = measure_learned(demo_corpus, encoder, ["What is rank fusion?", "How is ROUGE computed?"])
    assert steps["follow_up_ms"] > 0
    assert steps["support_ms"] > 0 and steps["support_without_network_ms"] > 0
    assert 0 < steps["learned_mib"] < 300  # the libraries that run them included
