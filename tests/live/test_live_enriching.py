"""Two papers whose aspects a real model is asked for: what the paper does not carry is not taken."""

import json
import shutil

from corpus.encoder_choice import open_encoder
from corpus.records import Scope
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from tests.demo_home import PROJECT

NAMES = ("bm25", "rank-fusion")


def test_two_papers_are_enriched_or_keep_what_they_had_and_each_failure_is_named(serve, home, run, tmp_path):
    server, folder = serve("plain"), tmp_path / "two"
    folder.mkdir()
    for name in NAMES:
        shutil.copy(PROJECT / "corpus" / "demo" / "pdf" / f"{name}.pdf", folder)
    run("indexer", "folder", folder, "--collection", "two", "--title", "Two")
    before = _papers(home)
    done = run("indexer", "enrich", "two", "--model", "tiny", "--json", status=None)
    told = json.loads(done.stdout)
    failed = {failure["item"]: failure["reason"] for failure in told["failures"]}
    assert (told["asked"], done.returncode) == (2, 0 if told["written"] else 2)
    assert 2 <= server.calls <= 4
    after = _papers(home)
    assert failed.keys() <= after.keys()
    for identifier, paper in after.items():
        if identifier in failed:
            assert paper == before[identifier]
            assert "did not reply in the form asked for, twice" in failed[identifier]
        assert {aspect.writer for aspect in paper.aspects} <= {"", "tiny"}
        # A text of the model's stands there where a sentence of the paper has words of it.
        assert all(aspect.overlap > 0 for aspect in paper.aspects)


def _papers(home):
    settings = Settings(home=home)
    corpus = Corpus.open(settings.corpus_path, open_encoder(settings))
    return {paper.id: paper for paper in corpus.papers(Scope(("two",)))}
