"""A conversation as one HTML file for people: no script, nothing fetched, every citation one click away."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from assistant import wording
from assistant.attribution import WORD_BESIDE
from assistant.exports.elements import Element, element, joined, link
from assistant.records import (
    AnswerSentence,
    Call,
    Citation,
    Conversation,
    LabelledPaper,
    Refusal,
    Turn,
)
from corpus.records import Passage
from corpus.version import VERSION

_LABEL = re.compile(r"\[(\d{1,3})(\??)\]")
_STRONG = re.compile(r"\*\*(\S(?:[^*\n]*\S)?)\*\*")
_LINE = re.compile(r"[ \t]*(?P<mark>[-*•]|\d{1,2}[.)]|#{1,6})[ \t]+")


def to_html(conversation: Conversation) -> str:
    """Return a conversation as a page that stands alone, all text of others escaped."""
    turns = [_TurnPage(number, turn).section() for number, turn in enumerate(conversation.turns, start=1)]
    title = conversation.title or "Conversation"
    page = element(
        "html", _head(title), element("body", *_opening(title, conversation), *turns, _end()), lang="en"
    )
    return f"<!doctype html>\n{page}\n"


def _head(title: str) -> Element:
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )


@cache
def _style() -> Element:
    return Element(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))


def _opening(title: str, conversation: Conversation) -> Iterator[Element]:
    yield element("h1", title)
    yield element(
        "p",
        "Every label in an answer leads to the sentence that carries it. Overlap is the share of a claim's "
        "words that stand in the cited passage; support estimates how well the passage carries the claim. "
        "Neither is proof: read the passage.",
        class_="quiet",
    )
    if len(conversation.turns) > 1:
        entries = (
            element("li", element("a", turn.question, href=f"#t{number}"))
            for number, turn in enumerate(conversation.turns, start=1)
        )
        yield element("ol", *entries, class_="contents")


def _end() -> Element:
    return element("footer", element("p", f"Exported from Paper Trail {VERSION}.", class_="quiet"))


class _TurnPage:
    """One turn's part of the page; its anchors are made of numbers alone."""

    def __init__(self, number: int, turn: Turn) -> None:
        self._id = f"t{number}"
        self._number = number
        self._turn = turn
        # The sentences that carry a citation, by their passage; None where no single one does.
        self._cited: dict[str, set[int | None]] = {}
        for citation in (citation for one in turn.answer.sentences for citation in one.citations):
            self._cited.setdefault(citation.passage_id, set()).add(citation.sentence)
        given = (passage.id for paper in turn.evidence.papers for passage in paper.passages)
        self._anchors = {
            passage: f"{self._id}-p{index}"
            for index, passage in enumerate(given, start=1)
            if passage in self._cited
        }
        self._labels = {paper.label for paper in turn.evidence.papers}
        self._past = 0  # how many sentences end before the line that is being written

    def section(self) -> Element:
        turn = self._turn
        return element(
            "section",
            element("h2", f"{self._number}. {turn.question}"),
            element("p", wording.searched_for(turn), class_="quiet"),
            *(self._refused(turn.answer.refusal) if turn.answer.refusal else self._answered()),
            *self._passages(),
            *self._sent(),
            class_="turn",
            id=self._id,
        )

    def _refused(self, refusal: Refusal) -> Iterator[Element]:
        yield element("p", refusal.message, class_="notice")
        if refusal.covers:
            yield element("h3", "What was searched covers")
            yield element("ul", *(element("li", line) for line in refusal.covers))
        if refusal.nearest:
            yield element("h3", "What came nearest")
        for nearest in refusal.nearest:
            yield element("h4", nearest.title)
            yield element("p", nearest.text, class_="passage")

    def _answered(self) -> Iterator[Element]:
        answer = self._turn.answer
        for problem in answer.problems:
            yield element("p", wording.PROBLEMS[problem], class_="notice")
        yield element("div", *self._blocks(), class_="answer")
        if summary := wording.checked(answer):
            yield element("p", f"{summary}.", class_="quiet")
        if answer.cited_labels:
            papers = (self._turn.evidence.paper(label) for label in answer.cited_labels)
            yield element("h3", "References")
            yield element("ul", *(_reference(paper) for paper in papers if paper), class_="references")
        if answer.sentences:
            yield element("h3", "Sentence by sentence")
            yield from (self._sentence(index, one) for index, one in enumerate(answer.sentences, start=1))

    def _blocks(self) -> Iterator[Element]:
        """Yield the answer's paragraphs, lists and headings, its lines as they were written."""
        items: list[Element] = []
        start = 0
        for line in self._turn.answer.text.splitlines(keepends=True):
            end = start + len(line.rstrip())
            mark = _LINE.match(line)
            inner = joined(*self._marked(start + (mark.end() if mark else 0), end))
            start += len(line)
            if mark and not mark["mark"].startswith("#"):
                value = mark["mark"].rstrip(".)")
                items.append(element("li", inner, value=value) if value.isdigit() else element("li", inner))
                continue
            if items and inner:
                yield _listed(items)
                items = []
            if inner:
                yield element("h4" if mark else "p", inner)
        if items:
            yield _listed(items)

    def _marked(self, start: int, end: int) -> Iterator[Element]:
        """Yield the answer's text from `start` to `end`, its labels as links; lines come in their order."""
        text, sentences, position = self._turn.answer.text, self._turn.answer.sentences, start
        while self._past < len(sentences) and sentences[self._past].end <= start:
            self._past += 1
        for index in range(self._past, len(sentences)):
            sentence = sentences[index]
            if position >= end or sentence.start >= end:
                break
            first, last = max(position, sentence.start), min(end, sentence.end)
            if first < last:
                yield _styled(text[position:first])
                inner = self._labelled(text[first:last], index + 1, sentence)
                yield element("span", *inner, class_="bare") if sentence.needs_citation else joined(*inner)
                position = last
        yield _styled(text[position:end])

    def _labelled(self, text: str, index: int, sentence: AnswerSentence) -> Iterator[Element]:
        cited = {citation.label for citation in sentence.citations}
        position = 0
        for label in _LABEL.finditer(text):
            yield _styled(text[position : label.start()])
            position = label.end()
            if not label[2] and int(label[1]) in cited:
                yield element("a", label[0], href=f"#{self._id}-s{index}-{label[1]}", class_="label")
            elif not label[2] and int(label[1]) in self._labels:
                yield element("span", label[0])
            else:
                yield element(
                    "span", label[0], class_="unknown", title="This label names no paper that was given"
                )
        yield _styled(text[position:])

    def _sentence(self, index: int, sentence: AnswerSentence) -> Element:
        unknown = (f"[{label}?] names no paper that was given." for label in sentence.unknown_labels)
        bare = ["It makes a claim and cites nothing."] if sentence.needs_citation else []
        whole = len(sentence.citations) > 1 and sentence.support is not None
        return element(
            "div",
            element("p", sentence.claim),
            *(element("p", remark, class_="quiet") for remark in (*bare, *unknown)),
            *(self._citation(index, citation) for citation in sentence.citations),
            *(
                [
                    element(
                        "p", _score("support", sentence.support, "Support by all together"), class_="scores"
                    )
                ]
                if whole
                else []
            ),
            class_="sentence",
            id=f"{self._id}-s{index}",
        )

    def _citation(self, index: int, citation: Citation) -> Element:
        labelled = self._turn.evidence.paper(citation.label)
        anchor = self._anchors.get(citation.passage_id)
        title = labelled.paper.title if labelled else citation.passage_id
        return element(
            "div",
            element(
                "p",
                f"[{citation.label}] {title}. ",
                element("a", "Whole passage", href=f"#{anchor}") if anchor else "",
                class_="quiet",
            ),
            element("blockquote", citation.evidence),
            element(
                "p",
                _score("overlap", citation.overlap),
                _score("support", citation.support),
                class_="scores",
            ),
            class_="citation",
            id=f"{self._id}-s{index}-{citation.label}",
        )

    def _passages(self) -> Iterator[Element]:
        shown: list[Element] = []
        folded: list[Element] = []
        for labelled in self._turn.evidence.papers:
            cited = [passage for passage in labelled.passages if passage.id in self._anchors]
            others = [passage for passage in labelled.passages if passage.id not in self._anchors]
            shown += self._given(labelled, cited)
            folded += self._given(labelled, others)
        if shown:
            yield element("h3", "Passages cited")
            yield from shown
        if folded:
            yield _folded("Passages given and not cited", folded)

    def _given(self, labelled: LabelledPaper, passages: Iterable[Passage]) -> Iterator[Element]:
        for passage in passages:
            yield element("h4", f"[{labelled.label}] {labelled.paper.title}")
            yield element("p", f"{wording.place(passage)} · {passage.id}", class_="quiet")
            yield element(
                "p", *self._highlighted(passage), class_="passage", id=self._anchors.get(passage.id, "")
            )

    def _highlighted(self, passage: Passage) -> Iterator[str]:
        """Yield a passage's text, the sentences that carry a citation marked."""
        cited = self._cited.get(passage.id, set())
        position = 0
        for index, sentence in enumerate(passage.sentences):
            if index in cited and position <= sentence.start < sentence.end:
                yield passage.text[position : sentence.start]
                yield element("mark", passage.text[sentence.start : sentence.end].rstrip())
                position = sentence.start + len(passage.text[sentence.start : sentence.end].rstrip())
        yield passage.text[position:]

    def _sent(self) -> Iterator[Element]:
        calls = [part for call in self._turn.calls for part in _call(call)]
        facts = element("p", " · ".join(wording.provenance_facts(self._turn)), class_="quiet")
        yield _folded("What was sent", [*calls, facts])


def _call(call: Call) -> Iterator[Element]:
    yield element("h4", f"{call.step} by {call.model}")
    yield element("p", " · ".join(wording.call_facts(call)), class_="quiet")
    for message in call.messages:
        yield element("p", message.role, class_="quiet")
        yield element("pre", message.content)
    yield element("p", "reply", class_="quiet")
    yield element("pre", call.reply)


def _reference(labelled: LabelledPaper) -> Element:
    paper = labelled.paper
    facts = (wording.authors(paper.authors), paper.venue, str(paper.year or ""))
    return element(
        "li",
        element("span", f"[{labelled.label}]", class_="number"),
        link(paper.url, paper.title or paper.id),
        f". {'. '.join(fact for fact in facts if fact)} ",
        element("span", paper.id, class_="quiet"),
    )


def _score(name: str, score: float | None, label: str = "") -> Element:
    """Return a bar with its number and word; a score that was not measured has neither."""
    shown = label or name.capitalize()
    if score is None:
        return element("span", f"{shown} – no score", class_="score")
    word = WORD_BESIDE[name](score)
    width = f"{min(100.0, max(0.0, score * 100)):.0f}"
    bar = element("rect", width=width, height="10", class_=word)
    drawn = element("svg", bar, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
    return element("span", shown, drawn, f"{score:.2f} {word}", class_="score")


def _listed(items: list[Element]) -> Element:
    return element("ol" if items[0].startswith("<li value") else "ul", *items)


def _folded(title: str, content: Iterable[Element]) -> Element:
    return element("details", element("summary", title), *content)


def _styled(text: str) -> Element:
    """Return written text with its **strong** words as such."""
    parts = _STRONG.split(text)
    return joined(*(element("strong", part) if index % 2 else part for index, part in enumerate(parts)))
