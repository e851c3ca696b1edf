"""A comparison as Markdown for people; all text of others is escaped."""

from collections.abc import Iterator

from assistant import wording
from assistant.comparing import wording as said
from assistant.comparing.differences import differences
from assistant.comparing.grid import element_grid
from assistant.comparing.records import Candidate, Comparison, Round, Vote
from assistant.exports.comparison_grid import grid_to_markdown
from assistant.exports.escaping import escaped, quoted
from assistant.exports.markdown import answer_text, call_part, evidence_parts, reference, sentence_lines
from corpus.version import VERSION


def comparison_to_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown: the summary first, then what it was made from, and how."""
    parts = [
        f"# {escaped(said.title(comparison))}",
        *_summary(comparison),
        *_elements(comparison),
        *_differences(comparison),
        *_tree(comparison),
        *_sent(comparison),
        f"Exported from Paper Trail {VERSION}.",
    ]
    return "\n\n".join(parts) + "\n"


def _summary(comparison: Comparison) -> Iterator[str]:
    answer = comparison.answer
    yield from (escaped(wording.PROBLEMS[problem]) for problem in answer.problems)
    yield answer_text(answer)
    if summary := wording.checked(answer):
        yield escaped(f"{summary}.")
    yield from (escaped(remark) for remark in comparison.remarks)
    cited, others = said.cited_and_not(comparison)
    yield "## References"
    if cited:
        yield "\n".join(map(reference, cited))
    if others:
        yield "Compared and not cited:"
        yield "\n".join(map(reference, others))


def _elements(comparison: Comparison) -> Iterator[str]:
    grid = element_grid(comparison)
    if grid.is_empty:
        return
    yield "## Key elements"
    yield grid_to_markdown(comparison)
    yield escaped(said.grid_said(grid))
    yield from (escaped(f"[{row.label}] {row.problem}") for row in grid.rows if row.problem)


def _differences(comparison: Comparison) -> Iterator[str]:
    found = differences(comparison)
    if not found.has_any:
        return
    yield "## In common and apart"
    yield escaped(said.DIFFERENCES_NOTE)
    lines = (*said.common_said(found), *said.alone_said(found), *said.stated_said(found))
    yield "\n".join(f"- {escaped(line)}" for line in lines)


def _tree(comparison: Comparison) -> Iterator[str]:
    yield "## How it was written"
    yield escaped(f"{said.written_said(comparison)}.")
    for one in comparison.rounds:
        yield f"### Round {one.number}: {escaped(said.labels_said(one.labels))}"
        yield escaped(f"{said.round_said(one)}.")
        for candidate in one.candidates:
            yield from _candidate(one, candidate)
        if lines := [line for vote in one.votes for line in _vote_lines(vote)]:
            yield "\n".join(lines)
        yield from (escaped(f"A sample could not be written: {reason}") for reason in one.failed)


def _candidate(one: Round, candidate: Candidate) -> Iterator[str]:
    kept = " (kept)" if candidate.number in one.kept else ""
    yield f"**Candidate {candidate.number}**{kept}: {escaped(said.candidate_said(candidate))}"
    yield from (escaped(fault) for fault in said.faults_said(candidate))
    yield quoted(candidate.text)


def _vote_lines(vote: Vote) -> Iterator[str]:
    yield f"- {escaped(said.vote_said(vote))}"
    if vote.analysis:
        yield f"    - {escaped(vote.analysis)}"


def _sent(comparison: Comparison) -> Iterator[str]:
    if comparison.answer.sentences:
        yield "## Sentence by sentence"
        yield "\n".join(line for one in comparison.answer.sentences for line in sentence_lines(one))
    yield "## Passages cited"
    yield from evidence_parts(comparison.evidence)
    yield "## What was sent"
    yield escaped(" · ".join(said.comparison_facts(comparison)))
    for one in comparison.calls:
        earlier = " (made for an earlier comparison)" if one.reused else ""
        yield f"### {escaped(one.work.capitalize())}{earlier}"
        yield call_part(one.call)
