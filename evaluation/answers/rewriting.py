"""How near rewritten questions are to the ones people wrote, on conversations with both.

Each question is rewritten in the light of the raw questions before it, which were rewritten in the same way;
there are no answers in such data, so that nothing but the questions can help.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TypedDict

from pydantic import BaseModel, Field
from rouge_score.rouge_scorer import RougeScorer

from assistant.questions import rewrite_from_words, stems
from assistant.records import Answer, Evidence, Provenance, Rewrite, Turn
from corpus.records import Scope
from evaluation.input_files import read_json_lines

WORDS_PER_UTTERANCE, WORDS_IN_ALL = 128, 500
_TIE = 1e-9


class AskedTurn(BaseModel):
    """A question of a conversation, those before it, and what a person made of it."""

    history: tuple[str, ...] = ()
    raw: str = Field(min_length=1)
    manual: str = Field(min_length=1)
    src: str = ""


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


def measure_rewriting(file: Path) -> dict[str, RewritingFigures]:
    """Return the figures of all turns of a file under "all", and of each of its sources where it names some.

    Raises EvaluationError.
    """
    turns = read_json_lines(file, AskedTurn, "Each line has history, raw and manual.")
    rewritten = _rewritten(turns)
    sources = sorted({turn.src for turn in turns if turn.src})
    found = {"all": _figures(turns, rewritten)}
    for source in sources if len(sources) > 1 else []:
        chosen = [index for index, turn in enumerate(turns) if turn.src == source]
        found[source] = _figures([turns[index] for index in chosen], [rewritten[index] for index in chosen])
    return found


def rouge_f1(wanted: str, said: str) -> float:
    """Return ROUGE-1 F1 with stemming of two questions as they stand, function words included."""
    return float(_scorer().score(wanted, said)["rouge1"].fmeasure)


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


def _rewritten(turns: Iterable[AskedTurn]) -> list[str]:
    @cache
    def asked(question: str, before: tuple[str, ...]) -> Turn:
        history = tuple(asked(earlier, before[:number]) for number, earlier in enumerate(before))
        return _turn(rewrite_from_words(question, history))

    return [asked(turn.raw, turn.history).rewrite.search_query for turn in turns]


def _turn(rewrite: Rewrite) -> Turn:
    return Turn(
        question=rewrite.question,
        asked="",
        scope=Scope(),
        papers_wanted=1,
        rewrite=rewrite,
        hits=(),
        evidence=Evidence(),
        answer=Answer(""),
        calls=(),
        seconds=(),
        provenance=Provenance("", "", "", "", ()),
    )


def _figures(turns: Sequence[AskedTurn], rewritten: Sequence[str]) -> RewritingFigures:
    raw = _scores(turns, [turn.raw for turn in turns])
    joined = _scores(turns, [concatenated(turn.raw, turn.history) for turn in turns])
    ours = _scores(turns, rewritten)
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


@cache
def _scorer() -> RougeScorer:
    return RougeScorer(["rouge1"], use_stemmer=True)
