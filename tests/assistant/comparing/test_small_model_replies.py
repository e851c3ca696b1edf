"""Replies of small models in comparisons: too long, repeated, and votes that decide nothing."""

import pytest

from assistant.comparing.prompted.replies import (
    LONGEST_ANALYSIS,
    LONGEST_ELEMENT,
    LONGEST_SENTENCE,
    ElementsReply,
    summary_reply,
    vote_reply,
)
from assistant.comparing.records import ELEMENT_NAMES

LONG = "This is the first sentence of a long element. " + "It goes on with many more words " * 40


def test_fault_a_whole_reply_was_refused_because_one_field_was_long() -> None:
    reply = ElementsReply.model_validate(dict.fromkeys(ELEMENT_NAMES) | {"results": LONG})
    assert reply.model_dump()["results"] == "This is the first sentence of a long element."


@pytest.mark.parametrize("text", ["word " * 300, "x" * 2000, "Ends. " * 300])
def test_long_texts_are_shortened_to_what_the_form_takes(text: str) -> None:
    element = ElementsReply.model_validate(dict.fromkeys(ELEMENT_NAMES) | {"methodology": text})
    vote = vote_reply(2).model_validate({"analysis": text * 2, "choice": 1})
    summary = summary_reply(2).model_validate({"sentences": [{"text": text, "labels": [1]}]})
    assert 0 < len(element.model_dump()["methodology"]) <= LONGEST_ELEMENT
    assert 0 < len(vote.model_dump()["analysis"]) <= LONGEST_ANALYSIS
    assert 0 < len(summary.model_dump()["sentences"][0]["text"]) <= LONGEST_SENTENCE
