"""The passage of each citation of an answer."""

import pytest

from assistant.records import AnswerSentence
from corpus.records import Box, Hit, PaperHits
from explorer.components.page_image import EvidenceBoxes, file_name, strip_round
from explorer.presenters.citations import (
    cut_passage,
    draft_source,
    first_number,
    parse_cite,
    passage_boxes,
    passage_page,
    passage_place,
    shorter_context,
    sources,
)
from tests.explorer.turns import TURN, citation, make_paper, make_passage, make_turn


def test_each_citation_leads_to_its_own_sentences_passage() -> None:
    found = sources(TURN)
    assert [(source.number, source.label, source.passage.id, source.sentence) for source in found] == [
        (1, 2, "p2#2", 1),
        (2, 1, "p1#1", 0),
        (3, 2, "p2#1", 2),
    ]
    assert {source.count for source in found} == {3}
    assert first_number(found, 2) == 1
    assert first_number(found, 9) is None
    (alone,) = sources(make_turn("A [1].", AnswerSentence(0, 6, "A.", (1,), (citation(1, 2, None),))))
    assert (alone.passage.id, alone.sentence, alone.is_supported_by_no_sentence) == ("p1#2", None, True)
    assert not sources(TURN)[0].is_supported_by_no_sentence
    hits = (PaperHits(make_paper("p1"), (Hit(make_passage("p1", 4), 1.0, 0.5, None),), 1.0),)
    drafted = draft_source("Shown [1], invented [5], half [", hits, 1)
    assert drafted is not None
    assert not drafted.is_supported_by_no_sentence
    assert (drafted.passage.id, drafted.citation, drafted.count) == ("p1#4", None, 1)
    assert draft_source("Shown [1].", hits, 2) is None


@pytest.mark.parametrize("identifier", ["1-2", "12-30"])
def test_ids_of_links_are_read(identifier: str) -> None:
    assert parse_cite(identifier) == tuple(map(int, identifier.split("-")))


@pytest.mark.parametrize("identifier", ["", "1", "1-x", "-1-2", "1-2-3", "99999-1", None, 3, "１-²", "1-2\n"])
def test_other_ids_are_refused(identifier: object) -> None:
    assert parse_cite(identifier) is None


def test_a_passage_is_cut_round_its_sentence_and_shown_on_its_page() -> None:
    passage = make_passage("p1", 1)
    parts = cut_passage(passage, 1)
    assert (parts.before, parts.sentence, parts.after) == ("One here.", "Two there.", "Three.")
    assert cut_passage(passage, None).before == passage.text
    assert cut_passage(passage, 99).sentence == ""
    parts = shorter_context(cut_passage(passage, 1))
    assert parts.before == "One here."
    long = shorter_context(type(parts)("word " * 100, "Sentence.", "word " * 100))
    assert long.before.startswith("… word") and len(long.before) < 200
    assert long.after.endswith("word …")
    assert passage_page(passage, 1) == 3
    assert passage_page(passage, None) == 2
    assert passage_page(passage, 2) == 2
    assert len(passage_boxes(passage, None)) == 2
    assert passage_place(passage, 1) == "3 Method, p. 3"


def column(left: float, width: float = 220) -> tuple[Box, ...]:
    """Return the lines of a column of page 1 that is 600 points wide."""
    return tuple(Box(1, left, y, width, 10) for y in range(100, 700, 12))


@pytest.mark.parametrize(("y", "top"), [(0, 0), (790, 630), (396, 316)])
def test_a_strip_has_the_boxes_in_its_middle(y: float, top: int) -> None:
    box = Box(1, 40, y, 200, 10)
    strip = strip_round(EvidenceBoxes((box,), (box,)), 600, 800)
    assert (strip.top, strip.height) == (top, 170)


def test_a_strip_is_as_wide_as_its_columns_and_keeps_to_its_page() -> None:
    (first, *_), right = column(50), column(320)
    short = Box(1, 60, 200, 30, 10)
    strip = strip_round(EvidenceBoxes((short,), (first, *column(50), *right)), 600, 800)
    assert (strip.left, strip.width) == (38, 244)
    strip = strip_round(EvidenceBoxes((right[3],), (*column(50), *right)), 600, 800)
    assert (strip.left, strip.width) == (308, 244)
    left, right = column(50), column(320)
    strip = strip_round(EvidenceBoxes((left[-1], right[0]), (*left, *right)), 600, 800)
    assert (strip.left, strip.width) == (38, 514)
    strip = strip_round(EvidenceBoxes((), ()), 600, 800)
    assert (strip.left, strip.top, strip.width) == (0, 0, 600)
    boxes = (Box(1, 40, 100, 200, 10), Box(2, 40, 700, 200, 10))
    assert EvidenceBoxes(boxes, boxes).on(2) == EvidenceBoxes(boxes[1:], boxes[1:])
    box = Box(1, -20, 0, 640, 900)
    strip = strip_round(EvidenceBoxes((box,), (box,)), 600, 800)
    assert (strip.left, strip.width, strip.height) == (0, 600, 800)


@pytest.mark.parametrize(
    ("paper_id", "name"),
    [
        ("acl/2022.acl-long.1", "acl-2022.acl-long.1.pdf"),
        ("../../etc/passwd", "etc-passwd.pdf"),
        ('a"\r\nb; c', "a-b-c.pdf"),
        ("論文", "paper.pdf"),
    ],
)
def test_a_saved_file_is_named_after_its_paper(paper_id: str, name: str) -> None:
    assert file_name(paper_id, "pdf") == name
