"""Questions asked of papers in one language, or with one label of their library, from the terminal."""

import json
from dataclasses import replace

import pytest

from tests.small_corpus import make_paper, write_corpus

TEXT = "BM25 ranks passages by the words that they share with a query."
PAPERS = {"english": ("en", ()), "labelled": ("en", ("to read",)), "deutsch": ("de", ("to read",))}


@pytest.fixture(scope="module")
def home(tmp_path_factory, encoder):
    home = tmp_path_factory.mktemp("home")
    papers = {
        replace(make_paper("notes", key, position=at), language=language, labels=labels): [TEXT]
        for at, (key, (language, labels)) in enumerate(PAPERS.items())
    }
    write_corpus(home / "corpus", encoder, papers)
    return home


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"english", "labelled", "deutsch"}),
        (["--language", "en"], {"english", "labelled"}),
        (["--label", "to read"], {"labelled", "deutsch"}),
        (["--label", "to read", "--language", "en"], {"labelled"}),
        (["--language", "fr"], set()),
    ],
)
def test_only_papers_in_a_language_or_with_a_label_are_asked(run, tmp_path, options, expected):
    trail = tmp_path / "trail.json"
    run("ask", "How does BM25 rank passages?", *options, "--trail", str(trail), "--json")
    (turn,) = json.loads(trail.read_text(encoding="utf-8"))["conversation"]["turns"]
    assert {hit["passage_id"].partition("#")[0] for hit in turn["hits"]} == {
        f"notes/{name}" for name in expected
    }
