"""Trains the kinds part: which kind of answer a question asks for, from labelled questions."""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from assistant.learned.kinds import KINDS, KindsCard, cues_of, likeliest
from assistant.records import RequestKind
from evaluation.answers.evidence_sets import pooled_questions, written_questions
from evaluation.answers.questions import QuestionKind, read_judged, read_questions
from evaluation.harness import Figures
from training.files import FOLDS, FREE_SINCE, Run, TrainingError, as_json, hash_byte, saving, write_durably

EXAMPLES = Path(__file__).with_name("kind_examples.toml")
# The number of cues, and the fewest questions that have a cue.
MOST_CUES, FEWEST_USES = 400, 3
FREEDOM = 0.3  # inverse of the regularisation
DIGITS = 3
# Questions on single abstracts ("papers") are many and similar, so each has half the weight.
WEIGHTS = {"papers": 0.5, "pools": 1.0, "judged": 1.0, "examples": 2.0}
# Other kinds of requests depend on the scope or a title, not on the words of the question.
_LABELS: dict[QuestionKind, RequestKind] = {
    "overview": "synthesis",
    "comparison": "comparison",
    "definition": "definition",
    "fact": "fact",
    "how": "how",
    "list": "list",
}


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question of a data set with its kind; questions of the same group are in the same fold."""

    set: str
    group: str
    question: str
    kind: RequestKind


def labelled_questions(data: Path, judged: Path) -> Iterator[LabelledQuestion]:
    """Yield the questions for training; raises EvaluationError."""
    for written, abstract in written_questions(data):
        if abstract.year >= FREE_SINCE:
            yield LabelledQuestion("papers", written.paper, written.standalone, _LABELS[written.kind])
    for pooled in pooled_questions(data):
        yield LabelledQuestion("pools", pooled.id, pooled.standalone, _LABELS[pooled.kind])
    for question in read_judged(judged):
        if question.kind in _LABELS and not question.paper:
            yield LabelledQuestion("judged", question.question, question.question, _LABELS[question.kind])
    examples = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    for kind in get_args(RequestKind):
        for question in examples.get(kind, ()):
            yield LabelledQuestion("examples", question, question, kind)


def _fit(rows: Sequence[LabelledQuestion], seed: int) -> KindsCard:
    """Fit a model of kinds on the cues with the largest effect: highest weight times standard deviation."""
    counter = CountVectorizer(analyzer=cues_of, binary=True, min_df=FEWEST_USES)
    matrix = counter.fit_transform([row.question for row in rows]).tocsr()
    model = LogisticRegression(C=FREEDOM, max_iter=1000, random_state=seed)
    kinds, weights = [row.kind for row in rows], [WEIGHTS[row.set] for row in rows]
    model.fit(matrix, kinds, sample_weight=weights)
    share = np.asarray(matrix.mean(axis=0)).ravel()
    effect = np.abs(model.coef_).max(axis=0) * np.sqrt(share * (1 - share))
    chosen = np.sort(np.argsort(-effect, kind="stable")[:MOST_CUES])
    model.fit(matrix[:, chosen], kinds, sample_weight=weights)
    names = counter.get_feature_names_out()[chosen].tolist()
    return KindsCard(
        name="",
        kinds=tuple(model.classes_.tolist()),
        intercepts=tuple(np.round(model.intercept_, DIGITS).tolist()),
        cues=dict(zip(names, np.round(model.coef_.T, DIGITS).tolist(), strict=True)),
        provenance={},
    )


def _shares_right(pairs: Iterator[tuple[str, bool]]) -> dict[str, Figures]:
    """Return the number of questions of each set, and the share of them that got the right kind."""
    by_set: dict[str, list[bool]] = {}
    for name, is_right in pairs:
        by_set.setdefault(name, []).append(is_right)
    return {
        name: {"questions": len(outcomes), "right": round(float(np.mean(outcomes)), 3)}
        for name, outcomes in by_set.items()
    }


def train_kinds(run: Run, judged: Path, unseen: Sequence[Path]) -> KindsCard:
    """Fit the part on all labelled questions and write its card, with figures of five-fold cross-validation.

    `unseen` has files of written questions that are only used for measuring. Raises EvaluationError and
    TrainingError.
    """
    rows = list(labelled_questions(run.data, judged))
    folds = [hash_byte(row.group) % FOLDS for row in rows]
    if len(set(folds)) < FOLDS:
        raise TrainingError("There are too few labelled questions: each of five folds needs some.")

    def held_back() -> Iterator[tuple[str, bool]]:
        for held_fold in range(FOLDS):
            card = _fit([row for row, fold in zip(rows, folds, strict=True) if fold != held_fold], run.seed)
            for row, fold in zip(rows, folds, strict=True):
                if fold == held_fold:
                    yield row.set, likeliest(card, row.question) == row.kind

    card = _fit(rows, run.seed)

    def never_read() -> Iterator[tuple[str, bool]]:
        for path in unseen:
            for _, question in read_questions(path):
                if question.kind in _LABELS and not question.history and not question.paper:
                    yield path.stem, likeliest(card, question.question) == _LABELS[question.kind]

    digest = hashlib.sha256(as_json(card.model_dump()).encode()).hexdigest()
    provenance = {
        "recipe": f"paper-trail train kinds --seed {run.seed}",
        "trained_on": dict(Counter(row.set for row in rows)),
        "held_back": _shares_right(held_back()),
        "never_read": _shares_right(never_read()),
    }
    card = card.model_copy(update={"name": f"{KINDS}-{digest[:8]}", "provenance": provenance})
    with saving(run.out):
        run.out.mkdir(parents=True, exist_ok=True)
        write_durably(run.out / f"{KINDS}.json", json.dumps(card.model_dump(), ensure_ascii=False) + "\n")
    return card
