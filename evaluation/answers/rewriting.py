"""How near rewritten questions are to the ones people wrote, on conversations with both.

Each question is rewritten in the light of the raw questions before it, which were rewritten in the same way.
CAsT has no answers, so that nothing but the questions can help; CANARD has one to every question before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Self, TypedDict

from pydantic import AliasChoices, BaseModel, Field, model_validator
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.questions import rewrite_from_words, stems
from assistant.records import Answer, Evidence, Provenance, Rewrite, Turn
from corpus.records import Scope
from evaluation.input_files import read_json_lines
from evaluation.rouge import highest_rouge1

WORDS_PER_UTTERANCE, WORDS_IN_ALL = 128, 500
_TIE = 1e-9

# A question and its answer, "" where there is none.
Exchange = tuple[str, str]
Rewriting = Callable[[str, tuple[Turn, ...]], Rewrite]


class AskedTurn(BaseModel):
    """A question of a conversation, what was said before it, and what a person made of it.

    `history` has the questions before, and with `answered` behind each of them its answer.
    """

    history: tuple[str, ...] = ()
    raw: str = Field(min_length=1, validation_alias=AliasChoices("raw", "question"))
    manual: str = Field(min_length=1, validation_alias=AliasChoices("manual", "rewrite"))
    src: str = ""
    answered: bool = False

    @model_validator(mode="before")
    @classmethod
    def _know_canard(cls, row: object) -> object:
        return {**row, "answered": True} if isinstance(row, Mapping) and "rewrite" in row else row

    @model_validator(mode="after")
    def _end_with_an_answer(self) -> Self:
        if self.answered and len(self.history) % 2:
            raise ValueError("history must have an answer behind each question")
        return self

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        if self.answered:
            return tuple(zip(self.history[::2], self.history[1::2], strict=True))
        return tuple((question, "") for question in self.history)


class Nearness(TypedDict):
    """Means over all questions, 0..1."""

    f1: float
    recall: float


class RewritingFigures(TypedDict):
    turns: int
    raw: Nearness
    concatenated: Nearness
    rewritten: Nearness
    worse_than_raw: float
    better_than_raw: float


@dataclass(frozen=True, slots=True)
class _Scored:
    f1: float
    recall: float


def read_turns(file: Path) -> Sequence[AskedTurn]:
    """Return the turns of a file; raises EvaluationError."""
    return read_json_lines(
        file, AskedTurn, "Each line has history, raw and manual, or history, question and rewrite (CANARD)."
    )


def measure_rewriting(
    turns: Sequence[AskedTurn], rewrite: Rewriting = rewrite_from_words
) -> dict[str, RewritingFigures]:
    """Return the figures of all turns under "all", and of each of their sources where they name some."""
    ours = [rewritten(turn.raw, turn.exchanges, rewrite) for turn in turns]
    sources = sorted({turn.src for turn in turns if turn.src})
    found = {"all": _figures(turns, ours)}
    for source in sources if len(sources) > 1 else []:
        chosen = [index for index, turn in enumerate(turns) if turn.src == source]
        found[source] = _figures([turns[index] for index in chosen], [ours[index] for index in chosen])
    return found


def rouge_f1(wanted: str, said: str) -> float:
    """Return ROUGE-1 F1 with stemming of two questions as they stand, function words included."""
    return highest_rouge1(said, [wanted]) / 100


def term_recall(wanted: str, said: str) -> float:
    """Return the share of the stems of `wanted` that carry a subject which `said` has too; 1 of none."""
    terms = stems(wanted)
    return len(terms & stems(said)) / len(terms) if terms else 1.0


def concatenated(question: str, history: Sequence[str]) -> str:
    """Return a question with what was said before it, the newest first (TruthReader).

    Each utterance is cut to 128 words and the whole to 500, the oldest being dropped.
    """
    kept: list[str] = []
    for utterance in (question, *reversed(history)):
        said = utterance.split()[:WORDS_PER_UTTERANCE]
        if len(kept) + len(said) > WORDS_IN_ALL:
            break
        kept += said
    return " ".join(kept)


def rewritten(question: str, exchanges: Sequence[Exchange], rewrite: Rewriting = rewrite_from_words) -> str:
    """Return a question as we search for it after some exchanges, whose questions are rewritten too."""
    return _asked((question, ""), tuple(exchanges), rewrite).rewrite.search_query


@lru_cache(maxsize=65_536)
def _asked(exchange: Exchange, before: tuple[Exchange, ...], rewrite: Rewriting) -> Turn:
    history = tuple(_asked(earlier, before[:number], rewrite) for number, earlier in enumerate(before))
    question, answer = exchange
    return _turn(rewrite(question, history), answer)


def _turn(rewrite: Rewrite, answer: str) -> Turn:
    return Turn(
        question=rewrite.question,
        asked="",
        scope=Scope(),
        papers_wanted=1,
        rewrite=rewrite,
        hits=(),
        evidence=Evidence(),
        answer=Answer(answer),
        calls=(),
        seconds=(),
        provenance=Provenance("", "", "", "", ()),
    )


def _figures(turns: Sequence[AskedTurn], searched: Sequence[str]) -> RewritingFigures:
    raw = _scores(turns, [turn.raw for turn in turns])
    joined = _scores(turns, [concatenated(turn.raw, turn.history) for turn in turns])
    ours = _scores(turns, searched)
    pairs = list(zip(ours, raw, strict=True))
    return RewritingFigures(
        turns=len(turns),
        raw=_means(raw),
        concatenated=_means(joined),
        rewritten=_means(ours),
        worse_than_raw=fmean(own.f1 < plain.f1 - _TIE for own, plain in pairs),
        better_than_raw=fmean(own.f1 > plain.f1 + _TIE for own, plain in pairs),
    )


def _scores(turns: Sequence[AskedTurn], said: Sequence[str]) -> list[_Scored]:
    pairs = zip(turns, said, strict=True)
    return [_Scored(rouge_f1(turn.manual, text), term_recall(turn.manual, text)) for turn, text in pairs]


def _means(scores: Sequence[_Scored]) -> Nearness:
    return Nearness(f1=fmean(score.f1 for score in scores), recall=fmean(score.recall for score in scores))


def rewriting_table(figures: dict[str, RewritingFigures]) -> Table:
    """Return what people read: the three queries of each source."""
    numbers = [Column(name, justify="right") for name in ("ROUGE-1 F1", "Recall of terms", "Worse", "Better")]
    table = Table("Turns", "Query", *numbers, box=SIMPLE_HEAD)
    for name, part in figures.items():
        label = f"{name}, {part['turns']}"
        for kind in ("raw", "concatenated", "rewritten"):
            scores = [f"{part[kind]['f1']:.4f}", f"{part[kind]['recall']:.4f}"]
            shares = [f"{part['worse_than_raw']:.3f}", f"{part['better_than_raw']:.3f}"]
            table.add_row(
                label if kind == "raw" else "", kind, *scores, *(shares if kind == "rewritten" else [])
            )
        table.add_section()
    return table
