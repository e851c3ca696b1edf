"""Small papers, made up for the tests of comparisons, as sources and steps."""

from collections.abc import Mapping, Sequence

from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.ledger import CallLedger, Task
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import ELEMENT_NAMES, ComparisonOptions, KeyElement, KeyElements, TextKind
from assistant.records import LabelledPaper
from corpus.records import Author, Paper, Passage, Section, Sentence, passage_id
from corpus.sentences import sentence_spans

AUTHORS = (Author("Ada", "Smith"), Author("Ben", "Doe"))


def passage(number: int, text: str, heading: str = "") -> Passage:
    return Passage(
        id=passage_id("p", number),
        paper_id="p",
        collection_id="c",
        number=number,
        kind="body" if number else "abstract",
        section=(Section("", heading),) if heading else (),
        text=text,
        sentences=tuple(Sentence(start, end) for start, end in sentence_spans(text)),
    )


def source(
    label: int,
    title: str,
    abstract: str,
    sections: Sequence[tuple[str, str]] = (),
    *,
    year: int | None = 2020,
    authors: tuple[Author, ...] = AUTHORS,
) -> SourceText:
    paper = Paper(f"c/{label}", "c", title, authors, year, "", abstract)
    texts = [("", abstract or title), *sections]
    passages = tuple(passage(number, text, heading) for number, (heading, text) in enumerate(texts))
    kind: TextKind = "full text" if sections else "abstract" if abstract else "title"
    return SourceText(kind, LabelledPaper(label, paper, passages))


def description(text: str) -> SourceText:
    paper = Paper("", "", "", (), None, "", text)
    return SourceText("description", LabelledPaper(0, paper, (passage(0, text),)))


def task() -> Task:
    return Task("any", CallLedger())


def summarised(comparer: ExtractiveComparer, texts: Mapping[int, SourceText], *, read: bool = True) -> str:
    """Return the summary of texts, from their key elements or without any `read`."""
    elements = {label: _extracted(comparer, text) for label, text in texts.items()} if read else {}
    about = texts[0].paper.passages[0].text if 0 in texts else ""
    labels = tuple(label for label in texts if label)
    return comparer.compose(
        ComparisonStep(about, texts, elements, labels, len(labels), ComparisonOptions())
    ).text


def _extracted(comparer: ExtractiveComparer, text: SourceText) -> KeyElements:
    found = comparer.extract_key_elements(text, task())
    return KeyElements(
        text.label, text.kind, tuple(KeyElement(name, found.get(name, "")) for name in ELEMENT_NAMES)
    )
