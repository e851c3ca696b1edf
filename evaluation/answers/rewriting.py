"""Rewritten questions beside those that people wrote, and queries of conversations.

Each question is rewritten after the raw questions before it, which were rewritten in the same way. CAsT has
no answers; CANARD has an answer to every earlier question.
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

# A question and its answer, "" where there is none.
Exchange = tuple[str, str]
Rewriting = Callable[[str, tuple[Turn, ...]], Rewrite]
RewritingFigures = Figures


class AskedTurn(BaseModel):
    """A question of a conversation, its history, and the question that a person made of it.

    `history` has the earlier questions, and where `answered` each one's answer behind it.
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


def read_turns(file: Path) -> Sequence[AskedTurn]:
    """Read the turns of a file; raises EvaluationError."""
    return read_json_lines(
        file, AskedTurn, "Each line has history, raw and manual, or history, question and rewrite (CANARD)."
    )


def measure_rewriting(
    turns: Sequence[AskedTurn], rewrite: Rewriting = rewrite_from_words
) -> dict[str, RewritingFigures]:
    """Measure all turns under "all", and those of each source where they name several."""
    sources = sorted({turn.src for turn in turns if turn.src})
    parts = {"all": list(turns)}
    parts |= {name: [turn for turn in turns if turn.src == name] for name in sources if len(sources) > 1}
    return {name: _figures(part, rewrite) for name, part in parts.items()}


def _figures(turns: Sequence[AskedTurn], rewrite: Rewriting) -> RewritingFigures:
    queries = {
        "raw": [turn.raw for turn in turns],
        "concatenated": [concatenated(turn.raw, turn.history) for turn in turns],
        "rewritten": [rewritten(turn.raw, turn.exchanges, rewrite) for turn in turns],
    }
    wanted = [turn.manual for turn in turns]
    f1 = {name: np.array(list(map(rouge_f1, wanted, asked))) for name, asked in queries.items()}
    gains = f1["rewritten"] - f1["raw"]
    return {
        "turns": len(turns),
        **{
            name: {"f1": float(f1[name].mean()), "recall": fmean(map(term_recall, wanted, asked))}
            for name, asked in queries.items()
        },
        "worse_than_raw": float((gains < -_TIE).mean()),
        "better_than_raw": float((gains > _TIE).mean()),
    }


def rouge_f1(wanted: str, said: str) -> float:
    """Compute ROUGE-1 F1 with stemming of two questions, function words included."""
    return highest_rouge1(said, [wanted]) / 100


def term_recall(wanted: str, said: str) -> float:
    """Return the share of the content stems of `wanted` that `said` has; 1 of none."""
    terms = stems(wanted)
    return len(terms & stems(said)) / len(terms) if terms else 1.0


def concatenated(question: str, history: Sequence[str]) -> str:
    """Put a question before its history, the newest first (TruthReader).

    Each utterance is cut to 128 words and the whole to 500; the oldest are dropped.
    """
    kept: list[str] = []
    for utterance in (question, *reversed(history)):
        said = utterance.split()[:WORDS_PER_UTTERANCE]
        if len(kept) + len(said) > WORDS_IN_ALL:
            break
        kept += said
    return " ".join(kept)


def rewritten(question: str, exchanges: Sequence[Exchange], rewrite: Rewriting = rewrite_from_words) -> str:
    """Rewrite a question as the search has it after some exchanges, whose questions are rewritten too."""
    return _asked((question, ""), tuple(exchanges), rewrite).rewrite.search_query


@lru_cache(maxsize=65_536)
def _asked(exchange: Exchange, before: tuple[Exchange, ...], rewrite: Rewriting) -> Turn:
    history = tuple(_asked(earlier, before[:number], rewrite) for number, earlier in enumerate(before))
    question, answer = exchange
    found = rewrite(question, history)
    provenance = Provenance("", "", "", "", ())
    return Turn(found.question, "", Scope(), 1, found, (), Evidence(), Answer(answer), (), (), provenance)


QueryContext = Literal["none", "concatenated", "ours"]
HistoryKind = Literal["none", "relevant", "irrelevant", "both"]
CONTEXTS: tuple[QueryContext, ...] = get_args(QueryContext)
HISTORIES: tuple[HistoryKind, ...] = get_args(HistoryKind)


def query_in_context(context: QueryContext, question: str, exchanges: Sequence[Exchange]) -> str:
    """Return a question alone, with its history behind it (TruthReader, section 3.2), or as we rewrite it."""
    if context == "concatenated":
        return concatenated(question, [said for exchange in exchanges for said in exchange if said])
    return rewritten(question, exchanges) if context == "ours" else question


def history_of(kind: HistoryKind, own: Sequence[Exchange], other: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return a history of a kind (TruthReader, section 3.1): in "both" the subject changed."""
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
