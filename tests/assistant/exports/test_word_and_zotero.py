"""Word documents and files for Zotero, read back by python-docx, lxml, rispy and our own reader."""

import io
import json
import zipfile
from dataclasses import replace

import docx
import rispy
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from assistant.annotations import Annotation
from assistant.comparing.grid import ELEMENT_TITLES
from assistant.exports.html import to_html
from assistant.exports.markdown import to_markdown
from assistant.exports.registry import COMPARISON_FORMATS, CONVERSATION_FORMATS
from assistant.exports.word import in_word
from assistant.records import Answer, AnswerSentence, Conversation
from assistant.trail.comparison_file import comparison_from_json, comparison_to_json
from assistant.trail.transcript import from_json, to_json
from indexer.sources.references import read_references
from tests.assistant.exports.test_comparison_exports import SUMMARY, whole
from tests.assistant.exports.test_references import FULL, conversation, paper
from tests.assistant.trail.test_transcript import HOSTILE

CONVERSATION = {export.name: export.write for export in CONVERSATION_FORMATS}
COMPARISON = {export.name: export.write for export in COMPARISON_FORMATS}
NAMES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "z": "http://www.zotero.org/namespaces/export#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "bib": "http://purl.org/net/biblio#",
    "foaf": "http://xmlns.com/foaf/0.1/",
}
RESOURCE, ABOUT = f"{{{NAMES['rdf']}}}resource", f"{{{NAMES['rdf']}}}about"
MINE = replace(
    FULL,
    paper=replace(
        FULL.paper,
        source="Zotero item ABCD2345",
        labels=("to cite", "Dense / ranking"),
        notes=("Read on the train.", "Ask Ana."),
    ),
)
NOTES = (
    Annotation("n", "c/1", "The 90% Rule: A & B", "c/1#0", 0, 0, "A marked sentence.", "What <b>for</b>?"),
    Annotation("m", "c/1", "The 90% Rule: A & B", note="On the whole."),
)


def opened(written):
    assert zipfile.ZipFile(io.BytesIO(written)).testzip() is None
    return docx.Document(io.BytesIO(written))


def xml(written):
    return etree.fromstring(zipfile.ZipFile(io.BytesIO(written)).read("word/document.xml"))


# Word


def test_a_comparison_is_a_document_with_its_grid_as_a_table_and_labels_that_lead_to_references():
    comparison = whole()
    written = COMPARISON["docx"](comparison)
    document = opened(written)
    said = [paragraph.text for paragraph in document.paragraphs]
    assert "Ranks are added in [1][2]." in said
    assert any(
        paragraph.text == "One learns weights [2]." and paragraph.style.name == "List Bullet"
        for paragraph in document.paragraphs
    )
    assert [
        run.text
        for paragraph in document.paragraphs
        for run in paragraph.runs
        if run.bold and "added" in run.text
    ]
    assert "References" in [
        paragraph.text for paragraph in document.paragraphs if paragraph.style.name == "Heading 1"
    ]
    (table,) = document.tables
    own = [column.question for column in comparison.columns]
    assert [cell.text for cell in table.rows[0].cells] == ["Paper", *ELEMENT_TITLES.values(), *own]
    assert len(table.rows) > 1
    tree, space = xml(written), {"w": docx.oxml.ns.nsmap["w"]}
    anchors = set(tree.xpath("//w:hyperlink/@w:anchor", namespaces=space))
    marks = tree.xpath("//w:bookmarkStart/@w:name", namespaces=space)
    assert anchors and anchors <= set(marks) and len(set(marks)) == len(marks)


def test_a_sentence_that_is_only_weakly_supported_carries_a_comment():
    comparison = whole()
    weak = replace(comparison.answer.sentences[0], support=0.1)
    answer = replace(comparison.answer, sentences=(weak, *comparison.answer.sentences[1:]))
    document = opened(COMPARISON["docx"](replace(comparison, answer=answer)))
    said = [comment.text for comment in document.comments]
    assert any("Only weakly supported (support 0.10)" in line for line in said)


def test_an_answer_is_a_document_under_its_question_with_its_references():
    document = opened(CONVERSATION["docx"](conversation(MINE)))
    headings = [
        paragraph.text for paragraph in document.paragraphs if paragraph.style.name.startswith("Heading")
    ]
    assert "References" in headings
    (reference,) = [paragraph.text for paragraph in document.paragraphs if paragraph.text.startswith("[1]")]
    assert "The 90% Rule: A & B" in reference and "10.1000/x_1" in reference


def test_hostile_text_is_text_in_a_document():
    hostile = f"{HOSTILE} \x00\x1b\ud800\ufffe</w:t>&amp; \u202eevil\u200b"
    comparison = replace(whole(), about=hostile, remarks=(hostile,))
    paragraphs = [paragraph.text for paragraph in opened(COMPARISON["docx"](comparison)).paragraphs]
    assert any("</w:t>&amp; \\u202eevil\\u200b" in paragraph for paragraph in paragraphs)
    assert not any("\u202e" in paragraph or "\x1b" in paragraph for paragraph in paragraphs)


@settings(max_examples=15)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_stands_in_a_document_and_is_read_back(text):
    answer = Answer(f"{text} [1]", (AnswerSentence(0, len(text), text, (1,), ()),))
    asked = conversation(MINE)
    turn = replace(asked.turns[0], question=text, answer=answer)
    document = opened(CONVERSATION["docx"](Conversation("c", text, (turn,))))
    assert in_word(text).strip() in "\n".join(paragraph.text for paragraph in document.paragraphs)


# The reader's notes


def test_notes_stand_in_every_trail_of_a_conversation_and_are_read_back():
    noted = replace(conversation(MINE), notes=NOTES)
    assert from_json(to_json(noted)) == noted
    markdown, page = to_markdown(noted), to_html(noted)
    for written in (markdown, page):
        assert "Your notes" in written and "A marked sentence." in written and "<b>" not in written
    document = "\n".join(paragraph.text for paragraph in opened(CONVERSATION["docx"](noted)).paragraphs)
    assert "Your notes" in document and "What <b>for</b>?" in document
    assert "Your notes" not in to_markdown(conversation(MINE)) + to_html(conversation(MINE))


def test_notes_stand_in_the_trail_of_a_comparison_and_are_read_back():
    noted = replace(whole(), notes=NOTES)
    assert comparison_from_json(comparison_to_json(noted)) == noted
    assert "Your notes" in COMPARISON["md"](noted) and "Your notes" in COMPARISON["html"](noted)


# Zotero


def read_rdf(text):
    return etree.fromstring(text.encode())


def test_an_answer_is_a_note_related_to_the_items_that_it_cites():
    noted = replace(conversation(MINE, paper(2)), notes=NOTES)
    tree = read_rdf(CONVERSATION["rdf"](noted))
    items = tree.xpath("*[z:itemType]", namespaces=NAMES)
    assert [item.findtext("dc:title", namespaces=NAMES) for item in items] == [
        "The 90% Rule: A & B",
        "Title 2",
    ]
    first = items[0]
    assert first.xpath(".//foaf:surname/text()", namespaces=NAMES) == ["van Dÿk", "The Group"]
    assert first.xpath("dc:subject/text()", namespaces=NAMES) == ["to cite", "Dense / ranking"]
    assert first.findtext("dc:date", namespaces=NAMES) == "2022"
    assert first.findtext("dc:description", namespaces=NAMES) == "Zotero item ABCD2345"
    assert "DOI 10.1000/x_1" in first.xpath("dc:identifier/text()", namespaces=NAMES)
    memos = {memo.get(ABOUT): memo for memo in tree.xpath("bib:Memo", namespaces=NAMES)}
    own = first.xpath("dcterms:isReferencedBy/@rdf:resource", namespaces=NAMES)
    said = [memos[memo].findtext("rdf:value", namespaces=NAMES) for memo in own]
    assert said[:2] == ["<p>Read on the train.</p>", "<p>Ask Ana.</p>"]
    assert said[2] == "<blockquote><p>A marked sentence.</p></blockquote><p>What &lt;b&gt;for&lt;/b&gt;?</p>"
    (answer,) = (memos[name] for name in memos.keys() - set(own))
    related = [relation.get(RESOURCE) for relation in answer.findall("dc:relation", NAMES)]
    assert related == [item.get(ABOUT) for item in items]
    assert "[1] Ada van Dÿk, The Group. The 90% Rule: A &amp; B" in answer.findtext(
        "rdf:value", namespaces=NAMES
    )


def test_the_summary_of_a_comparison_is_a_note():
    tree = read_rdf(COMPARISON["rdf"](whole()))
    text = " ".join(tree.xpath("bib:Memo/rdf:value/text()", namespaces=NAMES))
    assert "<strong>added</strong> in [1][2]." in text and SUMMARY.split("[7?]")[1] in text


@settings(max_examples=20)
@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_title_label_and_note_leave_the_file_whole(text):
    held = replace(MINE, paper=replace(MINE.paper, title=text, labels=(text,), notes=(text,), venue=text))
    assert (
        len(read_rdf(CONVERSATION["rdf"](conversation(held))).xpath("*[z:itemType]", namespaces=NAMES)) == 1
    )


def test_references_come_back_from_ris_and_csl_as_they_were(tmp_path):
    asked = conversation(MINE)
    (record,) = rispy.loads(CONVERSATION["ris"](asked))
    assert record["keywords"] == ["to cite", "Dense / ranking"]
    assert record["notes"] == ["Read on the train.", "Ask Ana."]
    for name, ending in (("ris", "ris"), ("csl", "json")):
        file = tmp_path / f"back.{ending}"
        file.write_text(CONVERSATION[name](asked), encoding="utf-8", newline="")
        (item,) = read_references(file)
        assert (item.title, item.doi, item.date[:4]) == (MINE.paper.title, MINE.paper.doi, "2022")
        assert [author.name for author in item.authors] == ["Ada van Dÿk", "The Group"]
        assert tuple(label.strip() for label in item.labels) == MINE.paper.labels
        assert "\n\n".join(item.notes).split("\n\n") == list(MINE.paper.notes)
    (csl,) = json.loads(CONVERSATION["csl"](asked))
    assert csl["note"] == "Zotero item ABCD2345"
