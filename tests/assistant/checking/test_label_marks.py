"""Citation marks of models and house styles: each is a label, and what only looks like one is not."""

import pytest

from assistant.checking.answer import check
from assistant.checking.citations import hold_back, normalise_labels, read_labels, without_labels
from assistant.records import Draft
from tests.assistant.checking.test_citations import EVIDENCE

KNOWN = frozenset(range(1, 8))
FORMS = [
    # Lists and ranges
    ("Mills turn [1, 2, and 3].", "Mills turn [1][2][3]."),
    ("Mills turn [1 & 2; 4].", "Mills turn [1][2][4]."),
    ("Mills turn [1，2] [3、4].", "Mills turn [1][2] [3][4]."),
    ("Mills turn [1 und 2] [3 et 4] [文献5和6].", "Mills turn [1][2] [3][4] [5][6]."),
    *((f"Mills turn [2{dash}4].", "Mills turn [2][3][4].") for dash in "-‐‑‒–—―−～"),
    ("Mills turn [2 to 4].", "Mills turn [2][3][4]."),
    ("Mills turn [1]–[3].", "Mills turn [1][2][3]."),
    ("Mills turn [1] – [3].", "Mills turn [1][2][3]."),
    ("Mills turn [1]-[2]-[4].", "Mills turn [1][2][3][4]."),
    # Words and places
    ("Mills turn [Papers 1 and 2].", "Mills turn [1][2]."),
    ("Mills turn [Sources 1, 2] [Source: Paper 3].", "Mills turn [1][2] [3]."),
    ("Mills turn [Passage 1] [P2] [doc3] [ref_4] [id: 5].", "Mills turn [1] [2] [3] [4] [5]."),
    ("Mills turn [see 1] [cf. 2] [e.g., 3] [according to Paper 4].", "Mills turn [1] [2] [3] [4]."),
    ("Mills turn [1, p. 3] [2, pp. 4–5, 9; 3, § 2.1].", "Mills turn [1] [2][3]."),
    ("Mills turn [1: 3] [2: p. 7] [3 (p. 8)] [4, Abstract].", "Mills turn [1] [2] [3] [4]."),
    ("Mills turn [2: Windmills of the North].", "Mills turn [2]."),
    ("Mills turn (Paper 1) and (Papers 2 and 3).", "Mills turn [1] and [2][3]."),
    ("Mills turn [#1] [cite: 2, 3] [@4; @paper5].", "Mills turn [1] [2][3] [4][5]."),
    ("[cite_start]Mills turn[cite: 2].", "Mills turn[2]."),
    ("Mills turn 【1†L3-L9】〖2〗【3:0†source】.", "Mills turn [1][2][3]."),
    # Raised numbers
    (
        "Mills turn¹. Mills turn.² They grind²,³ barley.",
        "Mills turn[1]. Mills turn.[2] They grind[2][3] barley.",
    ),
    ("Mills turn¹⁻³ and grind⁽⁴⁾.", "Mills turn[1][2][3] and grind[4]."),
    ("Mills turn¹².", "Mills turn[1][2]."),
    ("Mills turn^1^ grind^2 and ^[3] [^4^].", "Mills turn[1] grind[2] and [3] [4]."),
    ("Mills turn$^{1,2}$.", "Mills turn[1][2]."),
    # Links, tags and LaTeX
    ("Mills turn [[1]](#ref1)[[2]](https://mill.example/2).", "Mills turn [1][2]."),
    ("Mills turn [1](#ref1), [[2](#a), [3](#b)].", "Mills turn [1], [2], [3]."),
    ("Mills turn \\[1\\] ([2]).", "Mills turn [1] ([2])."),
    ('Mills turn<sup>1</sup><sup><a href="#fn2">2</a></sup>.', "Mills turn[1][2]."),
    ("Mills turn <cite>1</cite> <ref>[2]</ref>.", "Mills turn [1] [2]."),
    ('<cite index="1-4">Mills turn</cite>. <co: 2>They grind</co: 2>.', "Mills turn [1]. They grind [2]."),
    ('Mills turn <ref id="3"/>.', "Mills turn [3]."),
    ("<co>Mills turn</co: 2>. <co>They grind</co: 0:[1,2]>.", "Mills turn [2]. They grind [1][2]."),
    ("<co: 1,3>Mills turn</co: 1,3>.", "Mills turn [1][3]."),
    ("Mills turn \\cite{1} \\citep[p.~3]{paper2, ref3}.", "Mills turn [1] [2][3]."),
    ("Mills turn ##1$$.", "Mills turn [1]."),
    # Never given
    ("Mills turn [Paper 9] [1, 8].", "Mills turn [9?] [1][8?]."),
]
NO_LABELS = [
    "The range [1, 5], the interval [1, 3], a score in [1, 4], x ∈ [2, 3], [0.5, 2] and [-1, 1].",
    "Since [2020], [1, 2020], [1,234] grains, [3D], [5 min], [2 of 3], [n = 3] and [1/2].",
    "[Table 1], [see Table 1], [Step 2], [see below], [T5], [from 1 to 3] and (Study 2).",
    "10² m, 3 km², R², n², log² n, (a + b)², χ², 10⁻³, MSE², ¹H and m³.",
    "x^2, n^2, 10^3, $x^2 + y^2$, 2^{10}, 10<sup>3</sup> and a < b.",
    "equation (2), (2021), {1} and <2>.",
    "1. Mills\n2. Querns\n\n(1) They turn. (2) They grind.",
]


@pytest.mark.parametrize(("written", "normal"), FORMS)
def test_fault_marks_of_citations_were_not_seen(written, normal):
    assert normalise_labels(written, KNOWN).text == normal
    assert normalise_labels(normal, KNOWN).text == normal


@pytest.mark.parametrize("text", NO_LABELS)
def test_numbers_that_cite_nothing_stay(text):
    assert read_labels(text, KNOWN).text == text


@pytest.mark.parametrize("written", [written for written, _ in FORMS])
def test_no_mark_of_a_paper_is_a_label_and_no_half_mark_is_shown(written):
    assert normalise_labels(without_labels(written), KNOWN).labels == ()
    final = normalise_labels(written, KNOWN).text
    for length in range(len(written)):
        shown, held = hold_back(written[:length])
        assert shown + held == written[:length]
        assert final.startswith(normalise_labels(shown, KNOWN).text.rstrip())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (
            "Mills turn slowly (1). They grind (2, 3), and rest (1).",
            "Mills turn slowly [1]. They grind [2][3], and rest [1].",
        ),
        ("Mills turn. (1) They grind. (2)", "Mills turn. [1] They grind. [2]"),
        ("Paper 1 shows mills. Papers 2 and 3 show querns.", "[1] shows mills. [2][3] show querns."),
        ("Mills turn slowly.1 They grind barley.2,3", "Mills turn slowly.[1] They grind barley.[2][3]"),
        (
            "Mills turn quite slowly 1. They grind barley 2.",
            "Mills turn quite slowly [1]. They grind barley [2].",
        ),
        (
            "Mills turn slowly {1}. They grind <2>. 磨坊转动③。",
            "Mills turn slowly [1]. They grind [2]. 磨坊转动[3]。",
        ),
        ("Mills turn slowly ¹. They grind barley ².", "Mills turn slowly[1]. They grind barley[2]."),
        # Only of a text that has no other labels, and of papers that were given.
        ("Mills turn (2). They grind [1].", "Mills turn (2). They grind [1]."),
        ("Mills turn (9).", "Mills turn (9)."),
        ("Paper 9 shows mills.", "Paper 9 shows mills."),
        (
            "It is given by equation (2). It has two documents 1.",
            "It is given by equation (2). It has two documents 1.",
        ),
    ],
)
def test_bare_numbers_cite_in_a_text_without_other_labels(written, read):
    assert read_labels(written, KNOWN).text == read


CLAIM = "BM25 ranks documents by the frequency of their terms"


@pytest.mark.parametrize(
    "written",
    [
        f"{CLAIM}<sup>1</sup>.",
        f"{CLAIM} <cite>1</cite>.",
        f"{CLAIM} [[1]](#ref1).",
        f"{CLAIM} [Paper 1](https://mill.example/1).",
        f"{CLAIM} [Fritz et al., 2020](#ref-1).",
        f"{CLAIM} (1).",
        f"{CLAIM}.¹",
        f"According to Paper 1, {CLAIM}.",
    ],
)
def test_fault_an_answer_that_cites_was_said_to_cite_no_paper(written):
    answer = check(Draft(written), "How does BM25 rank?", EVIDENCE, (), "BM25")
    assert answer.cited_labels == (1,)
    assert "no_citations" not in answer.problems
    assert "#ref" not in answer.text
