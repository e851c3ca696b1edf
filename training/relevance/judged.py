"""Judged questions as they are learned from: sentences for the network, and all that tells for its scale."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assistant.chat import Assistant
from assistant.generators import Asking, Compared, ask_of, compare
from assistant.learned import LONGEST_QUESTION, with_title
from assistant.reading import is_quotable
from corpus.language import Bm25
from evaluation.answers.asking import open_assistant
from evaluation.judged import JudgedQuestion, find, read_judged
from training.errors import TrainingError
from training.relevance.task import LONGEST, Listed
from training.trunk import PairTokenizer

HARDEST = 24  # sentences of a question that do not answer it, those that share most with it


@dataclass(frozen=True, slots=True)
class JudgedData:
    """The judged questions and the homes in which their corpora were built, by name.

    Those of the corpora in `measured` are kept from the network: the scale is fitted on them. `foreign` has
    for some of these the corpora that cannot answer their questions.
    """

    questions: Path
    homes: Mapping[str, Path]
    measured: frozenset[str]
    foreign: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence found for a question, with the title of its paper and how far it answers."""

    text: str
    title: str
    grade: float


@dataclass(frozen=True, slots=True)
class JudgedCandidates:
    """A judged question with the writer's candidates and their grades, NaN where nobody judged."""

    question: JudgedQuestion
    asking: Asking
    compared: Compared
    grades: NDArray[np.float64]


def opened(data: JudgedData, *, measured: bool) -> Iterator[tuple[JudgedQuestion, Assistant]]:
    """Yield the questions that are measured on, or the others, each with what answers from its corpus.

    Raises TrainingError where the home of a corpus is not named, and CorpusError.
    """
    assistants: dict[str, Assistant] = {}
    for question in read_judged(data.questions):
        if (question.corpus in data.measured) != measured:
            continue
        if question.corpus not in data.homes:
            raise TrainingError(
                f"The home of {question.corpus} is not named: --home {question.corpus}=FOLDER."
            )
        if question.corpus not in assistants:
            assistants[question.corpus] = open_assistant(data.homes[question.corpus])
        yield question, assistants[question.corpus]


def read_sentences(question: JudgedQuestion, assistant: Assistant) -> list[Sentence]:
    """Return what was judged of the sentences that are found for a question."""
    return [
        Sentence(text, paper.paper.title, question.grades[place])
        for paper in find(question, assistant).evidence.papers
        for passage in paper.passages
        for index in range(len(passage.sentences))
        if (place := (paper.paper.id, passage.number, index)) in question.grades
        and is_quotable(text := passage.sentence_text(index))
    ]


def judged_examples(data: JudgedData, trunk: Path) -> list[Listed]:
    """Return the questions that the network learns from, in tokens.

    What answers in part is left out beside what answers fully.
    """
    tokenizer = PairTokenizer(trunk, LONGEST)
    found = []
    for question, assistant in opened(data, measured=False):
        sentences = read_sentences(question, assistant)
        best = max((one.grade for one in sentences), default=0.0)
        right = [one for one in sentences if one.grade == best > 0]
        wrong = _hardest(question.question, [one for one in sentences if not one.grade])
        if kept := [*right, *wrong]:
            found.append(_listed(question.question, kept, len(right), tokenizer))
    return found


def _hardest(question: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    if len(sentences) <= HARDEST:
        return list(sentences)
    scores = Bm25([one.text for one in sentences]).scores(question)
    return [sentences[at] for at in np.argsort(-np.asarray(scores), kind="stable")[:HARDEST]]


def _listed(question: str, sentences: Sequence[Sentence], right: int, tokenizer: PairTokenizer) -> Listed:
    asked = question[:LONGEST_QUESTION]
    plain = tokenizer.pairs([(asked, one.text) for one in sentences])
    titled = tokenizer.pairs([(asked, with_title(one.title, one.text)) for one in sentences])
    return Listed(tuple(plain), tuple(titled), np.arange(len(sentences)) < right)


def judged_candidates(data: JudgedData) -> list[JudgedCandidates]:
    """Return the questions that are measured on with the writer's candidates."""
    return [_candidates(question, assistant) for question, assistant in opened(data, measured=True)]


def foreign_candidates(data: JudgedData) -> list[JudgedCandidates]:
    """Return questions of whole corpora with what is found for them where nothing answers."""
    assistants: dict[str, Assistant] = {}
    found = []
    for question, assistant in opened(data, measured=True):
        assistants[question.corpus] = assistant
    for question in (one for one in read_judged(data.questions) if one.answerable and not one.paper):
        for corpus in data.foreign.get(question.corpus, ()):
            asked = question.model_copy(update={"collection": None, "answerable": False, "seen": ()})
            found.append(_candidates(asked, assistants[corpus]))
    return found


def _candidates(question: JudgedQuestion, assistant: Assistant) -> JudgedCandidates:
    given = find(question, assistant)
    asking, sentences = ask_of(given.rewrite, given.evidence, assistant.encoder)
    compared = compare(asking, sentences)
    places = ((one.paper.paper.id, one.passage.number, one.sentence) for one in compared.candidates)
    grades = np.asarray([question.grades.get(place, np.nan) for place in places])
    return JudgedCandidates(question, asking, compared, grades)
