"""Questions with texts of which people said which answer, from the sets that may train."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from corpus.language.bm25 import Bm25
from evaluation.answers.evidence.rows import EvidenceRow
from evaluation.answers.evidence.sets import SETS, pooled_questions, written_questions
from evaluation.input_files import read_json_lines
from training.files import FREE_SINCE, TrainingError, draw, grouped

MOST_TEXTS = 48  # texts kept of a question, hard ones first
PASSAGE = 6  # sentences of a passage, in sets that mark sentences of whole papers
FEWEST_REPLIES = 3
LONGEST_TEXT = 1800
LONGEST_GROUP = 80
NEAREST = 16  # texts beside the only one of a question
FROM_OTHERS = 8  # sentences of other papers beside an abstract
POOL_WEIGHT = 4  # times that a question over several papers is read, each time with other sentences

Rows = Callable[[Path], Iterator[EvidenceRow]]


def question_rows(data: Path, most: Mapping[str, int], seed: int) -> list[EvidenceRow]:
    """Return at most `most[name]` rows of each set.

    Raises EvaluationError, or TrainingError for a set without an answer.
    """
    found: list[EvidenceRow] = []
    for name, count in most.items():
        rows = list(READERS[name](data))
        if not any(row.relevant for row in rows):
            raise TrainingError(f"The set {name} in {data} has no text that answers.")
        found += [_with_hardest(row, seed) for row in draw(rows, count, f"{seed}:{name}")]
    return found


def _with_hardest(row: EvidenceRow, seed: int) -> EvidenceRow:
    """Return a row with the texts that answer, the nearest others by words, and some at random."""
    texts, relevant = row.candidates, set(row.relevant)
    if len(texts) > MOST_TEXTS:
        wrong = [index for index in Bm25(texts).order(row.question) if index not in relevant]
        hard, easy = wrong[: MOST_TEXTS // 2], wrong[MOST_TEXTS // 2 :]
        some = draw(easy, max(0, MOST_TEXTS - len(hard) - len(relevant)), f"{seed}:{row.question}")
        kept = sorted({*relevant, *hard, *some})
        texts = tuple(texts[index] for index in kept)
        relevant = {place for place, index in enumerate(kept) if index in relevant}
        titles = tuple(row.titles[index] for index in kept) if row.titles else ()
        row = row.model_copy(update={"titles": titles})
    cut = tuple(text[:LONGEST_TEXT] for text in texts)
    return row.model_copy(update={"candidates": cut, "relevant": tuple(sorted(relevant))})


def _in_passages(name: str, data: Path) -> Iterator[EvidenceRow]:
    """Yield the rows of a set of whole papers, with passages in place of sentences."""
    for row in SETS[name](data):
        starts = range(0, len(row.candidates), PASSAGE)
        texts = tuple(" ".join(row.candidates[at : at + PASSAGE]) for at in starts)
        relevant = tuple(sorted({index // PASSAGE for index in row.relevant}))
        yield row.model_copy(update={"set": f"{name}-passages", "candidates": texts, "relevant": relevant})


class _Pair(BaseModel):
    """A question and a text that answers it, or does not."""

    question: str = Field(min_length=1)
    text: str
    label: bool = True
    paper_id: str = ""

    def row(self, name: str, group: str, texts: Sequence[str]) -> EvidenceRow:
        candidates, relevant = tuple(texts), (texts.index(self.text),) if self.label else ()
        asked = self.question
        return EvidenceRow(set=name, group=group, question=asked, candidates=candidates, relevant=relevant)


def _pairs(data: Path, file: str) -> list[_Pair]:
    """Return a file's pairs without those whose text is empty."""
    pairs = read_json_lines(data / "questions" / file, _Pair, "Each line has question and text.")
    return [pair for pair in pairs if pair.text.strip()]


def _scidqa(data: Path) -> Iterator[EvidenceRow]:
    """Yield reviewers' questions: replies to other questions about the same paper do not answer."""
    for paper, pairs in grouped(_pairs(data, "scidqa_qa.jsonl"), "paper_id").items():
        replies = list(dict.fromkeys(pair.text for pair in pairs))
        if len(replies) >= FEWEST_REPLIES:
            yield from (pair.row("scidqa", paper, replies) for pair in pairs)


def _among_nearest(name: str, file: str, data: Path) -> Iterator[EvidenceRow]:
    """Yield questions with one text each, and the nearest texts of others, which do not answer."""
    pairs = _pairs(data, file)
    texts = list(dict.fromkeys(pair.text for pair in pairs))
    nearest = Bm25(texts)
    for pair in pairs:
        others = [texts[index] for index in nearest.order(pair.question, NEAREST)]
        yield pair.row(name, pair.text[:LONGEST_GROUP], list(dict.fromkeys([pair.text, *others])))


def _written(data: Path) -> Iterator[EvidenceRow]:
    """Yield questions written for papers with the abstract and the nearest sentences of other papers.

    What only helps to answer is no candidate. Abstracts of before 2016 may not train.
    """
    asked = [(question, paper) for question, paper in written_questions(data) if paper.year >= FREE_SINCE]
    papers = {paper.paper: paper for _, paper in asked}
    sentences = [(paper, text) for paper in papers.values() for text in paper.sentences]
    nearest = Bm25([text for _, text in sentences])
    for question, paper in asked:
        row, helping = question.row(paper), question.helping(paper)
        answering = {row.candidates[at] for at in row.relevant}
        titles = {text: paper.title for text in row.candidates if text in answering or text not in helping}
        found = (sentences[at] for at in nearest.order(question.standalone, 2 * FROM_OTHERS))
        others = [(text, other.title) for other, text in found if other.paper != paper.paper]
        titles = {**dict(others[:FROM_OTHERS]), **titles}
        yield EvidenceRow(
            set="papers",
            group=row.group,
            question=row.question,
            titles=tuple(titles.values()),
            candidates=tuple(titles),
            relevant=tuple(at for at, text in enumerate(titles) if text in answering),
        )


def _pools(data: Path) -> Iterator[EvidenceRow]:
    """Yield questions over several papers, each as often as it is to weigh."""
    for question in pooled_questions(data):
        yield from [question.row(with_helping=False)] * POOL_WEIGHT


# The sets that may train; those that only measure are not among them.
_SHARED = ("qasper-sentences", "qasper-paragraphs", "clapnq", "qed", "covidqa", "evidence-inference")
READERS: Mapping[str, Rows] = {
    **{name: SETS[name] for name in _SHARED},
    **{f"{name}-passages": partial(_in_passages, name) for name in ("covidqa", "evidence-inference")},
    "papers": _written,
    "pools": _pools,
    "scidqa": _scidqa,
    "squad": partial(_among_nearest, "squad", "squad_nqg_sentence_question.jsonl"),
    "qnli": partial(_among_nearest, "qnli", "qnli_dev.jsonl"),
}
