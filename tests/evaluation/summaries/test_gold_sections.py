"""Gold sections: which papers a section cites, and which of its sentences tell of them."""

from pathlib import Path

import pytest

from corpus.text import words
from evaluation.input_files import EvaluationError
from evaluation.summaries.citation_style import NamedWork, parse_work
from evaluation.summaries.tags import TaggedParagraph, TaggedSection
from evaluation.summaries.experiment import FEWEST_REFERENCES, read_gold_sections
from evaluation.summaries.experiment import (
    cited_works,
    index_papers,
    resolve_references,
    sentences,
)
from indexer.sources.acl_anthology import open_volumes
from tests.evaluation.summaries.gold_material import PAPERS, write_anthology, write_corwa


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


def test_all_that_a_section_says_of_a_work_decides(anthology: Path):
    assert resolved(anthology, "Lee et al. (2018) is one of many.") == []
    both = resolved(
        anthology, "Lee et al. (2018) is one.", "Trees of sentences are parsed (Lee et al., 2018)."
    )
    assert both == ["5"]


def test_two_works_that_come_to_one_paper_are_both_left_open(anthology: Path):
    text = "Lee et al. (2018a) and Lee et al. (2018b) parse sentences into trees."
    assert resolved(anthology, text) == []


@pytest.mark.parametrize(
    ("work", "named"),
    [
        ("Lee et al. 2018", NamedWork(("lee",), has_more=True, year=2018)),
        ("Lee, et. al. 2018b", NamedWork(("lee",), has_more=True, year=2018, letter="b")),
        ("Täckström and Van Durme 2018", NamedWork(("tackstrom", "vandurme"), has_more=False, year=2018)),
        ("Lee, Kim, and Park 2018", NamedWork(("lee", "kim", "park"), has_more=False, year=2018)),
        ("3", None),
    ],
)
def test_a_work_is_read_as_it_is_named(work: str, named: NamedWork | None):
    assert parse_work(work) == named


def test_gold_are_the_sentences_on_references_that_are_held(anthology: Path, tmp_path: Path):
    first, second = read_gold_sections(write_corwa(tmp_path / "corwa.jsonl"), anthology)
    assert [paper.title for paper in first.papers] == [title for _, title, _ in PAPERS[:3]]
    assert "They need no index of words at all." in first.text
    # Neither what cites nothing, nor a paper without an abstract, nor the citing work is of them.
    for other in ("long history", "Perlman", "We do neither"):
        assert other not in first.text
    assert [paper.title for paper in second.papers] == [PAPERS[place][1] for place in (0, 2, 3)]


def test_the_description_is_made_of_titles_and_of_nothing_else(anthology: Path, tmp_path: Path):
    for section in read_gold_sections(write_corwa(tmp_path / "corwa.jsonl"), anthology):
        topics = section.about.partition(":")[2]
        titles = {word for paper in section.papers for word in words(paper.title)}
        assert set(words(topics)) <= titles
        assert words(topics)


def test_without_gold_sections_nothing_is_run(anthology: Path, tmp_path: Path):
    corwa = write_corwa(tmp_path / "corwa.jsonl", ((("Nobody is cited here.", "Other"),),))
    with pytest.raises(EvaluationError, match="No section"):
        read_gold_sections(corwa, anthology)


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
