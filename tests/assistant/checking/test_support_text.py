import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.checking.comparable_text import Quantity, read_statement, stem


def numbers(text: str) -> list[tuple[float, str]]:
    return [(number.value, number.unit) for number in read_statement(text).numbers]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12.5 %", [(12.5, "percent")]),
        ("12.5 percent", [(12.5, "percent")]),
        ("12.5%", [(12.5, "percent")]),
        ("1,000 papers", [(1000.0, "")]),
        ("one thousand", []),
        ("two thousand papers", [(2000.0, "")]),
        ("5 million", [(5e6, "")]),
        ("10k documents", [(10000.0, "")]),
        ("$5", [(5.0, "dollar")]),
        ("twenty-five minutes", [(25.0, "minute")]),
        ("in 2019, 3 of 4", [(2019.0, ""), (3.0, ""), (4.0, "")]),
        ("BM25 and F1", []),
        ("3 hrs", [(3.0, "hour")]),
    ],
)
def test_a_number_is_read_as_it_was_meant(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("claim", "evidence", "same"),
    [
        ("12.5 %", "12.5 percent", True),
        ("1,000", "1000", True),
        ("two thousand", "2,000", True),
        ("90 %", "89.7 %", True),
        ("91.2", "91.24", True),
        ("91.2", "91.3", False),
        ("89.7 %", "90 %", False),
        ("5 %", "5 years", False),
        ("5", "5 years", True),
        ("17.5", "91.2", False),
    ],
)
def test_a_number_is_said_by_the_same_or_one_that_rounds_to_it(claim, evidence, same):
    (said,), (given_,) = read_statement(claim).numbers, read_statement(evidence).numbers
    assert said.says(given_) is same


@pytest.mark.parametrize(
    ("text", "count", "reached"),
    [
        ("The model does not use external data.", 1, {"external"}),
        ("The model doesn't use external data.", 1, {"external"}),
        ("It trains without labels.", 1, {"labels"}),
        ("It fails to converge.", 1, {"converge"}),
        ("It not only ranks, it also explains.", 0, set()),
        ("No model, however large, converges.", 1, {"model"}),
        ("The model uses external data.", 0, set()),
    ],
)
def test_a_negation_reaches_the_next_words_of_its_clause(text, count, reached):
    statement = read_statement(text)
    assert statement.negations == count
    assert {stem(word) for word in reached} <= statement.negated
    assert bool(reached) == bool(statement.negated)


def test_names_are_capitals_that_no_sentence_made():
    assert read_statement("Then the Cranfield tests used BM25.").names == {"cranfield": 1.0, "bm25": 1.0}
    assert read_statement("Penguins swim.").names == {stem("penguins"): 0.5}


@pytest.mark.parametrize(
    "forms",
    [
        ("study", "studies", "studied"),
        ("increase", "increases", "increased", "increasing"),
        ("model", "models", "modelling", "modeling"),
        ("train", "training", "trained"),
        ("rank", "ranks", "ranking"),
    ],
)
def test_the_forms_of_a_word_share_their_stem(forms):
    assert len({stem(word) for word in forms}) == 1


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    statement = read_statement(text)
    assert all(word == word.lower() for word in statement.stems)
    assert len(statement.negated) <= len(set(statement.stems))


@given(st.floats(0, 1e6).map(lambda value: round(value, 2)))
def test_a_number_says_itself_with_commas_or_without(value):
    first, second = read_statement(f"{value:,.2f}").numbers, read_statement(f"{value:.2f}").numbers
    assert len(first) == len(second) == 1
    assert first[0].says(second[0])
    assert isinstance(first[0], Quantity)
