"""Questions with texts of which people said which answer, from the sets that may train."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from corpus.language import Bm25
from evaluation.answers.evidence.rows import EvidenceRow
from evaluation.answers.evidence.sets import SETS
from evaluation.input_files import read_json_lines
from training.errors import TrainingError

MOST_TEXTS = 48  # of a question, the hard ones first
PASSAGE = 6  # sentences read together where a set marks sentences of a whole paper
FEWEST_REPLIES = 3
LONGEST_TEXT = 1800
LONGEST_GROUP = 80
NEAREST = 16  # texts that are set beside the only one of a question

Rows = Callable[[Path], Iterator[EvidenceRow]]


def question_rows(data: Path, most: Mapping[str, int], seed: int) -> list[EvidenceRow]:
    """Return at most so many rows of each set, taken by chance, with their hardest texts.

    Raises EvaluationError of a malformed file and TrainingError of a set without an answer.
    """
    found: list[EvidenceRow] = []
    for name, count in most.items():
        if name not in READERS:
            raise TrainingError(f"There is no set {name!r} to learn from; there are {', '.join(READERS)}.")
        rows = list(READERS[name](data))
        if not any(row.relevant for row in rows):
            raise TrainingError(f"The set {name} in {data} has no text that answers.")
        chosen = random.Random(f"{seed}:{name}").sample(rows, min(count, len(rows)))
        found += [_with_hardest(row, seed) for row in chosen]
    return found


def _with_hardest(row: EvidenceRow, seed: int) -> EvidenceRow:
    """Return a row with the texts that answer, those a search would find beside them, and some by chance."""
    texts, relevant = row.candidates, set(row.relevant)
    if len(texts) > MOST_TEXTS:
        wrong = [index for index in Bm25(texts).order(row.question) if index not in relevant]
        hard, easy = wrong[: MOST_TEXTS // 2], wrong[MOST_TEXTS // 2 :]
        room = max(0, MOST_TEXTS - len(hard) - len(relevant))
        some = random.Random(f"{seed}:{row.question}").sample(easy, min(room, len(easy)))
        kept = sorted({*relevant, *hard, *some})
        texts = tuple(texts[index] for index in kept)
        relevant = {place for place, index in enumerate(kept) if index in relevant}
    return row.model_copy(
        update={
            "candidates": tuple(text[:LONGEST_TEXT] for text in texts),
            "relevant": tuple(sorted(relevant)),
        }
    )


def _in_passages(name: str) -> Rows:
    """Return the reader of a set of whole papers, some sentences at a time."""

    def read(data: Path) -> Iterator[EvidenceRow]:
        for row in SETS[name](data):
            starts = range(0, len(row.candidates), PASSAGE)
            yield row.model_copy(
                update={
                    "set": f"{name}-passages",
                    "candidates": tuple(" ".join(row.candidates[at : at + PASSAGE]) for at in starts),
                    "relevant": tuple(sorted({index // PASSAGE for index in row.relevant})),
                }
            )

    return read


class _Pair(BaseModel):
    """A question and a text that answers it, or that was put beside it and does not."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str = Field(min_length=1)
    text: str
    label: bool = True
    paper_id: str = ""


def _pairs(data: Path, file: str) -> list[_Pair]:
    """Return the pairs of a file; a few replies of reviewers' questions are empty."""
    pairs = read_json_lines(data / "questions" / file, _Pair, "Each line has question and text.")
    return [pair for pair in pairs if pair.text.strip()]


def _scidqa(data: Path) -> Iterator[EvidenceRow]:
    """Yield reviewers' questions: an author's reply to one is none to another of the same paper."""
    papers: dict[str, list[_Pair]] = {}
    for pair in _pairs(data, "scidqa_qa.jsonl"):
        papers.setdefault(pair.paper_id, []).append(pair)
    for paper, pairs in papers.items():
        replies = list(dict.fromkeys(pair.text for pair in pairs))
        if len(replies) >= FEWEST_REPLIES:
            for pair in pairs:
                yield _row("scidqa", paper, pair, replies)


def _among_nearest(name: str, file: str) -> Rows:
    """Return the reader of a set of questions with one text each; the others nearest to it answer nothing."""

    def read(data: Path) -> Iterator[EvidenceRow]:
        pairs = _pairs(data, file)
        texts = list(dict.fromkeys(pair.text for pair in pairs))
        nearest = Bm25(texts)
        for pair in pairs:
            others = [texts[index] for index in nearest.order(pair.question, NEAREST)]
            yield _row(name, pair.text[:LONGEST_GROUP], pair, list(dict.fromkeys([pair.text, *others])))

    return read


def _row(name: str, group: str, pair: _Pair, texts: Sequence[str]) -> EvidenceRow:
    relevant = (texts.index(pair.text),) if pair.label else ()
    return EvidenceRow(
        set=name, group=group, question=pair.question, candidates=tuple(texts), relevant=relevant
    )


# Every set that may train, by its name; what only measures is not among them.
READERS: Mapping[str, Rows] = {
    **{name: SETS[name] for name in ("qasper-sentences", "qasper-paragraphs", "clapnq", "qed")},
    **{name: SETS[name] for name in ("covidqa", "evidence-inference")},
    "covidqa-passages": _in_passages("covidqa"),
    "evidence-inference-passages": _in_passages("evidence-inference"),
    "scidqa": _scidqa,
    "squad": _among_nearest("squad", "squad_nqg_sentence_question.jsonl"),
    "qnli": _among_nearest("qnli", "qnli_dev.jsonl"),
}
