"""SciRIFF's tasks that GenGO Ultra measures: the form of a reply, and what is counted of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, TypeAdapter

from evaluation.instructions.finding import Nothing
from evaluation.instructions.metrics import (
    Pair,
    answer_f1,
    finding_f1,
    list_f1,
    mention_f1,
    rouge_l,
    verdict_f1,
)
from evaluation.instructions.schemas import (
    AnswerOrNull,
    BiomedicalEntities,
    Findings,
    Intents,
    ListedAnswers,
    ScientificEntities,
    Verdict,
)

Figures = Mapping[str, float]


class _Answer(BaseModel):
    answer: str
    evidence: list[str]


class _Verdict(BaseModel):
    verdict: str
    evidence: list[str]


@dataclass(frozen=True, slots=True)
class Task:
    """A task under SciRIFF's name: its figures, 0..1, by the names of columns.

    `form` is the schema of a reply, None where the reply is text. `nothing` stands for a reply without JSON.
    `wanted` is what references are, which are not held to the form: people wrote them.
    """

    name: str
    score: Callable[[Sequence[Pair]], Figures]
    wanted: TypeAdapter[object]
    form: type[BaseModel] | None = None
    nothing: Nothing | None = None
    array_may_end_as_object: bool = False


def _named(name: str, score: Callable[[Sequence[Pair]], float]) -> Callable[[Sequence[Pair]], Figures]:
    return lambda pairs: {name: score(pairs)}


def _findings(pairs: Sequence[Pair]) -> Figures:
    return {f"Evidence Inference {how} F1": figure for how, figure in finding_f1(pairs).items()}


def _answers(pairs: Sequence[Pair]) -> Figures:
    return {f"Qasper {what} F1": figure for what, figure in answer_f1(pairs).items()}


def _verdicts(pairs: Sequence[Pair]) -> Figures:
    return {f"SciFact {what} F1": figure for what, figure in verdict_f1(pairs).items()}


def _summaries(pairs: Sequence[Pair]) -> Figures:
    return {"MUP ROUGE-L": rouge_l([(str(given), str(wanted)) for given, wanted in pairs])}


_ENTITIES: TypeAdapter[object] = TypeAdapter(dict[str, list[str]])
_TEXTS: TypeAdapter[object] = TypeAdapter(list[str])
_ALL = (
    Task("bioasq_list_qa", _named("BioASQ F1", list_f1), _TEXTS, ListedAnswers, []),
    Task("biored_ner", _named("BioRED F1", mention_f1), _ENTITIES, BiomedicalEntities, {}),
    Task(
        "evidence_inference",
        _findings,
        TypeAdapter(list[list[str | None]]),
        Findings,
        [],
        array_may_end_as_object=True,
    ),
    Task("multicite_intent_classification", _named("MultiCite F1", list_f1), _TEXTS, Intents, []),
    Task("mup_single_document_summarization", _summaries, TypeAdapter(str)),
    Task("qasper_abstractive_qa", _answers, TypeAdapter(_Answer), AnswerOrNull, {}),
    Task("scierc_ner", _named("SciERC F1", mention_f1), _ENTITIES, ScientificEntities, {}),
    Task("scifact_entailment", _verdicts, TypeAdapter(_Verdict), Verdict, {}),
)

TASKS: Mapping[str, Task] = {task.name: task for task in _ALL}
SUMMARIES, ANSWERS = TASKS["mup_single_document_summarization"], TASKS["qasper_abstractive_qa"]
CLAIMS = TASKS["scifact_entailment"]
