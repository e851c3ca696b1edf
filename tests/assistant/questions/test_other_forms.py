"""Abbreviations in questions: one form in the question is met by the other in a text."""

import pytest

from assistant.questions.abbreviations import abbreviations_of, common_terms, spelt_out, with_forms
from assistant.questions.missing import missing_phrases

NONE = abbreviations_of(())
KNOWN = abbreviations_of(["Translation of low-resource languages (LRLs) by back-translation."])


def test_abbreviations_were_not_met_by_their_full_forms() -> None:
    text = "Large language models grade texts."
    assert spelt_out("Can LLMs grade?", text, NONE) == "Can large language models grade?"
    assert spelt_out("Can LLMs grade?", f"LLMs are tried. {text}", NONE) == "Can LLMs grade?"


def test_an_abbreviation_is_spelt_out_as_texts_do_where_letters_do_not_tell() -> None:
    text = "Translation of languages that are low in resources."
    assert spelt_out("What helps LRLs?", text, KNOWN) == "What helps low-resource languages?"
    both = f"{text} LRLs have few texts."
    assert spelt_out("What helps LRLs?", both, KNOWN) == "What helps LRLs?"
    terms = [("lrl", "low-resource languages")]
    assert spelt_out("what helps lrls?", both, KNOWN, terms) == "what helps low-resource languages?"


@pytest.mark.parametrize(
    ("question", "text", "both"),
    [
        ("What helps LRLs?", "A low-resource language has few texts.", "LRLs"),
        ("What helps low-resource languages?", "An LRL has few texts.", "low-resource languages"),
    ],
)
def test_a_text_says_both_forms_of_a_questions_abbreviation(question: str, text: str, both: str) -> None:
    forms = list(KNOWN.forms_in(question))
    assert with_forms(text, forms) == f"{text} {both}"
    assert with_forms("Nothing of the kind, CLRLX.", forms) == "Nothing of the kind, CLRLX."


def test_what_is_said_in_another_form_is_not_missing() -> None:
    """Regression: "language models" was said to stand in no text that wrote LMs."""
    texts = ["Probing of masked language models (MLMs) by prompts.", "An MLM fills gaps, a parser none."]
    assert missing_phrases("Which MLMs fill gaps?", texts[1:])[1] == ("MLMs",)
    assert missing_phrases("Which MLMs fill gaps?", texts)[1] == ()
    probed = "What do masked language models know about Klingon?"
    assert missing_phrases(probed, texts)[1] == ("Klingon",)
    assert missing_phrases("Are masked language models parsers?", texts[1:])[1] == ("masked language models",)
    assert missing_phrases("Are masked language models parsers?", texts)[1] == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does KG-FiD add?", "What does KG-FiD add?"),
        ("What does FiD-KG add?", "What does FiD-KG add?"),
        ("Are KG-based answers better?", "Are knowledge graph-based answers better?"),
        ("How large is a KG?", "How large is a knowledge graph?"),
    ],
)
def test_an_abbreviation_in_a_name_was_spelt_out(question, expected):
    known = abbreviations_of(["A knowledge graph (KG) is large."], [("KG", "knowledge graph")])
    assert spelt_out(question, "", known, [("KG", "knowledge graph")]) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Language models judge."], "Are language models judges?"),
        (["Language models judge.", "An LLM is one. LLMs are many."], "Are LLMs judges?"),
        (["A living lab meeting (LLM) is held of language models."], "Are LLMs judges?"),
        (["Whales sing."], "Are LLMs judges?"),
    ],
)
def test_a_common_abbreviation_that_no_text_defines_was_not_met(texts, expected):
    terms = common_terms("Are LLMs judges?", texts)
    known = abbreviations_of(texts, terms)
    assert spelt_out("Are LLMs judges?", "\n".join(texts), known, terms) == expected
    assert spelt_out("are llms judges?", "\n".join(texts), known, terms) == expected.replace(
        "A", "a"
    ).replace("LLM", "llm")
