"""What readers should know of how a comparison was made: of its papers before, and of its course after."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.attribution import is_weak
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import KeyElements, Round, WorkCall
from assistant.records import Answer
from assistant.wording import counted


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a comparison has come to."""

    elements: tuple[KeyElements, ...]
    rounds: tuple[Round, ...]
    answer: Answer


def remarks_on(sources: Sequence[SourceText]) -> tuple[str, ...]:
    """Say of which papers less than the full text is known."""
    kinds = Counter(source.kind for source in sources)
    bare = [source for source in sources if source.kind == "title"]
    remarks = [
        f"[{source.label}] “{source.paper.paper.title}” has neither text nor abstract here: its title is all "
        "that is known."
        for source in bare
    ]
    if kinds["abstract"]:
        which = "All papers" if kinds["abstract"] == len(sources) else f"{kinds['abstract']} of the papers"
        which = "One of the papers" if which.startswith("1 ") else which
        verb = "is" if which.startswith("One") else "are"
        remarks.insert(0, f"{which} {verb} known here by the abstract alone.")
    return tuple(remarks)


def remarks_after(outcome: Outcome, calls: Sequence[WorkCall]) -> tuple[str, ...]:
    """Say what did not go as it should: texts read in part or not at all, samples, votes and papers lost."""
    return (
        *_unread(outcome.elements),
        *_read_in_part(calls),
        *_lost_work(outcome.rounds),
        *_not_cited(outcome),
        *_not_carried(outcome.answer),
    )


def _unread(elements: Sequence[KeyElements]) -> Iterator[str]:
    for one in elements:
        if one.problem:
            text = f"[{one.label}]" if one.label else "the description"
            yield f"The key elements of {text} could not be read. {one.problem}"


def _read_in_part(calls: Sequence[WorkCall]) -> Iterator[str]:
    cut = dict.fromkeys(one.work.removeprefix("elements ") for one in calls if one.call.left_out)
    if cut:
        papers = ", ".join(f"[{label}]" for label in cut)
        yield f"Longer than the model takes in, so read where papers say most about themselves: {papers}."


def _lost_work(rounds: Sequence[Round]) -> Iterator[str]:
    if failed := sum(len(one.failed) for one in rounds):
        yield f"{counted(failed, 'sample')} could not be written; the rounds went on without."
    if discarded := sum(one.discarded_votes for one in rounds):
        cast = sum(len(one.votes) for one in rounds)
        yield f"{counted(discarded, 'vote')} of {cast} could not be used and did not count."


def _not_cited(outcome: Outcome) -> Iterator[str]:
    due = [label for one in outcome.rounds for label in one.labels]
    if uncited := [f"[{label}]" for label in due if label not in outcome.answer.cited_labels]:
        yield f"The summary does not cite {', '.join(uncited)}."


def _not_carried(answer: Answer) -> Iterator[str]:
    weak = sum(map(is_weak, answer.sentences))
    if answer.citation_recall == 0.0:
        yield "Nothing that the summary says is carried by what it cites: do not rely on it."
    elif weak:
        ending = "is only weakly supported by what it cites" if weak == 1 else "are only weakly supported"
        yield f"{counted(weak, 'sentence')} {ending}."
    if uncited := sum(one.needs_citation for one in answer.sentences):
        makes = "makes a claim and cites" if uncited == 1 else "make claims and cite"
        yield f"{counted(uncited, 'sentence')} {makes} nothing."
    if unknown := sum(len(one.unknown_labels) for one in answer.sentences):
        names = (
            "names a paper that was never given; it is"
            if unknown == 1
            else "name papers that were never given; they are"
        )
        yield f"{counted(unknown, 'label')} {names} marked with a question mark."
