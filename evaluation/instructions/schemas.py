"""The forms of replies that SciRIFF's instructions ask for, as schemas that models are held to."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

Intent = Literal["Background", "Motivation", "Uses", "Extends", "Similarities", "Differences", "FutureWork"]
Effect = Literal["significantly increased", "significantly decreased", "no significant difference"]


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ListedAnswers(RootModel[Annotated[list[str], Field(min_length=1)]]):
    """BioASQ: the answers to a question, at least one."""


class BiomedicalEntities(_Object):
    """BioRED: the entities of an abstract by their types."""

    CellLine: list[str]
    Chemical: list[str]
    Disease: list[str]
    Gene: list[str]
    Species: list[str]
    Variant: list[str]


class ScientificEntities(_Object):
    """SciERC: the entities of an abstract by their types."""

    Task: list[str]
    Method: list[str]
    Metric: list[str]
    Material: list[str]
    OtherScientificTerm: list[str]
    Generic: list[str]


class Findings(RootModel[list[tuple[str, str | None, str, Effect, str]]]):
    """Evidence Inference: intervention, comparator, outcome, effect and evidence of what a trial found."""


class Intents(RootModel[list[Intent]]):
    """MultiCite: what a work is cited for."""


class Answer(_Object):
    """An answer with the paragraphs that it rests on."""

    answer: str
    evidence: list[str]


class AnswerOrNull(RootModel[Answer | None]):
    """Qasper: an answer, or null where the paper gives none."""


class Verdict(_Object):
    """SciFact: what an abstract says of a claim, with the sentences that do."""

    verdict: Literal["SUPPORT", "CONTRADICT", "NEI"]
    evidence: list[str]
