"""Which texts answer a question: a cross-encoder, listwise, with "nothing here answers" among the choices.

Every text of a question gets a number; the loss is that of a softmax over the texts and a silent one whose
number is 0 (the listwise loss of Cao et al., 2007). Where no text answers, the silent one has to win: so a
number's sign says whether a text answers at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from assistant.learned import LONGEST_QUESTION, with_title
from evaluation.answers.evidence.rows import EvidenceRow
from training.trunk import Pair, PairTokenizer, Reader

LONGEST = 256
TEXTS_AT_ONCE = 8
NO_TITLE = 0.4  # of the questions are read without the title of what they are asked of


@dataclass(frozen=True, slots=True)
class Listed:
    """A question beside each of its texts, in tokens, without and with the title; `answers` says which do."""

    plain: tuple[Pair, ...]
    titled: tuple[Pair, ...]
    answers: NDArray[np.bool_]


class Relevance:
    """The task: texts that answer above those that do not, and below silence what does not answer."""

    def tokens(self, example: Listed) -> int:
        mean = sum(len(pair.ids) for pair in example.titled) / len(example.titled)
        return int(mean * min(TEXTS_AT_ONCE, len(example.titled)))

    def loss(self, reader: Reader, batch: Sequence[Listed]) -> torch.Tensor:
        taken = [self._taken(example) for example in batch]
        found = reader.read([pair for pairs, _ in taken for pair in pairs])[:, 0].float()
        starts = np.cumsum([0, *(len(pairs) for pairs, _ in taken)])
        losses = [
            listwise(found[start : start + len(answers)], answers)
            for start, (_, answers) in zip(starts.tolist(), taken, strict=False)
        ]
        return torch.stack(losses).mean()

    def _taken(self, example: Listed) -> tuple[list[Pair], torch.Tensor]:
        """Return some texts by chance: of those that answer at most a third, and of the others the rest."""
        pairs = example.plain if float(torch.rand(())) < NO_TITLE else example.titled
        right = np.flatnonzero(example.answers)
        wrong = np.flatnonzero(~example.answers)
        right = right[torch.randperm(len(right)).numpy()][: TEXTS_AT_ONCE // 3]
        wrong = wrong[torch.randperm(len(wrong)).numpy()][: TEXTS_AT_ONCE - len(right)]
        kept = [*right.tolist(), *wrong.tolist()]
        return [pairs[index] for index in kept], torch.tensor(
            [bool(example.answers[index]) for index in kept]
        )


def listwise(numbers: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return the loss of one question: numbers and truth values of its texts, (texts,)."""
    chances = torch.cat([numbers, numbers.new_zeros(1)]).log_softmax(0)
    if not bool(answers.any()):
        return -chances[-1]
    return -chances[:-1][answers.to(chances.device)].logsumexp(0)


def listed(rows: Sequence[EvidenceRow], trunk: Path) -> list[Listed]:
    """Return questions and texts in tokens."""
    tokenizer = PairTokenizer(trunk, LONGEST)
    found = []
    for row in rows:
        question = row.question[:LONGEST_QUESTION]
        plain = tokenizer.pairs([(question, text) for text in row.candidates])
        titled = tokenizer.pairs([(question, with_title(row.title, text)) for text in row.candidates])
        answers = np.array([index in row.relevant for index in range(len(row.candidates))])
        found.append(Listed(tuple(plain), tuple(titled), answers))
    return found
