"""The relevance part: which texts answer a question, by a listwise cross-encoder, and its scales.

The loss is a softmax over the texts of a question (Cao et al., 2007) and a silent one whose number is 0,
which has to win where no text answers: the sign of a number tells whether its text answers.
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
from training.choice import HeldAbstracts, JudgedData, choice_scales, judged_texts
from training.files import FOLDS, SETS, Run, draw, hash_byte
from training.fitting import Plan, Recipe, Task
from training.network import ADAPTERS, Answers, Measured, Pair, PairTokenizer, Reader, fitted_scale
from training.questions import question_rows

SETTINGS = SETS["relevance"]
PLANS = {
    "general": Plan(epochs=1, learning_rate=1e-3, tokens=4096),
    "papers": Plan(epochs=1, learning_rate=1e-3 / 3, tokens=4096),
    "written": Plan(epochs=1, learning_rate=3e-4, tokens=3072),
}
LONGEST = 256
TEXTS_AT_ONCE = 8
NO_TITLE = 0.4  # share of questions that are read without the title of their paper
MOST_SENTENCES = 6  # of an answer, for its relevance
HELD_ROWS = 200  # of each set that are measured on
# The stages of a run, the closest to what the product is asked last: the sets of each, with the share of
# their questions that it reads. All others are general.
STAGES: Mapping[str, Mapping[str, float]] = {
    "general": {"qasper-sentences": 0, "qasper-paragraphs": 0, "clapnq": 0, "papers": 0, "pools": 0},
    "papers": {"qasper-sentences": 1, "qasper-paragraphs": 1, "clapnq": 1, "papers": 0, "pools": 0},
    "written": {"qasper-sentences": 0.2, "qasper-paragraphs": 0.2, "clapnq": 0.2, "papers": 1, "pools": 1},
}
GENERAL = {"general": 1.0, "papers": 0.1, "written": 0.05}  # share of the general questions in each stage


class Example(NamedTuple):
    """A question beside each of its texts, as tokens, without and with title; `answers` marks the texts."""

    plain: Sequence[Pair]
    titled: Sequence[Pair]
    answers: NDArray[np.bool_]

    @property
    def tokens(self) -> int:
        """The tokens of the texts that are read at once."""
        mean = sum(len(pair.ids) for pair in self.titled) / len(self.titled)
        return int(mean * min(TEXTS_AT_ONCE, len(self.titled)))


# A question, its texts with their titles, and which of them answer.
Asked = tuple[str, Sequence[tuple[str, str]], Sequence[bool]]


def asked_of(rows: Iterable[EvidenceRow]) -> list[Asked]:
    return [
        (
            row.question,
            list(zip(row.candidate_titles, row.candidates, strict=True)),
            [at in row.relevant for at in range(len(row.candidates))],
        )
        for row in rows
    ]


def examples_of(asked: Sequence[Asked]) -> list[Example]:
    """Return questions and texts as tokens."""
    tokenizer, found = PairTokenizer(LONGEST), []
    for question, texts, answers in asked:
        cut = question[:LONGEST_QUESTION]
        plain = tokenizer.pairs([(cut, text) for _, text in texts])
        titled = tokenizer.pairs([(cut, with_title(title, text)) for title, text in texts])
        found.append(Example(plain, titled, np.array(answers, dtype=bool)))
    return found


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the mean loss of questions, each with some of its texts: at most a third of them answer."""
    pairs, counts = [], []
    for example in batch:
        texts = example.plain if float(torch.rand(())) < NO_TITLE else example.titled
        right, wrong = np.flatnonzero(example.answers), np.flatnonzero(~example.answers)
        right = right[torch.randperm(len(right)).numpy()][: TEXTS_AT_ONCE // 3]
        wrong = wrong[torch.randperm(len(wrong)).numpy()][: TEXTS_AT_ONCE - len(right)]
        pairs += [texts[at] for at in (*right, *wrong)]
        counts.append((len(right), len(right) + len(wrong)))
    numbers = reader.read(pairs)[:, 0].float().split([count for _, count in counts])  # type: ignore[no-untyped-call]
    losses = []
    for own, (right_ones, _) in zip(numbers, counts, strict=True):
        chances = torch.cat([own, own.new_zeros(1)]).log_softmax(0)
        losses.append(-chances[:right_ones].logsumexp(0) if right_ones else -chances[-1])
    yield torch.stack(losses).mean()


TASK: Task[Example] = Task(lambda example: example.tokens, _losses)


RECIPE = Recipe(RELEVANCE, LONGEST, TASK, PLANS, averages=True)


def train_relevance(run: Run, encoder: Encoder, judged: JudgedData | None = None) -> Card:
    """Fit the part and its scales and return its card; a killed run resumes.

    The last stage reads the judged questions too; without them the choice of sentences has no scales. Raises
    TrainingError, EvaluationError and CorpusError.
    """
    rows = question_rows(run.data, SETTINGS["questions"], run.seed)
    held = {(row.set, row.question): row for row in rows if fold_of(row) == run.held}
    by_set = group_by(held.values(), "set")
    measured_on = [row for name, own in by_set.items() for row in draw(own, HELD_ROWS, name)]
    learned_from = [row for row in rows if fold_of(row) != run.held]

    def examples(stage: str) -> list[Example]:
        asked = asked_of(row for row in learned_from if _is_read(row, stage))
        if judged and stage == "written":
            asked += judged_texts(judged, SETTINGS["judged"])
        return examples_of(asked)

    reader = Reader.new(run.seed)
    if run.begun:
        network.restore(reader, network.weights_of_part(RELEVANCE, run.begun, reader))
    measure = partial(_measured, held=measured_on, run=run, judged=judged, encoder=encoder)
    return RECIPE.train(run, reader, examples, measure)


def _is_read(row: EvidenceRow, stage: str) -> bool:
    """Return True if a stage reads a row, which its question decides for sets that are read in part."""
    return hash_byte(row.question) / 256 < STAGES[stage].get(row.set, GENERAL[stage])


def fold_of(row: EvidenceRow) -> int:
    """Return the fold of a row's paper or document."""
    return hash_byte(row.group) % FOLDS


def judged_data(
    questions: Path, homes: Mapping[str, Path], abstracts: HeldAbstracts | None = None
) -> JudgedData:
    """Return judged questions with the corpora that only measure, and those that are foreign to others."""
    return JudgedData(questions, homes, frozenset(SETTINGS["measured"]), SETTINGS["foreign"], abstracts)


def fit_choice(data: JudgedData, out: Path, seed: int) -> Card:
    """Fit the scales of the choice beside the network in `out` and return the card.

    Raises TrainingError, EvaluationError, CorpusError, and LearnedError without such a part.
    """
    card, weights = read_part(RELEVANCE, out)
    scales = choice_scales(data, RelevanceScorer(LearnedPart(card, weights)), seed)
    card = card.model_copy(update={"scales": {**card.scales, **scales}})
    network.write_card(out, RELEVANCE, card)
    return card


Features = Mapping[str, Sequence[float]]
Read = Sequence[tuple[EvidenceRow, Features]]


def _measured(
    name: str, held: Sequence[EvidenceRow], run: Run, judged: JudgedData | None, encoder: Encoder
) -> Measured:
    """Return scales and provenance: held-back questions are read as the product reads them."""
    say(f"{name}: reading {len(held)} questions that were held back")
    scorer = RelevanceScorer(LearnedPart(*read_part(RELEVANCE, run.work)))
    read = [(row, _features(row, scorer, encoder)) for row in held]
    scales = {
        "all": _scale(read, run.seed, with_network=True),
        "features": _scale(read, run.seed, with_network=False),
        f"{ANSWER}_all": _answer_scale(read, run.seed, with_network=True),
        **(choice_scales(judged, scorer, run.seed) if judged else {}),
        f"{ANSWER}_features": _answer_scale(read, run.seed, with_network=False),
    }
    return scales, {
        "recipe": f"paper-trail train relevance --seed {run.seed} --held {run.held}",
        "begun_with": read_card(RELEVANCE, run.begun).name if run.begun else "",
        "trained_on": SETTINGS["questions"],
        "scale_of_the_choice_fitted_on": sorted(judged.measured) if judged else [],
        "licences": SETTINGS["licences"],
        "fitting": {"adapters": ADAPTERS, **{name: asdict(plan) for name, plan in PLANS.items()}},
        "held_back": _figures(read),
    }


def _features(row: EvidenceRow, scorer: RelevanceScorer, encoder: Encoder) -> Features:
    asked, vectors = encoder.encode_query(row.question), encoder.encode_passages(row.candidates)
    numbers = scorer.numbers(row.question, row.candidates, row.candidate_titles)
    features = relevance_features(row.question, row.candidates, asked, vectors)
    return features | network_features(numbers)


def _scale(read: Read, seed: int, *, with_network: bool) -> dict[str, float]:
    """Return the regression of answers on features, with or without those of the network."""
    answers = (
        (
            {
                name: values[at]
                for name, values in found.items()
                if with_network or not name.startswith("network")
            },
            at in row.relevant,
            1.0,
        )
        for row, found in read
        for at in range(len(row.candidates))
    )
    return fitted_scale(answers, seed)


def _answer_scale(read: Read, seed: int, *, with_network: bool) -> dict[str, float]:
    """Return the regression of whether a few sentences answer, on the best features that any of them has.

    The few are the likeliest wrong sentences of a question, for half of the questions with a right one.
    """
    chance = random.Random(seed)

    def answers() -> Answers:
        for row, found in read:
            likely = np.add(found["network"], found["cosine"])
            order = np.argsort(-likely, kind="stable").tolist()
            few = [at for at in order if at not in row.relevant][: chance.randint(1, MOST_SENTENCES)]
            is_answered = bool(few and row.relevant) and chance.random() < 0.5
            if is_answered:
                few = [*few[:-1], chance.choice(row.relevant)]
            if few:
                best = answer_features(found, few).items()
                own = {name: value for name, (value,) in best if with_network or name != "network"}
                yield own, is_answered, 1.0

    return fitted_scale(answers(), seed)


def _figures(read: Read) -> dict[str, Figures]:
    """Return the figures of the features that rank by themselves, by set: words, vectors and the network."""
    features = dict(read)
    rankers: dict[str, Ranker] = {
        name: lambda row, name=name: features[row][name]  # type: ignore[misc]
        for name in ("bm25", "cosine", "network")
    }
    return dict(measure_rankers([row for row, _ in read], rankers)["sets"])
