"""Compares rewritten questions with those that people wrote, and builds the queries of conversations.

The history of a question has the earlier raw questions, each rewritten in the same way. CAsT has no answers;
CANARD has an answer to every earlier question.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Literal, Self, get_args

import numpy as np
from pydantic import AliasChoices, BaseModel, Field, model_validator

from assistant.questions.rewriting import rewrite_from_words
from assistant.questions.vocabulary import stems
from assistant.records import Answer, Evidence, Provenance, Rewrite, Turn
from corpus.records import Scope
from evaluation.harness import Figures, Report, command, decimals, grouped_table
from evaluation.input_files import read_json_lines
from evaluation.rouge import highest_rouge1

WORDS_PER_UTTERANCE, WORDS_IN_ALL = 128, 500
QUERIES = ("raw", "concatenated", "rewritten")
_TIE = 1e-9

# A question and its answer, "" for none.
Exchange = tuple[str, str]
Rewriting = Callable[[str, tuple[Turn, ...]], Rewrite]
RewritingFigures = Figures


class AskedTurn(BaseModel):
    """A question of a conversation (`raw`), its history, and its rewrite by a person (`manual`).

    `history` has the earlier questions; if `answered`, each is followed by its answer.
    """

    history: tuple[str, ...] = ()
    raw: str = Field(min_length=1, validation_alias=AliasChoices("raw", "question"))
    manual: str = Field(min_length=1, validation_alias=AliasChoices("manual", "rewrite"))
    src: str = ""
    answered: bool = False

    @model_validator(mode="before")
    @classmethod
    def _detect_canard(cls, row: object) -> object:
        return {**row, "answered": True} if isinstance(row, Mapping) and "rewrite" in row else row

    @model_validator(mode="after")
    def _check_answers(self) -> Self:
        if self.answered and len(self.history) % 2:
            raise ValueError("history must have an answer after each question")
        return self

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        if self.answered:
            return tuple(zip(self.history[::2], self.history[1::2], strict=True))
        return tuple((question, "") for question in self.history)


def read_turns(file: Path) -> Sequence[AskedTurn]:
    """Read the turns of a file; raises EvaluationError."""
    return read_json_lines(
        file, AskedTurn, "Each line has history, raw and manual, or history, question and rewrite (CANARD)."
    )


def measure_rewriting(
    turns: Sequence[AskedTurn], rewrite: Rewriting = rewrite_from_words
) -> dict[str, RewritingFigures]:
    """Measure all turns ("all") and, if they are from several sources, those of each source."""
    sources = sorted({turn.src for turn in turns if turn.src})
    parts = {"all": list(turns)}
    parts |= {name: [turn for turn in turns if turn.src == name] for name in sources if len(sources) > 1}
    return {name: _figures(part, rewrite) for name, part in parts.items()}


def _figures(turns: Sequence[AskedTurn], rewrite: Rewriting) -> RewritingFigures:
    queries = {
        "raw": [turn.raw for turn in turns],
        "concatenated": [concatenate(turn.raw, turn.history) for turn in turns],
        "rewritten": [rewritten_query(turn.raw, turn.exchanges, rewrite) for turn in turns],
    }
    references = [turn.manual for turn in turns]
    f1 = {name: np.array(list(map(rouge_f1, references, texts))) for name, texts in queries.items()}
    gains = f1["rewritten"] - f1["raw"]
    return {
        "turns": len(turns),
        **{
            name: {"f1": float(f1[name].mean()), "recall": fmean(map(term_recall, references, texts))}
            for name, texts in queries.items()
        },
        "worse_than_raw": float((gains < -_TIE).mean()),
        "better_than_raw": float((gains > _TIE).mean()),
    }


def rouge_f1(reference: str, text: str) -> float:
    """Compute the ROUGE-1 F1 of two texts, 0..1, stemmed and with function words."""
    return highest_rouge1(text, [reference]) / 100


def term_recall(reference: str, text: str) -> float:
    """Return the share of the content stems of `reference` that `text` has; 1 if it has no content stem."""
    terms = stems(reference)
    return len(terms & stems(text)) / len(terms) if terms else 1.0


def concatenate(question: str, history: Sequence[str]) -> str:
    """Put a question before its history, newest first (TruthReader).

    Each utterance is cut to `WORDS_PER_UTTERANCE`; the oldest are dropped beyond `WORDS_IN_ALL`.
    """
    words: list[str] = []
    for utterance in (question, *reversed(history)):
        utterance_words = utterance.split()[:WORDS_PER_UTTERANCE]
        if len(words) + len(utterance_words) > WORDS_IN_ALL:
            break
        words += utterance_words
    return " ".join(words)


def rewritten_query(
    question: str, exchanges: Sequence[Exchange], rewrite: Rewriting = rewrite_from_words
) -> str:
    """Return the search query of a question after some exchanges, whose questions are rewritten too."""
    return _rewritten_turn((question, ""), tuple(exchanges), rewrite).rewrite.search_query


@lru_cache(maxsize=65_536)
def _rewritten_turn(exchange: Exchange, before: tuple[Exchange, ...], rewrite: Rewriting) -> Turn:
    history = tuple(
        _rewritten_turn(earlier, before[:number], rewrite) for number, earlier in enumerate(before)
    )
    question, answer = exchange
    result = rewrite(question, history)
    provenance = Provenance("", "", "", "", ())
    return Turn(result.question, "", Scope(), 1, result, (), Evidence(), Answer(answer), (), (), provenance)


QueryContext = Literal["none", "concatenated", "ours"]
HistoryKind = Literal["none", "relevant", "irrelevant", "both"]
CONTEXTS: tuple[QueryContext, ...] = get_args(QueryContext)
HISTORIES: tuple[HistoryKind, ...] = get_args(HistoryKind)


def query_in_context(context: QueryContext, question: str, exchanges: Sequence[Exchange]) -> str:
    """Return a question alone, followed by its history (TruthReader, section 3.2), or as we rewrite it."""
    if context == "concatenated":
        return concatenate(question, [text for exchange in exchanges for text in exchange if text])
    return rewritten_query(question, exchanges) if context == "ours" else question


def history_of(kind: HistoryKind, own: Sequence[Exchange], other: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Combine a question's own history with another one (TruthReader, section 3.1)."""
    relevant = tuple(own) if kind in ("relevant", "both") else ()
    return (*other, *relevant) if kind in ("irrelevant", "both") else relevant


@command("rewriting")
def rewriting(turns: Path) -> Report:
    figures = measure_rewriting(read_turns(turns))
    groups = {}
    for name, part in figures.items():
        scores = [[query, *(decimals(part[query][key], 4) for key in ("f1", "recall"))] for query in QUERIES]
        scores[-1] += [decimals(part[f"{change}_than_raw"]) for change in ("worse", "better")]
        groups[f"{name}, {part['turns']}"] = scores
    head = ("Turns", "Query", "ROUGE-1 F1", "Recall of terms", "Worse", "Better")
    sources = {name: part for name, part in figures.items() if name != "all"}
    return Report({**figures["all"], "sources": sources}, [grouped_table(head, groups)])
