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
    """Return the evidence that excerpts are taken from, and the excerpts as text for a prompt.

    Sentences are added by probability until `tokens` are used, with their whole passages for the likeliest
    papers. Papers are in the order of their best sentence, their sentences in reading order.
    """
    chosen: dict[int, _Chosen] = {}
    spent = 0
    for paper, number, numbers in _wanted(found):
        entry = chosen.get(paper.label) or _Chosen(paper)
        known = entry.sentences.get(number, set())
        new = sorted(numbers - known)
        if not new:
            continue
        cost = estimate_tokens(_sentences(paper, number, new), bytes_per_token)
        cost += 0 if paper.label in chosen else estimate_tokens(_heading(paper), bytes_per_token)
        if spent + cost > tokens and chosen:
            break
        spent += cost
        entry.sentences[number] = known | numbers
        chosen[paper.label] = entry
    kept = {
        passage.id
        for entry in chosen.values()
        for passage in entry.paper.passages
        if passage.number in entry.sentences
    }
    everything = {passage.id for paper in found.papers for passage in paper.passages}
    excerpts = "\n\n".join(map(_rendered, chosen.values()))
    return found.evidence.without(everything - kept), excerpts or "(none)"


def _wanted(found: RankedEvidence) -> Iterator[tuple[LabelledPaper, int, set[int]]]:
    """Yield the sentences to read, the likeliest first: a paper, a passage number, and sentence numbers."""
    plan, ranked = found.plan, found.ranked
    best = ranked.best_first(range(len(ranked.candidates)))
    papers = list(dict.fromkeys(ranked.candidates[index].paper.label for index in best))
    whole = 0 if plan.kind == "list" else READ_IN_PASSAGES  # a list tells each paper by its best sentences
    in_passages = set(papers[:whole])
    if plan.kind == "summary" and (meant := found.meant):
        yield from _telling(meant, plan.of_part, found.encoder) if plan.of_part else ()
        yield from _as_written(meant)
        return
    count_by_paper: dict[int, int] = {}
    rest: list[tuple[LabelledPaper, int, set[int]]] = []
    for index in best:
        candidate = ranked.candidates[index]
        label = candidate.paper.label
        count_by_paper[label] = count_by_paper.get(label, 0) + 1
        if label in in_passages:
            entry = (candidate.paper, candidate.passage.number, set(range(len(candidate.passage.sentences))))
            is_early = count_by_paper[label] <= PASSAGES_OF_A_PAPER
        else:
            entry = (candidate.paper, candidate.passage.number, {candidate.sentence})
            is_early = count_by_paper[label] <= SENTENCES_OF_A_PAPER
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
    for sentence in tell_part(paper, part, encoder):
        yield paper, sentence.passage, set(range(sentences[sentence.passage]))


def _as_written(paper: LabelledPaper) -> Iterator[tuple[LabelledPaper, int, set[int]]]:
    for passage in sorted(paper.passages, key=lambda passage: passage.number):
        yield paper, passage.number, set(range(len(passage.sentences)))


def _sentences(paper: LabelledPaper, number: int, sentences: Sequence[int]) -> str:
    passage = next(passage for passage in paper.passages if passage.number == number)
    return " ".join(passage.sentence_text(index) for index in sentences)


def _heading(paper: LabelledPaper) -> str:
    year = f" ({paper.paper.year})" if paper.paper.year else ""
    return f"[{paper.label}] {as_line(paper.paper.title)}{year}"


def _rendered(entry: _Chosen) -> str:
    """Return a paper's excerpts between marks, in reading order."""
    numbers = sorted(entry.sentences)
    texts = [as_data(_sentences(entry.paper, number, sorted(entry.sentences[number]))) for number in numbers]
    label = entry.paper.label
    return "\n".join((mark(f"paper {label}"), _heading(entry.paper), *texts, mark(f"end of paper {label}")))
