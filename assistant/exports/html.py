"""A conversation as one HTML file for people: no script, nothing fetched, every citation one click away."""

from collections.abc import Iterator

from assistant import wording
from assistant.exports.checked import CheckedAnswer
from assistant.exports.elements import Element, element
from assistant.exports.page import call_parts, folded, page, quiet, reference
from assistant.records import Conversation, Refusal, Turn


def to_html(conversation: Conversation) -> str:
    """Return a conversation as a page that stands alone, all text of others escaped."""
    turns = [_turn(number, turn) for number, turn in enumerate(conversation.turns, start=1)]
    return page(conversation.title or "Conversation", *_opening(conversation), *turns)


def _opening(conversation: Conversation) -> Iterator[Element]:
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


def _turn(number: int, turn: Turn) -> Element:
    identifier = f"t{number}"
    checked = CheckedAnswer(turn.answer, turn.evidence, identifier)
    return element(
        "section",
        element("h2", f"{number}. {turn.question}"),
        quiet(wording.searched_for(turn)),
        *(_refused(turn.answer.refusal) if turn.answer.refusal else _answered(turn, checked)),
        *_said(turn),
        *checked.passages(),
        *_sent(turn),
        class_="turn",
        id=identifier,
    )


def _refused(refusal: Refusal) -> Iterator[Element]:
    yield element("p", refusal.message, class_="notice")
    if refusal.covers:
        yield element("h3", "What was searched covers")
        yield element("ul", *(element("li", line) for line in refusal.covers))
    if refusal.nearest:
        yield element("h3", "What came nearest")
    for nearest in refusal.nearest:
        yield element("h4", nearest.title)
        yield element("p", nearest.text, class_="passage")


def _answered(turn: Turn, checked: CheckedAnswer) -> Iterator[Element]:
    answer = turn.answer
    for problem in answer.problems:
        yield element("p", wording.PROBLEMS[problem], class_="notice")
    yield element("div", *checked.text(), class_="answer")
    if summary := wording.checked(answer):
        yield quiet(f"{summary}.")
    if answer.cited_labels:
        papers = (turn.evidence.paper(label) for label in answer.cited_labels)
        yield element("h3", "References")
        yield element("ul", *(reference(paper) for paper in papers if paper), class_="references")
    if answer.sentences:
        yield element("h3", "Sentence by sentence")
        yield from checked.sentences()


def _said(turn: Turn) -> Iterator[Element]:
    if said := list(wording.feedback_said(turn.feedback)):
        yield element("h3", "What a reader said")
        yield element("ul", *(element("li", line) for line in said))


def _sent(turn: Turn) -> Iterator[Element]:
    calls = [part for call in turn.calls for part in call_parts(call)]
    yield folded("What was sent", [*calls, quiet(" · ".join(wording.provenance_facts(turn)))])
