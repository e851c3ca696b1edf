"""The element grid and the differences between papers, as pure values."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.comparing import wording as said
from assistant.comparing.differences import differences
from assistant.comparing.grid import ELEMENT_TITLES, NOT_READ, NOT_STATED, element_grid
from assistant.comparing.records import (
    ELEMENT_NAMES,
    ElementEvidence,
    KeyElement,
    KeyElements,
)
from assistant.records import Answer, Evidence
from corpus.records import Author, Topic
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.trail.test_comparison_file import make_comparison as any_comparison

NAMES = dict(zip(ELEMENT_TITLES, ELEMENT_NAMES, strict=True))


def make_elements(label, source="abstract", problem="", **stated):
    """Return key elements with these texts, each carried by itself."""
    elements = tuple(
        KeyElement(name, stated[name], 0.7, (ElementEvidence(f"p{label}#0", 0, stated[name], 0.7),))
        if stated.get(name)
        else KeyElement(name)
        for name in ELEMENT_NAMES
    )
    return KeyElements(label, source, () if problem else elements, problem)


def make_comparison(*elements):
    """Return a comparison of as many papers as there are elements of papers."""
    papers = tuple(make_paper(element.label, "A text.") for element in elements if element.label)
    return replace(
        any_comparison(),
        paper_ids=tuple(paper.paper.id for paper in papers),
        evidence=Evidence(papers),
        elements=elements,
        rounds=(),
        answer=Answer(""),
        seconds=(),
        remarks=(),
    )


def with_paper(comparison, label, **facts):
    """Return a comparison one of whose papers has other facts."""
    papers = tuple(
        replace(paper, paper=replace(paper.paper, **facts)) if paper.label == label else paper
        for paper in comparison.evidence.papers
    )
    return replace(comparison, evidence=Evidence(papers))


THREE = make_comparison(
    make_elements(0, "description", research_questions="How lists are fused."),
    make_elements(
        1,
        "full text",
        methodology="We add reciprocal ranks with RRF. Rank lists are fused by RRF.",
        results="Hybrid search wins on MS MARCO.",
        limitations="Score normalisation is not studied.",
    ),
    make_elements(
        2,
        methodology="A weighted sum needs score normalisation. Score normalisation is learned.",
        results="Hybrid search wins.",
    ),
    make_elements(3, methodology="Cross-attention reranking. Cross-attention rerankers read both texts."),
)


def test_the_grid_has_the_description_first_and_seven_cells_a_row():
    grid = element_grid(with_paper(THREE, 2, title="", year=None))
    assert [(row.label, row.title, row.year, row.source) for row in grid.rows] == [
        (0, "Your description", None, "description"),
        (1, "Title 1", 2022, "full text"),
        (2, "p2", None, "abstract"),
        (3, "Title 3", 2022, "abstract"),
    ]
    assert all(tuple(cell.name for cell in row.cells) == ELEMENT_NAMES for row in grid.rows)
    stated, missing = grid.rows[1].cell("results"), grid.rows[2].cell("limitations")
    assert (stated.shown, stated.support, stated.word) == ("Hybrid search wins on MS MARCO.", 0.7, "strong")
    assert stated.evidence[0].passage_id == "p1#0"
    assert (missing.shown, missing.support, missing.word) == (NOT_STATED, None, None)


def test_the_share_not_stated_is_of_the_papers_alone():
    assert element_grid(THREE).share_not_stated == pytest.approx(15 / 21)
    assert element_grid(make_comparison()).share_not_stated == 0.0


def test_what_could_not_be_read_is_not_called_not_stated():
    broken = make_elements(2, problem="The reply held no JSON.")
    grid = element_grid(make_comparison(make_elements(1, results="It wins."), broken))
    assert grid.rows[0].problem == "Its key elements were not extracted."
    assert {cell.shown for cell in grid.rows[2].cells} == {NOT_READ}
    found = differences(make_comparison(make_elements(1, results="It wins."), broken))
    assert found.papers == (1,)
    assert all(2 not in (*element.stated, *element.not_stated) for element in found.elements)


@pytest.mark.parametrize(
    ("order", "descending", "labels"),
    [
        ("label", False, [0, 1, 2, 3]),
        ("label", True, [0, 3, 2, 1]),
        ("title", False, [0, 3, 1, 2]),
        ("year", False, [0, 3, 1, 2]),
        ("year", True, [0, 1, 3, 2]),
        ("stated", True, [0, 1, 2, 3]),
        ("stated", False, [0, 3, 2, 1]),
    ],
)
def test_the_grid_is_sorted_below_the_description(order, descending, labels):
    comparison = with_paper(THREE, 2, title="zeta", year=None)
    comparison = with_paper(comparison, 3, title="Alpha", year=2001)
    comparison = with_paper(comparison, 1, title="beta")
    grid = element_grid(comparison).sorted(order, descending=descending)
    assert [row.label for row in grid.rows] == labels


def test_what_most_name_and_what_one_names():
    found = differences(THREE)
    assert [(thing.text, thing.labels) for thing in found.common] == [
        ("Hybrid search", (1, 2)),
        ("score normalisation", (1, 2)),
    ]
    alone = {label: [thing.text for thing in things] for label, things in found.alone}
    assert "RRF" in alone[1]
    assert "score normalisation" not in {text.lower() for text in (*alone[1], *alone[2])}
    assert all(len(thing.labels) == 1 for _, things in found.alone for thing in things)


def test_a_topic_counts_where_the_elements_do_not_name_it_and_the_other_way_round():
    comparison = with_paper(THREE, 2, topics=(Topic("method", "RRF", 0.9), Topic("field", "Retrieval", 0.9)))
    comparison = with_paper(comparison, 3, topics=(Topic("dataset", "MS MARCO", 0.9),))
    found = differences(comparison)
    common = {thing.text: (thing.kind, thing.labels) for thing in found.common}
    assert common["RRF"] == ("method", (1, 2))
    assert common["MS MARCO"] == ("dataset", (1, 3))
    named = {thing.text for _, things in found.alone for thing in things}
    assert not {"RRF", "MS MARCO", "Retrieval"} & named


def test_things_the_description_names_too_are_marked():
    found = differences(replace(THREE, about="Is hybrid search worth it?"))
    described = {thing.text for thing in found.common if thing.described}
    assert described == {"Hybrid search"}


def test_authors_names_are_nothing_that_a_paper_names():
    text = "McCallum et al. propose slot grammars. McCallum et al. test slot grammars."
    comparison = make_comparison(make_elements(1, methodology=text), make_elements(2, results="It wins."))
    comparison = with_paper(comparison, 1, authors=(Author("Andrew", "McCallum"),))
    (_, things), _ = differences(comparison).alone
    assert [thing.text for thing in things] == ["slot grammars"]


def test_each_element_says_who_states_it():
    stated = {element.name: (element.stated, element.not_stated) for element in differences(THREE).elements}
    assert stated["methodology"] == ((1, 2, 3), ())
    assert stated["results"] == ((1, 2), (3,))
    assert stated["conclusions"] == ((), (1, 2, 3))


def test_the_differences_are_plain_sentences():
    found = differences(THREE)
    assert list(said.describe_common(found)) == [
        "In the key elements and topics of [1][2]: Hybrid search and score normalisation."
    ]
    assert list(said.describe_stated(found))[1:3] == [
        "Methodology: stated by all.",
        "Results: stated by [1][2], not by [3].",
    ]
    alone = re.compile(r"In the key elements and topics of \[\d\] alone: .+\.")
    assert all(alone.fullmatch(line) for line in said.describe_distinct(found))


def test_fault_elements_and_topics_were_spoken_of_as_if_they_were_the_whole_text():
    found = differences(THREE)
    lines = (*said.describe_common(found), *said.describe_distinct(found))
    assert lines
    assert all(line.startswith("In the key elements and topics of ") for line in lines)
    assert not any(re.search(r"\bnames?\b|\d of \d", line) for line in lines)
    two = replace(THREE, elements=THREE.elements[:3], evidence=Evidence(THREE.evidence.papers[:2]))
    assert next(said.describe_common(differences(two))).startswith("In the key elements and topics of both: ")


def _apart(comparison):
    found = differences(comparison)
    return {thing.text for _, things in found.alone for thing in things}, {
        thing.text: thing.labels for thing in found.common
    }


@pytest.mark.parametrize(
    ("first", "second", "topic", "joined"),
    [
        ("NMT is slow. NMT is large.", "Neural machine translation (NMT) wins.", "", True),
        ("NMT is slow. NMT is large.", "NMT (neural machine translation) wins.", "", True),
        ("NMT is slow. NMT is large.", "It wins.", "neural machine translation", True),
        ("We use MRR@10.", "It wins.", "mean reciprocal rank", True),
        ("PLMs are big.", "Pre-trained language models (PLMs) win.", "", True),
        (
            "NMT is slow. NMT is large.",
            "Neural metaphor tracking (NMT) wins.",
            "neural mass translation",
            True,
        ),
        ("NMT is slow. NMT is large.", "It wins.", "neural machine parsing", False),
        ("ML is slow. ML is large.", "It wins.", "multi-task learning", False),
        ("ST is slow. ST is large.", "It wins.", "self-training", False),
    ],
)
def test_fault_a_short_form_and_its_long_one_counted_as_two(first, second, topic, joined):
    comparison = make_comparison(make_elements(1, results=first), make_elements(2, results=second))
    if topic:
        comparison = with_paper(comparison, 2, topics=(Topic("task", topic, 0.9),))
    alone, common = _apart(comparison)
    short = first.split()[0] if "MRR" not in first else "MRR@10"
    assert ((1, 2) in common.values()) == joined
    assert (short in alone) == (not joined)


def test_fault_all_named_machine_translation_and_one_alone_mt():
    said_by_all = [make_elements(label, results="Machine translation wins.") for label in (1, 2, 3)]
    last = make_elements(4, results="MT is hard. MT (machine translation) is slow. NMT helps NMT.")
    topic = (Topic("task", "neural machine translation", 0.9),)
    alone, common = _apart(with_paper(make_comparison(*said_by_all, last), 1, topics=topic))
    assert (1, 2, 3, 4) in common.values()
    assert not {"MT", "NMT"} & alone


def test_a_short_form_that_stands_for_two_things_is_left_as_it_is():
    comparison = make_comparison(
        make_elements(1, results="Multi-task (MT) training wins. MT wins."),
        make_elements(2, results="Machine translation (MT) wins."),
        make_elements(3, results="MT wins. Machine translation is hard."),
    )
    _, common = _apart(comparison)
    assert common["MT"] == (1, 2, 3)


INVENTED = KeyElement(
    "methodology", "HYPERLINK uses HYPERLINK.", 0.1, (ElementEvidence("p1#0", 0, "Other.", 0.1),)
)


def invented(comparison, *labels):
    """Return a comparison of whose papers the texts do not carry the methodology."""
    return replace(
        comparison,
        elements=tuple(
            replace(
                elements,
                elements=tuple(INVENTED if e.name == "methodology" else e for e in elements.elements),
            )
            if elements.label in labels
            else elements
            for elements in comparison.elements
        ),
    )


def test_fault_what_a_model_invented_counted_as_stated_and_was_named():
    comparison = invented(THREE, 1, 2, 3)
    grid, found = element_grid(comparison), differences(comparison)
    cell = grid.rows[1].cell("methodology")
    assert (cell.is_stated, cell.is_weak, cell.word) == (False, True, "weak")
    assert cell.shown == "The text does not carry this (support 0.10): HYPERLINK uses HYPERLINK."
    assert [row.stated for row in grid.papers] == [2, 1, 0]
    assert "18 (86%)" in said.describe_grid(grid)
    assert "; for 3 of these something was written that the text does not carry." in said.describe_grid(grid)
    lines = [*said.describe_common(found), *said.describe_distinct(found), *said.describe_stated(found)]
    assert not any("HYPERLINK" in line for line in lines)
    assert "Methodology: stated by none. What was written of [1][2][3] the text does not carry." in lines


def test_a_grid_of_nothing_but_invented_text_is_still_shown():
    assert not element_grid(invented(make_comparison(make_elements(1)), 1)).is_empty


def test_nothing_extracted_is_nothing_to_show():
    bare = replace(THREE, elements=())
    assert element_grid(bare).is_empty
    assert not differences(bare).has_any


words = st.sampled_from(
    "RRF dense retrieval lexical search MARCO ranks, fusion. the of pre-trained models BERT ( ) 7 é \n".split(
        " "
    )
)
texts = st.lists(words, max_size=25).map(" ".join) | st.text(max_size=40)


@given(st.lists(st.lists(texts, min_size=7, max_size=7), min_size=2, max_size=5))
def test_only_what_no_other_text_holds_is_said_to_be_named_by_one(grids):
    elements = [
        make_elements(label, **dict(zip(ELEMENT_NAMES, stated, strict=True)))
        for label, stated in enumerate(grids, start=1)
    ]
    comparison = make_comparison(*elements)
    found = differences(comparison)
    assert differences(comparison) == found
    whole = {label: "\n".join(stated) for label, stated in enumerate(grids, start=1)}
    for label, things in found.alone:
        for thing in things:
            assert thing.text in whole[label]
            assert not any(thing.text in text for other, text in whole.items() if other != label)
    for thing in found.common:
        assert 2 * len(thing.labels) > len(grids)
        assert len(thing.labels) > 1
