"""JSON looked for in replies: where it stands, what is no JSON, and that it takes no long."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.instructions import FoundJson, find_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
# No brackets and no quotes: what is in a reply beside its JSON.
PROSE = st.text(st.characters(exclude_characters='[]{}"'), max_size=30)


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


def test_an_array_that_ends_as_an_object_is_mended_where_the_authors_do():
    findings = '[["a", null, "b", "no significant difference", "c"]}'
    assert find_json(findings, []).how == "nowhere"
    found = find_json(f" {findings}\n", [], array_may_end_as_object=True)
    assert found == FoundJson([["a", None, "b", "no significant difference", "c"]], "whole")


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 50_000 + "]" * 50_000, "9" * 10_000, "[]]" * 50_000])
def test_what_no_parser_takes_is_no_json_and_takes_no_long(text):
    """It would take hours if every bracket were tried with every other."""
    clock = time.process_time()
    assert find_json(f"x {text}", []).how in ("nowhere", "within")
    assert find_json(text, {}).how == "nowhere"
    assert time.process_time() - clock < 20


@given(JSON)
def test_what_is_json_as_a_whole_is_found(value):
    for spaced in (json.dumps(value), f"\n {json.dumps(value, ensure_ascii=False)} "):
        found = find_json(spaced, [])
        assert found.value == ([] if value in (None, "null") else value)


@given(PROSE, st.lists(st.integers() | st.text(st.characters(exclude_characters="[]{}"))), PROSE)
def test_an_array_in_prose_is_found(before, value, after):
    found = find_json(f"{before}.{json.dumps(value)}{after}.", [])
    assert found == FoundJson(value, "within")


@given(st.text())
def test_any_reply_can_be_looked_through(text):
    assert find_json(text, {}).how in ("whole", "null", "within", "nowhere")
