"""The forms of a word are one word, wherever words are compared."""

import pytest

from assistant.comparing.differences import ShortForms
from assistant.questions.vocabulary import stems
from corpus.language.stemming import holds, spelt_as, stem
from explorer.presenters.finding import query_terms
from explorer.presenters.safe_text import marked_terms

FORMS = (
    "study studied studies",
    "evaluate evaluation evaluates",
    "bias biases",
    "labouring laboring labor's",
    "summarise summarize",
)
SPELT = ("code mixing", "code-mixing", "codemixing")


@pytest.mark.parametrize("forms", FORMS)
def test_forms_of_a_word_no_longer_fall_apart(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("asked", SPELT)
@pytest.mark.parametrize("written", SPELT)
def test_code_mixing_is_one_word_however_it_is_spelt(asked: str, written: str) -> None:
    text = f"Tweets show much {written} today."
    held = spelt_as(asked, text, stems(text))
    assert all(holds(held, stem) for stem in stems(asked))
    short = ShortForms([], SPELT)
    assert short.key(asked) == short.key(written)


def test_words_beside_each_other_are_no_compound_and_every_form_searched_for_is_marked() -> None:
    text = "The code of this model is mixing."
    assert spelt_as("codemixing", text, stems(text)) == stems(text)
    assert ShortForms([], ["code mixing"]).key("codebook") == (stem("codebook"),)
    assert (
        marked_terms("Studies of bias, studied", query_terms("study biases"))
        == "**Studies** of **bias**\\, **studied**"
    )
