"""The construction, step by step: asked, filtered, cited, put into contexts and dialogues, rendered.

Chance is drawn anew for every example from the seed and its id, so that one reply more or less changes no
other example, and a run that is gone on with makes what an uninterrupted one does.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.records import Paper, Passage
from training.truthreader import asking, context
from training.truthreader.dialogue import with_history
from training.truthreader.faithful import answer_problem, clean_sentences, question_problem
from training.truthreader.ledger import AskedModel
from training.truthreader.records import Dropped, Example, Pair, Row, SourceDocument, Yield
from training.truthreader.related import RelatedPassages
from training.truthreader.rendering import render

CONTEXT = 4096
REFUSALS, FOLLOWED, REPLACED, OMITTED = 0.1, 0.5, 0.5, 0.5

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is made: at most `limit` passages are asked about, prompts fit into `context` tokens.

    `refusals` is the share of rows that are to be refused, the others the shares of answers that are
    followed up, and of which there is a copy with uncited papers replaced, or with a cited one omitted.
    """

    limit: int | None = None
    context: int = CONTEXT
    refusals: float = REFUSALS
    followed: float = FOLLOWED
    replaced: float = REPLACED
    omitted: float = OMITTED


@dataclass(frozen=True, slots=True)
class Construction:
    """What was made of documents, and what was not."""

    rows: tuple[Row, ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """The documents with what is looked up in them."""

    documents: Mapping[str, SourceDocument]
    papers: Mapping[str, Paper]
    passages: tuple[Passage, ...]
    related: RelatedPassages

    @classmethod
    def of(cls, documents: Sequence[SourceDocument]) -> "Library":
        passages = tuple(passage for document in documents for passage in asking.askable(document))
        return cls(
            {document.paper.id: document for document in documents},
            {document.paper.id: document.paper for document in documents},
            passages,
            RelatedPassages(passages),
        )


def construct(
    documents: Sequence[SourceDocument], asked: AskedModel, sizes: Sizes, seed: int, say: Say
) -> Construction:
    """Return the rows that are made of documents with a model's help; raises ModelError."""
    library = Library.of(documents)
    chosen = asking.chosen_passages(documents, sizes.limit, seed)
    written = _written(chosen, library, asked, say)
    kept, dropped = faithful(written.pairs)
    followed = _followed(kept, library, asked, sizes.followed, seed)
    more, unfaithful = faithful(followed.pairs)
    cited, uncited = _cited([*kept, *more], library)
    examples, lost = _in_dialogues(cited, seed)
    every = [*examples, *_changed(examples, library, sizes, seed)]
    refused, answering = _refused(every, library, sizes, seed)
    rendered = [render(one, sizes.context, _chance(seed, one, "reply")) for one in (*every, *refused)]
    failed = (*written.dropped, *dropped, *followed.dropped, *unfaithful, *uncited, *lost, *answering)
    return Construction(
        tuple(one for one in rendered if isinstance(one, Row)),
        (*failed, *(one for one in rendered if isinstance(one, Dropped))),
    )


def faithful(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Dropped]]:
    """Return the pairs whose answers their passages say, and the others with the reason."""
    kept: list[Pair] = []
    dropped: list[Dropped] = []
    for pair in pairs:
        evidence = "\n".join(passage.text for passage in pair.shown)
        problem = question_problem(pair, (one.question for one in kept))
        problem = problem or answer_problem(clean_sentences(pair.answer), evidence)
        if problem:
            dropped.append(Dropped(pair.id, "filtering", problem, pair.question, pair.answer))
        else:
            kept.append(pair)
    return kept, dropped


def _written(chosen: Sequence[Passage], library: Library, asked: AskedModel, say: Say) -> Yield:
    """Ask about every chosen passage, then of every document that has one for a summary and a synthesis."""
    papers = dict.fromkeys(passage.paper_id for passage in chosen)
    documents = [library.documents[paper] for paper in papers]
    made = Yield()
    for place, passage in enumerate(chosen, start=1):
        _add(made, asking.ask_fact(passage, library.papers[passage.paper_id].title, asked))
        say(f"passage {place} of {len(chosen)}: {len(made.pairs)} questions")
    for place, document in enumerate(documents, start=1):
        _add(made, asking.ask_summary(document, asked))
        _add(made, asking.ask_synthesis(document, dict(library.documents), library.related, asked))
        say(f"document {place} of {len(documents)}: {len(made.pairs)} questions")
    return made


def _followed(pairs: Sequence[Pair], library: Library, asked: AskedModel, share: float, seed: int) -> Yield:
    made = Yield()
    for pair in pairs:
        if pair.kind == "fact" and random.Random(f"{seed} {pair.id} followed").random() < share:
            _add(made, asking.ask_follow_up(pair, library.papers[pair.shown[0].paper_id].title, asked))
    return made


def _add(made: Yield, more: Yield) -> None:
    made.pairs += more.pairs
    made.dropped += more.dropped


def _cited(pairs: Sequence[Pair], library: Library) -> tuple[list[Example], list[Dropped]]:
    found = [(pair, context.gather(pair, library.related, library.papers)) for pair in pairs]
    dropped = [
        Dropped(pair.id, "citing", "a sentence that nothing carries", pair.question, pair.answer)
        for pair, example in found
        if example is None
    ]
    return [example for _, example in found if example], dropped


def _in_dialogues(examples: Sequence[Example], seed: int) -> tuple[list[Example], list[Dropped]]:
    """Return the examples with earlier turns, their papers shuffled."""
    earlier = {one.pair.id: one for one in examples}
    made: list[Example] = []
    dropped: list[Dropped] = []
    for one in examples:
        told = with_history(one, earlier, examples, _chance(seed, one, "history"))
        if told:
            made.append(context.shuffled(told, _chance(seed, one, "order")))
        else:
            dropped.append(Dropped(one.pair.id, "dialogues", "what it leans on is gone", one.pair.question))
    return made, dropped


def _changed(examples: Sequence[Example], library: Library, sizes: Sizes, seed: int) -> Iterator[Example]:
    """Yield copies with other uncited papers, and without one of several cited ones."""
    for one in examples:
        chance = _chance(seed, one, "changed")
        if chance.random() < sizes.replaced:
            other = context.replaced(one, library.passages, library.papers, chance)
            if other != one:
                yield context.shuffled(other, chance)
        if len(one.cited) > 1 and chance.random() < sizes.omitted:
            yield context.omitted(one, chance.choice(one.cited))


def _refused(
    examples: Sequence[Example], library: Library, sizes: Sizes, seed: int
) -> tuple[list[Example], list[Dropped]]:
    """Return as many questions without what answers them as the share of refusals wants."""
    answered = sum(bool(one.sentences) for one in examples)
    missing = round(answered * sizes.refusals / (1 - sizes.refusals)) - (len(examples) - answered)
    facts = [one for one in examples if one.pair.kind == "fact" and one.change == "shuffled"]
    made: list[Example] = []
    dropped: list[Dropped] = []
    for one in random.Random(f"{seed} refused").sample(facts, len(facts)):
        if len(made) >= missing:
            break
        found = context.unanswerable(one.pair, library.related, library.papers)
        if found:
            told = replace(found, history=one.history, history_type=one.history_type)
            made.append(context.shuffled(told, _chance(seed, one, "refused")))
        else:
            dropped.append(
                Dropped(one.pair.id, "refusals", "related passages answer it too", one.pair.question)
            )
    return made, dropped


def _chance(seed: int, example: Example, purpose: str) -> random.Random:
    return random.Random(f"{seed} {example.pair.id} {example.change} {purpose}")
