"""Gold sections: read from their places, and a section or paper that is another."""

from pathlib import Path

import pytest

from evaluation.input_files import EvaluationError
from evaluation.summaries import gold
from evaluation.summaries.gold import read_gold_sections
from tests.evaluation.summaries.gold_material import PAPERS, write_anthology, write_corwa, write_gold


def test_sections_are_cut_to_their_sentences_on_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gold, "GOLD", write_gold(tmp_path / "gold.jsonl"))
    corwa, data = write_corwa(tmp_path / "corwa.jsonl"), write_anthology(tmp_path / "data")
    first, second = read_gold_sections(corwa, data)
    assert [paper.title for paper in first.papers] == [PAPERS[at][1] for at in (0, 1, 2)]
    assert [paper.title for paper in second.papers] == [PAPERS[at][1] for at in (0, 2, 3)]
    assert first.text.startswith("Lovelace et al. (2018) show")
    assert first.about == (
        "A work related to these topics: dense, words, encoder, joining, passages, ranking, search, small."
    )
    other = write_anthology(tmp_path / "other", PAPERS[:2])
    with pytest.raises(EvaluationError, match=r"Section 1 of CORWA or its paper '2018.trail-main.3'"):
        read_gold_sections(corwa, other)


@pytest.mark.long
def test_corwa_has_its_gold_sections_in_the_real_anthology(shared: Path) -> None:
    data = shared / "data"
    sections = read_gold_sections(data / "related_work" / "corwa.jsonl", data / "acl_anthology")
    assert (len(sections), sum(len(section.papers) for section in sections)) == (48, 195)
    for section in sections:
        assert len(section.papers) >= 3
        assert all(paper.title and paper.abstract for paper in section.papers)
