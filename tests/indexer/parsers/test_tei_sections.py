"""Sections from flat headings: GROBID's surprises one by one."""

import pytest

from corpus.records import Section
from indexer.parsers.tei.document import read_tei
from tests.indexer.parsers.small_tei import div, headings, paths_of, tei, texts

SECTION_CASES = [
    ([("1", "Introduction"), ("2", "Method!"), ("2.1", "Data")], ["1 Introduction", "2 Method > 2.1 Data"]),
    ([("2.", "Results!"), ("2.1.", "A Study"), ("3.", "End")], ["2 Results > 2.1 A Study", "3 End"]),
    (["1 Introduction", "2. Method!", "2.1 Data"], ["1 Introduction", "2 Method > 2.1 Data"]),
    (["1 One", "3.1 Orphan of a missed heading"], ["1 One", "3.1 Orphan of a missed heading"]),
    (
        ["I. INTRODUCTION", "II. METHOD!", "A. Data", "B. Model", "III. END"],
        ["I INTRODUCTION", "II METHOD > A Data", "II METHOD > B Model", "III END"],
    ),
    (
        ["I. ONE", "II. TWO!", *(f"{letter}. Part" for letter in "ABCDEFGHI"), "III. THREE"],
        ["I ONE", *(f"II TWO > {letter} Part" for letter in "ABCDEFGHI"), "III THREE"],
    ),
    (
        [("1", "One"), "A DETAILS", "B MORE!", "B.1 Data", "B.2 Code"],
        ["1 One", "A DETAILS", "B MORE > B.1 Data", "B MORE > B.2 Code"],
    ),
    (
        [("1", "One"), ("2", "Two"), "Appendix A Proofs", "A.1 First"],
        ["1 One", "2 Two", "A Proofs", "A Proofs > A.1 First"],
    ),
    (
        [("1", "One"), "APPENDIX!", "A. Proof", "B. Proof"],
        ["1 One", "APPENDIX > A Proof", "APPENDIX > B Proof"],
    ),
    ([("1", "One"), ("2", "Two"), "A High-Level View"], ["1 One", "2 Two", "2 Two > A High-Level View"]),
    (
        [("1", "One"), ("2", "Model 2.1 Overview"), ("2.2", "Loss")],
        ["1 One", "2 Model > 2.1 Overview", "2 Model > 2.2 Loss"],
    ),
    (
        [("1", "One"), ("2", "Two"), "A run-in heading", "Limitations"],
        ["1 One", "2 Two", "2 Two > A run-in heading", "Limitations"],
    ),
    (
        ["Methods", "Participants", "Results!", "Speed", "Discussion"],
        ["Methods", "Methods > Participants", "Results > Speed", "Discussion"],
    ),
    (
        ["Results!", "Behaviour!", "First session.", "Second session.", "Signals", "Conclusion"],
        [
            "Results > Behaviour > First session.",
            "Results > Behaviour > Second session.",
            "Results > Signals",
            "Conclusion",
        ],
    ),
    (["Introduction", "Our Model", "Training"], ["Introduction", "Our Model", "Training"]),
    ([("1", "One"), "2!", ("2.1", "Data"), "2.2"], ["1 One", "2 > 2.1 Data", "2 > 2.2"]),
    (
        [("1", "One"), ("2", "Design"), "Guest!", "Host!", "Monitor!", ("3", "End")],
        ["1 One", "2 Design", "3 End"],
    ),
    (["", ("2", "Method!"), ("2.1", "Data"), ("3", "End")], ["", "2 Method > 2.1 Data", "3 End"]),
    (
        ["Open Archive!", "Downloaded from!", "Version of record!", "Introduction", "Methods!", "Data"],
        ["Introduction", "Methods > Data"],
    ),
]


SURPRISES = [
    "nested path from numbers beside the headings",
    "numbers with a trailing dot",
    "number in the heading text",
    "missed heading",
    "roman numbers",
    "letters under roman numbers, I and V among them",
    "appendix letters",
    "appendix letters behind the word",
    "letters under an appendix without one",
    "article that is no letter",
    "two heads in one",
    "back matter among numbered sections",
    "known parts without numbers",
    "run-in headings",
    "nothing to go by",
    "number without a title that continues the numbering",
    "labels in a drawing are no ancestors",
    "first column taken into the header, the body begins in the middle",
    "cover page of a repository, its lines become headings without text",
]


@pytest.mark.parametrize(("heads", "expected"), SECTION_CASES, ids=SURPRISES)
def test_section_path_is_found(heads: list[str | tuple[str, str]], expected: list[str]) -> None:
    assert paths_of(*heads) == expected


def test_back_matter_and_stamps_become_what_they_say() -> None:
    document = read_tei(tei(div("Method", number="3") + div("Tools", "We use tools.", number="3.1")))
    assert document.sections[0].path == (Section("3", "Method"), Section("3.1", "Tools"))
    document = read_tei(tei(div("A", "One.") + div("arXiv:2603.03018v1 [cs.AI] 3 Mar 2026", "Two.")))
    assert (document.arxiv_id, document.year) == ("2603.03018v1", 2026)
    back = (
        f'<div type="acknowledgement">{div("Thanks", "We thank all.")}</div>'
        f'<div type="funding">{div("", "Money came.")}</div><listOrg type="funding"><org>Fund</org></listOrg>'
        f'<div type="annex">{div("", "An annex begins.")}{div("A Samples", "Samples follow.")}</div>'
        '<div type="references"><listBibl/></div>'
    )
    document = read_tei(tei(div("End", "We end."), back=back))
    assert headings(document) == ["End", "Thanks", "Funding", "Appendix", "A Samples"]


@pytest.mark.parametrize(
    "artifact",
    [
        "arXiv:2603.03018v1 [cs.AI] 3 Mar 2026",
        "© The Author(s) 2023",
        "Table 1.",
        "Figure 3 continued on next page",
        "Continued",
        "7:",
        "-",
        "12",
    ],
)
def test_artifact_heading_leaves_its_text_in_the_section_before(artifact: str) -> None:
    document = read_tei(tei(div("Key idea", "It begins here.") + div(artifact, "It goes on there.")))
    assert headings(document) == ["Key idea"]
    assert texts(document) == ["It begins here.", "It goes on there."]


@pytest.mark.parametrize(
    ("before", "fragment"), [("It was shown (Smith,", "2018)."), ("As shown (see", "supplement 1).")]
)
def test_fragment_taken_for_a_heading_goes_back_into_the_text(before: str, fragment: str) -> None:
    document = read_tei(tei(div("Background", before) + div(fragment, "More follows.")))
    assert headings(document) == ["Background"]
    assert texts(document) == [f"{before} {fragment}", "More follows."]


def test_a_section_given_twice_becomes_one_and_a_short_paragraph_may_recur() -> None:
    long = "This paragraph stands twice in the file because of an error."
    body = div("Results", number="2") + div("Cells", long, "First.", number="2.1")
    document = read_tei(tei(body + div("Results", number="2") + div("Cells", long, "Second.", number="2.1")))
    assert headings(document) == ["2 Results > 2.1 Cells"]
    assert texts(document) == [long, "First.", "Second."]
    assert "repeated paragraphs left out: 1" in document.notes
    assert texts(read_tei(tei(div("Proofs", "See above.", "See above.")))) == ["See above.", "See above."]
