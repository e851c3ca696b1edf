"""Self-instruction: a model writes questions with their answers, from passages (TruthReader, section 3.1)."""

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from assistant.models import BadReplyError
from assistant.prompts import as_data, as_line, load_prompt, mark, render_passage
from corpus.records import Passage
from corpus.text import words
from training.truthreader.ledger import AskedModel
from training.truthreader.records import Dropped, Kind, Pair, SourceDocument, Yield
from training.truthreader.related import RelatedPassages

PROMPTS = Path(__file__).parent / "prompts"
MOST_PAIRS = 2
FEWEST_WORDS = 30
SUMMARY_PASSAGES = 5
SYNTHESIS_PAPERS, SYNTHESIS_PASSAGES = 3, 1


class PairReply(BaseModel):
    """A question and its answer as a model replies them."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=8, max_length=300)
    answer: str = Field(min_length=8, max_length=1_500)


class PairsReply(BaseModel):
    """A model's reply; the list is empty where there was nothing to ask."""

    model_config = ConfigDict(extra="forbid")

    pairs: list[PairReply] = Field(max_length=MOST_PAIRS)


def askable(document: SourceDocument) -> tuple[Passage, ...]:
    """Return the passages of a document that say enough to be asked about."""
    return tuple(
        one
        for one in document.passages
        if one.kind in ("abstract", "body") and len(words(one.text)) >= FEWEST_WORDS
    )


def chosen_passages(documents: Sequence[SourceDocument], limit: int | None, seed: int) -> tuple[Passage, ...]:
    """Return the passages to ask about, drawn at random where there are more than `limit`, in their order."""
    every = [passage for document in documents for passage in askable(document)]
    if limit is None or len(every) <= limit:
        return tuple(every)
    drawn = random.Random(seed).sample(range(len(every)), limit)
    return tuple(every[index] for index in sorted(drawn))


def ask_fact(passage: Passage, title: str, asked: AskedModel) -> Yield:
    """Have questions asked that one passage answers."""
    return _ask(passage.id, "fact", (passage,), {"material": _material(title, (passage,))}, asked)


def ask_summary(document: SourceDocument, asked: AskedModel) -> Yield:
    """Have a document summed up by its first passages; asks nothing of one that has hardly any."""
    shown = askable(document)[:SUMMARY_PASSAGES]
    if len(shown) < 2:
        return Yield()
    identifier = f"{document.paper.id}:summary"
    return _ask(identifier, "summary", shown, {"material": _material(document.paper.title, shown)}, asked)


def ask_synthesis(
    document: SourceDocument,
    documents: dict[str, SourceDocument],
    related: RelatedPassages,
    asked: AskedModel,
) -> Yield:
    """Have a document and those nearest to it brought together; asks nothing where there are no others."""
    near = [document, *_neighbours(document, documents, related)]
    if len(near) < 2:
        return Yield()
    parts = [(one.paper.title, askable(one)[:SYNTHESIS_PASSAGES]) for one in near]
    shown = tuple(passage for _, passages in parts for passage in passages)
    material = "\n\n".join(_material(title, passages) for title, passages in parts)
    return _ask(f"{document.paper.id}:synthesis", "synthesis", shown, {"material": material}, asked)


def ask_follow_up(pair: Pair, title: str, asked: AskedModel) -> Yield:
    """Have a question asked that leans on an earlier one, of the same passage."""
    earlier = "\n".join(
        (mark("earlier"), as_line(pair.question), as_data(pair.answer), mark("end of earlier"))
    )
    values = {"earlier": earlier, "material": _material(title, pair.shown)}
    return _ask(f"{pair.id}:next", "fact", pair.shown, values, asked, leans_on=pair)


def _neighbours(
    document: SourceDocument, documents: dict[str, SourceDocument], related: RelatedPassages
) -> Iterator[SourceDocument]:
    first = askable(document)[:1]
    near = related.nearest(first[0].text if first else document.paper.title)
    others = dict.fromkeys(one.paper_id for one in near if one.paper_id != document.paper.id)
    found = (documents[identifier] for identifier in others)
    yield from islice((one for one in found if askable(one)), SYNTHESIS_PAPERS - 1)


def _ask(
    identifier: str,
    kind: Kind,
    shown: tuple[Passage, ...],
    values: dict[str, str],
    asked: AskedModel,
    *,
    leans_on: Pair | None = None,
) -> Yield:
    prompt = "follow_up" if leans_on else kind
    try:
        reply = asked.reply(load_prompt(prompt, PROMPTS).render(**values), PairsReply)
    except BadReplyError as error:
        return Yield(dropped=[Dropped(identifier, "asking", "malformed reply", detail=str(error))])
    if not reply.pairs:
        return Yield(dropped=[Dropped(identifier, "asking", "nothing to ask")])
    pairs = enumerate(reply.pairs, start=1)
    return Yield(
        [
            Pair(f"{identifier}:{place}", kind, one.question, one.answer, shown, leans_on)
            for place, one in pairs
        ]
    )


def _material(title: str, passages: Sequence[Passage]) -> str:
    body = "\n".join(map(render_passage, passages))
    return f"{mark('paper')}\nTitle: {as_line(title)}\n{body}\n{mark('end of paper')}"
