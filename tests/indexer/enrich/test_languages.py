from dataclasses import replace

import pytest

from indexer.enrich.languages import language_of
from indexer.prepare.passages import make_passages
from tests.other_languages import TEXTS
from tests.small_corpus import make_paper


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_a_paper_has_the_language_of_its_abstract(code: str, text: str) -> None:
    paper = replace(make_paper("notes", "one"), title="BM25", abstract=text)
    assert language_of(paper, make_passages(paper, None)) == code
    assert language_of(replace(paper, language="cy"), ()) == "cy"
    assert language_of(replace(paper, abstract=""), ()) == ""
