"""What a question is asked with: evidence gathered, shuffled, replaced, omitted (TruthReader, section 3.1).

Each step takes an example and returns another, whose labels are those of its own evidence.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from assistant.checking import score_attribution
from assistant.reading import leans
from assistant.records import Evidence, LabelledPaper
from corpus.records import Paper, Passage
from training.truthreader.citing import CARRIED, candidates, cite
from training.truthreader.faithful import clean_sentences, entity_problem
from training.truthreader.records import CitedSentence, Example, Pair
from training.truthreader.related import RelatedPassages

PASSAGES = 4
"""So many a question is asked with, as TruthReader retrieves."""
FEWEST_UNANSWERING = 2

Papers = Mapping[str, Paper]


def labelled(passages: Sequence[Passage], papers: Papers) -> Evidence:
    """Return passages as evidence: a label for each paper in the order of its first passage."""
    order = list(dict.fromkeys(passage.paper_id for passage in passages))
    by_paper = sorted(passages, key=lambda one: (order.index(one.paper_id), one.number))
    grouped = groupby(by_paper, key=lambda one: one.paper_id)
    return Evidence(
        tuple(
            LabelledPaper(label, papers[paper], tuple(found))
            for label, (paper, found) in enumerate(grouped, start=1)
        )
    )


def gather(pair: Pair, related: RelatedPassages, papers: Papers) -> Example | None:
    """Return a pair with its passages and related ones, cited; None where a sentence is carried by none."""
    shown = {passage.id for passage in pair.shown}
    # A summary is asked of one paper, and a synthesis has papers enough.
    wanted = max(0, PASSAGES - len(pair.shown)) if pair.kind == "fact" else 0
    near = related.nearest(pair.question, wanted, without=shown) if wanted else ()
    evidence = labelled((*pair.shown, *near), papers)
    sentences = cite(clean_sentences(pair.answer), candidates(evidence, pair.shown))
    return Example(pair, evidence, sentences) if all(one.labels for one in sentences) else None


def unanswerable(pair: Pair, related: RelatedPassages, papers: Papers) -> Example | None:
    """Return a question with passages that are related to it and do not answer it, None without enough."""
    shown = {passage.id for passage in pair.shown}
    sentences = clean_sentences(pair.answer)
    near = related.nearest(pair.question, without=shown)
    open_ones = [one for one in near if not _answers(one, sentences)][:PASSAGES]
    if len(open_ones) < FEWEST_UNANSWERING:
        return None
    return Example(pair, labelled(open_ones, papers), (), change="unanswerable")


def _answers(passage: Passage, sentences: Sequence[str]) -> bool:
    """Return True if a passage says a sentence of an answer: its words, and all its names and numbers."""
    return any(
        score_attribution(sentence, passage.text) >= CARRIED and not entity_problem((sentence,), passage.text)
        for sentence in sentences
    )


def relabelled(example: Example, order: Sequence[int]) -> Example:
    """Return an example with only the papers of these labels, in this order, labelled anew from 1.

    Labels of papers that go are taken from the sentences too.
    """
    by_label = {paper.label: paper for paper in example.evidence.papers}
    new = {old: place for place, old in enumerate(order, start=1)}
    evidence = Evidence(tuple(replace(by_label[old], label=new[old]) for old in order))
    sentences = tuple(
        CitedSentence(one.text, tuple(sorted(new[label] for label in one.labels if label in new)))
        for one in example.sentences
    )
    return replace(example, evidence=evidence, sentences=sentences)


def shuffled(example: Example, chance: random.Random) -> Example:
    """Return an example with its papers in another order, labelled anew."""
    labels = [paper.label for paper in example.evidence.papers]
    return relabelled(example, chance.sample(labels, len(labels)))


def replaced(example: Example, others: Sequence[Passage], papers: Papers, chance: random.Random) -> Example:
    """Return an example whose uncited papers are others, drawn at random; the same where there are none."""
    cited = set(example.cited)
    known = {paper.paper.id for paper in example.evidence.papers}
    drawn = _other_papers(others, known, papers, chance)
    changed = [paper if paper.label in cited else next(drawn, paper) for paper in example.evidence.papers]
    if changed == list(example.evidence.papers):
        return example
    kept = tuple(replace(one, label=place) for place, one in enumerate(changed, start=1))
    return replace(example, evidence=Evidence(kept), change="replaced")


def _other_papers(
    others: Sequence[Passage], known: set[str], papers: Papers, chance: random.Random
) -> Iterator[LabelledPaper]:
    free = [passage for passage in others if passage.paper_id not in known]
    taken: set[str] = set()
    for passage in chance.sample(free, len(free)):
        if passage.paper_id not in taken:
            taken.add(passage.paper_id)
            yield LabelledPaper(0, papers[passage.paper_id], (passage,))


def omitted(example: Example, label: int) -> Example:
    """Return an example without one cited paper: what it alone carried is dropped, or all is refused.

    A sentence that leaned on a dropped one goes with it.
    """
    left = [paper.label for paper in example.evidence.papers if paper.label != label]
    without = relabelled(example, left)
    given = candidates(without.evidence, example.pair.shown)
    sentences = _still_carried(cite([one.text for one in without.sentences], given))
    is_partial = 0 < len(sentences) < len(example.sentences)
    return replace(without, sentences=sentences, change="omitted", is_partial=is_partial)


def _still_carried(sentences: Sequence[CitedSentence]) -> tuple[CitedSentence, ...]:
    kept: list[CitedSentence] = []
    was_dropped = False
    for sentence in sentences:
        was_dropped = not sentence.labels or (was_dropped and leans(sentence.text))
        if not was_dropped:
            kept.append(sentence)
    return tuple(kept)


def fewer_papers(example: Example, fits: Callable[[Example], bool]) -> Example | None:
    """Return an example with as many of its uncited papers as fit, None where the others are too much."""
    while not fits(example):
        cited = set(example.cited)
        labels = [paper.label for paper in example.evidence.papers]
        free = [label for label in labels if label not in cited]
        if not free or len(labels) == 1:
            return None
        example = relabelled(example, [label for label in labels if label != free[-1]])
    return example
