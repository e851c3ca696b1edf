"""The data in the prompts of a comparison: texts, key elements, summaries and candidates."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import ELEMENT_NAMES, Candidate, KeyElements
from assistant.prompts.material import estimate_tokens, render_passage
from assistant.prompts.render import MARKS, as_data, as_line, as_written, mark
from assistant.records import Message
from corpus.records import Passage

# Words of a description; its key elements stand for the rest.
DESCRIPTION_WORDS = 250
# Words; the schema allows no longer element.
LONGEST_ELEMENT = 450
# Words of headings, in the order in which sections of a long paper are read.
_FIRST_READ = (
    "abstract",
    "introduction",
    "conclusion",
    "limitation",
    "discussion",
    "result",
    "experiment",
    "evaluation",
    "method",
    "approach",
    "model",
)
_NOT_STATED = "not stated"


def render_text(source: SourceText) -> str:
    """Return a text that key elements are extracted from: a paper's passages, or the description."""
    if source.kind == "description":
        return _between("the description of a proposed work", as_data(source.paper.paper.abstract))
    passages = sorted(source.paper.passages, key=lambda passage: passage.number)
    lines = [f"Title: {as_line(source.paper.paper.title)}", *map(render_passage, passages)]
    return _between(f"a research paper, its {source.kind}", "\n".join(lines))


def fit_source(source: SourceText, room: int) -> SourceText:
    """Return as much of a source as fits into `room` tokens, by whole passages, the most telling first.

    A description is cut at its end; a paper keeps at least one passage.
    """
    if source.kind == "description":
        fitting = (text for text in shortenings(source) if estimate_tokens(text) <= max(room, 1))
        return with_description(source, next(fitting, ""))
    room -= estimate_tokens(render_text(with_passages(source, ())))
    kept: list[Passage] = []
    for passage in sorted(source.paper.passages, key=_reading_order):
        room -= estimate_tokens(render_passage(passage)) + 1
        if kept and room < 0:
            break
        kept.append(passage)
    return with_passages(source, sorted(kept, key=lambda passage: passage.number))


def shortenings(source: SourceText) -> Iterator[str]:
    """Yield a description, first whole, then ever shorter."""
    text = source.paper.paper.abstract
    while text:
        yield text
        text = text[: len(text) * 3 // 4]


def with_description(source: SourceText, text: str) -> SourceText:
    return replace(source, paper=replace(source.paper, paper=replace(source.paper.paper, abstract=text)))


def with_passages(source: SourceText, passages: Sequence[Passage]) -> SourceText:
    return replace(source, paper=replace(source.paper, passages=tuple(passages)))


def _reading_order(passage: Passage) -> tuple[int, int]:
    heading = passage.section_path.lower()
    if passage.number == 0:
        return -1, 0
    places = [place for place, word in enumerate(_FIRST_READ) if word in heading]
    return min(places, default=len(_FIRST_READ)), passage.number


def render_description(step: ComparisonStep) -> str:
    """Return the description of the proposed work, with its key elements where they are known."""
    words = step.about.split()
    text = " ".join(words[:DESCRIPTION_WORDS]) + (" …" if len(words) > DESCRIPTION_WORDS else "")
    lines = ["The work that is being proposed:", as_data(text)]
    if described := step.elements.get(0):
        lines += _stated(described)
    return _between("the proposed work", "\n".join(lines))


def render_references(step: ComparisonStep) -> str:
    """Return the references so far, one line each: label, title, year."""
    lines = [_reference(step.sources[label]) for label in step.labels]
    return _between("references", "\n".join(lines))


def _reference(source: SourceText) -> str:
    paper = source.paper.paper
    return f"[{source.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"


def render_new(step: ComparisonStep) -> str:
    """Render the key elements of the new papers, or their texts if there are none."""
    return "\n\n".join(_render_new(step, label) for label in step.new)


def _render_new(step: ComparisonStep, label: int) -> str:
    source, elements = step.sources[label], step.elements.get(label)
    if elements and elements.elements:
        body = "\n".join(_stated(elements, every=True))
    else:
        body = _beginning(source) or _NOT_STATED
    return _between(f"key elements of reference {label}", f"{_reference(source)}\n{body}")


def render_brief(step: ComparisonStep, labels: Sequence[int], *, elements: int, words: int) -> str:
    """Render papers by their first stated key elements, each cut to `words` words, or by their beginning."""
    return "\n\n".join(_brief(step, label, elements, words) for label in labels) or "(no paper before)"


def _brief(step: ComparisonStep, label: int, elements: int, words: int) -> str:
    source, known = step.sources[label], step.elements.get(label)
    lines = [_reference(source), *(list(_stated(known, words=words))[:elements] if known else ())]
    if missing := elements + 1 - len(lines):
        begin = " ".join(passage.text for passage in source.paper.passages[:1]).split()
        lines.append(as_data(" ".join(begin[: missing * words])))
    return _between(f"paper {label}", "\n".join(lines))


def render_known(step: ComparisonStep, words: int) -> str:
    """Render the key elements of the papers so far, each cut to `words` words, or the texts' beginnings."""
    known = [(label, step.elements[label]) for label in step.labels if label in step.elements]
    lines = [f"[{label}] {line}" for label, elements in known for line in _stated(elements, words=words)]
    if not step.elements:
        most = len(ELEMENT_NAMES) * words
        begin = {label: _beginning(step.sources[label]).split()[:most] for label in step.labels}
        lines = [f"[{label}] {' '.join(text)}" for label, text in begin.items()]
    return _between("key elements", "\n".join(lines)) if words and lines else "(nothing but their titles)"


def _beginning(source: SourceText) -> str:
    """Return a paper's first passage."""
    return as_data(" ".join(passage.text for passage in source.paper.passages[:1]))


def _stated(elements: KeyElements, *, every: bool = False, words: int = LONGEST_ELEMENT) -> Iterator[str]:
    for element in elements.elements:
        if element.is_stated or every:
            name = element.name.replace("_", " ").capitalize()
            text = as_line(element.text).split()
            rest = " …" if len(text) > words else ""
            yield f"{name}: {' '.join(text[:words])}{rest}" if text else f"{name}: {_NOT_STATED}"


def render_summary(summary: str) -> str:
    return _between("summary", as_written(summary)) if summary else "(none: this is the first reference)"


def render_candidates(candidates: Sequence[Candidate]) -> str:
    """Render the candidates, numbered from 1 by place, which differs from `number` after a failed sample."""
    return "\n\n".join(
        _between(f"draft {place}", as_written(candidate.text) or "(empty)")
        for place, candidate in enumerate(candidates, start=1)
    )


def same_material(sent: Sequence[Message], messages: Sequence[Message]) -> bool:
    """Return True if messages have all marked sections that were sent, whatever the prompt around them."""
    now = _material(messages)
    return all(now.get(name) == body for name, body in _material(sent).items())


def _material(messages: Sequence[Message]) -> dict[str, str]:
    """Return the marked sections of a prompt, by name."""
    sections: dict[str, str] = {}
    for message in messages:
        rest = message.content
        while MARKS[0] in rest:
            name, _, rest = rest.partition(MARKS[0])[2].partition(MARKS[1])
            body, end, after = rest.partition(mark(f"end of {name}"))
            if end:
                sections[name], rest = body, after
    return sections


def _between(name: str, body: str) -> str:
    return f"{mark(name)}\n{body}\n{mark(f'end of {name}')}"
