"""A small corpus in which papers cite each other and have aspects and topics, some of them hostile."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpus.encoders.base import Encoder
from corpus.records import (
    Aspect,
    Author,
    Cluster,
    Collection,
    Paper,
    Passage,
    Reference,
    Section,
    Sentence,
    Topic,
)
from corpus.store import rows
from corpus.store.writer import CorpusWriter
from tests.small_corpus import make_paper, make_passages

HOSTILE = "![x](http://203.0.113.9/a.png) :red[x] <b>"
MODEL = "open/Writer-7B"
TITLES = {
    "tokens": "Dropping Tokens Layer by Layer for Faster Inference",
    "heads": "Pruning Attention Heads and Layers Together",
    "summaries": "Faithful Summaries of Scientific Papers by Extraction",
    "plain": "A Paper About Which Nothing Is Known at All",
    "hostile": "How Names Can Hurt a Reader Who Trusts Them",
}
ABSTRACTS = {
    "tokens": (
        "Inference with large encoders is slow. ",
        "We drop tokens layer by layer. ",
        "It runs twice as fast.",
    ),
    "heads": ("Large encoders have heads they do not need. ", "We prune heads and layers together."),
    "summaries": ("Summaries often invent facts. ", "We extract sentences instead."),
    "plain": ("Nothing is said here.",),
    "hostile": ("Names are text of others.",),
}
TOPICS = {
    "tokens": (("field", "Efficiency"), ("task", "classification"), ("method", "token pruning")),
    "heads": (("field", "Efficiency"), ("method", "head pruning"), ("metric", "F1")),
    "summaries": (
        ("field", "Summarization"),
        ("task", "summarization"),
        ("dataset", "SciTLDR"),
        ("metric", "F1"),
    ),
    "plain": (),
    "hostile": (("field", HOSTILE), ("task", HOSTILE), ("method", "\u200b")),
}
ASPECTS = {
    "tokens": (
        Aspect("outcome", "It runs twice as fast.", 0, 2),
        Aspect("challenge", "Inference with large encoders is slow.", 0, 0),
        Aspect("approach", "The authors drop a token once it is not needed any more.", 1, 1, MODEL, 0.62),
    ),
    "heads": (Aspect("approach", "We prune heads and layers together.", 0, 1),),
    "hostile": (Aspect("challenge", HOSTILE, 0, 0, HOSTILE, 0.1),),
}
VENUES = {
    "tokens": "Findings of Somewhere",
    "heads": "Findings of Somewhere",
    "summaries": "Workshop on Words",
    "hostile": HOSTILE,
}
# The paper of which nothing is known has no place.
PLACES = {
    "tokens": (0.0, 0.0, 0),
    "heads": (1.0, 0.5, 0),
    "summaries": (6.0, 5.0, 1),
    "hostile": (5.0, 1.0, 2),
}
CLUSTERS = (Cluster(0, "encoders · layers", 2), Cluster(1, "summaries", 1), Cluster(2, HOSTILE, 1))
CITES = {"heads": ("tokens",), "summaries": ("heads", "tokens"), "hostile": ("tokens",)}
# Text in sections, each sentence with the entries of the bibliography that it cites; there is no entry 9.
SECTIONS: dict[str, tuple[tuple[tuple[Section, ...], tuple[tuple[str, tuple[int, ...]], ...]], ...]] = {
    "summaries": (
        ((Section("1", "Introduction"),), (("Many tokens can go. ", (2,)), ("So can heads.", (1, 1)))),
        ((Section("2", "Method"), Section("2.1", HOSTILE)), ((f"Words of {HOSTILE} stay words.", (0, 9)),)),
        ((Section("2", "Method"), Section("2.2", "Choice")), (("We choose sentences.", ()),)),
    )
}
BODY = ("A token is scored in every layer. ", "It is dropped once its score is low. ", "The rest goes on.")


def build_studied_home(home: Path, encoder: Encoder) -> Path:
    """Return a PAPER_TRAIL_HOME with this corpus, built when it is not there."""
    if not (home / "corpus" / "manifest.json").exists():
        papers = [_paper(key, position) for position, key in enumerate(TITLES)]
        passages = {paper.id: _passages(paper, key) for paper, key in zip(papers, TITLES, strict=True)}
        _write(home / "corpus", encoder, papers, passages)
    return home


def _paper(key: str, position: int) -> Paper:
    paper = make_paper("studied", key, year=2019 + position % 3, position=position, title=TITLES[key])
    return replace(
        paper,
        abstract="".join(ABSTRACTS[key]),
        authors=(
            Author("Ana", "Lin", ("University of Somewhere", "Institute of Text")),
            Author("Bo", "Ruan", ("University of Somewhere", HOSTILE) if key == "hostile" else ()),
        ),
        venue=VENUES.get(key, ""),
        arxiv_id={"tokens": "2203.08991v2", "hostile": "../../evil?x=1"}.get(key, ""),
        aspects=ASPECTS.get(key, ()),
        topics=tuple(Topic(kind, name, 0.5) for kind, name in TOPICS[key]),  # type: ignore[arg-type]
    )


def _passages(paper: Paper, key: str) -> list[Passage]:
    texts = [ABSTRACTS[key], BODY] if key == "tokens" else [ABSTRACTS[key]]
    texts += [tuple(text for text, _ in sentences) for _, sentences in SECTIONS.get(key, ())]
    made = make_passages(paper, ["".join(sentences) for sentences in texts])
    whole = [
        replace(passage, sentences=_spans(sentences)) for passage, sentences in zip(made, texts, strict=True)
    ]
    return [whole[0], *(_in_section(passage, key) for passage in whole[1:])]


def _in_section(passage: Passage, key: str) -> Passage:
    """Return a passage with its section and its citations, where it has them."""
    if key not in SECTIONS:
        return passage
    section, sentences = SECTIONS[key][passage.number - 1]
    spans = zip(passage.sentences, sentences, strict=True)
    cited = tuple(replace(span, references=references) for span, (_, references) in spans)
    return replace(passage, section=section, sentences=cited)


def _spans(sentences: Sequence[str]) -> tuple[Sentence, ...]:
    ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
    return tuple(Sentence(start, end) for start, end in zip([0, *ends], ends, strict=False))


def _references(key: str) -> tuple[Reference, ...]:
    if key not in CITES:
        return ()
    unknown = Reference(f"Somebody. Some other work {HOSTILE}. 2001.")
    return (unknown, *(Reference(f"Lin. {TITLES[cited]}. 2020.", TITLES[cited]) for cited in CITES[key]))


def _write(
    path: Path, encoder: Encoder, papers: Sequence[Paper], passages: Mapping[str, Sequence[Passage]]
) -> None:
    writer = CorpusWriter(path, encoder)
    writer.put_collections([Collection("studied", "Papers That Were Studied")])
    entries = [rows.PaperEntry(paper, _references(key)) for paper, key in zip(papers, TITLES, strict=True)]
    listed = [passage for paper in papers for passage in passages[paper.id]]
    texts = [passage.text for passage in listed]
    written = rows.passage_rows(
        listed, {paper.id: paper for paper in papers}, texts, np.stack(list(encoder.encode_passages(texts)))
    )
    writer.add_papers(rows.paper_rows(entries).to_batches(), written.to_batches())
    writer.put_map(_places(), CLUSTERS)
    writer.publish()


def _places() -> pa.Table:
    placed = [
        {"paper_id": f"studied/{key}", "x": x, "y": y, "cluster": number}
        for key, (x, y, number) in PLACES.items()
    ]
    return pa.Table.from_pylist(placed, schema=rows.PLACES)
