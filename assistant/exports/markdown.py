"""A conversation as Markdown for people; all text of others is escaped."""

from collections.abc import Iterator

from assistant import wording
from assistant.exports.escaping import escaped, fenced, quoted
from assistant.records import (
    Answer,
    AnswerSentence,
    Call,
    Conversation,
    Evidence,
    LabelledPaper,
    Refusal,
    Turn,
)
from corpus.version import VERSION


def to_markdown(conversation: Conversation) -> str:
    """Return a conversation as Markdown: answers, evidence, then what was sent; foreign text is escaped."""
    parts = [f"# {escaped(conversation.title)}"]
    for number, turn in enumerate(conversation.turns, start=1):
        parts += _turn_parts(number, turn)
    parts.append(f"Exported from Paper Trail {VERSION}.")
    return "\n\n".join(parts) + "\n"


def _turn_parts(number: int, turn: Turn) -> Iterator[str]:
    yield f"## {number}. {escaped(turn.question)}"
    yield escaped(wording.searched_for(turn))
    if turn.answer.refusal:
        yield from _refusal_parts(turn.answer.refusal)
    else:
        yield from _answer_parts(turn)
    if said := list(wording.feedback_said(turn.feedback)):
        yield "### What a reader said"
        yield "\n".join(f"- {escaped(line)}" for line in said)
    yield "### Passages given"
    yield from evidence_parts(turn.evidence)
    yield "### What was sent"
    yield from (call_part(call) for call in turn.calls)
    yield escaped(" · ".join(wording.provenance_facts(turn)))


def _answer_parts(turn: Turn) -> Iterator[str]:
    yield from (escaped(wording.PROBLEMS[problem]) for problem in turn.answer.problems)
    yield answer_text(turn.answer)
    if summary := wording.checked(turn.answer):
        yield escaped(f"{summary}.")
    yield "### References"
    yield "\n".join(reference(turn.evidence.paper(label)) for label in turn.answer.cited_labels)
    yield "### Sentence by sentence"
    yield "\n".join(line for item in turn.answer.sentences for line in sentence_lines(item))


def answer_text(answer: Answer) -> str:
    """Return the answer line by line: its lists stay lists, everything else is escaped."""
    lines = []
    for line in answer.text.splitlines():
        bullet = line.lstrip().startswith(("- ", "* "))
        lines.append(f"- {escaped(line.lstrip()[2:])}" if bullet else escaped(line))
    return "\n".join(lines)


def _refusal_parts(refusal: Refusal) -> Iterator[str]:
    yield f"Not answered: {escaped(refusal.message)}"
    if refusal.covers:
        yield "What was searched covers:"
        yield "\n".join(f"- {escaped(line)}" for line in refusal.covers)
    for nearest in refusal.nearest:
        yield f"Near, but no answer: {escaped(nearest.title)} ({escaped(nearest.passage_id)})"
        yield quoted(nearest.text)


def reference(labelled: LabelledPaper | None) -> str:
    """Return the item of a list of references."""
    if labelled is None:
        return ""
    paper = labelled.paper
    facts = (wording.authors(paper.authors), str(paper.year or ""), paper.venue, paper.url)
    return (
        f"- \\[{labelled.label}\\] **{escaped(paper.title)}** {', '.join(map(escaped, filter(None, facts)))}"
    )


def sentence_lines(sentence: AnswerSentence) -> Iterator[str]:
    """Yield a sentence as an item of a list, with what it cites and how well that carries it."""
    yield f"- {escaped(sentence.claim)}"
    if sentence.needs_citation:
        yield "    - makes a claim and cites nothing"
    elif not sentence.citations:
        yield "    - cites nothing"
    if len(sentence.citations) > 1:
        yield f"    - {wording.score_said('support', sentence.support)} by all it cites together"
    for citation in sentence.citations:
        yield (
            f"    - \\[{citation.label}\\] {wording.score_said('overlap', citation.overlap)}, "
            f"{wording.score_said('support', citation.support)}, "
            f"{escaped(citation.passage_id)}: {escaped(citation.evidence)}"
        )
    for label in sentence.unknown_labels:
        yield f"    - \\[{escaped(label)}?\\] names no paper that was given"


def evidence_parts(evidence: Evidence) -> Iterator[str]:
    """Yield the passages of each paper."""
    for labelled in evidence.papers:
        yield f"**\\[{labelled.label}\\] {escaped(labelled.paper.title)}** ({escaped(labelled.paper.id)})"
        for passage in labelled.passages:
            yield f"{escaped(wording.place(passage))} ({escaped(passage.id)})"
            yield quoted(passage.text)


def call_part(call: Call) -> str:
    """Return what was sent and received, and how it went."""
    lines = [f"**{call.step}** by {escaped(call.model)}", escaped(" · ".join(wording.call_facts(call)))]
    lines += [f"{message.role}:\n\n{fenced(message.content)}" for message in call.messages]
    lines.append(f"reply:\n\n{fenced(call.reply)}")
    return "\n\n".join(lines)
