import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.checking.citations import (
    check_sentences,
    hold_back,
    normalise_labels,
    plain_claim,
    without_labels,
)
from assistant.records import Evidence, LabelledPaper
from corpus.records import Paper, Passage, Sentence
from corpus.sentences import sentence_spans
from corpus.text import words

KNOWN = frozenset({1, 2, 3, 10, 12})
ANY_LABEL = re.compile(r"\[(\d{1,3})(\??)\]")


def make_paper(label: int, *texts: str) -> LabelledPaper:
    """Return a paper whose passages are `texts`, split into their sentences."""
    paper = Paper(f"p{label}", "c", f"Title {label}", (), 2022, "V", "")
    passages = tuple(
        Passage(
            id=f"{paper.id}#{number}",
            paper_id=paper.id,
            collection_id="c",
            number=number,
            kind="body",
            section=(),
            text=text,
            sentences=tuple(Sentence(start, end) for start, end in sentence_spans(text)),
        )
        for number, text in enumerate(texts)
    )
    return LabelledPaper(label, paper, passages)


EVIDENCE = Evidence(
    (
        make_paper(1, "Cats sleep all day. BM25 ranks documents by the frequency of their terms."),
        make_paper(
            2,
            "Dense retrieval encodes text as vectors.",
            "It needs a graphics card. Training takes two days.",
        ),
        make_paper(3, "Fusion adds ranks."),
    )
)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("It ranks [1].", "It ranks [1]."),
        ("Both hold [1][2].", "Both hold [1][2]."),
        ("Both hold [1, 3].", "Both hold [1][3]."),
        ("Both hold [1,3; 2].", "Both hold [1][3][2]."),
        ("Both hold [1 and 2].", "Both hold [1][2]."),
        ("All hold [1-3].", "All hold [1][2][3]."),
        ("All hold [1–3].", "All hold [1][2][3]."),
        ("All hold [PUID:1-PUID:3].", "All hold [1][2][3]."),
        ("Ten [10], not [1]0.", "Ten [10], not [1]0."),
        ("Full width ［１］【2】.", "Full width [1][2]."),
        ("A search tool's 【1】【2†source】.", "A search tool's [1][2]."),
        ("A footnote[^1].", "A footnote[1]."),
        ("A wiki link [[1]] and [[2, 3]].", "A wiki link [1] and [2][3]."),
        ("Words [Paper 2] [ref. 3] [Source: 1] [citation:2].", "Words [2] [3] [1] [2]."),
        ("Spaces [ 1 ] [1 ,2].", "Spaces [1] [1][2]."),
        ("Twice [2, 2].", "Twice [2]."),
        ("A wrong range [3-1].", "A wrong range [3][1]."),
        ("An endless range [1-900].", "An endless range [1][900?]."),
    ],
)
def test_every_form_of_label_becomes_one(written, normal):
    assert normalise_labels(written, KNOWN).text == normal


@pytest.mark.parametrize(
    "text",
    [
        "equation (2)",
        "since [2020]",
        "arr[0.5, 1]",
        "scores in [0, 1]",
        "of [1,000] papers",
        "the [CLS] token",
        "[1, 2020]",
        "[see below]",
        "pages [12:14]",
        "a [b] (c) {1} <2>",
        "PUID:1",
    ],
)
def test_brackets_that_are_no_labels_stay(text):
    assert normalise_labels(text, KNOWN).text == text
    assert normalise_labels(text, KNOWN).labels == ()


def test_gengo_gave_one_paper_two_numbers():
    found = normalise_labels("Here [PUID:2] and there (PUID:2).", KNOWN)
    assert (found.text, found.labels) == ("Here [2] and there [2].", (2,))


def test_gengo_lost_the_first_of_two_papers_in_one_bracket():
    found = normalise_labels("Both hold (PUID:1, PUID:2).", KNOWN)
    assert (found.text, found.labels) == ("Both hold [1][2].", (1, 2))


def test_gengo_let_an_invented_id_open_another_paper():
    found = normalise_labels("Invented [9], (PUID:7) and [0]; given [2].", KNOWN)
    assert found.text == "Invented [9?], [7?] and [0?]; given [2]."
    assert (found.labels, found.unknown) == ((2,), ("9", "7", "0"))
    (sentence,) = check_sentences("Dense retrieval encodes text [9?][2].", EVIDENCE)
    assert (sentence.labels, sentence.unknown_labels) == ((2,), ("9",))
    assert [citation.label for citation in sentence.citations] == [2]


def test_truthreader_left_markers_of_two_digits_alone():
    found = normalise_labels("Old [12][10], new [PUID:12].", KNOWN)
    assert (found.text, found.labels) == ("Old [12][10], new [12].", (12, 10))


def test_truthreader_sorted_labels_as_strings():
    assert normalise_labels("First [2], then [10], then [1], then [2].", KNOWN).labels == (2, 10, 1)


GROUPS = [
    "[1]",
    "[10]",
    "[1, 3]",
    "[9]",
    "[2-3]",
    "(PUID:1, PUID:2)",
    "(PUID:12)",
    "[PUID:2]",
    "【1】",
    "【2†source】",
    "[^1]",
    "[Paper 2]",
    "[paper 1, paper 2 and paper 3]",
    "[1,\n2]",
    "[12?]",
]
FILLERS = [
    "a claim",
    ". ",
    " ",
    "\n",
    "(2)",
    "[2020]",
    "[0, 1]",
    "[[",
    "(",
    "see ",
    "P",
    "[",
    "]",
    ")",
    "†",
    "1",
]
texts = st.lists(st.sampled_from(GROUPS + FILLERS), max_size=8).map("".join)


@given(texts | st.text(alphabet="[]()【】 PUID:paer0123,-–†?^.a\n", max_size=40))
def test_normalising_twice_is_normalising_once(text):
    once = normalise_labels(text, KNOWN)
    again = normalise_labels(once.text, KNOWN)
    assert again.text == once.text
    assert again.labels == once.labels
    for number, mark in ANY_LABEL.findall(once.text):
        assert (int(number) in KNOWN) == (not mark)
    assert set(once.labels) == {int(number) for number, mark in ANY_LABEL.findall(once.text) if not mark}


@given(st.lists(st.sampled_from(GROUPS), max_size=6), st.data())
def test_normalising_loses_no_text(groups, data):
    between = data.draw(st.lists(st.text("ab ,.\n", max_size=9), min_size=len(groups), max_size=len(groups)))
    text = "".join(group + words for group, words in zip(groups, between, strict=True))
    assert ANY_LABEL.sub("", normalise_labels(text, KNOWN).text) == "".join(between)


@given(texts, st.integers(0, 200))
def test_a_half_written_label_is_never_shown(text, length):
    shown, held = hold_back(text[:length])
    assert shown + held == text[:length]
    final = normalise_labels(text, KNOWN).text
    assert final.startswith(normalise_labels(shown, KNOWN).text)


@pytest.mark.parametrize("group", GROUPS)
def test_a_label_is_shown_when_it_is_complete_and_not_before(group):
    text = f"A claim {group}"
    shown = {hold_back(text[:length])[0] for length in range(len("A claim "), len(text))}
    assert shown == {"A claim "}
    assert hold_back(text) == (text, "")


@pytest.mark.parametrize("text", ["(see", "[the", "(2", "an [aside that", "(people"])
def test_other_brackets_do_not_hold_text_back_for_long(text):
    assert hold_back(text + " ")[1] == ""


@given(st.text("[]()【】 PUID:paer123,-†.a", max_size=60))
def test_a_papers_own_numbers_are_never_our_labels(text):
    quoted = without_labels(text)
    assert normalise_labels(quoted, KNOWN).labels == ()
    assert words(quoted) == words(text)


def checked(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return claim and labels of each sentence."""
    return [(sentence.claim, sentence.labels) for sentence in check_sentences(text, EVIDENCE)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It ranks [1]. It encodes [2].", [("It ranks.", (1,)), ("It encodes.", (2,))]),
        ("It ranks. [1] It encodes. [2]", [("It ranks.", (1,)), ("It encodes.", (2,))]),
        ("It ranks.[1] It encodes.[2]", [("It ranks.", (1,)), ("It encodes.", (2,))]),
        ("It ranks. [1], [2] It encodes.", [("It ranks.", (1, 2)), ("It encodes.", ())]),
        ("It ranks. ([1]) It encodes.", [("It ranks.", (1,)), ("It encodes.", ())]),
        ("It ranks. **[1]** It encodes.", [("It ranks.", (1,)), ("It encodes.", ())]),
        ("It ranks.\n\n[1]\n\nIt encodes.", [("It ranks.", (1,)), ("It encodes.", ())]),
        ("[1] It ranks.\n[2] It encodes.", [("It ranks.", (1,)), ("It encodes.", (2,))]),
        ("[1]\nIt ranks.", [("It ranks.", (1,))]),
        ("- It ranks\n- [1]\n- It encodes", [("It ranks", (1,)), ("It encodes", ())]),
        ("It ranks (see [1]).", [("It ranks.", (1,))]),
        ("It ranks [1], and encodes.", [("It ranks, and encodes.", (1,))]),
        ("- It ranks [1]\n- **It** encodes [2].", [("It ranks", (1,)), ("It encodes.", (2,))]),
        ("1. It ranks [1]\n2. It encodes [2]", [("It ranks", (1,)), ("It encodes", (2,))]),
        ("## Methods\n\nIt ranks [1].", [("It ranks.", (1,))]),
        ("## Ranking [1]\n\nIt ranks.", [("Ranking", (1,)), ("It ranks.", ())]),
        ("It is `code`, __so__ it **ranks** [1].", [("It is code, so it ranks.", (1,))]),
        ("Nothing is cited here.", [("Nothing is cited here.", ())]),
        ("[1][2]", []),
        (" \n ", []),
    ],
)
def test_claims_have_neither_labels_nor_markup(text, expected):
    assert checked(text) == expected


def test_sentences_give_their_place_in_the_text():
    text = "## Methods\n\nIt ranks. [1]\n\n- It encodes [2]."
    assert [text[sentence.start : sentence.end].strip() for sentence in check_sentences(text, EVIDENCE)] == [
        "It ranks. [1]",
        "- It encodes [2].",
    ]


pieces = st.sampled_from(
    [
        "It ranks",
        "It encodes",
        "[1]",
        "[2]",
        "[9?]",
        "[3]",
        ".",
        ". ",
        " ",
        "\n",
        "\n- It adds",
        "\n- [1]",
        ", ",
    ]
)


@given(st.lists(pieces, max_size=14).map("".join))
def test_no_label_is_lost_between_sentences(text):
    sentences = check_sentences(text, EVIDENCE)
    marked = ANY_LABEL.findall(text)
    if sentences:
        assert {label for sentence in sentences for label in sentence.labels} == {
            int(n) for n, mark in marked if not mark
        }
        assert {label for sentence in sentences for label in sentence.unknown_labels} == {
            n for n, mark in marked if mark
        }
    assert all(sentence.start < sentence.end <= len(text) for sentence in sentences)
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    for sentence in sentences:
        assert tuple(citation.label for citation in sentence.citations) == sentence.labels


def test_each_label_gets_the_text_that_its_markers_close():
    (sentence,) = check_sentences(
        "BM25 ranks documents by frequency [1], and dense retrieval encodes text as vectors [2].", EVIDENCE
    )
    assert [(citation.label, citation.claim) for citation in sentence.citations] == [
        (1, "BM25 ranks documents by frequency"),
        (2, "and dense retrieval encodes text as vectors"),
    ]
    assert sentence.citations[0].overlap == 1.0


def test_a_label_given_twice_in_a_sentence_closes_both_parts():
    (sentence,) = check_sentences("BM25 ranks documents [1], and cats sleep all day [1][3].", EVIDENCE)
    assert [(citation.label, citation.claim) for citation in sentence.citations] == [
        (1, "BM25 ranks documents and cats sleep all day"),
        (3, "and cats sleep all day"),
    ]


def test_a_label_in_the_middle_of_a_sentence_answers_for_all_of_it():
    (sentence,) = check_sentences("BM25 [1] ranks documents by quantum physics.", EVIDENCE)
    assert sentence.citations[0].claim == "BM25 ranks documents by quantum physics."


def test_truthreader_diluted_a_cited_sentence_by_uncited_ones_before_it():
    cited = "BM25 ranks documents by the frequency of their terms [1]."
    alone = check_sentences(cited, EVIDENCE)[-1].citations
    after_others = check_sentences(f"Penguins swim far. Nobody knows why that is so. {cited}", EVIDENCE)[
        -1
    ].citations
    assert after_others == alone
    assert alone[0].overlap == 1.0


def test_the_passage_and_sentence_that_carry_the_claim_are_found_in_any_order():
    paper = EVIDENCE.papers[1]
    for passages in (paper.passages, paper.passages[::-1]):
        evidence = Evidence((LabelledPaper(2, paper.paper, passages),))
        (sentence,) = check_sentences("The training takes two days [2].", evidence)
        citation = sentence.citations[0]
        assert (citation.passage_id, citation.sentence) == ("p2#1", 1)
        assert citation.evidence == "Training takes two days."


def test_forty_labels_in_a_row_are_forty_citations():
    evidence = Evidence(tuple(make_paper(label, "Everybody found this.") for label in range(1, 41)))
    labels = "".join(f"[{label}]" for label in range(40, 0, -1))
    (sentence,) = check_sentences(f"Everybody found this {labels}.", evidence)
    assert sentence.labels == tuple(range(40, 0, -1))
    assert {citation.overlap for citation in sentence.citations} == {1.0}


@given(st.text(max_size=80))
def test_any_text_has_a_plain_claim(text):
    assert "\n" not in plain_claim(text)
    check_sentences(normalise_labels(text, KNOWN).text, EVIDENCE)
