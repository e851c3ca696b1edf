"""Reads training data: questions with texts that people labelled, and queries with the texts to retrieve.

All are of data sets that may be used for training.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from corpus.language.bm25 import Bm25
from evaluation.answers.evidence import EvidenceRow
from evaluation.answers.evidence_sets import SETS, pooled_questions, read_qasper, written_questions
from evaluation.answers.rewriting import Exchange
from evaluation.harness import group_by
from evaluation.input_files import read_json_lines
from evaluation.retrieval import read_queries
from evaluation.summaries.citation_style import CITE, neutralize
from indexer.errors import SourceError
from training.files import FREE_SINCE, TrainingError, draw

MOST_TEXTS = 48  # the most texts of a question, hard ones first
PASSAGE = 6  # sentences of a passage, in sets of whole papers
FEWEST_REPLIES = 3
LONGEST_TEXT = 1800
LONGEST_GROUP = 80
NEAREST = 16  # wrong texts that are added to a question with one text
FROM_OTHERS = 8  # sentences of other papers that are added to an abstract
POOL_WEIGHT = 4  # repetitions of a question over several papers, each with other sampled sentences

Rows = Callable[[Path], Iterator[EvidenceRow]]


def question_rows(data: Path, most: Mapping[str, int], seed: int) -> list[EvidenceRow]:
    """Return at most `most[name]` rows of each set.

    Raises EvaluationError, or TrainingError for a set without relevant texts.
    """
    rows: list[EvidenceRow] = []
    for name, count in most.items():
        set_rows = list(READERS[name](data))
        if not any(row.relevant for row in set_rows):
            raise TrainingError(f"The set {name} in {data} has no text that answers a question.")
        rows += [_with_hardest(row, seed) for row in draw(set_rows, count, f"{seed}:{name}")]
    return rows


def _with_hardest(row: EvidenceRow, seed: int) -> EvidenceRow:
    """Reduce a row to the relevant texts, the nearest others by BM25, and some random ones."""
    texts, relevant = row.candidates, set(row.relevant)
    if len(texts) > MOST_TEXTS:
        wrong = [index for index in Bm25(texts).order(row.question) if index not in relevant]
        hard, easy = wrong[: MOST_TEXTS // 2], wrong[MOST_TEXTS // 2 :]
        some = draw(easy, max(0, MOST_TEXTS - len(hard) - len(relevant)), f"{seed}:{row.question}")
        chosen = sorted({*relevant, *hard, *some})
        texts = tuple(texts[index] for index in chosen)
        relevant = {position for position, index in enumerate(chosen) if index in relevant}
        titles = tuple(row.titles[index] for index in chosen) if row.titles else ()
        row = row.model_copy(update={"titles": titles})
    cut = tuple(text[:LONGEST_TEXT] for text in texts)
    return row.model_copy(update={"candidates": cut, "relevant": tuple(sorted(relevant))})


def _in_passages(name: str, data: Path) -> Iterator[EvidenceRow]:
    """Yield the rows of a set of whole papers, with passages in place of sentences."""
    for row in SETS[name](data):
        starts = range(0, len(row.candidates), PASSAGE)
        texts = tuple(" ".join(row.candidates[start : start + PASSAGE]) for start in starts)
        relevant = tuple(sorted({index // PASSAGE for index in row.relevant}))
        yield row.model_copy(update={"set": f"{name}-passages", "candidates": texts, "relevant": relevant})


class _Pair(BaseModel):
    """A question and a text; `label` is True if the text answers the question."""

    question: str = Field(min_length=1)
    text: str
    label: bool = True
    paper_id: str = ""

    def row(self, name: str, group: str, texts: Sequence[str]) -> EvidenceRow:
        relevant = (texts.index(self.text),) if self.label else ()
        return EvidenceRow(
            set=name, group=group, question=self.question, candidates=tuple(texts), relevant=relevant
        )


def _pairs(data: Path, file: str) -> list[_Pair]:
    """Read the pairs of a file, without those with an empty text."""
    pairs = read_json_lines(data / "questions" / file, _Pair, "Each line has question and text.")
    return [pair for pair in pairs if pair.text.strip()]


def _scidqa(data: Path) -> Iterator[EvidenceRow]:
    """Yield reviewers' questions; replies to other questions on the same paper are not relevant."""
    for paper, pairs in group_by(_pairs(data, "scidqa_qa.jsonl"), "paper_id").items():
        replies = list(dict.fromkeys(pair.text for pair in pairs))
        if len(replies) >= FEWEST_REPLIES:
            yield from (pair.row("scidqa", paper, replies) for pair in pairs)


def _among_nearest(name: str, file: str, data: Path) -> Iterator[EvidenceRow]:
    """Yield questions with one text each, and the nearest texts of other questions as irrelevant ones."""
    pairs = _pairs(data, file)
    texts = list(dict.fromkeys(pair.text for pair in pairs))
    nearest = Bm25(texts)
    for pair in pairs:
        others = [texts[index] for index in nearest.order(pair.question, NEAREST)]
        yield pair.row(name, pair.text[:LONGEST_GROUP], list(dict.fromkeys([pair.text, *others])))


def _written(data: Path) -> Iterator[EvidenceRow]:
    """Yield questions written for papers, with the abstract and the nearest sentences of other papers.

    Sentences that only add context are left out. Abstracts from before 2016 may not be used for training.
    """
    written = [(question, paper) for question, paper in written_questions(data) if paper.year >= FREE_SINCE]
    papers = {paper.paper: paper for _, paper in written}
    sentences = [(paper, text) for paper in papers.values() for text in paper.sentences]
    nearest = Bm25([text for _, text in sentences])
    for question, paper in written:
        row, helping = question.row(paper), question.helping(paper)
        answering = {row.candidates[index] for index in row.relevant}
        titles = {text: paper.title for text in row.candidates if text in answering or text not in helping}
        near = (sentences[index] for index in nearest.order(question.standalone, 2 * FROM_OTHERS))
        others = [(text, other.title) for other, text in near if other.paper != paper.paper]
        titles = {**dict(others[:FROM_OTHERS]), **titles}
        yield EvidenceRow(
            set="papers",
            group=row.group,
            question=row.question,
            titles=tuple(titles.values()),
            candidates=tuple(titles),
            relevant=tuple(index for index, text in enumerate(titles) if text in answering),
        )


def _pools(data: Path) -> Iterator[EvidenceRow]:
    """Yield questions over several papers, each `POOL_WEIGHT` times."""
    for question in pooled_questions(data):
        yield from [question.row(with_helping=False)] * POOL_WEIGHT


# The data sets that may be used for training; sets for measuring are not among them.
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


CANARD = "rewriting/canard_train.jsonl"
FEWEST_WORDS = 6  # of a citing sentence without its citation markers
FEWEST_KEY_WORDS = 3
MOST_EXCHANGES = 3


@dataclass(frozen=True, slots=True)
class SoughtTexts:
    """A query with the texts to retrieve; rows of a `group` (paper, dialogue) stay together in splits.

    `history` has the exchanges before the query.
    """

    set: str
    group: str
    query: str
    texts: tuple[str, ...]
    history: tuple[Exchange, ...] = ()


def sought_texts(data: Path, most: Mapping[str, int], seed: int) -> list[SoughtTexts]:
    """Return at most `most[name]` queries of each set.

    Raises EvaluationError, or TrainingError for a set without queries.
    """
    rows: list[SoughtTexts] = []
    for name, count in most.items():
        set_rows = [row for row in SOUGHT_READERS[name](data) if row.texts]
        if not set_rows:
            raise TrainingError(f"The set {name} in {data} has no query with a text to retrieve.")
        rows += draw(set_rows, count, f"{seed}:{name}")
    return rows


class _CitingSentence(BaseModel):
    citing_text: str
    paper_id: str


class _CitedPaper(BaseModel):
    paper_id: str
    title: str
    abstract: str


def _citations(data: Path) -> Iterator[SoughtTexts]:
    """Yield citing sentences without their citation markers, each with all papers that it cites."""
    file = data / "citations" / "scisummnet_papers.jsonl"
    cited = read_json_lines(file, _CitedPaper, "Each line has paper_id, title and abstract.")
    file = data / "citations" / "scisummnet_citances.jsonl"
    citing = read_json_lines(file, _CitingSentence, "Each line has citing_text and paper_id.")
    # Title before text, as the product encodes passages.
    with_abstract = [paper for paper in cited if paper.abstract.strip()]
    texts = {paper.paper_id: f"{paper.title.strip()}\n{paper.abstract.strip()}" for paper in with_abstract}
    papers: dict[str, dict[str, None]] = {}
    for sentence in citing:
        query = without_markers(sentence.citing_text)
        if sentence.paper_id in texts and len(query.split()) >= FEWEST_WORDS:
            papers.setdefault(query, {})[sentence.paper_id] = None
    for query, ids in papers.items():
        yield SoughtTexts("citations", next(iter(ids)), query, tuple(texts[paper] for paper in ids))


def without_markers(sentence: str) -> str:
    """Remove citation markers, such as "(Lee et al., 2019)", "Lee (2019)" and "[3]", from a sentence."""
    text = " ".join(neutralize(sentence).text.replace(CITE, " ").split())
    return text.replace(" ,", ",").replace(" .", ".")


def _titles(data: Path) -> Iterator[SoughtTexts]:
    """Yield titles from the Anthology's free years with their abstracts, without the papers of citeacl."""
    # Takes a second to import, and other sets do not need it.
    from indexer.sources.acl_anthology import all_volumes  # noqa: PLC0415

    citeacl, folder = data / "citations" / "citeacl", data / "acl_anthology"
    measured = frozenset(read_queries(citeacl).relevant) if citeacl.is_dir() else frozenset()
    try:
        volumes = all_volumes(folder, folder)
    except SourceError as error:
        raise TrainingError(str(error)) from None
    for volume in volumes:
        is_free = (volume.collection.year or 0) >= FREE_SINCE
        for paper in (source.paper for source in volume.papers() if is_free):
            if paper.abstract and paper.title and paper.id not in measured:
                yield SoughtTexts("titles", paper.id, paper.title, (paper.abstract,))
    if volumes.problems:
        raise TrainingError(volumes.problems[0])


def _qasper_queries(data: Path) -> Iterator[SoughtTexts]:
    """Yield questions with their evidence; earlier questions on the same paper are the history."""
    for paper, questions in group_by(read_qasper(data), "paper_id").items():
        exchanges = [(question.question, next(iter(question.answers), "")) for question in questions]
        for number, question in enumerate(questions):
            texts = dict.fromkeys(part.text.strip() for part in question.evidence)
            history = tuple(exchanges[max(0, number - MOST_EXCHANGES) : number])
            yield SoughtTexts("qasper", paper, question.question, tuple(filter(None, texts)), history)


class CanardTurn(BaseModel):
    """A question (`q`), its self-contained rewrite, and key words of its answer."""

    q: str = Field(min_length=1)
    rewrite: str = Field(min_length=1)
    ans_kw: str = ""


class CanardDialogue(BaseModel):
    id: str
    turns: tuple[CanardTurn, ...] = Field(min_length=1)


def read_canard(data: Path) -> list[CanardDialogue]:
    """Read CANARD's training dialogues; raises EvaluationError."""
    return read_json_lines(data / CANARD, CanardDialogue, "Each line has id and turns with q and rewrite.")


def _canard(name: str, data: Path) -> Iterator[SoughtTexts]:
    """Yield follow-up questions, whose text to retrieve is their rewrite or the key words of their answer."""
    for dialogue in read_canard(data):
        exchanges = [(turn.q, turn.ans_kw) for turn in dialogue.turns]
        for number, turn in enumerate(dialogue.turns):
            history = tuple(exchanges[max(0, number - MOST_EXCHANGES) : number])
            if name == "canard-answers":
                if len(turn.ans_kw.split()) >= FEWEST_KEY_WORDS:
                    yield SoughtTexts(name, dialogue.id, turn.q, (turn.ans_kw,), history)
            elif history and turn.q.casefold() != turn.rewrite.casefold():
                yield SoughtTexts(name, dialogue.id, turn.q, (turn.rewrite,), history)


SOUGHT_READERS: Mapping[str, Callable[[Path], Iterator[SoughtTexts]]] = {
    "citations": _citations,
    "titles": _titles,
    "qasper": _qasper_queries,
    **{name: partial(_canard, name) for name in ("canard-rewrites", "canard-answers")},
}
