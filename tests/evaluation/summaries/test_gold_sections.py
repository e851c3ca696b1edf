"""Gold sections: read from their places, described by the citing paper, and a section that is another."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.bounds import LONGEST_DESCRIPTION
from corpus.encoders.base import Encoder
from corpus.records import Collection, Paper
from corpus.settings import read_settings
from corpus.store.corpus import Corpus
from evaluation.input_files import EvaluationError
from evaluation.summaries import gold
from evaluation.summaries.gold import read_corwa, read_sets
from indexer.build.run import build_collection
from indexer.sources.protocol import SourcePaper
from tests.evaluation.summaries.gold_material import (
    PAPERS,
    write_anthology,
    write_corwa,
    write_gold,
    write_sets,
)

WHOLE = "1 Introduction\n\nTrees help readers.\n\n2 Related Work\n\nOthers read from right to left.\n"


class Volume:
    """A volume with the whole text of the paper that cites the first section's references."""

    collection = Collection(id="trail", title="Trails", source="ACL Anthology")

    def __init__(self, file: Path) -> None:
        self._file = file

    def __len__(self) -> int:
        return 1

    def papers(self) -> Iterator[SourcePaper]:
        self._file.write_text(WHOLE, encoding="utf-8")
        _, title, abstract = PAPERS[4]
        paper = Paper("2018.trail-main.5", "trail", title, (), 2018, "", abstract)
        yield SourcePaper(paper.id, paper, self._file)


def test_sections_are_cut_to_their_sentences_and_described_by_the_citing_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: Encoder
) -> None:
    monkeypatch.setattr(gold, "GOLD", write_gold(tmp_path / "gold.jsonl"))
    corwa, data = write_corwa(tmp_path / "corwa.jsonl"), write_anthology(tmp_path / "data")
    first, second = read_corwa(corwa, data)
    assert [paper.title for paper in first.papers] == [PAPERS[at][1] for at in (0, 1, 2)]
    assert [paper.title for paper in second.papers] == [PAPERS[at][1] for at in (0, 2, 3)]
    assert first.text.startswith("Lovelace et al. (2018) show")
    abstract = f"{PAPERS[4][1]}. {PAPERS[4][2]}"
    assert (first.described_by, first.about) == ("abstract", abstract)
    assert second.described_by == "words of the references' titles"
    topics = "dense, answers, citations, encoder, joining, search, small, retrieval"
    assert second.about == f"A work related to these topics: {topics}."
    settings = read_settings().model_copy(update={"home": tmp_path / "home"})
    build_collection(settings, encoder, Volume(tmp_path / "paper.txt"), lambda _: None)
    first, second = read_corwa(corwa, data, [Corpus.open(settings.corpus_path, encoder)])
    assert first.described_by == "abstract and introduction"
    assert first.about == f"{abstract} Trees help readers."
    assert second.described_by == "words of the references' titles"
    other = write_anthology(tmp_path / "other", PAPERS[:2])
    with pytest.raises(EvaluationError, match=r"its paper '2018.trail-main.3' is missing"):
        read_corwa(corwa, other)


def test_a_set_of_nudtrwg_has_the_target_paper_and_the_texts_of_its_references(tmp_path: Path) -> None:
    (section,) = read_sets(write_sets(tmp_path / "sets.jsonl"))
    assert section.about.startswith("Searching Notes. We search the notes of a library. We search")
    assert LONGEST_DESCRIPTION - 20 < len(section.about) <= LONGEST_DESCRIPTION
    assert (section.described_by, section.text[:15]) == ("whole text", "Lovelace et al.")
    first, second = section.papers
    assert [author.name for author in first.authors] == ["Ada Lovelace", "Ada Noether", "Ada Turing"]
    assert (second.title, second.year, second.abstract) == (PAPERS[1][1], 2018, PAPERS[1][2])
    assert list(section.texts) == [first.id]
    (tmp_path / "bad.jsonl").write_text('{"title": "Searching Notes"}\n', encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"bad.jsonl, line 1: text: Field required. Each line is a set"):
        read_sets(tmp_path / "bad.jsonl")


@pytest.mark.long
def test_corwa_has_its_gold_sections_in_the_real_anthology(shared: Path) -> None:
    data = shared / "data"
    sections = read_corwa(data / "related_work" / "corwa.jsonl", data / "acl_anthology")
    assert (len(sections), sum(len(section.papers) for section in sections)) == (48, 195)
    assert sum(section.described_by == "abstract" for section in sections) == 44
    for section in sections:
        assert len(section.papers) >= 3
        assert all(paper.title and paper.abstract for paper in section.papers)
