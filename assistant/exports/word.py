"""Comparisons and answers as Word documents: headings, cited text, a real table, a list of references."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from docx import Document
from docx.document import Document as WordDocument
from docx.enum.section import WD_ORIENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt
from docx.text.paragraph import Paragraph
from docx.text.run import Run

from assistant import wording
from assistant.annotations import Annotation
from assistant.comparing import wording as said
from assistant.comparing.grid import GridCell, element_grid
from assistant.comparing.records import Comparison
from assistant.exports.answer_text import STRONG, AnswerLine, lines_with_sentences
from assistant.exports.escaping import is_web_address, visible
from assistant.exports.rendering import by_paper, difference_lines
from assistant.records import Answer, AnswerSentence, Conversation, LabelledPaper
from assistant.wording import sentence_warnings
from corpus import VERSION
from corpus.wording import all_authors, capitalised

AUTHOR = "Paper Trail"
_LABEL = re.compile(r"\[(\d{1,3})\]")
# Characters that storage admits and XML cannot represent.
_NOT_IN_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_LONGEST_COMMENT = 600


def comparison_to_word(comparison: Comparison) -> bytes:
    """Return the summary, the grid and the differences as a document, with its references."""
    writer = _Writer(said.title(comparison) or "Comparison")
    writer.quiet(f"{said.describe_method(comparison)}.")
    for remark in comparison.remarks:
        writer.quiet(remark)
    writer.answer(comparison.answer, comparison.evidence.papers, "c")
    lines = difference_lines(comparison)
    if lines:
        writer.heading("In common and apart", 1)
        writer.quiet(said.DIFFERENCES_NOTE)
        for line in lines:
            writer.cited(line, "List Bullet", "c")
    cited, others = said.cited_and_not(comparison)
    writer.references(cited, "c")
    writer.references(others, "c", "Compared and not cited")
    writer.notes(comparison.notes)
    writer.grid(comparison)
    return writer.bytes()


def conversation_to_word(conversation: Conversation) -> bytes:
    """Return questions and answers as a document, each with its references."""
    writer = _Writer(conversation.title or "Conversation")
    for number, turn in enumerate(conversation.turns, start=1):
        place = f"t{number}"
        writer.heading(turn.question, 1)
        writer.quiet(wording.searched_for(turn))
        if refusal := turn.answer.refusal:
            writer.quiet(refusal.message)
            continue
        writer.answer(turn.answer, turn.evidence.papers, place)
        writer.references(turn.cited_papers, place)
    writer.notes(conversation.notes)
    return writer.bytes()


def in_word(text: str) -> str:
    """Return foreign text on one line for a document, with invisible characters spelled out."""
    return " ".join(_NOT_IN_XML.sub("", visible(text)).split(" ")).replace("\n", " ").replace("\t", " ")


class _Writer:
    """Writes one document; `place` identifies an answer, whose references are its own."""

    def __init__(self, title: str) -> None:
        self._document: WordDocument = Document()
        self._bookmarks = 0
        core = self._document.core_properties
        core.title, core.author, core.comments = in_word(title)[:250], AUTHOR, f"Paper Trail {VERSION}"
        normal = self._document.styles["Normal"]
        normal.font.size = Pt(11)
        self._document.add_heading(in_word(title), 0)
        self._known: dict[str, frozenset[int]] = {}

    def bytes(self) -> bytes:
        written = io.BytesIO()
        self._document.save(written)
        return written.getvalue()

    def heading(self, text: str, level: int) -> None:
        self._document.add_heading(in_word(text), level)

    def quiet(self, text: str) -> None:
        paragraph = self._document.add_paragraph()
        paragraph.add_run(in_word(text)).italic = True

    def answer(self, answer: Answer, papers: Sequence[LabelledPaper], place: str) -> None:
        """Write an answer line by line, with comments on doubtful sentences."""
        self._known[place] = frozenset(paper.label for paper in papers)
        for notice in wording.notices(answer):
            self.quiet(notice)
        for line, within in lines_with_sentences(answer):
            if line.start < line.end:
                self._line(answer, line, within, place)
        if checked := wording.checked(answer):
            self.quiet(f"{capitalised(checked)}.")

    def cited(self, text: str, style: str, place: str) -> None:
        self._pieces(self._document.add_paragraph(style=style), text, place)

    def references(self, papers: Sequence[LabelledPaper], place: str, heading: str = "References") -> None:
        """Write a list of papers, each with the bookmark that its labels link to."""
        if not papers:
            return
        self.heading(heading, 1 if place == "c" else 2)
        for labelled in papers:
            paragraph = self._document.add_paragraph()
            paragraph.paragraph_format.left_indent = Cm(1)
            paragraph.paragraph_format.first_line_indent = Cm(-1)
            self._bookmarked(paragraph, f"[{labelled.label}]", _bookmark(place, labelled.label))
            paragraph.add_run(f"\t{in_word(_reference(labelled))}")
            if is_web_address(labelled.paper.url):
                paragraph.add_run(f" {in_word(labelled.paper.url)}")

    def notes(self, notes: Iterable[Annotation]) -> None:
        """Write the reader's notes, paper by paper."""
        groups = by_paper(notes)
        if groups:
            self.heading("Your notes", 1)
        for first, of_paper in groups:
            self.heading(first.paper_title or first.paper_id, 2)
            for annotation in of_paper:
                if annotation.quoted:
                    self._document.add_paragraph(in_word(annotation.quoted), style="Quote")
                for line in filter(str.strip, annotation.note.splitlines()):
                    self._document.add_paragraph(in_word(line))

    def grid(self, comparison: Comparison) -> None:
        """Write the grid of key elements as a table on landscape pages."""
        grid = element_grid(comparison)
        if grid.is_empty:
            return
        section = self._document.add_section()
        section.orientation = WD_ORIENT.LANDSCAPE
        section.page_width, section.page_height = section.page_height, section.page_width
        section.left_margin = section.right_margin = Cm(1.5)
        self.heading("Key elements", 1)
        self.quiet(f"{said.describe_grid(grid)} {said.describe_answers(grid)}".rstrip())
        table = self._document.add_table(rows=1, cols=1 + len(grid.titles), style="Table Grid")
        # The first row is repeated on each page.
        table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
        for cell, title in zip(table.rows[0].cells, ("Paper", *grid.titles.values()), strict=True):
            _fill(cell.paragraphs[0], title, bold=True)
        for row in grid.rows:
            cells = table.add_row().cells
            label = "" if row.is_description else f"[{row.label}] "
            year = f" ({row.year})" if row.year else ""
            _fill(cells[0].paragraphs[0], f"{label}{row.title}{year}", bold=True)
            for cell, element in zip(cells[1:], row.every_cell, strict=True):
                _fill_element(cell.paragraphs[0], element)

    def _line(
        self, answer: Answer, line: AnswerLine, within: Mapping[int, AnswerSentence], place: str
    ) -> None:
        if line.mark.startswith("#"):
            self.heading(_LABEL.sub("", answer.text[line.start : line.end]).strip(), 2)
            return
        style = "List Number" if line.number else "List Bullet" if line.is_item else None
        paragraph = self._document.add_paragraph(style=style)
        for start, end in pairwise(sorted({line.start, *within, line.end})):
            runs = self._pieces(paragraph, answer.text[start:end], place)
            sentence = within.get(start)
            warning = " ".join(sentence_warnings(sentence, sentence.unknown_labels if sentence else ()))
            if warning and runs:
                self._document.add_comment(runs, in_word(warning)[:_LONGEST_COMMENT], AUTHOR, "PT")

    def _pieces(self, paragraph: Paragraph, text: str, place: str) -> list[Run]:
        """Add text with labels linked to the references, and return its runs outside of links."""
        runs: list[Run] = []
        position = 0
        for label in _LABEL.finditer(text):
            if int(label[1]) not in self._known.get(place, frozenset()):
                continue
            runs += _styled(paragraph, text[position : label.start()])
            _link(paragraph, label[0], _bookmark(place, int(label[1])))
            position = label.end()
        return runs + _styled(paragraph, text[position:])

    def _bookmarked(self, paragraph: Paragraph, text: str, name: str) -> None:
        self._bookmarks += 1
        start, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
        for mark in (start, end):
            mark.set(qn("w:id"), str(self._bookmarks))
        start.set(qn("w:name"), name)
        paragraph._p.append(start)
        paragraph.add_run(text)
        paragraph._p.append(end)


def _bookmark(place: str, label: int) -> str:
    return f"ref_{place}_{label}"


def _link(paragraph: Paragraph, text: str, bookmark: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("w:anchor"), bookmark)
    link.append(paragraph.add_run(text)._r)
    paragraph._p.append(link)


def _styled(paragraph: Paragraph, text: str) -> list[Run]:
    """Add text with **strong** words in bold, and return its runs."""
    runs = []
    for index, part in enumerate(STRONG.split(text)):
        if part:
            runs.append(paragraph.add_run(in_word(part)))
            runs[-1].bold = bool(index % 2) or None
    return runs


def _reference(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    facts = (all_authors(paper.authors), paper.title or paper.id, paper.venue, str(paper.year or ""))
    doi = f"doi:{paper.doi}" if paper.doi else ""
    return f"{'. '.join(filter(None, (*facts, doi)))}."


def _fill(paragraph: Paragraph, text: str, *, bold: bool = False, italic: bool = False) -> None:
    run = paragraph.add_run(in_word(text))
    run.bold, run.italic, run.font.size = bold, italic, Pt(8)


def _fill_element(paragraph: Paragraph, cell: GridCell) -> None:
    if not cell.text:
        _fill(paragraph, cell.shown, italic=True)
        return
    if cell.is_weak:
        _fill(paragraph, f"{cell.mark}: ", italic=True)
    _fill(paragraph, cell.text)
