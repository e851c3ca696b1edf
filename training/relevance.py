"""Trains the relevance part: a listwise cross-encoder for which texts answer a question, and its scales.

The loss is a softmax over the texts of a question (Cao et al., 2007) and an empty option with the number 0,
which is right if no text answers. So a positive number means that a text answers.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from assistant.learned.features import relevance_features
from assistant.learned.parts import Card, LearnedPart, read_card, read_part
from assistant.learned.relevance import (
    ANSWER,
    LONGEST_QUESTION,
    RELEVANCE,
    RelevanceScorer,
    answer_features,
    network_features,
    with_title,
)
from corpus.encoders.base import Encoder
from evaluation.answers.evidence import EvidenceRow, Ranker, measure_rankers
from evaluation.harness import Figures, group_by, say
from training import network
from training.choice import HeldOutAbstracts, JudgedData, choice_scales, judged_texts
from training.files import FOLDS, SETS, Run, draw, hash_byte
from training.fitting import Plan, Recipe, Task
from training.network import ADAPTERS, Measured, Pair, PairTokenizer, Reader, WeightedRows, fit_scale
from training.questions import question_rows

SETTINGS = SETS["relevance"]
PLANS = {
    "general": Plan(epochs=1, learning_rate=1e-3, tokens=4096),
    "papers": Plan(epochs=1, learning_rate=1e-3 / 3, tokens=4096),
    "written": Plan(epochs=1, learning_rate=3e-4, tokens=3072),
}
LONGEST = 256
TEXTS_AT_ONCE = 8
NO_TITLE = 0.4  # probability that a question is read without the titles of papers
MOST_SENTENCES = 6  # of an answer whose relevance is scored
HELD_OUT_ROWS = 200  # the most rows of each set for measuring
# The stages of a run; the last is closest to the product's questions. Each stage reads these shares of the
# questions of these sets; all other sets are general.
STAGES: Mapping[str, Mapping[str, float]] = {
    "general": {"qasper-sentences": 0, "qasper-paragraphs": 0, "clapnq": 0, "papers": 0, "pools": 0},
    "papers": {"qasper-sentences": 1, "qasper-paragraphs": 1, "clapnq": 1, "papers": 0, "pools": 0},
    "written": {"qasper-sentences": 0.2, "qasper-paragraphs": 0.2, "clapnq": 0.2, "papers": 1, "pools": 1},
}
GENERAL = {"general": 1.0, "papers": 0.1, "written": 0.05}  # share of the general questions in each stage


class Example(NamedTuple):
    """The tokens of a question with each text, without and with titles; `answers` marks the right texts."""

    plain: Sequence[Pair]
    titled: Sequence[Pair]
    answers: NDArray[np.bool_]

    @property
    def tokens(self) -> int:
        """The tokens of the texts that are read at once."""
        mean = sum(len(pair.ids) for pair in self.titled) / len(self.titled)
        return int(mean * min(TEXTS_AT_ONCE, len(self.titled)))


# A question, its texts as (title, text), and True for each text that answers.
LabelledTexts = tuple[str, Sequence[tuple[str, str]], Sequence[bool]]


def labelled_texts(rows: Iterable[EvidenceRow]) -> list[LabelledTexts]:
    return [
        (
            row.question,
            list(zip(row.candidate_titles, row.candidates, strict=True)),
            [index in row.relevant for index in range(len(row.candidates))],
        )
        for row in rows
    ]


def examples_of(questions: Sequence[LabelledTexts]) -> list[Example]:
    """Tokenise questions with their texts."""
    tokenizer, examples = PairTokenizer(LONGEST), []
    for question, texts, answers in questions:
        cut = question[:LONGEST_QUESTION]
        plain = tokenizer.pairs([(cut, text) for _, text in texts])
        titled = tokenizer.pairs([(cut, with_title(title, text)) for title, text in texts])
        examples.append(Example(plain, titled, np.array(answers, dtype=bool)))
    return examples


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the mean loss of questions, each with a sample of its texts, at most a third of them right."""
    pairs, counts = [], []
    for example in batch:
        texts = example.plain if float(torch.rand(())) < NO_TITLE else example.titled
        right, wrong = np.flatnonzero(example.answers), np.flatnonzero(~example.answers)
        right = right[torch.randperm(len(right)).numpy()][: TEXTS_AT_ONCE // 3]
        wrong = wrong[torch.randperm(len(wrong)).numpy()][: TEXTS_AT_ONCE - len(right)]
        pairs += [texts[index] for index in (*right, *wrong)]
        counts.append((len(right), len(right) + len(wrong)))
    numbers = reader.read(pairs)[:, 0].float().split([count for _, count in counts])  # type: ignore[no-untyped-call]
    losses = []
    for question_numbers, (right_count, _) in zip(numbers, counts, strict=True):
        log_shares = torch.cat([question_numbers, question_numbers.new_zeros(1)]).log_softmax(0)
        losses.append(-log_shares[:right_count].logsumexp(0) if right_count else -log_shares[-1])
    yield torch.stack(losses).mean()


TASK: Task[Example] = Task(lambda example: example.tokens, _losses)


CONTINUED = 0.8  # share of the continued weights in their mean with those before
RECIPE = Recipe(RELEVANCE, LONGEST, TASK, PLANS, share=CONTINUED)


def train_relevance(run: Run, encoder: Encoder, judged: JudgedData | None = None) -> Card:
    """Fit the part and its scales and return its card; a killed run resumes.

    The last stage also reads the judged questions; without them the scales of the choice are not fitted.
    Raises TrainingError, EvaluationError and CorpusError.
    """
    rows = question_rows(run.data, SETTINGS["questions"], run.seed)
    distinct = {(row.set, row.question): row for row in rows if fold_of(row) == run.held_fold}
    held_out = [
        row
        for name, set_rows in group_by(distinct.values(), "set").items()
        for row in draw(set_rows, HELD_OUT_ROWS, name)
    ]
    training_rows = [row for row in rows if fold_of(row) != run.held_fold]

    def examples(stage: str) -> list[Example]:
        questions = labelled_texts(row for row in training_rows if _is_in_stage(row, stage))
        if judged and stage == "written":
            questions += judged_texts(judged, SETTINGS["judged"])
        return examples_of(questions)

    reader = Reader.new(run.seed)
    if run.start:
        network.restore(reader, network.weights_of_part(RELEVANCE, run.start, reader))
    measure = partial(_measure, held_out=held_out, run=run, judged=judged, encoder=encoder)
    return RECIPE.train(run, reader, examples, measure)


def _is_in_stage(row: EvidenceRow, stage: str) -> bool:
    """Return True if a stage reads a row; for a set read in part, the question's hash decides."""
    return hash_byte(row.question) / 256 < STAGES[stage].get(row.set, GENERAL[stage])


def fold_of(row: EvidenceRow) -> int:
    """Return the fold of a row's paper or document."""
    return hash_byte(row.group) % FOLDS


def judged_data(
    questions: Path, homes: Mapping[str, Path], abstracts: HeldOutAbstracts | None = None
) -> JudgedData:
    """Describe the judged questions, with the measured and foreign corpora of the settings."""
    return JudgedData(questions, homes, frozenset(SETTINGS["measured"]), SETTINGS["foreign"], abstracts)


def fit_choice(data: JudgedData, out: Path, seed: int) -> Card:
    """Fit the scales of the choice for the relevance part in `out` and return its card.

    Raises TrainingError, EvaluationError, CorpusError, and LearnedError if `out` has no such part.
    """
    card, weights = read_part(RELEVANCE, out)
    scales = choice_scales(data, RelevanceScorer(LearnedPart(card, weights)), seed)
    card = card.model_copy(update={"scales": {**card.scales, **scales}})
    network.write_card(out, RELEVANCE, card)
    return card


Features = Mapping[str, Sequence[float]]
RowsWithFeatures = Sequence[tuple[EvidenceRow, Features]]


def _measure(
    name: str, held_out: Sequence[EvidenceRow], run: Run, judged: JudgedData | None, encoder: Encoder
) -> Measured:
    """Fit the scales on held-out questions, read as in the product; return them and the provenance."""
    say(f"{name}: reading {len(held_out)} questions that were held back")
    scorer = RelevanceScorer(LearnedPart(*read_part(RELEVANCE, run.work)))
    rows = [(row, _features(row, scorer, encoder)) for row in held_out]
    scales = {
        "all": _scale(rows, run.seed, with_network=True),
        "features": _scale(rows, run.seed, with_network=False),
        f"{ANSWER}_all": _answer_scale(rows, run.seed, with_network=True),
        **(choice_scales(judged, scorer, run.seed) if judged else {}),
        f"{ANSWER}_features": _answer_scale(rows, run.seed, with_network=False),
    }
    return scales, {
        "recipe": f"paper-trail train relevance --seed {run.seed} --held {run.held_fold}",
        "begun_with": read_card(RELEVANCE, run.start).name if run.start else "",
        "trained_on": SETTINGS["questions"],
        "scale_of_the_choice_fitted_on": sorted(judged.measured) if judged else [],
        "licences": SETTINGS["licences"],
        "fitting": {"adapters": ADAPTERS, **{name: asdict(plan) for name, plan in PLANS.items()}},
        "held_back": _figures(rows),
    }


def _features(row: EvidenceRow, scorer: RelevanceScorer, encoder: Encoder) -> Features:
    query, vectors = encoder.encode_query(row.question), encoder.encode_passages(row.candidates)
    numbers = scorer.numbers(row.question, row.candidates, row.candidate_titles)
    features = relevance_features(row.question, row.candidates, query, vectors)
    return features | network_features(numbers)


def _scale(rows: RowsWithFeatures, seed: int, *, with_network: bool) -> dict[str, float]:
    """Fit a regression of whether a text answers on its features, with or without those of the network."""
    answers = (
        (
            {
                name: values[index]
                for name, values in features.items()
                if with_network or not name.startswith("network")
            },
            index in row.relevant,
            1.0,
        )
        for row, features in rows
        for index in range(len(row.candidates))
    )
    return fit_scale(answers, seed)


def _answer_scale(rows: RowsWithFeatures, seed: int, *, with_network: bool) -> dict[str, float]:
    """Fit a regression of whether a group of sentences answers, on the best feature values in the group.

    A group has the likeliest wrong sentences of a question; for half of the answerable questions the last is
    replaced by a right one.
    """
    generator = random.Random(seed)

    def answers() -> WeightedRows:
        for row, features in rows:
            likelihood = np.add(features["network"], features["cosine"])
            order = np.argsort(-likelihood, kind="stable").tolist()
            wrong = [index for index in order if index not in row.relevant]
            group = wrong[: generator.randint(1, MOST_SENTENCES)]
            is_answered = bool(group and row.relevant) and generator.random() < 0.5
            if is_answered:
                group = [*group[:-1], generator.choice(row.relevant)]
            if group:
                best = answer_features(features, group).items()
                group_features = {name: value for name, (value,) in best if with_network or name != "network"}
                yield group_features, is_answered, 1.0

    return fit_scale(answers(), seed)


def _figures(rows: RowsWithFeatures) -> dict[str, Figures]:
    """Measure ranking by single features, by set: words, vectors and the network."""
    features = dict(rows)
    rankers: dict[str, Ranker] = {
        name: lambda row, name=name: features[row][name]  # type: ignore[misc]
        for name in ("bm25", "cosine", "network")
    }
    return dict(measure_rankers([row for row, _ in rows], rankers)["sets"])
