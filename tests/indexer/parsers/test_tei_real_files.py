"""Real TEI files of eight versions of GROBID: what is in them, and that all of it fits together."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from corpus.records import Paper, Passage
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.tei.document import read_tei
from indexer.prepare.passages import make_passages

CLIENT = "grobid_client_python__"
STIMULATION = (
    "Multi-contact functional electrical stimulation for hand opening: electrophysiologically driven "
    "identification of the optimal stimulation site"
)
INTROSPECTION = "A Virtual Machine Introspection Based Architecture for Intrusion Detection"

# File and version of GROBID; sections, paragraphs, passages, sentences, references, references in sentences;
# the title's first characters. Where GROBID did not mark the sentences (all but the first file), their count
# moves with `corpus.sentences`.
PINNED = [
    (
        "document_qa__2312.07559.sentences__0.8.1-SNAPSHOT",
        (32, 93, 64, 369, 78, 91),
        "PaperQA: Retrieval-Augmented Generative Agent for Scientific Research",
    ),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.6.1", (20, 45, 36, 175, 49, 57), STIMULATION),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.6.1_2", (20, 45, 36, 175, 49, 57), STIMULATION),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.6.2-SNAPSHOT", (20, 42, 34, 165, 49, 57), STIMULATION),
    (f"{CLIENT}0046d83a-edd6-4631-b57c-755cdcce8b7f__0.8.1", (19, 43, 33, 169, 49, 57), STIMULATION),
    (f"{CLIENT}10.1038_s41477-023-01501-1__unknown", (28, 64, 70, 420, 70, 84), "nature plants Article"),
    (
        f"{CLIENT}10.1038_s41598-023-32039-z__unknown",
        (21, 48, 43, 303, 48, 94),
        "Identification of PARN nuclease activity inhibitors by computational-bas",
    ),
    (
        f"{CLIENT}10.1371_journal.pone.0218311__unknown",
        (27, 72, 58, 361, 48, 61),
        "Being right matters: Model-compliant events in predictive processing",
    ),
    (
        f"{CLIENT}ijms-24-05988__0.8.3-SNAPSHOT",
        (26, 62, 57, 301, 31, 43),
        "Variation in Lipid Species Profiles among Leukemic Cells Significantly I",
    ),
    (
        f"{CLIENT}mjb3wlzxcb2mc-migowebupload-1766042162782__0.8.2",
        (16, 33, 38, 188, 22, 39),
        "Phase 3 Open-Label Study Evaluating the Efficacy and Safety of Mavacamte",
    ),
    ("kermitt2_grobid__sample1.tei.header__0.4.1", (0, 0, 1, 0, 0, 0), INTROSPECTION),
    ("kermitt2_grobid__sample2.tei.fulltext__0.4.1", (61, 64, 87, 479, 47, 74), INTROSPECTION),
    (
        "maxtwer__paper10__0.8.2",
        (50, 162, 55, 340, 17, 2),
        "REGAL: A Registry-Driven Architecture for Deterministic Grounding of Age",
    ),
    (
        "maxtwer__paper1__0.8.2",
        (17, 46, 33, 191, 37, 48),
        "Using Learning Progressions to Guide AI Feedback for Science Learning",
    ),
    ("maxtwer__paper3__0.8.2", (7, 50, 37, 218, 53, 49), ""),
    (
        "maxtwer__paper4__0.8.2",
        (14, 41, 32, 164, 20, 20),
        "Agentic AI-based Coverage Closure for Formal Verification",
    ),
    (
        "maxtwer__paper5__0.8.2",
        (24, 137, 71, 460, 51, 88),
        "Channel-Adaptive Edge AI: Maximizing Inference Throughput by Adapting Co",
    ),
    (
        "s2orc_doc2json__2020.acl-main.207__0.6.1",
        (21, 62, 48, 279, 57, 62),
        "SPECTER: Document-level Representation Learning using Citation-informed ",
    ),
    (
        "s2orc_doc2json__f2235cd28c171f9f3b6a8bcebe246159c464980c__0.5.5",
        (8, 50, 47, 175, 39, 20),
        "M P RA Munich Personal RePEc Archive Territorial Rural Development in La",
    ),
]
NAMES = [name for name, *_ in PINNED]

Read = Callable[[str], tuple[Document, tuple[Passage, ...]]]


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "grobid" / "tei"


@pytest.fixture(scope="module")
def read(folder: Path) -> Read:
    @cache
    def read_file(name: str) -> tuple[Document, tuple[Passage, ...]]:
        document = read_tei(folder / f"{name}.tei.xml")
        abstract = " ".join(paragraph.text for paragraph in document.abstract)
        paper = Paper("tei/a", "tei", document.title or "Untitled", (), None, "", abstract)
        return document, make_passages(paper, document)

    return read_file


@pytest.mark.parametrize(("name", "counts", "title"), PINNED)
def test_real_file_has_its_pinned_counts(
    read: Read, name: str, counts: tuple[int, int, int, int, int, int], title: str
) -> None:
    document, passages = read(name)
    paragraphs = [paragraph for section in document.sections for paragraph in section.paragraphs]
    assert document.title[:72] == title[:72]
    assert counts == (
        len(document.sections),
        len(paragraphs),
        len(passages),
        sum(len(paragraph.sentences) for paragraph in paragraphs),
        len(document.references),
        sum(len(sentence.references) for passage in passages for sentence in passage.sentences),
    )


@pytest.mark.parametrize("name", NAMES)
def test_sentences_of_a_real_file_tile_their_passages(read: Read, name: str) -> None:
    for passage in read(name)[1]:
        spans = [(sentence.start, sentence.end) for sentence in passage.sentences]
        assert spans[0][0] == 0
        assert spans[-1][1] == len(passage.text)
        assert all(end == start for (_, end), (start, _) in pairwise(spans))
        assert all(passage.sentence_text(place) for place in range(len(spans)))
    document, passages = read(name)
    for sentence in (sentence for passage in passages for sentence in passage.sentences):
        for box in sentence.boxes:
            assert 1 <= box.page <= (document.page_count or 100)
            assert box.width > 0 < box.height
            assert -60 < box.x < box.x + box.width < 680
            assert -80 < box.y < box.y + box.height < 870
        assert all(0 <= entry < len(document.references) for entry in sentence.references)
        assert len(set(sentence.references)) == len(sentence.references)


def test_every_real_file_is_pinned_and_an_empty_one_refused(folder: Path) -> None:
    with pytest.raises(ParseError, match=r"^GROBID found no text in this paper$"):
        read_tei(folder / f"{CLIENT}article_withdrawn__0.8.2.tei.xml")
    names = {file.name.removesuffix(".tei.xml") for file in folder.glob("*.tei.xml")}
    assert names - set(NAMES) == {f"{CLIENT}article_withdrawn__0.8.2"}


def test_boxes_citations_and_affiliations_of_real_files_are_what_is_printed(read: Read) -> None:
    document, passages = read(NAMES[0])
    assert (document.page_count, document.arxiv_id, document.year) == (20, "2312.07559v2", 2023)
    boxes = [box for passage in passages for sentence in passage.sentences for box in sentence.boxes]
    assert len(boxes) > 700
    assert all(1 <= box.page <= 20 and 0 <= box.x < 612 and 0 <= box.y < 792 for box in boxes)
    # Entries are numbered as printed here, so that "[3]" must mean entry 2.
    cited = [
        (passage.sentence_text(place), sentence.references)
        for passage in passages
        for place, sentence in enumerate(passage.sentences)
    ]
    text, entries = next(found for found in cited if found[0].startswith("The difficulty of navigating"))
    assert text.endswith("[3, 4, 5].")
    assert [document.references[entry].authors[0] for entry in entries] == [
        "Santo Fortunato",
        "S Gunther",
        "Eugene Garfield",
    ]
    authors = read(f"{CLIENT}10.1371_journal.pone.0218311__unknown")[0].authors
    psychology, neuroscience = authors[0].affiliations
    assert psychology == "Department of Psychology, University of Muenster, Muenster, Germany"
    assert neuroscience.startswith("Otto-Creutzfeldt-Center for Cognitive and Behavioral Neuroscience, ")
