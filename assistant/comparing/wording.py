"""A comparison's record in plain words, for files, screens and the terminal; nothing is escaped."""

from collections.abc import Iterable, Iterator

from assistant import wording
from assistant.checking.overlap import score_digits
from assistant.comparing.differences import Differences, NamedThing
from assistant.comparing.grid import ELEMENT_TITLES, NOT_FOUND, Grid
from assistant.comparing.records import (
    Ablation,
    Budget,
    Candidate,
    Comparison,
    ComparisonOptions,
    PaperOrder,
    Planned,
    QuotedSentence,
    Round,
    Vote,
)
from assistant.generators.protocol import uses_model
from assistant.records import LabelledPaper
from corpus.wording import counted, joined

ORDERS: dict[PaperOrder, str] = {
    "given": "in the given order",
    "year": "by year",
    "similarity": "by similarity to the description",
}
WITHOUT: dict[Ablation, str] = {
    "elements": "without key elements",
    "increments": "all papers in one round",
    "reflection": "without reflection",
}
DIFFERENCES_NOTE = (
    "Read from the key elements and the topics of each paper, nothing more: what is not named there may "
    "stand elsewhere in its text."
)
_NAMED_IN = "In the key elements and topics of"
_KINDS = {"task": "task", "method": "method", "dataset": "data set", "metric": "metric"}


def format_labels(labels: Iterable[int]) -> str:
    """Return labels as they stand in a summary: "[1][3]"."""
    return "".join(f"[{label}]" for label in labels)


def title(comparison: Comparison) -> str:
    """Return the title of a comparison: its description on one line."""
    return " ".join(comparison.about.split())


def cited_and_not(comparison: Comparison) -> tuple[tuple[LabelledPaper, ...], tuple[LabelledPaper, ...]]:
    """Return the papers that the summary cites, and those that it does not, by their labels."""
    cited = set(comparison.answer.cited_labels)
    papers = comparison.evidence.papers
    return (
        tuple(paper for paper in papers if paper.label in cited),
        tuple(paper for paper in papers if paper.label not in cited),
    )


def describe_options(options: ComparisonOptions, criteria: int = 0) -> str:
    """Describe a comparison by a model, or in older files by `criteria` that voted without one."""
    votes = f"judged by {criteria} criteria" if criteria else counted(options.votes, "vote")
    best = "the best" if options.keep == 1 else f"the best {options.keep}"
    facts = [
        f"{counted(options.samples, 'draft')} from each summary kept",
        f"{best} of a round kept",
        votes if criteria else f"{votes} a round",
        f"papers {ORDERS[options.order]}",
        *(WITHOUT[part] for part in options.without),
    ]
    return ", ".join(facts)


def describe_method(comparison: Comparison) -> str:
    """Describe how the papers of a comparison were compared."""
    if not comparison.rounds:
        return f"papers {ORDERS[comparison.options.order]}, in one pass without a model"
    criteria = {vote.criterion for of_round in comparison.rounds for vote in of_round.votes} - {""}
    return describe_options(comparison.options, len(criteria))


def describe_writer(generator: str) -> str:
    """Describe how a summary was written, by the name of its generator."""
    if not uses_model(generator):
        return "made of sentences chosen from the papers, without a model"
    return f"written by the model {generator}"


def describe_element_source(generator: str) -> str:
    """Describe where key elements come from, by the name of their generator."""
    if not uses_model(generator):
        return "The key elements: sentences chosen from the texts, without a model"
    return f"The key elements, in the words of the model {generator}"


def describe_budget(budget: Budget) -> str:
    """Describe the most that a comparison may cost."""
    if not budget.calls:
        return "No model is asked: it costs nothing."
    calls = f"At most {counted(budget.calls, 'model call')}"
    if budget.most_calls > budget.calls:
        calls += f" ({budget.most_calls:,} if every reply in a form has to be asked for twice)"
    tokens = f"about {budget.prompt_tokens:,} tokens sent and {budget.completion_tokens:,} received"
    price = "price not known" if budget.price is None else f"about {wording.format_price(budget.price)}"
    return f"{calls}, {tokens}, {price}."


def describe_reuse(planned: Planned) -> str:
    """Describe how many papers an earlier comparison has read, "" for none."""
    read = sum(label > 0 for label in planned.reused)
    of_all = counted(len(planned.papers), "paper")
    again = "it is not read again" if read == 1 else "they are not read again"
    return f"An earlier comparison has read {read} of {of_all}: {again}." if read else ""


def describe_candidate(candidate: Candidate) -> str:
    """Return a candidate's votes, citation scores and parent."""
    parent = f"continues candidate {candidate.parent} of the round before" if candidate.parent else ""
    quality = [
        f"citation recall {_score(candidate.citation_recall)}",
        f"precision {_score(candidate.citation_precision)}",
    ]
    return ", ".join(filter(None, (counted(candidate.votes, "vote"), *quality, parent)))


def describe_faults(candidate: Candidate) -> Iterator[str]:
    """Yield the faults for which a candidate loses ties."""
    if candidate.lost:
        yield f"It lost {format_labels(candidate.lost)}."
    yield from (wording.PROBLEMS[problem] for problem in candidate.problems)


def describe_round(finished: Round) -> str:
    """Describe the outcome of a round."""
    candidates = counted(len(finished.candidates), "candidate")
    kept = f"kept {', '.join(map(str, finished.kept)) or 'none'} of {candidates}"
    votes = counted(len(finished.votes), "vote") if finished.votes else ""
    discarded = f"{finished.discarded_votes} discarded" if finished.discarded_votes else ""
    lost = sum(bool(candidate.lost) for candidate in finished.candidates)
    losing = f"{lost} lost a reference" if lost else ""
    return ", ".join(filter(None, (kept, votes, discarded, losing)))


def describe_vote(vote: Vote) -> str:
    """Describe a vote's criterion and choice, without its analysis."""
    name = f"Vote {vote.number}" + (f" ({vote.criterion})" if vote.criterion else "")
    if vote.choice is None:
        return f"{name}: discarded. {vote.problem}".rstrip()
    return f"{name}: candidate {vote.choice}"


def describe_grid(grid: Grid) -> str:
    """Describe how many elements of a grid are stated, and how many the texts do not support."""
    cells = len(grid.papers) * len(ELEMENT_TITLES)
    share = grid.share_not_stated
    missing = f"{share * cells:.0f} ({share:.0%}) of the papers' {cells} elements"
    if grid.absence == NOT_FOUND:
        return f"For {missing} no sentence was found."
    weak = grid.not_carried
    written = f"; for {weak} of these something was written that the text does not carry" if weak else ""
    return f"{missing} are not stated in their texts{written}."


def describe_answers(grid: Grid) -> str:
    """Describe how many papers answer the reader's own questions, "" if nothing was asked."""
    cells = [cell for row in grid.papers for cell in row.answers]
    answered = sum(bool(cell.quotes) for cell in cells)
    told = f"{answered} of {counted(len(cells), 'answer')} to your own questions found"
    return f"{told}, in the papers' own sentences." if cells else ""


def describe_place(comparison: Comparison, quote: QuotedSentence) -> str:
    """Describe the place of a quoted sentence; the id of its passage if that is not recorded."""
    passages = (passage for paper in comparison.evidence.papers for passage in paper.passages)
    return next(
        (wording.place(passage) for passage in passages if passage.id == quote.passage_id), quote.passage_id
    )


def describe_common(found: Differences) -> Iterator[str]:
    """Yield a line for each group of papers with the elements and topics that most papers name."""
    for labels in dict.fromkeys(thing.labels for thing in found.common):
        things = [thing for thing in found.common if thing.labels == labels]
        who = format_labels(labels)
        if len(labels) == len(found.papers):
            who = "both" if len(labels) == 2 else f"all {len(labels)}"
        yield f"{_NAMED_IN} {who}: {joined(map(describe_thing, things))}."


def describe_distinct(found: Differences) -> Iterator[str]:
    """Yield a line for each paper with the elements and topics that no other names."""
    for label, things in found.alone:
        if things:
            yield f"{_NAMED_IN} [{label}] alone: {joined(map(describe_thing, things))}."


def describe_stated(found: Differences) -> Iterator[str]:
    """Yield for each element which papers state it."""
    verb, place = ("found", "in") if found.absence == NOT_FOUND else ("stated", "by")
    for element in found.elements:
        name = f"{ELEMENT_TITLES[element.name]}: {verb} {place}"
        stated, missing, unsupported = map(format_labels, (element.stated, element.not_stated, element.weak))
        weak = f" What was written of {unsupported} the text does not carry." if unsupported else ""
        if not element.not_stated:
            yield f"{name} {'both' if len(element.stated) == 2 else 'all'}."
        elif not element.stated:
            yield f"{name} none.{weak}"
        else:
            yield f"{name} {stated}, not {place} {missing}.{weak}"


def describe_thing(thing: NamedThing) -> str:
    """Return a named thing with its kind, if known, and whether the description names it."""
    facts = [_KINDS.get(thing.kind, ""), "also in the description" if thing.described else ""]
    facts_shown = ", ".join(filter(None, facts))
    return f"{thing.text} ({facts_shown})" if facts_shown else thing.text


def comparison_facts(comparison: Comparison) -> Iterator[str]:
    """Yield facts on how a comparison was made and its cost."""
    made = comparison.provenance
    yield f"asked {comparison.asked}"
    yield f"compared by {made.generator}{wording.served_by(entry.call for entry in comparison.calls)}"
    yield describe_method(comparison)
    if comparison.parameters:
        yield wording.describe_parameters(comparison.parameters)
    yield from describe_calls(comparison)
    usage = comparison.usage
    yield from wording.spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    yield ", ".join(f"{step.step} {step.seconds:.2f} s" for step in comparison.seconds)
    yield from wording.made_with(made)


def describe_calls(comparison: Comparison) -> Iterator[str]:
    """Yield the number of model calls, and of those reused from an earlier comparison."""
    made = calls_made(comparison)
    yield counted(made, "model call")
    if reused := sum(entry.reused and bool(entry.call.messages) for entry in comparison.calls):
        yield f"{counted(reused, 'call')} of an earlier comparison used again"


def calls_made(comparison: Comparison) -> int:
    """Count the model calls that the comparison made itself."""
    return sum(not entry.reused and bool(entry.call.messages) for entry in comparison.calls)


def _score(score: float | None) -> str:
    return "not counted" if score is None else score_digits(score)
