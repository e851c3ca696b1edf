"""JSON looked for in replies: where it stands, what is no JSON, and that it takes no long."""

import time

import pytest

from evaluation.instructions import FoundJson, find_json


@pytest.mark.parametrize(
    ("text", "nothing", "value", "how"),
    [
        ('["a"]', [], ["a"], "whole"),
        (' {"a": 1} ', {}, {"a": 1}, "whole"),
        # Another kind than was asked for is taken as it is.
        ('{"a": 1}', [], {"a": 1}, "whole"),
        ("7", [], 7, "whole"),
        ("null", {}, {}, "null"),
        ('"null"', [], [], "null"),
        ('Here it is: ["a", "b"]. Bye [1].', [], ["a", "b"], "within"),
        ('```json\n{"a": [1]}\n```', {}, {"a": [1]}, "within"),
        ("[not json] but [2]", [], [2], "within"),
        ('First {"a": 1}, then {"a": 2}', {}, {"a": 1}, "within"),
        ('An array ["a"] where an object was asked for', {}, {}, "nowhere"),
        ('{"a": [1, 2', {}, {}, "nowhere"),
        ("", [], [], "nowhere"),
        ("The answer is sleep.", [], [], "nowhere"),
        # As the authors count: brackets in strings are brackets, and one that closes nothing hides the rest.
        ('So: {"a": "}"}', {}, {}, "nowhere"),
        ("a] [1]", [], [], "nowhere"),
    ],
)
def test_json_is_found_as_the_authors_find_it(text, nothing, value, how):
    assert find_json(text, nothing) == FoundJson(value, how)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 50_000 + "]" * 50_000, "9" * 10_000, "[]]" * 50_000])
def test_what_no_parser_takes_is_no_json_and_takes_no_long(text):
    """It would take hours if every bracket were tried with every other."""
    clock = time.process_time()
    assert find_json(f"x {text}", []).how in ("nowhere", "within")
    assert find_json(text, {}).how == "nowhere"
    assert time.process_time() - clock < 20
