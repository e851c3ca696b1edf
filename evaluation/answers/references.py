"""Has a model judge answers against reference answers, and citations (TruthReader, section 5.2)."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, Field

from assistant.models.protocol import ModelError, ModelUnavailableError
from assistant.prompts.render import as_line, as_written, load_prompt
from assistant.records import Citation, Message, Turn
from corpus.wording import counted
from evaluation.harness import say
from evaluation.input_files import DATA, PROMPTS, EvaluationError, read_json_lines
from evaluation.judging import Judge, between

REFERENCES = DATA / "reference_answers.jsonl"
VERDICT_TOKENS = 200


class _ReferenceRow(BaseModel, frozen=True, extra="forbid"):
    id: str
    answer: str = Field(min_length=1)


class Verdict(BaseModel, extra="forbid", strict=True):
    explanation: str = Field(max_length=600)
    holds: bool


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Counts of verdicts: usable, positive, and failed, with the first problem of the failed ones."""

    judged: int
    holding: int
    failed: int
    problem: str


def read_references(path: Path = REFERENCES) -> dict[str, str]:
    """Read the reference answers by the ids of their questions; raises EvaluationError."""
    rows = read_json_lines(path, _ReferenceRow, "Each line has id, of a judged question, and answer.")
    return {row.id: row.answer for row in rows}


def judge_right(judge: Judge, turns: Mapping[str, Turn], references: Mapping[str, str]) -> Verdicts:
    """Have the judge compare answers with the reference answers; both are by the ids of questions.

    Raises ModelUnavailableError, and EvaluationError if no reply is usable.
    """
    prompts = [
        load_prompt("check_answer", PROMPTS).render(
            question=between("question", as_line(turn.question)),
            reference=between("reference answer", as_written(references[question])),
            answer=between("answer", as_written(turn.answer.text)),
        )
        for question, turn in turns.items()
    ]
    return _collect_verdicts(judge, prompts, "answer")


def judge_citations(judge: Judge, turns: Sequence[Turn]) -> Verdicts:
    """Have the judge decide for each citation whether the cited passage supports the claim.

    Raises ModelUnavailableError, and EvaluationError if no reply is usable.
    """
    prompts = [
        _citation_prompt(turn, citation)
        for turn in turns
        for sentence in turn.answer.sentences
        for citation in sentence.citations
    ]
    return _collect_verdicts(judge, prompts, "citation")


def _citation_prompt(turn: Turn, citation: Citation) -> tuple[Message, ...]:
    title, text = next(
        (labelled.paper.title, passage.text)
        for labelled in turn.evidence.papers
        for passage in labelled.passages
        if passage.id == citation.passage_id
    )
    return load_prompt("check_citation", PROMPTS).render(
        title=between("title", as_line(title)),
        passage=between("passage", as_written(text)),
        sentence=between("sentence", as_written(citation.claim)),
    )


def _collect_verdicts(judge: Judge, prompts: Sequence[tuple[Message, ...]], kind: str) -> Verdicts:
    parameters = replace(judge.parameters, temperature=0.0, max_tokens=VERDICT_TOKENS)

    def verdict(messages: tuple[Message, ...]) -> bool | str:
        """Return the verdict, or the problem of a reply that is not usable."""
        try:
            return judge.model.reply(messages, parameters, Verdict).holds
        except ModelUnavailableError:
            raise
        except ModelError as error:
            return error.fault

    if prompts:
        say(f"The judge {judge.model.label} is asked of {counted(len(prompts), kind)}.")
    with ThreadPoolExecutor(judge.at_once) as pool:
        verdicts = list(pool.map(verdict, prompts))
    problems = [result for result in verdicts if isinstance(result, str)]
    if verdicts and len(problems) == len(verdicts):
        raise EvaluationError(f"No verdict of {judge.model.id} on {kind}s counts: {problems[0]}")
    holding = sum(result is True for result in verdicts)
    return Verdicts(len(verdicts) - len(problems), holding, len(problems), problems[0] if problems else "")
