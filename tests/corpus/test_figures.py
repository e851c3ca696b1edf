"""One number in all the ways in which it is written."""

import pytest

from assistant.checking.comparable_text import read_statement
from assistant.checking.overlap import score_attribution
from corpus.text import words, write_out_numbers


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("10⁶ eels", "1000000 eels"),
        ("10^6 eels", "1000000 eels"),
        ("10^{6} eels", "1000000 eels"),
        ("1,000,000 eels", "1000000 eels"),
        ("1\u202f000\u202f000 eels", "1000000 eels"),
        ("1e6 eels", "1000000 eels"),
        ("1.5 × 10⁹ eels", "1500000000 eels"),
        ("a loss of 3 × 10⁻³", "a loss of 0.003"),
        ("2¹⁰ valves", "1024 valves"),
        ("25 km²", "25 km²"),
        ("25 km^2, or km^{2}", "25 km2, or km2"),
        ("O(n^2) of x^i", "O(n2) of x^i"),
        ("in 1953¹ already", "in 1953 already"),
        ("version 1.2 of BM25", "version 1.2 of BM25"),
    ],
)
def test_fault_powers_were_other_numbers(written: str, plain: str) -> None:
    assert write_out_numbers(written) == plain
    assert words(written) == words(plain)
    assert read_statement(written).numbers == read_statement(plain).numbers


def test_fault_a_power_read_on_the_line_was_supported() -> None:
    evidence = "The pond holds 10⁶ litres of water."
    assert score_attribution("The pond holds 1,000,000 litres of water.", evidence) == 1.0
    assert score_attribution("The pond holds 106 litres of water.", evidence) < 1.0
    (said,) = read_statement("The pond holds 106 litres.").numbers
    assert not any(said.says(number) for number in read_statement(evidence).numbers)
