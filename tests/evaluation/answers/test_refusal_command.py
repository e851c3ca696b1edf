from collections import Counter
from pathlib import Path

import pytest

from corpus.encoders.base import SentenceEncoder
from corpus.store.corpus import Corpus
from corpus.store.manifest import read_manifest
from evaluation.answers import refusal
from evaluation.answers.refusal import made_cases, measure_refusal, written_cases
from evaluation.input_files import EvaluationError
from tests.small_corpus import make_paper, write_corpus

COLLECTIONS = ("2022.acl-long", "field-notes-evaluation", "field-notes-retrieval")


def test_forty_questions_of_each_kind_were_written_half_of_them_held_out():
    cases = written_cases(COLLECTIONS)
    assert Counter((case.answerable, case.part) for case in cases) == {
        (answerable, part): 20 for answerable in (True, False) for part in ("dev", "held out")
    }
    assert len({case.question for case in cases}) == 80
    assert {len(case.collections) for case in cases} == {1, 2}


@pytest.mark.long
def test_questions_are_made_of_any_two_collections_and_most_go_right(
    demo_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(refusal, "MADE_PER_DIRECTION", 4)
    figures = measure_refusal(demo_home / "corpus")
    assert figures["questions"] == "made"
    assert len(figures["directions"]) == 4
    assert figures["counts"]["answerable"] == figures["counts"]["unanswerable"] > 0
    assert figures["false_refusals"] <= 0.2


def test_one_collection_alone_gives_no_cases(tmp_path: Path, encoder: SentenceEncoder):
    write_corpus(tmp_path, encoder, {make_paper("one", "a"): ["BM25 ranks documents."]})
    corpus = Corpus(tmp_path, read_manifest(tmp_path))
    with pytest.raises(EvaluationError, match="need two collections; the corpus holds 1"):
        next(made_cases(corpus))
