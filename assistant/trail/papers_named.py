"""The library of a trail's papers, read from their ids; a trail is over one library or none."""

from collections.abc import Iterable, Iterator

from assistant.comparing.records import Comparison
from assistant.records import Answer, AssistantError, Call, Conversation, Evidence, LabelledPaper
from corpus.records import UPLOADS, library_of, passage_id

Trail = Conversation | Comparison


def library_named(trail: Trail) -> str:
    """Return the id of the kept library of all papers of a trail, "" if they are of the corpus.

    Raises AssistantError if its papers are in different places, or its ids are inconsistent.
    """
    evidence = trail.evidence if isinstance(trail, Comparison) else None
    for fault in _contradictions(trail):
        raise AssistantError(f"The {'comparison' if evidence else 'transcript'} is damaged: {fault}.")
    places = set(map(_place_of, filter(None, _ids_in(trail))))
    if len(places) > 1:
        what = "comparison" if evidence else "conversation"
        raise AssistantError(
            f"The file mixes papers of different libraries, or of a library and the collection. A {what} is "
            "about one of them."
        )
    return library_of(next(iter(places), ""))


def _place_of(identifier: str) -> str:
    """Return the library part of the id of a paper, passage or collection, "" for the corpus."""
    place = identifier.partition("/")[0].partition("#")[0]
    return place if place.partition(".")[0] == UPLOADS else ""


def _contradictions(trail: Trail) -> Iterator[str]:
    if isinstance(trail, Comparison):
        yield from _in_evidence(trail.evidence)
        yield from _in_answer(trail.answer, trail.evidence)
        if {labelled.paper.id for labelled in trail.evidence.papers} != set(trail.paper_ids):
            yield "it compares other papers than it names"
        return
    for turn in trail.turns:
        yield from _in_evidence(turn.evidence)
        yield from _in_answer(turn.answer, turn.evidence)


def _in_evidence(evidence: Evidence) -> Iterator[str]:
    labels = [labelled.label for labelled in evidence.papers]
    if len(set(labels)) < len(labels):
        yield "two of its papers have one label"
    yield from filter(None, map(_of_paper, evidence.papers))


def _of_paper(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    if _place_of(paper.id) != _place_of(paper.collection_id):
        return f"its paper [{labelled.label}] is of another collection than it says"
    for passage in labelled.passages:
        named = passage.id, passage.paper_id, passage.collection_id
        if named != (passage_id(paper.id, passage.number), paper.id, paper.collection_id):
            return f"a passage of its paper [{labelled.label}] is of another paper than it says"
    return ""


def _in_answer(answer: Answer, evidence: Evidence) -> Iterator[str]:
    held = {labelled.label: {passage.id for passage in labelled.passages} for labelled in evidence.papers}
    for sentence in answer.sentences:
        for citation in sentence.citations:
            if citation.passage_id not in held.get(citation.label, ()):
                yield f"its answer cites for [{citation.label}] a passage that its paper does not have"


def _ids_in(trail: Trail) -> Iterator[str]:
    """Yield the ids of all papers, passages and collections that a trail names."""
    for note in trail.notes:
        yield from (note.paper_id, note.passage_id)
    if isinstance(trail, Comparison):
        yield from trail.paper_ids
        yield from _ids_of(trail.evidence, trail.answer, [entry.call for entry in trail.calls])
        elements = [element for of_text in trail.elements for element in of_text.elements]
        yield from (source.passage_id for element in elements for source in element.evidence)
        cells = [cell for column in trail.columns for cell in column.cells]
        yield from (quote.passage_id for cell in cells for quote in cell.quotes)
        return
    for turn in trail.turns:
        yield from (*turn.scope.papers, *turn.scope.collections)
        yield from (hit.passage_id for hit in turn.all_hits)
        yield from (identifier for second in turn.second_searches for identifier in second.joined)
        yield from (wrong.passage_id for wrong in turn.feedback.wrong_citations)
        yield from _ids_of(turn.evidence, turn.answer, turn.calls)


def _ids_of(evidence: Evidence, answer: Answer, calls: Iterable[Call]) -> Iterator[str]:
    yield from (labelled.paper.id for labelled in evidence.papers)
    for nearest in answer.refusal.nearest if answer.refusal else ():
        yield from (nearest.passage_id, nearest.paper_id)
    for call in calls:
        yield from call.left_out
