"""Small papers, made up for the tests of comparisons, as sources and steps."""

from collections.abc import Mapping, Sequence

from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.journal import Journal, Work
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


def work() -> Work:
    return Work("any", Journal())


def extracted(comparer: ExtractiveComparer, text: SourceText) -> KeyElements:
    found = comparer.extract_key_elements(text, work())
    return KeyElements(
        text.label, text.kind, tuple(KeyElement(name, found.get(name, "")) for name in ELEMENT_NAMES)
    )


def step(
    comparer: ExtractiveComparer,
    texts: Mapping[int, SourceText],
    new: tuple[int, ...],
    options: ComparisonOptions | None = None,
) -> ComparisonStep:
    options = options or ComparisonOptions()
    last = max(new)
    sources = {label: text for label, text in texts.items() if label <= last}
    elements = {} if "elements" in options.without else {
        label: extracted(comparer, text) for label, text in sources.items()
    }  # fmt: skip
    about = texts[0].paper.passages[0].text if 0 in texts else ""
    return ComparisonStep(about, sources, elements, new, len(texts) - 1, options)
