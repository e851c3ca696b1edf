"""Phrases that are not said stand in every export that tells what checking found, escaped."""

import io
import json
from dataclasses import replace

import docx
import pytest

from assistant.exports.html import to_html
from assistant.exports.latex import comparison_to_latex
from assistant.exports.markdown import to_markdown
from assistant.exports.registry import CONVERSATION_FORMATS
from assistant.records import Conversation
from assistant.serving.answers import checked_text
from assistant.trail.transcript import from_json, to_json
from tests.assistant.exports.test_comparison_exports import whole
from tests.assistant.exports.test_export_html import Page, cited

PHRASE = "on all <b>languages</b>"
TOLD = f"Not said by what it cites: “{PHRASE}”."
TURN = replace(cited(not_said=(PHRASE,)), names_unsaid=True)
CONVERSATION = Conversation("c", "t", (TURN,))
WRITE = {export.name: export.write for export in CONVERSATION_FORMATS}


def test_a_page_tells_them():
    html = to_html(CONVERSATION)
    assert TOLD in Page(html).text
    assert "<b>languages" not in html


def test_markdown_tells_them_without_html():
    text = to_markdown(CONVERSATION)
    assert "Not said by what it cites: “on all" in text
    assert "<b>languages" not in text.split("## ")[1].split("```")[0]


def test_a_word_document_tells_them():
    document = docx.Document(io.BytesIO(WRITE["docx"](CONVERSATION)))
    assert any(TOLD in paragraph.text for paragraph in document.paragraphs)


def test_latex_tells_them_as_a_comment():
    comparison = whole()
    (first, *others) = comparison.answer.sentences
    answer = replace(comparison.answer, sentences=(replace(first, not_said=("on all languages",)), *others))
    lines = comparison_to_latex(replace(comparison, answer=answer)).splitlines()
    assert any(line.startswith("%") and "“on all languages”" in line for line in lines)


def test_the_api_and_the_trail_have_them():
    (sentence,) = checked_text(TURN.answer, TURN.evidence).sentences
    assert sentence.not_said == (PHRASE,)
    assert from_json(to_json(CONVERSATION)) == CONVERSATION


@pytest.mark.parametrize("missing", [("not_said",), ("names_unsaid",), ("not_said", "names_unsaid")])
def test_a_trail_from_before_they_were_named_is_read(missing):
    document = json.loads(to_json(CONVERSATION))
    (turn,) = document["conversation"]["turns"]
    for holder in (turn, turn["answer"]["sentences"][0]):
        for name in missing:
            holder.pop(name, None)
    (read,) = from_json(json.dumps(document)).turns
    assert read.names_unsaid == ("names_unsaid" not in missing)
    assert read.answer.sentences[0].not_said == (() if "not_said" in missing else (PHRASE,))
