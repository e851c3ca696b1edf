"""Fits the scales of the choice of sentences (how likely each belongs to an answer) on judged questions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assistant.chat import Assistant
from assistant.learned.relevance import ANSWERABLE, CHOICE, RelevanceScorer, shares
from assistant.ranking.features import Asking, answerable_features, ask_of, read_features, with_kind
from assistant.ranking.rank import MOST_READ, Compared, compare
from assistant.reading.standing_alone import is_quotable
from corpus.encoder_choice import open_encoder
from corpus.language.bm25 import Bm25
from corpus.records import Collection, Paper, paper_id
from corpus.settings import read_settings
from evaluation.answers.asking import open_assistant
from evaluation.answers.evidence_sets import written_questions
from evaluation.answers.questions import FULL, JudgedQuestion, gather_evidence, read_judged
from evaluation.homes import ListedPapers
from training.files import FOLDS, FREE_SINCE, TrainingError, draw, hash_byte
from training.network import WeightedRows, fit_scale

HARDEST = 24  # the most wrong sentences of a question, nearest by BM25
FREEDOM = 0.01  # inverse of the regularisation
# Weights of questions put to a foreign corpus and of questions on abstracts, relative to judged ones.
FOREIGN, ON_ABSTRACT = 0.25, 0.3
# The corpus of all abstracts that questions were written for.
ABSTRACTS = Collection(id="written", title="Abstracts")


@dataclass(frozen=True, slots=True)
class HeldOutAbstracts:
    """The data folder of questions written for abstracts, the home of their corpus, and the fold to use."""

    data: Path
    home: Path
    fold: int = 0


@dataclass(frozen=True, slots=True)
class JudgedData:
    """The judged questions and the homes of their corpora, by name.

    The network is not trained on the corpora in `measured` and the held-out `abstracts`. The scales are
    fitted on them; abstracts are only used for the scale of refusal. `foreign` maps some of these corpora to
    others that cannot answer their questions.
    """

    questions: Path
    homes: Mapping[str, Path]
    measured: frozenset[str]
    foreign: Mapping[str, Sequence[str]]
    abstracts: HeldOutAbstracts | None = None

    def questions_with_assistants(
        self, *, measured: bool, most: int | None = None
    ) -> Iterator[tuple[JudgedQuestion, Assistant]]:
        """Yield the questions of the measured corpora, or of the others, with the assistant of their corpus.

        At most `most` questions, always the same. Raises CorpusError, and TrainingError if the home of a
        corpus is not given.
        """
        assistants: dict[str, Assistant] = {}
        questions = [
            question
            for question in read_judged(self.questions)
            if (question.corpus in self.measured) == measured
        ]
        for question in questions if most is None else draw(questions, most, "judged"):
            corpus = question.corpus
            if corpus not in self.homes:
                raise TrainingError(f"The home of {corpus} is missing: use --home {corpus}=FOLDER.")
            if corpus not in assistants:
                assistants[corpus] = open_assistant(self.homes[corpus])
            yield question, assistants[corpus]


def judged_texts(data: JudgedData, most: int) -> list[tuple[str, list[tuple[str, str]], list[bool]]]:
    """Return at most `most` questions for training, with texts (title, text) and True for those that answer.

    If a question has full answers, sentences that answer in part are left out.
    """
    rows = []
    for question, assistant in data.questions_with_assistants(measured=False, most=most):
        sentences = [
            (paper.paper.title, text, question.grades[place])
            for paper in gather_evidence(question, assistant).papers
            for passage in paper.passages
            for index in range(len(passage.sentences))
            if (place := (paper.paper.id, passage.number, index)) in question.grades
            and is_quotable(text := passage.sentence_text(index))
        ]
        best = max((grade for _, _, grade in sentences), default=0.0)
        right = [sentence for sentence in sentences if sentence[2] == best > 0]
        wrong = [sentence for sentence in sentences if not sentence[2]]
        if len(wrong) > HARDEST:
            scores = Bm25([text for _, text, _ in wrong]).scores(question.question)
            wrong = [wrong[index] for index in np.argsort(-np.asarray(scores), kind="stable")[:HARDEST]]
        if kept := [*right, *wrong]:
            texts = [(title, text) for title, text, _ in kept]
            rows.append((question.question, texts, [bool(grade) for _, _, grade in kept]))
    return rows


@dataclass(frozen=True, slots=True)
class _Candidates:
    """A question's candidate sentences with their features and grades; NaN is an unjudged sentence."""

    question: JudgedQuestion
    asking: Asking
    compared: Compared
    features: Mapping[str, Sequence[float]]
    grades: NDArray[np.float64]

    @classmethod
    def of(cls, question: JudgedQuestion, assistant: Assistant) -> Self:
        """Return the candidates that the product's extractive writer would have."""
        ranked = gather_evidence(question, assistant)
        asking, sentences = ask_of(ranked.plan, ranked.evidence, ranked.encoder, ranked.vectors)
        compared = compare(asking, sentences)
        places = (
            (candidate.paper.paper.id, candidate.passage.number, candidate.sentence)
            for candidate in compared.candidates
        )
        grades = np.asarray([question.grades.get(place, np.nan) for place in places])
        features = with_kind(compared.features, asking.kind) if compared.candidates else {}
        return cls(question, asking, compared, features, grades)

    def read_by(self, network: RelevanceScorer, scale: Mapping[str, float]) -> "_Candidates":
        """Return the likeliest candidates by `scale`, with the network's features added."""
        indices = np.argsort(-np.asarray(shares(self.features, scale)), kind="stable")[:MOST_READ]
        candidates = [self.compared.candidates[index] for index in indices]
        titles = [candidate.paper.paper.title for candidate in candidates]
        texts = [candidate.text for candidate in candidates]
        numbers = network.numbers(self.asking.query, texts, titles)
        selected = {
            name: [values[index] for index in indices] for name, values in self.compared.features.items()
        }
        features = with_kind(selected | read_features(numbers, candidates), self.asking.kind)
        return replace(self, features=features, grades=self.grades[indices])


def choice_scales(data: JudgedData, network: RelevanceScorer, seed: int) -> dict[str, dict[str, float]]:
    """Fit the scales of the choice and of answerability, each with and without the network's features.

    The network reads the likeliest candidates by the scale without it. Answerability is also learned from the
    held-out abstracts and from questions put to a foreign corpus.
    """
    judged = [
        _Candidates.of(question, assistant)
        for question, assistant in data.questions_with_assistants(measured=True)
    ]
    judged = [question for question in judged if question.compared.candidates]
    others = [(question, weight) for question, weight in _refusal_only(data) if question.compared.candidates]
    _check_enough(judged)
    first_scale = _scale(judged, seed)
    judged_read = [question.read_by(network, first_scale) for question in judged]
    others_read = [(question.read_by(network, first_scale), weight) for question, weight in others]
    return {
        f"{CHOICE}_features": first_scale,
        f"{CHOICE}_all": _scale(judged_read, seed),
        f"{ANSWERABLE}_features": _answerable_scale(judged, others, seed),
        f"{ANSWERABLE}_all": _answerable_scale(judged_read, others_read, seed),
    }


def _refusal_only(data: JudgedData) -> Iterator[tuple[_Candidates, float]]:
    """Yield the questions that are only used for answerability, each with its weight."""
    yield from ((question, FOREIGN) for question in _foreign_questions(data))
    if abstracts := data.abstracts:
        for question, assistant in written_judgements(abstracts.data, abstracts.home, abstracts.fold):
            yield _Candidates.of(question, assistant), ON_ABSTRACT


def _foreign_questions(data: JudgedData) -> Iterator[_Candidates]:
    """Yield questions on whole corpora, put to corpora that cannot answer them."""
    assistants = {
        question.corpus: assistant for question, assistant in data.questions_with_assistants(measured=True)
    }
    for question in read_judged(data.questions):
        if question.answerable and not question.paper:
            for corpus in data.foreign.get(question.corpus, ()):
                changes = {"collection": None, "answerable": False, "seen": ()}
                yield _Candidates.of(question.model_copy(update=changes), assistants[corpus])


def _answerable_scale(
    rows: Sequence[_Candidates], others: Sequence[tuple[_Candidates, float]], seed: int
) -> dict[str, float]:
    """Fit a regression of whether a question is answerable on the features of its best candidate.

    The probabilities of candidates in each half of the questions come from a scale fitted on the other half.
    """

    def answers() -> WeightedRows:
        for half in (0, 1):
            scale = _scale([row for row in rows if _half(row) != half], seed)
            for row, weight in [*((row, 1.0) for row in rows), *others]:
                if _half(row) == half:
                    best = answerable_features(row.features, shares(row.features, scale))
                    features = {name: value for name, (value,) in best.items()}
                    yield features, row.question.answerable, weight

    return fit_scale(answers(), seed)


def _check_enough(rows: Sequence[_Candidates]) -> None:
    """Raise TrainingError unless both halves of the questions have answered and unanswered ones."""
    for half in (0, 1):
        half_rows = [row for row in rows if _half(row) == half]
        grades = {grade for row in half_rows for grade in row.grades[~np.isnan(row.grades)].tolist()}
        if len({row.question.answerable for row in half_rows}) < 2 or not {FULL, 0.0} <= grades:
            raise TrainingError(
                "There are too few judged questions: each half needs answered and unanswered ones."
            )


def _half(row: _Candidates) -> int:
    return hash_byte(row.question.id.partition("#")[0]) % 2


def _scale(rows: Sequence[_Candidates], seed: int) -> dict[str, float]:
    """Fit a regression of grades on features; a grade of 0.5 counts half as an answer, half as none.

    The total weight of a question grows less than proportionally with its number of answering sentences.
    """

    def answers() -> WeightedRows:
        for row in rows:
            known = np.flatnonzero(~np.isnan(row.grades))
            weight = 1 / math.sqrt(1 + np.count_nonzero(row.grades[known]))
            for index in known.tolist():
                features = {name: values[index] for name, values in row.features.items()}
                for is_answer, part in ((True, row.grades[index]), (False, 1 - row.grades[index])):
                    if part:
                        yield features, is_answer, weight * part

    return fit_scale(answers(), seed, freedom=FREEDOM)


def written_judgements(data: Path, home: Path, fold: int) -> Iterator[tuple[JudgedQuestion, Assistant]]:
    """Yield the questions on the abstracts of a fold, with the assistant of a corpus of all abstracts.

    They only say whether a question can be answered; no sentences are judged. The corpus is built in `home`.
    Raises EvaluationError and CorpusError.
    """
    written = list(written_questions(data))
    abstracts = {abstract.paper: abstract for _, abstract in written}.values()
    papers = [
        Paper(
            id=paper_id(ABSTRACTS.id, abstract.paper),
            collection_id=ABSTRACTS.id,
            title=abstract.title,
            authors=(),
            year=abstract.year,
            venue="",
            abstract=" ".join(abstract.sentences),
        )
        for abstract in abstracts
    ]
    settings = read_settings().model_copy(update={"home": home})
    ListedPapers(ABSTRACTS, papers).build(settings, open_encoder(settings))
    assistant = open_assistant(home)
    for number, (question, abstract) in enumerate(written):
        if abstract.year >= FREE_SINCE and hash_byte(abstract.paper) % FOLDS == fold:
            yield (
                JudgedQuestion(
                    id=f"{abstract.paper}#{number}",
                    question=question.standalone,
                    corpus=ABSTRACTS.id,
                    kind=question.kind,
                    answerable=bool(question.answers),
                    full=(),
                    part=(),
                    leaning=(),
                    seen=(),
                ),
                assistant,
            )
