"""A comparison as one HTML file for people: every citation and every cell leads to what carries it."""

from collections.abc import Iterator

from assistant import wording
from assistant.comparing import wording as said
from assistant.comparing.differences import differences
from assistant.comparing.grid import ELEMENT_TITLES, GridCell, GridRow, element_grid
from assistant.comparing.records import Candidate, Comparison, ElementEvidence, Round, Vote, WorkCall
from assistant.exports.checked import CheckedAnswer
from assistant.exports.elements import Element, element
from assistant.exports.page import call_parts, folded, page, quiet, reference, score_bar

_NOTE = (
    "Every label in the summary leads to the sentence that carries it, and every key element to its own. "
    "Overlap is the share of a claim's words that stand in the cited passage; support estimates how well "
    "what is cited carries it. Neither is proof: read the passage."
)


def comparison_to_html(comparison: Comparison) -> str:
    """Return a comparison as a page that stands alone, all text of others escaped."""
    marked = (
        (one.passage_id, one.sentence)
        for elements in comparison.elements
        for held in elements.elements
        for one in held.evidence
    )
    checked = CheckedAnswer(comparison.answer, comparison.evidence, "c", marked)
    return page(
        said.title(comparison) or "Comparison",
        quiet(_NOTE),
        *_summary(comparison, checked),
        *_elements(comparison, checked),
        *_differences(comparison),
        *_checked(comparison, checked),
        *_tree(comparison),
        *_sent(comparison),
    )


def _summary(comparison: Comparison, checked: CheckedAnswer) -> Iterator[Element]:
    answer = comparison.answer
    for problem in answer.problems:
        yield element("p", wording.PROBLEMS[problem], class_="notice")
    yield element("div", *checked.text(), class_="answer")
    if summary := wording.checked(answer):
        yield quiet(f"{summary}.")
    yield from (element("p", remark, class_="notice") for remark in comparison.remarks)
    cited, others = said.cited_and_not(comparison)
    if cited:
        yield element("h3", "References")
        yield element("ul", *map(reference, cited), class_="references")
    if others:
        yield element("h3", "Compared and not cited")
        yield element("ul", *map(reference, others), class_="references")


def _elements(comparison: Comparison, checked: CheckedAnswer) -> Iterator[Element]:
    grid = element_grid(comparison)
    if grid.is_empty:
        return
    heads = (element("th", title, scope="col") for title in ("Paper", *ELEMENT_TITLES.values()))
    rows = (_row(row, checked) for row in grid.rows)
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_="grid")
    yield element("h3", "Key elements")
    yield quiet(said.grid_said(grid))
    yield element("div", table, class_="wide", tabindex="0", role="region", aria_label="Key elements")


def _row(row: GridRow, checked: CheckedAnswer) -> Element:
    label = "" if row.is_description else f"[{row.label}] "
    year = f" ({row.year})" if row.year else ""
    problem = [quiet(row.problem)] if row.problem else []
    head = element("th", f"{label}{row.title}{year}", *problem, scope="row")
    return element("tr", head, *(_cell(cell, checked) for cell in row.cells))


def _cell(cell: GridCell, checked: CheckedAnswer) -> Element:
    if not cell.text:
        return element("td", quiet(cell.shown))
    mark = [element("p", f"{cell.mark}:", class_="notice")] if cell.is_weak else []
    shown = f"{cell.support:.2f} {cell.word}" if cell.support is not None else "no score"
    evidence = (part for one in cell.evidence for part in _evidence(one, checked))
    return element("td", *mark, element("p", cell.text), folded(f"Support {shown}", evidence))


def _evidence(one: ElementEvidence, checked: CheckedAnswer) -> Iterator[Element]:
    yield element("blockquote", one.text)
    if anchor := checked.anchor(one.passage_id):
        yield element("p", element("a", "Whole passage", href=f"#{anchor}"), class_="quiet")
    yield element("p", score_bar("support", one.support), class_="scores")


def _differences(comparison: Comparison) -> Iterator[Element]:
    found = differences(comparison)
    if not found.has_any:
        return
    yield element("h3", "In common and apart")
    yield quiet(said.DIFFERENCES_NOTE)
    lines = (*said.common_said(found), *said.alone_said(found), *said.stated_said(found))
    yield element("ul", *(element("li", line) for line in lines))


def _checked(comparison: Comparison, checked: CheckedAnswer) -> Iterator[Element]:
    if comparison.answer.sentences:
        yield element("h3", "Sentence by sentence")
        yield from checked.sentences()
    yield from checked.passages()


def _tree(comparison: Comparison) -> Iterator[Element]:
    yield element("h3", "How it was written")
    yield quiet(f"{said.written_said(comparison)}.")
    for one in comparison.rounds:
        name = f"Round {one.number}, {said.labels_said(one.labels)}: {said.round_said(one)}"
        yield folded(name, _round(one))


def _round(one: Round) -> Iterator[Element]:
    for candidate in one.candidates:
        yield from _candidate(one, candidate)
    if one.votes:
        yield element("h4", "Votes")
        yield element("ul", *map(_vote, one.votes))
    yield from (
        element("p", f"A sample could not be written: {reason}", class_="notice") for reason in one.failed
    )


def _candidate(one: Round, candidate: Candidate) -> Iterator[Element]:
    kept = ", kept" if candidate.number in one.kept else ""
    yield element("h4", f"Candidate {candidate.number}{kept}")
    yield quiet(f"{said.candidate_said(candidate)}.")
    yield from (element("p", fault, class_="notice") for fault in said.faults_said(candidate))
    yield element("p", candidate.text, class_="passage")


def _vote(vote: Vote) -> Element:
    return element("li", said.vote_said(vote), *([quiet(vote.analysis)] if vote.analysis else []))


def _sent(comparison: Comparison) -> Iterator[Element]:
    calls = (part for one in comparison.calls for part in _call(one))
    yield folded("What was sent", [quiet(" · ".join(said.comparison_facts(comparison))), *calls])


def _call(one: WorkCall) -> Iterator[Element]:
    earlier = ", made for an earlier comparison" if one.reused else ""
    yield folded(f"{one.work.capitalize()}{earlier}", call_parts(one.call))
