"""The HTML export: it stands alone, runs nothing, links citations to their evidence, and escapes the rest."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.exports.elements import element, joined, link, text
from assistant.exports.html import to_html
from assistant.records import (
    Answer,
    AnswerSentence,
    Call,
    Citation,
    Conversation,
    Evidence,
    Message,
    Parameters,
)
from corpus.records import Sentence
from tests.assistant.test_citations import make_paper
from tests.assistant.test_conversations import make_turn
from tests.assistant.test_transcript import HOSTILE, conversation, hostile  # noqa: F401 - a fixture

OURS = set(
    "html head meta title style body h1 h2 h3 h4 p ol ul li a section div span strong mark blockquote".split()
    + "svg rect details summary pre footer".split()
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
    page = Page(to_html(Conversation("c", title, turns)))
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
        replace(one, passages=(replace(one.passages[0], sentences=(Sentence(0, 12), Sentence(12, 24))),))
        for one in papers
    )
    citations = tuple(
        Citation(one.label, "claim", one.passages[0].id, 1, f"Second of {one.label}.", 0.25, 0.7)
        for one in papers
    )
    sentence = AnswerSentence(0, len(answer), "It is so and so.", labels, citations, support=0.9)
    return replace(
        make_turn(), evidence=Evidence(papers), answer=Answer(answer, (replace(sentence, **changes),))
    )


def test_a_real_conversation_is_a_page_of_its_own(conversation):  # noqa: F811
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
    policy = next(one["content"] for tag, one in Page(html).tags if "content-security" in str(one).lower())
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
    assert not re.search(r"url\(|@import|expression", style)
    assert "<script" not in html


def test_a_label_leads_to_its_evidence_and_from_there_to_the_marked_passage():
    page = read(cited())
    labels = [one["href"] for tag, one in page.tags if one.get("class") == "label"]
    assert labels == ["#t1-s1-1", "#t1-s1-2"]
    passages = [one["href"] for tag, one in page.tags if tag == "a" and one["href"].startswith("#t1-p")]
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
    assert [one["href"] for _, one in page.tags if one.get("class") == "label"] == ["#t1-s1-1"]
    assert len([one for _, one in page.tags if one.get("class") == "unknown"]) == 2
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
    call = Call(
        step="write",
        model="own",
        messages=(Message("system", "Be <brief>."), Message("user", "Why?")),
        parameters=Parameters(top_k=5, repetition_penalty=1.1),
        reply="Because.",
        started="",
        seconds=1.5,
        finish_reason="length",
        prompt_tokens=1200,
        completion_tokens=30,
        price=0.0021,
        attempts=2,
        first_token_seconds=0.4,
        left_out=("c/1#7",),
        problem="The server fell silent.",
    )
    turn = cited()
    turn = replace(
        turn,
        calls=(call,),
        drafts=3,
        rewrite=replace(turn.rewrite, edited=True, used_turns=(0,), kind="fact"),
        answer=replace(turn.answer, problems=("cut_short",), citation_recall=1.0, citation_precision=0.5),
    )
    page = read(turn)
    for said in (
        "question of fact, the reader's own query, drawing on turn 1",
        "The reply reached the longest length allowed",
        "100% of the claims are supported by what they cite; 50% of the citations help to support their",
        "temperature 0.2, top-p 0.9, top-k 5, repetition penalty 1.1, at most 700 tokens",
        "1,200 tokens sent, 30 received",
        "$0.0021",
        "sent 2 times",
        "first word after 0.40 s",
        "no room was left for c/1#7",
        "The server fell silent.",
        "best of 3 drafts",
        "Be <brief>.",
        "Because.",
    ):
        assert said in page.text, said


def test_hostile_text_stays_text(conversation):  # noqa: F811
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
    read(turn, title=second)


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
    assert link(address, "a <b>").startswith("<a ") == is_link
    assert "a &lt;b&gt;" in link(address, "a <b>")


def test_what_is_not_an_element_is_escaped():
    assert element("p", "<b>", element("b", "x&y"), title='a"b') == (
        '<p title="a&quot;b">&lt;b&gt;<b>x&amp;y</b></p>'
    )
    assert joined("a", text("<")) == "a&lt;"
    assert text("a\u202eb\x00c") == "a\\u202ebc"
