"""Answers and the papers that they cite as Zotero RDF: items with their labels and notes, answers as notes.

An answer is a note of its own in Zotero, related to the items that it cites; what a reader has marked in a
paper, and notes that came with it, are notes of its item.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from assistant.annotations import Annotation
from assistant.comparing import wording as said
from assistant.comparing.records import Comparison
from assistant.exports.answer_text import STRONG, answer_lines
from assistant.exports.escaping import on_one_line
from assistant.exports.references import reference_types
from assistant.exports.rendering import render
from assistant.records import Answer, Conversation, LabelledPaper
from assistant.wording import checked
from corpus.records import Paper
from corpus.text import storable

ZOTERO_ITEM = re.compile(r"Zotero item ([A-Z0-9]{8})")
# Zotero's names of the CSL types that papers have.
_ITEM_TYPES = {
    "article-journal": ("Article", "journalArticle"),
    "book": ("Book", "book"),
    "paper-conference": ("Article", "conferencePaper"),
    "chapter": ("BookSection", "bookSection"),
    "thesis": ("Thesis", "thesis"),
    "report": ("Report", "report"),
    "article": ("Document", "preprint"),
}
_OTHER = ("Document", "document")


class Item:
    """A paper as an item: its id in the file, its types, and the notes that belong to it."""

    def __init__(self, number: int, paper: Paper, notes: Iterable[Annotation]) -> None:
        """Take a paper and what its reader has marked in it."""
        self.id, self.paper = f"item_{number}", paper
        self.element, self.kind = _ITEM_TYPES.get(reference_types(paper)[1], _OTHER)
        notes_of_paper = [_paragraphs(note) for note in paper.notes]
        notes_of_paper += [_annotation(note) for note in notes]
        self.notes = [(f"{self.id}_note_{place}", text) for place, text in enumerate(notes_of_paper, start=1)]

    @property
    def extra(self) -> str:
        """The identifiers of the paper in its source, for Zotero's field of that name."""
        return extra_of(self.paper)


def conversation_to_zotero(conversation: Conversation) -> str:
    """Return the papers that a conversation cites as items, and each answer as a note."""
    answers = [
        (turn.question, turn.answer, turn.cited_papers)
        for turn in conversation.turns
        if turn.answer.text.strip() and not turn.answer.refusal
    ]
    return _file(conversation.papers, conversation.notes, answers)


def comparison_to_zotero(comparison: Comparison) -> str:
    """Return the papers of a comparison as items, and its summary as a note."""
    answers = [(said.title(comparison), comparison.answer, comparison.evidence.papers)]
    return _file(comparison.papers, comparison.notes, answers)


def extra_of(paper: Paper) -> str:
    """Return a paper's source, if that is an item of Zotero, and its id at arXiv."""
    zotero = ZOTERO_ITEM.fullmatch(paper.source)
    parts = (zotero[0] if zotero else "", paper.arxiv_id and f"arXiv:{paper.arxiv_id}")
    return "\n".join(filter(None, parts))


def _file(
    papers: Iterable[Paper],
    notes: Sequence[Annotation],
    answers: Iterable[tuple[str, Answer, Sequence[LabelledPaper]]],
) -> str:
    items = [
        Item(number, paper, (entry for entry in notes if entry.paper_id == paper.id))
        for number, paper in enumerate(papers, start=1)
    ]
    ids = {item.paper.id: item.id for item in items}
    memos = [
        (
            f"answer_{number}",
            _answer_note(title, answer, cited),
            [ids[entry.paper.id] for entry in cited if entry.paper.id in ids],
        )
        for number, (title, answer, cited) in enumerate(answers, start=1)
    ]
    return render("zotero.rdf", items=items, memos=memos)


def _answer_note(title: str, answer: Answer, cited: Sequence[LabelledPaper]) -> str:
    """Return an answer as a note in HTML, Zotero's form of notes, with the list of what it cites."""
    references = "".join(
        f"<p>[{labelled.label}] {escape(on_one_line(_named(labelled.paper)))}</p>" for labelled in cited
    )
    check = f"<p><em>{escape(checked(answer))}.</em></p>" if checked(answer) else ""
    return f"<h1>{escape(on_one_line(title))}</h1>{''.join(_lines(answer.text))}{check}{references}"


def _lines(text: str) -> Iterator[str]:
    for line in answer_lines(text):
        if line.start < line.end:
            parts = STRONG.split(text[line.start : line.end])
            written = "".join(
                f"<strong>{escape(on_one_line(part))}</strong>" if index % 2 else escape(storable(part))
                for index, part in enumerate(parts)
            )
            yield f"<p>{'• ' if line.is_item else ''}{written}</p>"


def _named(paper: Paper) -> str:
    names = ", ".join(author.name for author in paper.authors[:3])
    more = " et al." if len(paper.authors) > 3 else ""
    return ". ".join(filter(None, (f"{names}{more}", paper.title, paper.venue, str(paper.year or ""))))


def _annotation(note: Annotation) -> str:
    quoted = f"<blockquote>{_paragraphs(note.quoted)}</blockquote>" if note.quoted else ""
    return f"{quoted}{_paragraphs(note.note)}"


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in storable(text).splitlines() if line.strip())
