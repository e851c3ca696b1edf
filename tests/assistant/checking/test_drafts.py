"""Drafts that a model should not have written end as typed, marked answers; nothing of them is believed."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.checking.answer import check
from assistant.checking.drafts import LONGEST_READ, read_draft, without_markup
from assistant.checking.scorer import SupportScorer
from assistant.records import NOTHING_NEAR, Answer, Draft
from tests.assistant.checking.test_citations import EVIDENCE, texts
from tests.counting_encoder import CountingEncoder

QUESTION = "How are documents ranked?"
CLAIM = "BM25 ranks documents by the frequency of their terms"


def checked(text: str, finish_reason: str = "stop", scorer: SupportScorer | None = None) -> Answer:
    return check(Draft(text, finish_reason), QUESTION, EVIDENCE, (), "these 3 papers", scorer=scorer)


@pytest.fixture(scope="module")
def scorer(encoder) -> SupportScorer:
    return SupportScorer(encoder)


def test_a_good_draft_has_no_problems(scorer):
    answer = checked(f"{CLAIM} [1].", scorer=scorer)
    assert answer.problems == ()
    assert answer.refusal is None
    assert (answer.citation_recall, answer.citation_precision) == (1.0, 1.0)


def test_a_draft_that_goes_on_with_the_prompts_example_is_nothing_written():
    """It was shown: a small model compared beehives when asked to compare ways of searching."""
    answer = checked(
        f"{CLAIM} [1].\n\nQuestion: How do beehives compare?\nAnswer: The wooden one lasts longer."
    )
    assert answer.text == ""
    assert answer.problems == ("echo",)
    assert answer.refusal.reason == "nothing_written"


def test_what_papers_or_readers_speak_of_is_no_example():
    draft = Draft(f"{CLAIM} [1]. No paper says how bees do it [1].")
    assert not check(draft, "How do bees rank documents?", EVIDENCE, (), "these 3 papers").refusal


@pytest.mark.parametrize(
    ("text", "finish_reason", "shown", "problems"),
    [
        (f"{CLAIM}.", "stop", f"{CLAIM}.", ("no_citations",)),
        (f"{CLAIM} [9].", "stop", f"{CLAIM} [9?].", ("no_citations",)),
        (json.dumps({"answer": f"{CLAIM} [1]."}), "stop", f"{CLAIM} [1].", ("structured",)),
        (f'```json\n{{"text": "{CLAIM} [1]."}}\n```', "stop", f"{CLAIM} [1].", ("structured",)),
        (f"<p>{CLAIM} <sup>[1]</sup>.</p>", "stop", f"{CLAIM} [1].", ("markup",)),
        (f"{CLAIM} [1](https://example.org/x).", "stop", f"{CLAIM} [1].", ("markup",)),
        (f"![chart](http://x/y.png) {CLAIM} [1].", "stop", f"chart {CLAIM} [1].", ("markup",)),
        (f"<script>alert(1)</script>{CLAIM} [1].", "stop", f"{CLAIM} [1].", ("markup",)),
        (f"{CLAIM} [1]. It also adds [2", "interrupted", f"{CLAIM} [1]. It also adds", ("interrupted",)),
        (f"{CLAIM} [1]. It also adds (PUID:", "length", f"{CLAIM} [1]. It also adds", ("cut_short",)),
        (f"{CLAIM} [1].", "too_long", None, ("too_long",)),
        (
            "Die Dokumente werden nach der Häufigkeit der Wörter geordnet, und das ist nicht neu [1].",
            "stop",
            None,
            ("language",),
        ),
    ],
)
def test_what_can_be_shown_is_shown_and_marked(text, finish_reason, shown, problems):
    answer = checked(text, finish_reason)
    assert answer.problems == problems
    assert answer.refusal is None
    assert answer.text == (text if shown is None else shown)
    assert answer.sentences


@pytest.mark.parametrize(
    ("text", "finish_reason", "problems"),
    [
        ("", "stop", ("empty",)),
        (" \n\x00 ", "stop", ("empty",)),
        ("[1][2]", "stop", ("labels_only",)),
        ("[1] [2], [3].", "stop", ("labels_only",)),
        ('{"claims": ["BM25 ranks"], "sources": [1]}', "stop", ("structured",)),
        ('[{"claim": "BM25 ranks [1]"}]', "stop", ("structured",)),
        ('{"answer": "one", "summary": "two"}', "stop", ("structured",)),
        ('{"answer": "BM25 ranks docum', "interrupted", ("interrupted", "structured")),
        ("[1", "interrupted", ("interrupted",)),
        ("<img src=x>", "stop", ("markup",)),
    ],
)
def test_what_cannot_be_shown_is_refused_and_marked(text, finish_reason, problems):
    answer = checked(text, finish_reason)
    assert answer.refusal is not None
    assert answer.problems == problems
    assert answer.text == ""


def test_forty_labels_in_a_row_are_checked_once_each(scorer):
    answer = checked(f"{CLAIM} " + "".join(f"[{n}]" for n in range(1, 41)) + ".", scorer=scorer)
    (sentence,) = answer.sentences
    assert sentence.labels == (1, 2, 3)
    assert len(sentence.unknown_labels) == 37
    assert answer.citation_recall == 1.0
    assert answer.citation_precision is not None
    assert answer.citation_precision <= 3 / 40


def test_a_hundred_thousand_characters_are_cut_at_a_sentence(scorer):
    answer = checked(" ".join(f"{CLAIM} of {n} at {n + 7} [1]." for n in range(1600)), scorer=scorer)
    assert answer.problems == ("too_long",)
    assert LONGEST_READ * 0.9 < len(answer.text) <= LONGEST_READ
    assert answer.text.endswith("[1].")


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "[1]" * 33_000, "[" * 100_000, "<a " * 33_000, "![" * 50_000]
)
def test_of_a_hundred_thousand_characters_little_is_weighed(text, encoder):
    counting = CountingEncoder(encoder)
    answer = checked(text, scorer=SupportScorer(counting))
    assert "too_long" in answer.problems
    assert sum(map(len, counting.texts)) < 2 * LONGEST_READ


def test_a_language_that_was_asked_in_is_no_problem():
    text = "Die Dokumente werden nach der Häufigkeit der Wörter geordnet, und das ist nicht neu [1]."
    assert read_draft(Draft(text), "Wie werden die Dokumente geordnet und warum?").problems == ()


@pytest.mark.parametrize(
    "text", ["a < b and c > d", "p < 0.05", "<CLS> tokens", "f(x)[1] (see [2])", "x <- y", "**bold** `code`"]
)
def test_what_only_looks_like_markup_stays(text):
    assert without_markup(text) == text


hostile = st.lists(
    st.sampled_from(
        [
            "[9]",
            "[1]",
            "[2",
            "(PUID:3)",
            "<b>",
            "{",
            '{"answer": "',
            "![a](b)",
            "[1](c)",
            "\n- ",
            ". ",
            CLAIM,
            "```",
        ]
    ),
    max_size=10,
).map("".join)


@given(hostile | texts | st.text(max_size=80), st.sampled_from(["stop", "length", "interrupted", "too_long"]))
@settings(max_examples=150)
def test_any_draft_ends_as_a_typed_answer_that_links_no_unknown_label(text, finish_reason):
    answer = checked(text, finish_reason)
    assert (answer.refusal is None) == bool(answer.sentences)
    known = {paper.label for paper in EVIDENCE.papers}
    for sentence in answer.sentences:
        assert set(sentence.labels) <= known
        assert tuple(citation.label for citation in sentence.citations) == sentence.labels
    assert {int(number) for number in re.findall(r"\[(\d{1,3})\]", answer.text)} <= known
    assert all(before.end <= after.start for before, after in pairwise(answer.sentences))
    assert all(0 <= sentence.start < sentence.end <= len(answer.text) for sentence in answer.sentences)


def test_a_draft_for_which_nothing_was_near_is_no_empty_reply():
    assert read_draft(Draft("", NOTHING_NEAR), "How?").problems == ()
    assert read_draft(Draft(""), "How?").problems == ("empty",)
