"""Reads documents to ask about, and the published dialogues of RefGPT and WebCPM with their source texts.

RefGPT (Yang et al., 2023): JSON lines or Parquet with a `reference` and a `dialogue`, whose roles are written
"<user>" and "<assistant>", "<Human 1>" and "<Assistant 1>", or, in the first version, "Human:" and
"Assistant:". WebCPM (Qin et al., 2023): a JSON list, or its parts under `data`, with `question`, `answer` and
`digests`, the facts that a person collected.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from assistant.checking.overlap import score_attribution
from corpus.records import Paper, Passage, paper_id
from corpus.sentences import sentence_spans
from corpus.text import shortened, storable
from evaluation.input_files import EvaluationError, first_fault, read_numbered_json_lines, read_text
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.prepare.passages import make_passages
from training.files import TrainingError
from training.truthreader.examples import PASSAGES, Pair, Source

COLLECTION = "documents"
MANIFEST = "manifest.json"

SourceDocument = tuple[Paper, tuple[Passage, ...]]


class TextRecord(BaseModel):
    """A line of a file of documents."""

    id: str = Field(min_length=1, max_length=200)
    title: str = Field(min_length=1, max_length=2_000)
    text: str = Field(min_length=1, max_length=2_000_000)


def read_documents(path: Path) -> list[SourceDocument]:
    """Read documents from a file or a home; raises TrainingError or EvaluationError if there are none."""
    if path.is_file():
        return list(_lines(path))
    for folder in (path / "corpus", path):
        if (folder / MANIFEST).is_file():
            from corpus.store.corpus import Corpus  # noqa: PLC0415 - half a second
            from corpus.store.manifest import read_manifest  # noqa: PLC0415 - half a second

            corpus = Corpus(folder, read_manifest(folder))  # without an encoder, as nothing is searched
            return [(paper, corpus.passages(paper.id)) for paper in corpus.papers()]
    raise TrainingError(f"There are no documents at {path}: use a PAPER_TRAIL_HOME or a JSON lines file.")


def _lines(path: Path) -> Iterator[SourceDocument]:
    seen: set[str] = set()
    for number, record in read_numbered_json_lines(path, TextRecord, "Each line has id, title and text."):
        if record.id in seen:
            raise TrainingError(f"{path}, line {number}: the id {record.id!r} is that of an earlier line.")
        seen.add(record.id)
        yield make_document(COLLECTION, record.id, record.title, record.text)


def make_document(collection: str, identifier: str, title: str, text: str) -> SourceDocument:
    """Make a paper with passages from a text; an empty line ends a paragraph."""
    title = storable(title).strip()
    paper = Paper(paper_id(collection, identifier), collection, title, (), None, "", "")
    blocks = [" ".join(block.split()) for block in storable(text).split("\n\n") if block.strip()]
    paragraphs = tuple(
        Paragraph(tuple(Piece(block[start:end].strip()) for start, end in sentence_spans(block)))
        for block in blocks
    )
    document = Document(title=title, sections=(DocumentSection((), paragraphs),))
    return paper, make_passages(paper, document)


LONGEST_TITLE = 80
_FORMS = "RefGPT has reference and dialogue, WebCPM question, answer and digests."
_ROLE = re.compile(
    r"<(?P<tag>user|human|assistant)[ \d]*>\s*[:：]?"
    r"|^\s*(?P<name>user|human|assistant)(?:\(用户\))?[ \d]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(r"<(?:start|end)_[a-z]{1,20}[ \d]*>", re.IGNORECASE)
# Markers of digests in WebCPM's answers.
_DIGEST_NUMBER = re.compile(r"【\d+】|<\d+>")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Questions with their answers, in order, and the documents that the answers are based on."""

    id: str
    source: Source
    documents: tuple[SourceDocument, ...]
    turns: tuple[tuple[str, str], ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The body passages of all documents."""
        return tuple(
            passage for _, passages in self.documents for passage in passages if passage.kind == "body"
        )

    def pairs(self) -> Iterator[Pair]:
        """Yield a pair for each turn, with the passages that overlap most with its answer."""
        passages, pair = self.passages, None
        for number, (question, answer) in enumerate(self.turns, start=1):
            closest = nearest(answer, passages, PASSAGES - 1)
            pair = Pair(f"{self.id}:{number}", "fact", question, answer, closest, pair, self.source)
            yield pair


def nearest(answer: str, passages: Sequence[Passage], count: int) -> tuple[Passage, ...]:
    """Return the `count` passages that overlap most with an answer, in their original order."""
    best = sorted(passages, key=lambda passage: -score_attribution(answer, passage.text))[:count]
    return tuple(passage for passage in passages if passage in best)


class _RefGpt(BaseModel):
    reference: str = Field(min_length=1)
    dialogue: str = Field(min_length=1)
    title: str = ""

    def read(self, identifier: str) -> Dialogue:
        title = self.title or shortened(self.reference, LONGEST_TITLE)
        document = make_document("refgpt", identifier, title, self.reference)
        return Dialogue(f"refgpt/{identifier}", "refgpt", (document,), _turns(self.dialogue))


class _Fact(BaseModel):
    desc: str


class _Digest(BaseModel):
    datas: list[_Fact]


class _WebCpm(BaseModel):
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    digests: list[_Digest]

    def read(self, identifier: str) -> Dialogue:
        facts = ["".join(fact.desc for fact in digest.datas).strip() for digest in self.digests]
        documents = tuple(
            make_document("webcpm", f"{identifier}-{number}", shortened(text, LONGEST_TITLE), text)
            for number, text in enumerate(filter(None, facts), start=1)
        )
        turn = (self.question.strip(), _DIGEST_NUMBER.sub("", self.answer).strip())
        return Dialogue(f"webcpm/{identifier}", "webcpm", documents, (turn,) if documents else ())


_RECORD: TypeAdapter[_RefGpt | _WebCpm] = TypeAdapter(_RefGpt | _WebCpm)


def read_dialogues(path: Path, limit: int | None, seed: int) -> list[Dialogue]:
    """Read at most `limit` dialogues of a file, drawn at random; raises EvaluationError.

    A dialogue whose roles do not alternate has no turns.
    """
    records = _records(path)
    if not records:
        raise EvaluationError(f"There is no dialogue in {path}. {_FORMS}")
    indices: Sequence[int] = range(len(records))
    if limit is not None and len(records) > limit:
        indices = sorted(random.Random(f"{seed} {path.name}").sample(indices, limit))
    dialogues = []
    for index in indices:
        try:
            record = _RECORD.validate_python(records[index])
        except ValidationError as error:
            fault = first_fault(error, "the record")
            raise EvaluationError(f"{path}, record {index + 1}: {fault}. {_FORMS}") from None
        dialogues.append(record.read(f"{path.stem}-{index + 1}"))
    return dialogues


def _records(path: Path) -> list[Any]:
    try:
        if path.suffix == ".parquet":
            return list(parquet.read_table(path).to_pylist())
        text = read_text(path)
        try:
            whole = json.loads(text)
        except ValueError:
            return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, ValueError, pa.ArrowException) as error:
        raise EvaluationError(f"The file {path} cannot be read: {error}. {_FORMS}") from None
    # WebCPM's own program splits its list into objects of this form.
    records = whole.get("data", whole) if isinstance(whole, dict) else whole
    return records if isinstance(records, list) else [records]


def _turns(dialogue: str) -> tuple[tuple[str, str], ...]:
    """Parse the turns of a dialogue of RefGPT; () if its roles do not alternate."""
    parts = _ROLE.split(_END.sub("", dialogue))[1:]
    is_answer = [
        (tag or name).lower() == "assistant" for tag, name in zip(parts[::3], parts[1::3], strict=True)
    ]
    texts = [text.strip() for text in parts[2::3]]
    if not all(texts) or is_answer != [False, True] * (len(texts) // 2):
        return ()
    return tuple(zip(texts[::2], texts[1::2], strict=True))
