"""Questions to whole collections with the sentences judged to answer them.

The rows hold questions and places, no text of any paper: the papers are read from the corpus of a home.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from assistant.chat import Assistant
from assistant.questions import request_kind
from assistant.records import AskOptions, Evidence, Rewrite
from assistant.retrieve import as_read, retrieve
from corpus.records import Scope
from corpus.search import DEFAULT_PAPERS
from evaluation.answers.questions import QuestionKind
from evaluation.input_files import read_numbered_json_lines

JUDGED = Path(__file__).parents[1] / "data" / "judged.jsonl"
FULL, PART = 1.0, 0.5
_HINT = "Each line has id, corpus, question, answerable and places of sentences; see evaluation/README.md."

Place = tuple[str, int, int]
"""A paper's id, the number of a passage in it, the number of a sentence in that."""


class JudgedQuestion(BaseModel):
    """A question that can be read alone, and what of the papers found for it answers it.

    Of the sentences `seen`, those of `full` answer it, those of `part` belong to an answer, the others do
    not; those of `leaning` cannot be read alone. A place is "paper#passage:sentence", of `seen` a range of
    sentences. `corpus` names the corpus it was asked of, `paper` the one paper.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    id: str = Field(min_length=1)
    corpus: str
    question: str = Field(min_length=1)
    kind: QuestionKind
    paper: str | None = None
    collection: str | None = None
    answerable: bool
    full: tuple[str, ...]
    part: tuple[str, ...]
    leaning: tuple[str, ...]
    seen: tuple[str, ...]

    @property
    def scope(self) -> Scope:
        return Scope(
            collections=(self.collection,) if self.collection else (),
            papers=(self.paper,) if self.paper else (),
        )

    @cached_property
    def grades(self) -> dict[Place, float]:
        """How far each sentence seen answers: 1 fully, 0.5 in part, 0 not."""
        grades = dict.fromkeys(places(self.seen), 0.0)
        return grades | dict.fromkeys(places(self.part), PART) | dict.fromkeys(places(self.full), FULL)


def places(written: Sequence[str]) -> Iterator[Place]:
    """Yield the places that are written as "paper#passage:sentence" or "paper#passage:first-last"."""
    for one in written:
        paper, _, rest = one.rpartition("#")
        passage, _, sentences = rest.partition(":")
        first, _, last = sentences.partition("-")
        for sentence in range(int(first), int(last or first) + 1):
            yield paper, int(passage), sentence


def read_judged(path: Path = JUDGED) -> list[JudgedQuestion]:
    """Return the questions of a file; raises EvaluationError."""
    return [row for _, row in read_numbered_json_lines(path, JudgedQuestion, _HINT)]


@dataclass(frozen=True, slots=True)
class Found:
    """What the product found for a question: its query as it is searched, and the evidence."""

    rewrite: Rewrite
    evidence: Evidence


def find(question: JudgedQuestion, assistant: Assistant) -> Found:
    """Return what a writer would be given to answer a question, whether or not it would be refused."""
    asked = Rewrite(
        question.question, question.question, kind=request_kind(question.question, question.scope)
    )
    rewrite = as_read(assistant.corpus, asked)
    options = AskOptions(question.scope, DEFAULT_PAPERS)
    papers = retrieve(assistant.corpus, assistant.encoder, rewrite, options)
    return Found(*assistant.gathered(rewrite, papers, options))
