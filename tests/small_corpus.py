"""A corpus of a few short papers, written through the store's own writer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from corpus.encoders.base import Encoder
from corpus.records import Collection, Paper, Passage, Reference, Sentence, paper_id, passage_id
from corpus.store import rows
from corpus.store.writer import CorpusWriter

# Hostile texts in place of an id or a name in an address.
HOSTILE_IDS = "x' OR 1=1 --~'~''~\"notes\"~notes' OR 'a'='a~\\'~*~notes%~\ud800~\x00".split("~")


def make_paper(
    collection: str, key: str, *, year: int | None = 2020, position: int = 0, title: str = ""
) -> Paper:
    return Paper(
        id=paper_id(collection, key),
        collection_id=collection,
        title=title or f"On {key}",
        authors=(),
        year=year,
        venue="",
        abstract="",
        position=position,
    )


def make_passages(paper: Paper, texts: Sequence[str]) -> list[Passage]:
    return [
        Passage(
            id=passage_id(paper.id, number),
            paper_id=paper.id,
            collection_id=paper.collection_id,
            number=number,
            kind="body" if number else "abstract",
            section=(),
            text=text,
            sentences=(Sentence(0, len(text)),),
        )
        for number, text in enumerate(texts)
    ]


def add(
    writer: CorpusWriter,
    encoder: Encoder,
    papers: Mapping[Paper, Sequence[str]],
    references: Mapping[Paper, tuple[Reference, ...]] = MappingProxyType({}),
) -> None:
    """Write papers with the texts of their passages, their collections with them, without publishing."""
    collections = sorted({paper.collection_id for paper in papers})
    writer.put_collections([Collection(identifier, f"Title of {identifier}") for identifier in collections])
    passages = [passage for paper, texts in papers.items() for passage in make_passages(paper, texts)]
    texts = [passage.text for passage in passages]
    # The same text is encoded once, so that a long paper costs little.
    different = list(dict.fromkeys(texts))
    vectors = dict(zip(different, encoder.encode_passages(different), strict=True))
    entries = [rows.PaperEntry(paper, references.get(paper, ())) for paper in papers]
    paper_rows = rows.paper_rows(entries)
    passage_rows = rows.passage_rows(
        passages, {paper.id: paper for paper in papers}, texts, np.stack([vectors[t] for t in texts])
    )
    writer.add_papers(paper_rows.to_batches(), passage_rows.to_batches())


def write_corpus(path: Path, encoder: Encoder, papers: Mapping[Paper, Sequence[str]]) -> None:
    writer = CorpusWriter(path, encoder)
    add(writer, encoder, papers)
    writer.publish()


def write_with_sentences(
    path: Path, encoder: Encoder, papers: Sequence[Paper], passages: Sequence[Passage]
) -> None:
    """Write passages with the vectors of their titles and sentences, as a build does."""
    by_id = {paper.id: paper for paper in papers}
    indexed = [rows.indexed_text(by_id[passage.paper_id], passage) for passage in passages]
    alone = [
        encoder.encode_passages(rows.sentence_texts(by_id[passage.paper_id], passage)) for passage in passages
    ]
    writer = CorpusWriter(path, encoder)
    homes = sorted({paper.collection_id for paper in papers})
    writer.put_collections([Collection(home, home) for home in homes])
    table = rows.passage_rows(passages, by_id, indexed, encoder.encode_passages(indexed), alone)
    entries = rows.paper_rows([rows.PaperEntry(paper, ()) for paper in papers])
    writer.add_papers(entries.to_batches(), table.to_batches())
    writer.publish()
