"""The choice of sentences: how likely each belongs to an answer, by scales fitted on judged questions."""

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
from training.network import Answers, fitted_scale

HARDEST = 24  # wrong sentences of a question, the nearest by words
FREEDOM = 0.01
# Weights of a question asked of a foreign corpus and of one on an abstract, relative to a judged one.
FOREIGN, ON_ABSTRACT = 0.25, 0.3
ABSTRACTS = Collection(
    id="written", title="Abstracts"
)  # of the corpus of all abstracts that questions were written for


@dataclass(frozen=True, slots=True)
class HeldAbstracts:
    """The folder of the questions written for abstracts, the home of their corpus, and the fold to fit on."""

    data: Path
    home: Path
    held: int = 0


@dataclass(frozen=True, slots=True)
class JudgedData:
    """The judged questions and the homes of their corpora, by name.

    The network does not learn from the corpora in `measured`, nor from the held-back `abstracts`: the scales
    are fitted on them, on the abstracts only that of refusal. `foreign` names, for some of these corpora,
    others that cannot answer their questions.
    """

    questions: Path
    homes: Mapping[str, Path]
    measured: frozenset[str]
    foreign: Mapping[str, Sequence[str]]
    abstracts: HeldAbstracts | None = None

    def opened(
        self, *, measured: bool, most: int | None = None
    ) -> Iterator[tuple[JudgedQuestion, Assistant]]:
        """Yield the questions that are measured on, or the others, with the assistant of their corpus.

        At most `most` of them, always the same ones.

        Raises TrainingError where the home of a corpus is not named, and CorpusError.
        """
        assistants: dict[str, Assistant] = {}
        every = read_judged(self.questions)
        asked = [question for question in every if (question.corpus in self.measured) == measured]
        for question in asked if most is None else draw(asked, most, "judged"):
            corpus = question.corpus
            if corpus not in self.homes:
                raise TrainingError(f"The home of {corpus} is not named: --home {corpus}=FOLDER.")
            if corpus not in assistants:
                assistants[corpus] = open_assistant(self.homes[corpus])
            yield question, assistants[corpus]


def judged_texts(data: JudgedData, most: int) -> list[tuple[str, list[tuple[str, str]], list[bool]]]:
    """Return at most `most` questions to learn from, with texts and their titles, and which of them answer.

    Sentences that answer in part are left out beside full answers.
    """
    found = []
    for question, assistant in data.opened(measured=False, most=most):
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
            wrong = [wrong[at] for at in np.argsort(-np.asarray(scores), kind="stable")[:HARDEST]]
        if kept := [*right, *wrong]:
            texts = [(title, text) for title, text, _ in kept]
            found.append((question.question, texts, [bool(grade) for _, _, grade in kept]))
    return found


@dataclass(frozen=True, slots=True)
class _Rows:
    """A question's candidates with their features, without or with the network's, and grades, NaN without."""

    question: JudgedQuestion
    asking: Asking
    compared: Compared
    features: Mapping[str, Sequence[float]]
    grades: NDArray[np.float64]

    @classmethod
    def of(cls, question: JudgedQuestion, assistant: Assistant) -> Self:
        """Return the candidates of the product's writer."""
        given = gather_evidence(question, assistant)
        asking, sentences = ask_of(given.plan, given.evidence, given.encoder, given.vectors)
        compared = compare(asking, sentences)
        places = (
            (found.paper.paper.id, found.passage.number, found.sentence) for found in compared.candidates
        )
        grades = np.asarray([question.grades.get(place, np.nan) for place in places])
        features = with_kind(compared.features, asking.kind) if compared.candidates else {}
        return cls(question, asking, compared, features, grades)

    def read(self, scale: Mapping[str, float], network: RelevanceScorer) -> "_Rows":
        """Return the candidates that are likeliest by a scale, with the network's features."""
        kept = np.argsort(-np.asarray(shares(self.features, scale)), kind="stable")[:MOST_READ]
        candidates = [self.compared.candidates[at] for at in kept]
        titles = [found.paper.paper.title for found in candidates]
        numbers = network.numbers(self.asking.query, [found.text for found in candidates], titles)
        few = {name: [values[at] for at in kept] for name, values in self.compared.features.items()}
        features = with_kind(few | read_features(numbers, candidates), self.asking.kind)
        return replace(self, features=features, grades=self.grades[kept])


def choice_scales(data: JudgedData, network: RelevanceScorer, seed: int) -> dict[str, dict[str, float]]:
    """Return the scales of the choice, and of whether anything found answers, with and without the network.

    The likeliest without the network are those that it reads. Refusal is learned from near misses, those of
    held-back abstracts too, and from questions asked of a foreign corpus.
    """
    asked = [_Rows.of(question, assistant) for question, assistant in data.opened(measured=True)]
    asked = [rows for rows in asked if rows.compared.candidates]
    others = [(rows, weight) for rows, weight in _only_refused(data) if rows.compared.candidates]
    _check_enough(asked)
    first = _scale(asked, seed)
    read = [rows.read(first, network) for rows in asked]
    others_read = [(rows.read(first, network), weight) for rows, weight in others]
    return {
        f"{CHOICE}_features": first,
        f"{CHOICE}_all": _scale(read, seed),
        f"{ANSWERABLE}_features": _answerable_scale(asked, others, seed),
        f"{ANSWERABLE}_all": _answerable_scale(read, others_read, seed),
    }


def _only_refused(data: JudgedData) -> Iterator[tuple[_Rows, float]]:
    """Yield the questions that refusal alone is learned from, each with its weight."""
    yield from ((rows, FOREIGN) for rows in _foreign(data))
    if held := data.abstracts:
        for question, assistant in written_judgements(held.data, held.home, held.held):
            yield _Rows.of(question, assistant), ON_ABSTRACT


def _foreign(data: JudgedData) -> Iterator[_Rows]:
    """Yield questions of whole corpora, asked of corpora that cannot answer them."""
    assistants = {question.corpus: assistant for question, assistant in data.opened(measured=True)}
    for question in read_judged(data.questions):
        if question.answerable and not question.paper:
            for corpus in data.foreign.get(question.corpus, ()):
                changes = {"collection": None, "answerable": False, "seen": ()}
                yield _Rows.of(question.model_copy(update=changes), assistants[corpus])


def _answerable_scale(
    rows: Sequence[_Rows], others: Sequence[tuple[_Rows, float]], seed: int
) -> dict[str, float]:
    """Return the regression of whether a question is answerable on its best candidate.

    The chances of each half of the questions come from a scale fitted on the other half.
    """

    def answers() -> Answers:
        for half in (0, 1):
            scale = _scale([row for row in rows if _half(row) != half], seed)
            for row, weight in [*((row, 1.0) for row in rows), *others]:
                if _half(row) == half:
                    found = answerable_features(row.features, shares(row.features, scale))
                    best = {name: value for name, (value,) in found.items()}
                    yield best, row.question.answerable, weight

    return fitted_scale(answers(), seed)


def _check_enough(rows: Sequence[_Rows]) -> None:
    """Raise TrainingError unless both halves of the questions have answered and unanswered ones."""
    for half in (0, 1):
        own = [row for row in rows if _half(row) == half]
        graded = {grade for row in own for grade in row.grades[~np.isnan(row.grades)].tolist()}
        if len({row.question.answerable for row in own}) < 2 or not {FULL, 0.0} <= graded:
            raise TrainingError(
                "The judged questions are too few: each half needs answered and unanswered ones."
            )


def _half(row: _Rows) -> int:
    return hash_byte(row.question.id.partition("#")[0]) % 2


def _scale(rows: Sequence[_Rows], seed: int) -> dict[str, float]:
    """Return the regression of grades on features; a half answer counts half as answering, half as not.

    The weight of a question grows with its number of answering sentences, but less than proportionally.
    """

    def answers() -> Answers:
        for row in rows:
            known = np.flatnonzero(~np.isnan(row.grades))
            own = 1 / math.sqrt(1 + np.count_nonzero(row.grades[known]))
            for at in known.tolist():
                features = {name: values[at] for name, values in row.features.items()}
                for answer, counts in ((True, row.grades[at]), (False, 1 - row.grades[at])):
                    if counts:
                        yield features, answer, own * counts

    return fitted_scale(answers(), seed, freedom=FREEDOM)


def written_judgements(data: Path, home: Path, held: int) -> Iterator[tuple[JudgedQuestion, Assistant]]:
    """Yield the questions on the abstracts of a fold, with the assistant of a corpus of all abstracts.

    No places are judged, only whether a question can be answered. The corpus is built in `home`. Raises
    EvaluationError and CorpusError.
    """
    asked = list(written_questions(data))
    abstracts = {abstract.paper: abstract for _, abstract in asked}.values()
    papers = [
        Paper(
            id=paper_id(ABSTRACTS.id, own.paper),
            collection_id=ABSTRACTS.id,
            title=own.title,
            authors=(),
            year=own.year,
            venue="",
            abstract=" ".join(own.sentences),
        )
        for own in abstracts
    ]
    settings = read_settings().model_copy(update={"home": home})
    ListedPapers(ABSTRACTS, papers).build(settings, open_encoder(settings))
    assistant = open_assistant(home)
    for number, (question, abstract) in enumerate(asked):
        if abstract.year >= FREE_SINCE and hash_byte(abstract.paper) % FOLDS == held:
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
