"""A checked answer as HTML: its labels lead to the sentences that carry it, and these to their passages."""

import re
from collections.abc import Iterable, Iterator

from assistant import wording
from assistant.exports.elements import Element, element, joined
from assistant.exports.page import folded, score_bar, styled
from assistant.exports.written import LINE
from assistant.records import Answer, AnswerSentence, Citation, Evidence, LabelledPaper
from corpus.records import Passage

_LABEL = re.compile(r"\[(\d{1,3})(\??)\]")


class CheckedAnswer:
    """One answer's parts of a page; its anchors are made of numbers alone, behind an id of the page's own."""

    def __init__(
        self,
        answer: Answer,
        evidence: Evidence,
        identifier: str,
        marked: Iterable[tuple[str, int]] = (),
    ) -> None:
        """Prepare the parts; `marked` are passages and sentences that something else on the page leads to."""
        self._id = identifier
        self._answer = answer
        self._evidence = evidence
        # The sentences that carry a citation, by their passage; None where no single one does.
        self._cited: dict[str, set[int | None]] = {}
        for citation in (citation for one in answer.sentences for citation in one.citations):
            self._cited.setdefault(citation.passage_id, set()).add(citation.sentence)
        for passage_id, sentence in marked:
            self._cited.setdefault(passage_id, set()).add(sentence)
        # A forged file may hold a passage twice, and an anchor stands on a page once.
        given = dict.fromkeys(passage.id for paper in evidence.papers for passage in paper.passages)
        self._anchors = {
            passage: f"{self._id}-p{index}"
            for index, passage in enumerate(given, start=1)
            if passage in self._cited
        }
        self._placed: set[str] = set()
        self._labels = {paper.label for paper in evidence.papers}
        self._past = 0  # how many sentences end before the line that is being written

    def anchor(self, passage_id: str) -> str:
        """Return the id of a passage on the page, "" where it is not there or nothing leads to it."""
        return self._anchors.get(passage_id, "")

    def text(self) -> Iterator[Element]:
        """Yield the answer's paragraphs, lists and headings, its lines as they were written."""
        items: list[Element] = []
        start = 0
        for line in self._answer.text.splitlines(keepends=True):
            end = start + len(line.rstrip())
            mark = LINE.match(line)
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

    def sentences(self) -> Iterator[Element]:
        """Yield every sentence with what it cites, and how well that carries it."""
        yield from (self._sentence(index, one) for index, one in enumerate(self._answer.sentences, start=1))

    def _marked(self, start: int, end: int) -> Iterator[Element]:
        """Yield the answer's text from `start` to `end`, its labels as links; lines come in their order."""
        text, sentences, position = self._answer.text, self._answer.sentences, start
        while self._past < len(sentences) and sentences[self._past].end <= start:
            self._past += 1
        for index in range(self._past, len(sentences)):
            sentence = sentences[index]
            if position >= end or sentence.start >= end:
                break
            first, last = max(position, sentence.start), min(end, sentence.end)
            if first < last:
                yield styled(text[position:first])
                inner = self._labelled(text[first:last], index + 1, sentence)
                yield element("span", *inner, class_="bare") if sentence.needs_citation else joined(*inner)
                position = last
        yield styled(text[position:end])

    def _labelled(self, text: str, index: int, sentence: AnswerSentence) -> Iterator[Element]:
        cited = {citation.label for citation in sentence.citations}
        position = 0
        for label in _LABEL.finditer(text):
            yield styled(text[position : label.start()])
            position = label.end()
            if not label[2] and int(label[1]) in cited:
                yield element("a", label[0], href=f"#{self._id}-s{index}-{label[1]}", class_="label")
            elif not label[2] and int(label[1]) in self._labels:
                yield element("span", label[0])
            else:
                yield element(
                    "span", label[0], class_="unknown", title="This label names no paper that was given"
                )
        yield styled(text[position:])

    def _sentence(self, index: int, sentence: AnswerSentence) -> Element:
        unknown = (f"[{label}?] names no paper that was given." for label in sentence.unknown_labels)
        bare = ["It makes a claim and cites nothing."] if sentence.needs_citation else []
        together = ("support", sentence.support, "Support by all together")
        whole = len(sentence.citations) > 1 and sentence.support is not None
        return element(
            "div",
            element("p", sentence.claim),
            *(element("p", remark, class_="quiet") for remark in (*bare, *unknown)),
            *(self._citation(index, citation) for citation in sentence.citations),
            *([element("p", score_bar(*together), class_="scores")] if whole else []),
            class_="sentence",
            id=f"{self._id}-s{index}",
        )

    def _citation(self, index: int, citation: Citation) -> Element:
        labelled = self._evidence.paper(citation.label)
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
                score_bar("overlap", citation.overlap),
                score_bar("support", citation.support),
                class_="scores",
            ),
            class_="citation",
            id=f"{self._id}-s{index}-{citation.label}",
        )

    def passages(self) -> Iterator[Element]:
        """Yield the passages that were given, those that nothing cites folded."""
        shown: list[Element] = []
        others: list[Element] = []
        for labelled in self._evidence.papers:
            shown += self._given(labelled, [one for one in labelled.passages if one.id in self._anchors])
            others += self._given(labelled, [one for one in labelled.passages if one.id not in self._anchors])
        if shown:
            yield element("h3", "Passages cited")
            yield from shown
        if others:
            yield folded("Passages given and not cited", others)

    def _given(self, labelled: LabelledPaper, passages: Iterable[Passage]) -> Iterator[Element]:
        for passage in passages:
            yield element("h4", f"[{labelled.label}] {labelled.paper.title}")
            yield element("p", f"{wording.place(passage)} · {passage.id}", class_="quiet")
            anchor = "" if passage.id in self._placed else self.anchor(passage.id)
            self._placed.add(passage.id)
            yield element("p", *self._highlighted(passage), class_="passage", id=anchor)

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


def _listed(items: list[Element]) -> Element:
    return element("ol" if items[0].startswith("<li value") else "ul", *items)
