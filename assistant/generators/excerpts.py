"""Evidence for a model with little reading time: excerpts of the papers that answer best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assistant.prompts.material import estimate_tokens
from assistant.prompts.render import as_data, as_line, mark
from assistant.questions.parts import AskedPart
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.one_paper import tell_part
from assistant.records import Evidence, LabelledPaper
from corpus.encoders.base import Encoder

# The papers found to answer best are read in whole passages, others by single sentences.
READ_IN_PASSAGES = 3
PASSAGES_OF_A_PAPER = 3
SENTENCES_OF_A_PAPER = 2


@dataclass(slots=True)
class _Chosen:
    """The sentences chosen of a paper, by passage number."""

    paper: LabelledPaper
    sentences: dict[int, set[int]] = field(default_factory=dict)


def choose_excerpts(found: RankedEvidence, tokens: int, bytes_per_token: float) -> tuple[Evidence, str]:
    """Return the evidence that excerpts are taken of, and the excerpts as they stand in a prompt.

    The likeliest sentences come first until `tokens` are used, with their passages where the paper is one of
    the likeliest; within a paper they are in reading order. Papers are in the order of their best sentence.
    """
    chosen: dict[int, _Chosen] = {}
    spent = 0
    for paper, number, wanted in _wanted(found):
        own = chosen.get(paper.label) or _Chosen(paper)
        known = own.sentences.get(number, set())
        new = sorted(wanted - known)
        if not new:
            continue
        cost = estimate_tokens(_sentences(paper, number, new), bytes_per_token)
        cost += 0 if paper.label in chosen else estimate_tokens(_heading(paper), bytes_per_token)
        if spent + cost > tokens and chosen:
            break
        spent += cost
        own.sentences[number] = known | wanted
        chosen[paper.label] = own
    given = {
        passage.id
        for own in chosen.values()
        for passage in own.paper.passages
        if passage.number in own.sentences
    }
    everything = {passage.id for paper in found.papers for passage in paper.passages}
    excerpts = "\n\n".join(map(_rendered, chosen.values()))
    return found.evidence.without(everything - given), excerpts or "(none)"


def _wanted(found: RankedEvidence) -> Iterator[tuple[LabelledPaper, int, set[int]]]:
    """Yield the sentences to read, the likeliest first: a paper, a passage number, and sentence numbers."""
    plan, ranked = found.plan, found.ranked
    best = ranked.best_first(range(len(ranked.candidates)))
    papers = list(dict.fromkeys(ranked.candidates[at].paper.label for at in best))
    whole = 0 if plan.kind == "list" else READ_IN_PASSAGES  # a list tells each paper by its best sentences
    in_passages = set(papers[:whole])
    if plan.kind == "summary" and (meant := found.meant):
        yield from _telling(meant, plan.of_part, found.encoder) if plan.of_part else ()
        yield from _as_written(meant)
        return
    told: dict[int, int] = {}
    rest: list[tuple[LabelledPaper, int, set[int]]] = []
    for at in best:
        one = ranked.candidates[at]
        label = one.paper.label
        told[label] = told.get(label, 0) + 1
        if label in in_passages:
            entry = (one.paper, one.passage.number, set(range(len(one.passage.sentences))))
            is_early = told[label] <= PASSAGES_OF_A_PAPER
        else:
            entry = (one.paper, one.passage.number, {one.sentence})
            is_early = told[label] <= SENTENCES_OF_A_PAPER
        if is_early:
            yield entry
        else:
            rest.append(entry)
    yield from rest
    for paper in found.papers if not best else ():
        yield from _as_written(paper)


def _telling(
    paper: LabelledPaper, part: AskedPart, encoder: Encoder
) -> Iterator[tuple[LabelledPaper, int, set[int]]]:
    """Yield the passages that tell a part of a paper, the surest first."""
    sentences = {passage.number: len(passage.sentences) for passage in paper.passages}
    for told in tell_part(paper, part, encoder):
        yield paper, told.passage, set(range(sentences[told.passage]))


def _as_written(paper: LabelledPaper) -> Iterator[tuple[LabelledPaper, int, set[int]]]:
    for passage in sorted(paper.passages, key=lambda passage: passage.number):
        yield paper, passage.number, set(range(len(passage.sentences)))


def _sentences(paper: LabelledPaper, number: int, sentences: Sequence[int]) -> str:
    passage = next(one for one in paper.passages if one.number == number)
    return " ".join(passage.sentence_text(index) for index in sentences)


def _heading(paper: LabelledPaper) -> str:
    year = f" ({paper.paper.year})" if paper.paper.year else ""
    return f"[{paper.label}] {as_line(paper.paper.title)}{year}"


def _rendered(own: _Chosen) -> str:
    """Return a paper's excerpts between marks, in reading order."""
    numbers = sorted(own.sentences)
    texts = [as_data(_sentences(own.paper, number, sorted(own.sentences[number]))) for number in numbers]
    label = own.paper.label
    return "\n".join((mark(f"paper {label}"), _heading(own.paper), *texts, mark(f"end of paper {label}")))
