"""ChatCite's experiment (arXiv 2403.02574, section 5): every system writes a text for every gold section.

Finished summaries and the judge's replies are stored and not requested again.
"""

import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import get_args

from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.ledger import CallLedger, Task
from assistant.comparing.protocol import ComparativeGenerator, ComparisonStep, SourceText
from assistant.comparing.records import (
    Ablation,
    Compared,
    Comparison,
    ComparisonError,
    ComparisonOptions,
    ComparisonRequest,
)
from assistant.prompts.render import as_data
from assistant.records import AssistantError, Draft, ElementName
from assistant.trail.comparison_file import comparison_from_json, comparison_to_json
from corpus.encoders.base import Encoder
from corpus.sentences import sentence_spans
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from evaluation.harness import Figures, say
from evaluation.homes import ListedPapers
from evaluation.input_files import EvaluationError, read_trail
from evaluation.judging import Judge, JudgeFigures, open_judge
from evaluation.reply_cache import replies_file, write_whole
from evaluation.rouge import OVERLAPS
from evaluation.summaries.baselines import Plan, Preparation, open_preparation, section_prompt
from evaluation.summaries.box_plot import box_plot
from evaluation.summaries.gold import COLLECTION, TITLE_WORDS, GoldSection, gold_papers
from evaluation.summaries.summary import VOTES, System, judge_summaries, rouge

# Titles and names of the systems in the box plot.
PLOTTED = {
    "all parts": "chatcite",
    "no elements": "without-elements",
    "no increments": "without-increments",
    "no reflection": "without-reflection",
}
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.-]")


class LeadComparer(ExtractiveComparer):
    """The lower bound: the first sentence of each abstract, in the order of the papers."""

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


@dataclass(frozen=True, slots=True)
class Material:
    """The input: a corpus of all cited works, and descriptions of the citing works by section key."""

    corpus: Corpus
    descriptions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A system of the experiment; a `summarized` one reads the writer's summaries in place of the texts."""

    name: str
    generator: ComparativeGenerator
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    summarized: bool = False
    note: str = ""


_AT_ONCE = ComparisonOptions(without=get_args(Ablation))
_STYLE, _GUIDANCE = "examples", "writing_guidance"


def table_rows(
    writer: str, samples: int, settings: Settings, encoder: Encoder, preparation: Preparation | None
) -> list[TableRow]:
    """List the systems; "chatcite" precedes its ablations, which reuse its calls. Raises AssistantError."""
    rows = [TableRow("lead", LeadComparer(encoder)), TableRow("extractive", ExtractiveComparer(encoder))]
    if preparation is None:
        return rows
    options = ComparisonOptions(samples=samples)
    context = preparation.entry.context
    has_short_context = not preparation.has_long_context

    def at_once(
        name: str,
        *instructions: str,
        plan: Plan | None = None,
        summarized: bool = has_short_context,
        note: str = "in two steps, from summaries of the references" if has_short_context else "in one step",
    ) -> TableRow:
        messages = partial(section_prompt, context=context, instructions=instructions, plan=plan)
        baseline = open_comparative_generator(writer, settings, encoder, messages=messages)
        return TableRow(name, baseline, _AT_ONCE, summarized, note)

    method = open_comparative_generator(writer, settings, encoder)
    no_elements = "summaries of the references in place of elements"
    no_increments = "the few-shot prompt with the writing guidance, from summaries of the references"
    return [
        *rows,
        at_once("zero-shot"),
        at_once("few-shot", _STYLE),
        at_once("litllm", plan=preparation.plan),
        TableRow("chatcite", method, options),
        # Section 5.3: summaries replace the elements; the few-shot baseline with the guidance replaces
        # the increments.
        TableRow("without-elements", method, replace(options, without=("elements",)), True, no_elements),
        at_once("without-increments", _STYLE, _GUIDANCE, summarized=True, note=no_increments),
        TableRow("without-reflection", method, replace(options, without=("reflection",))),
    ]


@dataclass(frozen=True, slots=True)
class SectionRun:
    """The systems that finished a section in a run, by name, with the judge's marks.

    `run` counts from 1; `failed` has the errors of the other systems.
    """

    run: int
    section: GoldSection
    systems: Mapping[str, System]
    failed: Mapping[str, str]
    marks: JudgeFigures | None = None


def run_section(
    compare: Callable[[GoldSection, TableRow, CallLedger], Comparison],
    section: GoldSection,
    rows: Sequence[TableRow],
    run: int,
    progress: str,
) -> SectionRun:
    """Have every system write a section; `progress` begins the lines of progress."""
    systems: dict[str, System] = {}
    failed: dict[str, str] = {}
    for row in rows:
        say(f"{progress}, {row.name}.")
        complete = systems.get("chatcite")
        ledger = CallLedger(complete.comparison.calls if complete and row.options.without else ())
        try:
            systems[row.name] = System(row.name, compare(section, row, ledger))
        except AssistantError as error:
            failed[row.name] = str(error)
            say(f"{progress}, {row.name}: failed. {error}")
    return SectionRun(run, section, systems, failed)


def compare_section(
    full: Material,
    summarized: Material,
    encoder: Encoder,
    folder: Path,
    section: GoldSection,
    row: TableRow,
    ledger: CallLedger,
) -> Comparison:
    """Compare a section's papers, or read the comparison that an earlier run stored in `folder`.

    Raises AssistantError, and EvaluationError for a stored file that cannot be read.
    """
    material = summarized if row.summarized else full
    papers = tuple(paper.id for paper in section.papers)
    request = ComparisonRequest(papers, material.descriptions[section.key], row.options)
    request_hash = hashlib.sha256(f"{request}".encode()).hexdigest()[:12]
    names = (_NOT_IN_A_NAME.sub("-", name) for name in (row.name, row.generator.name))
    path = folder / "--".join(names) / f"{section.key}-{request_hash}.json"
    if path.is_file():
        return read_trail(path, "comparison", comparison_from_json)
    *_, last = Comparer(material.corpus, encoder, row.generator).compare(request, ledger)
    if not isinstance(last, Compared) or not last.comparison.answer.text.strip():
        raise ComparisonError("The system wrote nothing.")
    write_whole(path, comparison_to_json(last.comparison))
    return last.comparison


def summarize_material(
    full: Material,
    gold: Sequence[GoldSection],
    preparation: Preparation,
    settings: Settings,
    encoder: Encoder,
) -> Material:
    """Return the material with texts replaced by summaries, without the references that failed.

    Descriptions made of title words are not summarised. Raises CorpusError, SourceError and ModelError.
    """
    papers = gold_papers(gold, Path()).listed
    texts = {
        paper.id: " ".join(passage.text for passage in full.corpus.passages(paper.id)) for paper in papers
    }
    texts |= {section.key: section.about for section in gold if section.described_by != TITLE_WORDS}
    say(f"Summarising {len(texts):,} texts.")
    summaries = preparation.summarize_all(texts)
    summarized = tuple(
        replace(paper, abstract=summaries[paper.id]) for paper in papers if paper.id in summaries
    )
    corpus = ListedPapers(COLLECTION, summarized).build(settings, encoder)
    return Material(corpus, {**full.descriptions, **summaries})


def run_experiment(
    gold: Sequence[GoldSection],
    settings: Settings,
    encoder: Encoder,
    out: Path,
    writer: str,
    samples: int,
    judge_id: str,
    repeat: int = 1,
) -> Figures:
    """Run the experiment `repeat` times and return its figures; what `out` already has is not run again.

    Each run asks the writer and the judge anew. In the figures, "gold" counts the sections of all runs and
    "sections" those that a system finished, over which its ROUGE is computed; a system that finished none has
    a "problem". The judge marks the sections that all systems finished; "judged" counts them. Raises
    EvaluationError, CorpusError, SourceError and AssistantError.
    """
    papers = gold_papers(gold, out / "references")
    say(f"Indexing the {len(papers)} references of {len(gold)} sections.")
    corpus = papers.build(settings.model_copy(update={"home": out}), encoder)
    full = Material(corpus, {section.key: section.about for section in gold})
    runs: list[SectionRun] = []
    rows: list[TableRow] = []
    for number in range(1, repeat + 1):
        folder = out if number == 1 else out / f"run-{number}"
        judge = open_judge(judge_id, settings, replies_file(folder, judge_id)) if judge_id else None
        preparation = open_preparation(writer, settings, folder)
        rows = table_rows(writer, samples, settings, encoder, preparation)
        home = settings.model_copy(update={"home": folder / "summarized"})
        summarized = summarize_material(full, gold, preparation, home, encoder) if preparation else full
        compare = partial(compare_section, full, summarized, encoder, folder / "summaries")
        section_runs = [
            run_section(compare, section, rows, number, f"Run {number}, section {position} of {len(gold)}")
            for position, section in enumerate(gold, start=1)
        ]
        runs += [_add_marks(judge, run) if judge and not run.failed else run for run in section_runs]
    judged = [run for run in runs if run.marks]
    if judged and judged[0].systems.keys() >= set(PLOTTED.values()):
        # The marks of ChatCite and its ablations by quality, and their means (Figure 3).
        groups: dict[str, dict[str, list[float]]] = {}
        for marks, (title, name) in product((run.marks for run in judged if run.marks), PLOTTED.items()):
            system = marks.systems[name]
            overall = {} if system.overall is None else {"overall": system.overall}
            for quality, mark in {**system.means, **overall}.items():
                groups.setdefault(quality, {}).setdefault(title, []).append(mark)
        write_whole(out / "g-scores.svg", box_plot(groups, "G-Score, 1 to 5", 1, 5))
        say(f"The box plot of G-Scores is at {out / 'g-scores.svg'}.")
    return {
        "judge": judge_id,
        "runs": repeat,
        "described_by": dict(Counter(section.described_by for section in gold)),
        "gold": len(runs),
        "judged": len(judged),
        "rows": {row.name: {"note": row.note, **_figures(row.name, runs)} for row in rows},
    }


def _figures(system: str, runs: Sequence[SectionRun]) -> Figures:
    """Return a system's figures over the sections that it finished, or its problem if it finished none."""
    finished = [run for run in runs if system in run.systems]
    if not finished:
        return {"sections": 0, "problem": runs[-1].failed[system]}
    return {"sections": len(finished), **_spreads(system, finished)}


def _add_marks(judge: Judge, run: SectionRun) -> SectionRun:
    """Have a judge mark a section's summaries; return the run unchanged if no vote is valid."""
    try:
        marks = judge_summaries(judge, tuple(run.systems.values()), VOTES, run.section.text)
    except EvaluationError as error:
        say(f"Section {run.section.key} was not judged. {error}")
        return run
    for problem in marks.problems:
        say(f"Section {run.section.key}, a vote discarded: {problem}")
    return replace(run, marks=marks) if marks.discarded < marks.votes else run


def _spreads(system: str, finished: Sequence[SectionRun]) -> Figures:
    """Compute mean and standard deviation of a system's ROUGE and G-Score, None without scores.

    "of_runs" has the standard deviation between the means of runs, None for a single run.
    """
    scores: dict[str, dict[int, list[float]]] = {name: {} for name in (*OVERLAPS, "g_score")}
    for run in finished:
        section_scores: dict[str, float | None] = {**rouge(run.systems[system].text, run.section.text)}
        section_scores["g_score"] = run.marks.systems[system].overall if run.marks else None
        for name, score in section_scores.items():
            if score is not None:
                scores[name].setdefault(run.run, []).append(score)
    figures: dict[str, dict[str, float] | None] = {}
    of_runs: dict[str, float | None] = {}
    for name, by_run in scores.items():
        all_scores = [score for run_scores in by_run.values() for score in run_scores]
        means = [statistics.fmean(run_scores) for run_scores in by_run.values()]
        spread = (
            {"mean": statistics.fmean(all_scores), "deviation": statistics.pstdev(all_scores)}
            if all_scores
            else None
        )
        figures[name] = spread
        of_runs[name] = statistics.stdev(means) if len(means) > 1 else None
    return {"figures": figures, "of_runs": of_runs}
