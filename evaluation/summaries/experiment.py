"""ChatCite's experiment (arXiv 2403.02574, section 4): every system writes on every gold section.

Finished summaries and the judge's replies are kept, and are not asked for again.
"""

import hashlib
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import get_args

from assistant.comparing import (
    Ablation,
    CallLedger,
    ComparativeGenerator,
    Compared,
    Comparer,
    Comparison,
    ComparisonError,
    ComparisonOptions,
    ComparisonRequest,
    ComparisonStep,
    ExtractiveComparer,
    ReflectiveGenerator,
    SourceText,
    Task,
    check_applicable,
    open_comparative_generator,
    render_description,
    summary_words,
)
from assistant.prompts import SummaryForm, as_data, as_line, form, load_prompt, mark
from assistant.records import AssistantError, Draft, ElementName, Message
from assistant.trail import comparison_from_json, comparison_to_json
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder
from corpus.sentences import sentence_spans
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from evaluation.harness import Figures, say
from evaluation.input_files import PROMPTS, EvaluationError, read_trail
from evaluation.judging import Judge, JudgeFigures, open_judge
from evaluation.kept import replies_file, write_whole
from evaluation.rouge import OVERLAPS
from evaluation.summaries.gold import GoldPapers, GoldSection, read_gold_sections
from evaluation.summaries.summary import VOTES, System, judge_summaries, rouge
from indexer.build import build_collection

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.-]")


class LeadComparer(ExtractiveComparer):
    """The floor: the first sentence of each abstract, in the order of the papers."""

    name = "lead"
    label = "Lead"
    note = ""

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:  # noqa: ARG002
        return {}

    def compose(self, step: ComparisonStep) -> Draft:
        sentences = []
        for source in (step.sources[label] for label in step.labels):
            abstract = as_data(source.paper.paper.abstract)
            start, end = sentence_spans(abstract)[0]
            sentences.append(f"{abstract[start:end].strip().rstrip('.!?')} [{source.label}].")
        return Draft(" ".join(sentences))


def single_prompt(
    examples: str,
    step: ComparisonStep,
    summary: str,  # noqa: ARG001 - nothing is continued
    returned: SummaryForm,
) -> tuple[Message, ...]:
    """Render the prompt of the baselines, which ask for the whole summary at once."""
    listed = []
    for source in (step.sources[label] for label in step.labels):
        paper = source.paper.paper
        head = f"[{source.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
        listed.append(f"{head}\n{as_line(paper.abstract)}")
    references = "\n\n".join(listed)
    return load_prompt("one_prompt", PROMPTS).render(
        words=str(summary_words(len(step.labels))),
        examples=examples,
        description=render_description(step),
        references=f"{mark('references')}\n{references}\n{mark('end of references')}",
        form=form(returned),
    )


@dataclass(frozen=True, slots=True)
class TableRow:
    """A system by its name; one without a generator is `not_applicable`, with the reason."""

    name: str
    generator: ComparativeGenerator | None = None
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    not_applicable: str = ""


# Without reflection is ChatCite's incremental baseline too.
_ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


def table_rows(writer: str, samples: int, settings: Settings, encoder: Encoder) -> list[TableRow]:
    """List all rows, the method before its ablations, which reuse its calls; raises AssistantError."""
    rows = [
        TableRow("lead", LeadComparer(encoder)),
        TableRow("extractive", ExtractiveComparer(encoder)),
    ]
    options, at_once = ComparisonOptions(samples=samples), ComparisonOptions(without=_ABLATIONS)
    method = open_comparative_generator(writer, settings, encoder)
    reflects = isinstance(method, ReflectiveGenerator)
    examples = (PROMPTS / "examples.md").read_text(encoding="utf-8")
    for name, shown in (("zero-shot", ""), ("few-shot", examples)):
        messages = partial(single_prompt, shown)
        baseline = open_comparative_generator(writer, settings, encoder, messages=messages)
        rows.append(TableRow(name, baseline, at_once))
    rows.append(TableRow("chatcite", method, options))
    if not reflects:
        reason = "Without a model there is nothing to prompt. Name one by --model."
        rows[2:] = [replace(row, generator=None, not_applicable=reason) for row in rows[2:]]
    for part in _ABLATIONS:
        row = TableRow(f"without-{part}", method, replace(options, without=(part,)))
        try:
            check_applicable(part, options, reflects=reflects)
        except ComparisonError as error:
            row = replace(row, generator=None, not_applicable=str(error))
        rows.append(row)
    return rows


@dataclass(frozen=True, slots=True)
class SectionRun:
    """The systems that finished a section, by their names; `failed` has the errors of the others."""

    section: GoldSection
    systems: Mapping[str, System]
    failed: Mapping[str, str]


def run_section(
    compare: Callable[[GoldSection, TableRow, CallLedger], Comparison],
    section: GoldSection,
    rows: Sequence[TableRow],
    place: str,
) -> SectionRun:
    """Have every system that can be run write on a section."""
    systems: dict[str, System] = {}
    failed: dict[str, str] = {}
    for row in rows:
        if row.generator:
            say(f"{place}, {row.name}.")
            whole = systems.get("chatcite")
            ledger = CallLedger(whole.comparison.calls if whole and row.options.without else ())
            try:
                systems[row.name] = System(row.name, compare(section, row, ledger))
            except AssistantError as error:
                failed[row.name] = str(error)
                say(f"{place}, {row.name}: failed. {error}")
    return SectionRun(section, systems, failed)


def compare_section(
    corpus: Corpus, encoder: Encoder, folder: Path, section: GoldSection, row: TableRow, ledger: CallLedger
) -> Comparison:
    """Compare a section's papers, or read the comparison that an earlier run kept in `folder`.

    Raises AssistantError, and EvaluationError for a kept file that cannot be read.
    """
    assert row.generator
    request = ComparisonRequest(tuple(paper.id for paper in section.papers), section.about, row.options)
    asked = hashlib.sha256(f"{request}".encode()).hexdigest()[:12]
    names = (_NOT_IN_A_NAME.sub("-", name) for name in (row.name, row.generator.name))
    path = folder / "--".join(names) / f"{section.key}-{asked}.json"
    if path.is_file():
        return read_trail(path, "comparison", comparison_from_json)
    *_, last = Comparer(corpus, encoder, row.generator).compare(request, ledger)
    if not isinstance(last, Compared) or not last.comparison.answer.text.strip():
        raise ComparisonError("It wrote nothing.")
    write_whole(path, comparison_to_json(last.comparison))
    return last.comparison


def run_experiment(
    corwa: Path, anthology: Path, out: Path, writer: str, samples: int, sections: int | None, judge_id: str
) -> Figures:
    """Run the experiment, or what is left of it in the folder `out`, and return its figures.

    "sections" counts those that all systems finished, of "gold", and "judged" those that a judge marked;
    figures are over these. Raises EvaluationError, CorpusError, SourceError and AssistantError.
    """
    settings = read_settings()
    judge = open_judge(judge_id, settings, replies_file(out, judge_id)) if judge_id else None
    encoder = open_encoder(settings)
    rows = table_rows(writer, samples, settings, encoder)
    say("Looking up the references of all sections in the Anthology.")
    gold = read_gold_sections(corwa, anthology)[:sections]
    papers = GoldPapers(gold)
    say(f"Indexing the {len(papers)} references of {len(gold)} sections.")
    home = settings.model_copy(update={"home": out})
    build_collection(home, encoder, papers, lambda _: None)
    compare = partial(compare_section, Corpus.open(home.corpus_path, encoder), encoder, out / "summaries")
    runs = [
        run_section(compare, section, rows, f"Section {number} of {len(gold)}")
        for number, section in enumerate(gold, start=1)
    ]
    finished = [run for run in runs if not run.failed]
    if not finished:
        problem = next(problem for run in runs for problem in run.failed.values())
        raise EvaluationError(f"No section was finished by all systems. {problem}")
    judged = [marks for run in finished if judge and (marks := _judge_section(judge, run))]
    return {
        "judge": judge_id,
        "gold": len(gold),
        "sections": len(finished),
        "judged": len(judged),
        "rows": {row.name: _row_figures(row, runs, finished, judged) for row in rows},
    }


def _judge_section(judge: Judge, run: SectionRun) -> JudgeFigures | None:
    """Have a section's summaries marked; return None where no vote counts."""
    try:
        marks = judge_summaries(judge, tuple(run.systems.values()), VOTES, run.section.text)
    except EvaluationError as error:
        say(f"Section {run.section.key} was not judged. {error}")
        return None
    for problem in marks.problems:
        say(f"Section {run.section.key}, a vote discarded: {problem}")
    return marks if marks.discarded < marks.votes else None


def _row_figures(
    row: TableRow, runs: Sequence[SectionRun], finished: Sequence[SectionRun], judged: Sequence[JudgeFigures]
) -> Figures:
    """Average a system's ROUGE and G-Score; "failed" counts the sections that it failed on."""
    if row.not_applicable:
        return {"not_applicable": row.not_applicable}
    scores = [rouge(run.systems[row.name].text, run.section.text) for run in finished]
    return {
        "not_applicable": "",
        "failed": sum(row.name in run.failed for run in runs),
        "rouge": {name: spread([own[name] for own in scores]) for name in OVERLAPS},
        "g_score": spread([marks.systems[row.name].overall for marks in judged]),
    }


def spread(numbers: Sequence[float | None]) -> dict[str, float] | None:
    """Compute mean and standard deviation of the numbers that are not None, None where there are none."""
    known = [number for number in numbers if number is not None]
    return {"mean": statistics.fmean(known), "deviation": statistics.pstdev(known)} if known else None
