"""Gold sections: which papers a section cites, and which of its sentences tell of them."""

from pathlib import Path

import pytest

from evaluation.summaries.experiment import (
    FEWEST_REFERENCES,
    cited_works,
    index_papers,
    read_gold_sections,
    resolve_references,
    sentences,
)
from evaluation.summaries.tags import TaggedParagraph, TaggedSection
from indexer.sources.acl_anthology import open_volumes
from tests.evaluation.summaries.gold_material import write_anthology


@pytest.fixture
def anthology(tmp_path: Path) -> Path:
    return write_anthology(tmp_path / "data")


def resolved(anthology: Path, *texts: str) -> list[str]:
    """Return the numbers of the papers that a section with these sentences cites."""
    section = TaggedSection(
        s2_paper_id="1", paragraphs=(TaggedParagraph(sentences=texts, tags=("Other",) * len(texts)),)
    )
    works = {work for sentence in sentences(section) for work in cited_works(sentence)}
    (volume,) = open_volumes(["2018.trail-main"], anthology, anthology)
    index = index_papers((entry.paper for entry in volume.papers()), works)
    return [paper.id.rpartition(".")[2] for paper in resolve_references(section, index).values()]


@pytest.mark.parametrize(
    ("text", "papers"),
    [
        ("Dense retrieval is studied by Lovelace et al. (2018).", ["1"]),
        ("Dense retrieval is studied (LOVELACE et al., 2018a) .", ["1"]),
        ("Passages are ranked by words (Hopper and Liskov, 2018; Lovelace et al., 2018).", ["2"]),
        ("Passages are ranked by words (Hopper & Liskov, 2018).", ["2"]),
        ("Hamilton (2018) joins two rankings of search.", ["3"]),
        # Two papers fit: what is said decides.
        ("Lee et al. (2018) let models write answers with citations.", ["4"]),
        ("Lee et al. (2018) parse sentences into trees.", ["5"]),
        ("Lee et al. (2018) is one of many.", []),
        ("Lee et al. (2018) parse sentences into trees, and answers with citations.", []),
        # One paper fits the names, and is about something else.
        ("Lovelace et al. (2018) measure the weight of whales.", []),
        # Neither year, nor the number of authors, nor their names may differ.
        ("Dense retrieval is studied by Lovelace et al. (2017).", []),
        ("Dense retrieval is studied by Lovelace (2018).", []),
        ("Dense retrieval is studied by Lovelace and Noether (2018).", []),
        ("Words of passages are ranked by Hopper et al. (2018).", []),
        ("Words of passages are ranked by Hopper and Hamilton (2018).", []),
        ("Dense retrieval is studied [3].", []),
    ],
)
def test_a_citation_leads_to_its_paper_only_where_that_is_sure(anthology: Path, text: str, papers: list[str]):
    assert resolved(anthology, text) == papers


def test_two_works_that_come_to_one_paper_are_both_left_open(anthology: Path):
    text = "Lee et al. (2018a) and Lee et al. (2018b) parse sentences into trees."
    assert resolved(anthology, text) == []


@pytest.mark.long
def test_corwa_has_at_least_forty_gold_sections_in_the_real_anthology(shared: Path):
    data = shared / "data"
    gold = read_gold_sections(data / "related_work" / "corwa.jsonl", data / "acl_anthology")
    assert len(gold) >= 40
    assert (len(gold), sum(len(section.papers) for section in gold)) == (48, 195)
    assert len({section.key for section in gold}) == len(gold)
    for section in gold:
        assert len(section.papers) >= FEWEST_REFERENCES
        assert all(paper.title and paper.abstract for paper in section.papers)
