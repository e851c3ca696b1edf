"""The HTML export: it stands alone, runs nothing, links citations to their evidence, and escapes the rest."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from assistant.exports import rendering
from assistant.exports.html import to_html
from assistant.records import (
    Answer,
    AnswerSentence,
    Citation,
    Conversation,
    Evidence,
)
from corpus.records import Sentence
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.storage.test_conversations import make_turn
from tests.assistant.trail.test_transcript import HOSTILE, SAID_OF_IT, asked_in_full, hostile

OURS = set(
    "html head meta title style body h1 h2 h3 h4 p ol ul li a section div span strong mark blockquote".split()
    + "svg rect details summary pre footer table caption thead tbody tr th td".split()
)


class Page(HTMLParser):
    """Reads a page as a list of its tags, with the text within and the words outside of the style."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.ids, self.text, self.open = [], [], "", []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data

    def values(self, name):
        return [attributes[name] for _, attributes in self.tags if name in attributes]


def read(*turns, title="t"):
    return read_page(to_html(Conversation("c", title, turns)))


def read_page(html):
    """Return a page, in which every tag is ours and closed, and nothing runs or is fetched."""
    page = Page(html)
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= OURS
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert len(page.ids) == len(set(page.ids))
    assert not page.values("src") + page.values("style") + page.values("srcset")
    return page


def cited(answer="It is so [1] and **so** [2].", labels=(1, 2), **changes):
    """Return a turn whose one sentence cites two papers."""
    papers = tuple(make_paper(label, f"First of {label}. Second of {label}.") for label in labels)
    papers = tuple(
        replace(paper, passages=(replace(paper.passages[0], sentences=(Sentence(0, 12), Sentence(12, 24))),))
        for paper in papers
    )
    citations = tuple(
        Citation(paper.label, "claim", paper.passages[0].id, 1, f"Second of {paper.label}.", 0.25, 0.7)
        for paper in papers
    )
    sentence = AnswerSentence(0, len(answer), "It is so and so.", labels, citations, support=0.9)
    return replace(
        make_turn(), evidence=Evidence(papers), answer=Answer(answer, (replace(sentence, **changes),))
    )


def test_a_real_conversation_is_a_page_of_its_own(conversation):
    page = read(*conversation.turns, title=conversation.title)
    links = page.values("href")
    inner = [address[1:] for address in links if address.startswith("#")]
    assert inner
    assert set(inner) <= set(page.ids)
    assert all(re.match(r"#|https?://", address) for address in links)
    for turn in conversation.turns:
        assert " ".join(turn.question.split()) in page.text
    assert "Not answered" not in page.text
    assert conversation.turns[1].answer.refusal.message in page.text


def test_nothing_may_run_or_be_fetched():
    html = to_html(Conversation("c", "t", (cited(),)))
    policy = next(
        attributes["content"]
        for tag, attributes in Page(html).tags
        if "content-security" in str(attributes).lower()
    )
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
    assert not re.search(r"url\(|@import|expression", style)
    assert "<script" not in html


def test_a_label_leads_to_its_evidence_and_from_there_to_the_marked_passage():
    page = read(cited())
    labels = [attributes["href"] for tag, attributes in page.tags if attributes.get("class") == "label"]
    assert labels == ["#t1-s1-1", "#t1-s1-2"]
    passages = [
        attributes["href"]
        for tag, attributes in page.tags
        if tag == "a" and attributes["href"].startswith("#t1-p")
    ]
    assert passages == ["#t1-p1", "#t1-p2"]
    html = to_html(Conversation("c", "t", (cited(),)))
    assert '<p class="passage" id="t1-p1">First of 1. <mark>Second of 1.</mark></p>' in html
    assert "0.25 weak" in page.text
    assert "0.70 strong" in page.text
    assert "Support by all together" in page.text
    assert "<strong>so</strong>" in html


def test_unknown_labels_are_not_linked_and_bare_claims_are_marked():
    turn = cited("It is [1] so [7?] and [9].", labels=(1,), unknown_labels=("7",))
    page = read(turn)
    assert [attributes["href"] for _, attributes in page.tags if attributes.get("class") == "label"] == [
        "#t1-s1-1"
    ]
    assert len([attributes for _, attributes in page.tags if attributes.get("class") == "unknown"]) == 2
    assert "[7?] names no paper that was given." in page.text
    bare = cited("It is so.", labels=(), needs_citation=True)
    assert "It makes a claim and cites nothing." in read(bare).text


def test_lists_headings_and_lines_of_an_answer_stay_as_they_are():
    answer = "Two ways:\n- one [1]\n* two\n\n## Then\n1. first\n2. second\nEnd <b>x</b>"
    html = to_html(Conversation("c", "t", (cited(answer, labels=(1,)),)))
    inner = re.search(r'<div class="answer">(.*?)</div>', html, re.DOTALL)[1]
    assert re.sub(r'<a class="label".*?</a>|<a href="#t1-s1-1" class="label">\[1\]</a>', "[1]", inner) == (
        "<p>Two ways:</p><ul><li>one [1]</li><li>two</li></ul><h4>Then</h4>"
        '<ol><li value="1">first</li><li value="2">second</li></ol><p>End &lt;b&gt;x&lt;/b&gt;</p>'
    )


def test_everything_that_was_sent_is_in_it():
    turn = asked_in_full(cited())
    answer = replace(turn.answer, problems=("cut_short",), citation_recall=1.0, citation_precision=0.5)
    page = read(replace(turn, answer=answer))
    for said in (
        *SAID_OF_IT,
        "The reply reached the longest length allowed",
        "100% of the claims are supported by what they cite; 50% of the citations help to support their",
    ):
        assert said in page.text, said


def test_hostile_text_stays_text(conversation):
    answered, refused = conversation.turns
    nasty = hostile(answered)
    paper = replace(nasty.evidence.papers[0].paper, url="javascript:alert(1)")
    nasty = replace(nasty, evidence=Evidence((replace(nasty.evidence.papers[0], paper=paper),)))
    nearest = replace(refused.answer.refusal.nearest[0], title=HOSTILE, text=HOSTILE)
    refusal = replace(refused.answer.refusal, message=HOSTILE, nearest=(nearest,))
    page = read(nasty, replace(refused, answer=replace(refused.answer, refusal=refusal)), title=HOSTILE)
    assert "<img src=x onerror=alert(1)>" in page.text
    assert all(address.startswith("#t") for address in page.values("href"))


texts = st.text(max_size=40) | st.sampled_from(
    ["</style>", "<script>", '" onclick="x', "[1]", "**", "- [1]\n"]
)


@given(texts, texts, st.integers(-5, 50), st.integers(-5, 50))
def test_no_text_and_no_offset_breaks_the_page(first, second, start, end):
    turn = cited(f"{first}\n{second} [1]", labels=(1,), start=start, end=end)
    paper = turn.evidence.papers[0]
    passage = replace(paper.passages[0], text=second, sentences=(Sentence(end, start), Sentence(start, end)))
    turn = replace(turn, question=first, evidence=Evidence((replace(paper, passages=(passage,)),)))
    assert all(address.startswith("#t1-") for address in read(turn, title=second).values("href"))


@pytest.mark.parametrize(
    ("address", "is_link"),
    [
        ("https://example.org/a?b=1&c=2", True),
        ("HTTP://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https:// example", False),
        ("//example.org", False),
        ('https://example.org/"onmouseover="x', False),
        ("", False),
    ],
)
def test_only_addresses_of_the_web_are_linked(address, is_link):
    turn = cited(labels=(1,))
    labelled = turn.evidence.papers[0]
    paper = replace(labelled.paper, url=address, title="a <b>")
    page = read(replace(turn, evidence=Evidence((replace(labelled, paper=paper),))))
    assert [address for address in page.values("href") if not address.startswith("#")] == [address] * is_link
    assert "a <b>" in page.text


def test_marks_that_nobody_sees_are_spelled_out():
    page = read(replace(cited(), question="a\u202eb\x00c"), title='"<b>')
    assert "a\\u202ebc" in page.text
    assert '"<b>' in page.text


TEMPLATES = Path(rendering.__file__).with_name("templates")


@pytest.mark.parametrize("suffix", [".html", ".md", ".tex"])
def test_templates_escape_always_and_leave_nothing_undefined_out(suffix):
    made = rendering.environment(suffix)
    start, end = made.variable_start_string, made.variable_end_string
    assert made.autoescape is True
    shown = made.from_string(f"{start} text {end}").render(text="</p>#_|\u202e$")
    assert not re.search(r"</p>|(?<!\\)[#|$]" if suffix != ".html" else "</p>|\u202e", shown)
    with pytest.raises(UndefinedError):
        made.from_string(f"{start} missing {end}").render()


@pytest.mark.parametrize("file", sorted(TEMPLATES.iterdir()), ids=lambda file: file.name)
def test_no_template_takes_escaping_back(file):
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe|autoescape|Markup|<script|\bon\w+=|style=", text)


def test_the_templates_are_all_rendered_in_their_own_format():
    assert {file.suffix for file in TEMPLATES.iterdir()} == {".html", ".md", ".tex", ".rdf", ".css"}
    included = re.compile(r"(?:include|from|extends) \"([^\"]+)\"")
    for file in TEMPLATES.iterdir():
        for name in included.findall(file.read_text(encoding="utf-8")):
            assert name == "page.css" or name.endswith(file.suffix), file
