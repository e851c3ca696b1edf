"""Abbreviations that texts spell out, by Schwartz and Hearst's algorithm."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.language.abbreviations import agreed_abbreviations, find_abbreviations

WRITTEN = st.text(st.sampled_from("aAbBlLmMsSéİß -–()[],.;\n2"), max_size=80)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We ask large language models (LLMs).", {"LLM": "large language models"}),
        ("word sense disambiguation (WSD)", {"WSD": "word sense disambiguation"}),
        ("WSD (word sense disambiguation) is old.", {"WSD": "word sense disambiguation"}),
        ("BERT (Bidirectional Encoder Representations from Transformers)",
         {"BERT": "Bidirectional Encoder Representations from Transformers"}),
        ("An LSTM (Long Short-Term Memory, 1997)", {"LSTM": "Long Short-Term Memory"}),
        ("abstract meaning representation (AMR; Banarescu et al., 2013)",
         {"AMR": "abstract meaning representation"}),
        ("in-context learning (ICL) and natural language inference (NLI)",
         {"ICL": "in-context learning", "NLI": "natural language inference"}),
        ("Human papillomavirus (HPV)", {"HPV": "Human papillomavirus"}),
        ("the mouse immunodeficiency virus (MIV)", {"MIV": "mouse immunodeficiency virus"}),
        ("A model (Figure 2) of 2019 (2019) is better (see Section 4).", {}),
        ("SA (see also the text)", {}),
        ("BERT (Devlin et al., 2019) and GPT (Radford et al.)", {}),
        ("A model (ML) and tasks (TASK)", {}),
        ("Language came first. Models (LM)", {}),
        ("the LM language model (LM)", {"LM": "language model"}),
        ("nothing in brackets () or (", {}),
    ],
)  # fmt: skip
def test_what_a_text_spells_out_is_found(text: str, found: dict[str, str]) -> None:
    assert find_abbreviations(text) == found


@given(st.one_of(st.text(max_size=80), WRITTEN, st.builds("{} ({}) {}".format, WRITTEN, WRITTEN, WRITTEN)))
def test_a_long_form_stands_in_the_text_and_has_the_letters_in_order(text: str) -> None:
    for short, long in find_abbreviations(text).items():
        assert long in text
        assert len(long) > len(short)
        assert long[0].lower() == short[0].lower()
        letters = [re.escape(letter) for letter in short.lower() if letter.isalnum()]
        assert re.match(".*?".join(letters), long.lower(), re.DOTALL)


def test_texts_agree_on_a_long_form_and_find_the_longest_first() -> None:
    known = agreed_abbreviations(
        [
            {"PLM": "Pre-trained Language Models"},
            {"PLM": "pretrained language model", "PrLM": "pre-trained language models"},
            {"PLM": "pre-trained language models"},
        ]
    )
    assert known.long_forms["plm"] == "pre-trained language models"
    assert [(form.short, form.long) for form in known.forms_in("Do pretrained language models lie?")] == [
        ("PLM", "pretrained language models")
    ]
    (form,) = known.forms_in("PrLMs")
    assert (form.short, form.long, form.is_short) == ("PrLM", "pre-trained language models", True)
    match, maximum = {"EM": "exact match"}, {"EM": "expectation maximization"}
    assert agreed_abbreviations([match, maximum]).long_forms == {}
    assert not list(agreed_abbreviations([match, maximum]).forms_in("EM or exact match"))
    assert agreed_abbreviations([match] * 7 + [maximum] * 3).long_forms == {"em": "exact match"}
    assert agreed_abbreviations([match] * 6 + [maximum] * 3).long_forms == {}
    assert agreed_abbreviations([match], least=2).long_forms == {}
    known = agreed_abbreviations(
        [{"LM": "language model", "MLM": "masked language model", "IT": "information technology"}]
    )
    assert [form.short for form in known.forms_in("a masked language model, a language-model, it, IT")] == [
        "MLM", "LM", "IT"
    ]  # fmt: skip
    assert [form.other for form in known.forms_in("mlm", lambda word: True)] == ["masked language model"]


@given(WRITTEN, st.dictionaries(WRITTEN, WRITTEN, max_size=3))
def test_forms_stand_where_they_are_said_to(text: str, pairs: dict[str, str]) -> None:
    for form in agreed_abbreviations([pairs]).forms_in(text, lambda word: True):
        assert text[form.start : form.end] == form.text
        assert form.text in ((form.short, f"{form.short}s") if form.is_short else (form.long,))
