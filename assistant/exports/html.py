"""Conversations and comparisons as HTML pages without scripts or external files, with linked citations."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal

from assistant.comparing import wording as said
from assistant.comparing.grid import element_grid
from assistant.comparing.records import Comparison
from assistant.exports.answer_text import STRONG, AnswerLine, answer_lines
from assistant.exports.rendering import environment, render
from assistant.records import Answer, AnswerSentence, Citation, Conversation, Evidence, LabelledPaper
from corpus.records import Passage

_LABEL = re.compile(r"\[(\d{1,3})(\??)\]")


def to_html(conversation: Conversation) -> str:
    """Return a conversation as a self-contained page, with foreign text escaped."""
    turns = [
        (f"t{number}", turn, LinkedAnswer(turn.answer, turn.evidence, f"t{number}"))
        for number, turn in enumerate(conversation.turns, start=1)
    ]
    title = conversation.title or "Conversation"
    return _page("conversation.html", title, turns=turns, conversation=conversation)


def comparison_to_html(comparison: Comparison) -> str:
    """Return a comparison as a self-contained page, with foreign text escaped."""
    cells = [cell for row in element_grid(comparison).rows for cell in row.every_cell]
    marked = chain(
        ((source.passage_id, source.sentence) for cell in cells for source in cell.evidence),
        ((quote.passage_id, quote.sentence) for cell in cells for quote in cell.quotes),
    )
    linked = LinkedAnswer(comparison.answer, comparison.evidence, "c", marked)
    title = said.title(comparison) or "Comparison"
    return _page("comparison.html", title, comparison=comparison, linked=linked)


def _page(template: str, title: str, **values: object) -> str:
    return render(template, title=title, policy=_policy(), **values) + "\n"


@cache
def _policy() -> str:
    """Return a Content-Security-Policy that allows nothing but the page's own style."""
    style = environment(".html").get_template("page.css").render()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer's text; a cited label has a link on the page."""

    text: str
    kind: Literal["text", "strong", "label", "unknown"] = "text"
    href: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """The pieces of a sentence or between sentences; `is_bare`: it makes a claim and cites nothing."""

    pieces: tuple[Piece, ...]
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading or a list; each line is a pair of its number ("" for none) and its spans."""

    tag: Literal["p", "h4", "ul", "ol"]
    lines: tuple[tuple[str, tuple[Span, ...]], ...]


class LinkedAnswer:
    """An answer on a page, whose labels link to the cited sentences, and these to their passages.

    Anchors are made of an id and numbers only, never of foreign text.
    """

    def __init__(
        self,
        answer: Answer,
        evidence: Evidence,
        identifier: str,
        marked: Iterable[tuple[str, int]] = (),
    ) -> None:
        """Prepare the parts; `marked` are passage ids and sentences that other parts of the page link to."""
        self.id = identifier
        self.answer = answer
        self._evidence = evidence
        # The cited sentences by passage; None stands for a citation of no single sentence.
        self._cited: dict[str, set[int | None]] = {}
        for answer_sentence in answer.sentences:
            for citation in answer_sentence.citations:
                self._cited.setdefault(citation.passage_id, set()).add(citation.sentence)
        for passage_id, sentence in marked:
            self._cited.setdefault(passage_id, set()).add(sentence)
        # A forged file may have a passage twice, but an anchor must be unique.
        passage_ids = dict.fromkeys(passage.id for paper in evidence.papers for passage in paper.passages)
        self._anchors = {
            passage: f"{identifier}-p{index}"
            for index, passage in enumerate(passage_ids, start=1)
            if passage in self._cited
        }
        self._labels = {paper.label for paper in evidence.papers}

    def anchor(self, passage_id: str) -> str:
        """Return the anchor of a passage, "" if nothing links to it."""
        return self._anchors.get(passage_id, "")

    def title(self, citation: Citation) -> str:
        """Return the title of the paper that a citation names."""
        labelled = self._evidence.paper(citation.label)
        return labelled.paper.title if labelled else citation.passage_id

    def blocks(self) -> Iterator[Block]:
        """Yield the answer's paragraphs, lists and headings."""
        sentences, past = self.answer.sentences, 0
        items: list[tuple[str, tuple[Span, ...]]] = []
        for line in answer_lines(self.answer.text):
            while past < len(sentences) and sentences[past].end <= line.start:
                past += 1
            spans = tuple(self._spans(line, past))
            if line.is_item:
                items.append((line.number, spans))
                continue
            if items and spans:
                yield _list_of(items)
                items = []
            if spans:
                yield Block("h4" if line.mark else "p", (("", spans),))
        if items:
            yield _list_of(items)

    def _spans(self, line: AnswerLine, past: int) -> Iterator[Span]:
        """Yield a line of the answer with its labels as links; `past` sentences come before it."""
        text, position = self.answer.text, line.start
        for number in range(past + 1, len(self.answer.sentences) + 1):
            sentence = self.answer.sentences[number - 1]
            if position >= line.end or sentence.start >= line.end:
                break
            first, last = max(position, sentence.start), min(line.end, sentence.end)
            if first < last:
                if first > position:
                    yield Span(_styled(text[position:first]))
                yield Span(tuple(self._pieces(text[first:last], number, sentence)), sentence.needs_citation)
                position = last
        if position < line.end:
            yield Span(_styled(text[position : line.end]))

    def _pieces(self, text: str, number: int, sentence: AnswerSentence) -> Iterator[Piece]:
        cited = {citation.label for citation in sentence.citations}
        position = 0
        for label in _LABEL.finditer(text):
            yield from _styled(text[position : label.start()])
            position = label.end()
            if not label[2] and int(label[1]) in cited:
                yield Piece(label[0], "label", f"#{self.id}-s{number}-{label[1]}")
            else:
                is_known = not label[2] and int(label[1]) in self._labels
                yield Piece(label[0], "text" if is_known else "unknown")
        yield from _styled(text[position:])

    def passages(self, *, cited: bool) -> Iterator[tuple[LabelledPaper, Passage, str]]:
        """Yield the passages that something links to, or the others, with their papers and anchors."""
        placed: set[str] = set()
        for labelled in self._evidence.papers:
            for passage in labelled.passages:
                if (passage.id in self._anchors) == cited:
                    yield labelled, passage, "" if passage.id in placed else self.anchor(passage.id)
                    placed.add(passage.id)

    def rows(self, passage: Passage) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Yield the rows of a table below its header, each with whether it is cited."""
        cited = self._cited.get(passage.id, set())
        below = passage.table.rows[passage.table.header :] if passage.table else ()
        for index, row in enumerate(below, start=passage.first_row):
            yield row, index in cited

    def highlighted(self, passage: Passage) -> Iterator[tuple[str, bool]]:
        """Yield a passage's text in parts, each with whether it is a cited sentence."""
        cited = self._cited.get(passage.id, set())
        position = 0
        for index, sentence in enumerate(passage.sentences):
            if index in cited and position <= sentence.start < sentence.end:
                yield passage.text[position : sentence.start], False
                marked = passage.text[sentence.start : sentence.end].rstrip()
                yield marked, True
                position = sentence.start + len(marked)
        yield passage.text[position:], False


def _list_of(items: list[tuple[str, tuple[Span, ...]]]) -> Block:
    return Block("ol" if items[0][0] else "ul", tuple(items))


def _styled(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text, its **strong** words as such."""
    parts = STRONG.split(text)
    return tuple(Piece(part, "strong" if index % 2 else "text") for index, part in enumerate(parts) if part)
