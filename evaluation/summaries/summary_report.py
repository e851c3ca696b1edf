"""The commands on summaries: from files of comparisons to figures and tables, and from CORWA to weights."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.comparing import (
    Ablation,
    CallLedger,
    Compared,
    Comparer,
    Comparison,
    ComparisonRequest,
    ReflectiveGenerator,
    check_applicable,
    open_comparative_generator,
)
from assistant.records import AssistantError
from assistant.trail import comparison_from_json
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, SentenceEncoder
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, read_trail
from evaluation.judging import JudgeFigures, judge_table, open_judge
from evaluation.summaries.corwa import TAGS, read_sections_to_train_on
from evaluation.summaries.judge import DIMENSIONS, VOTES, judge_summaries
from evaluation.summaries.sentence_tags import Provenance, SentenceTagger, TagWeights, tag_weights
from evaluation.summaries.summary import (
    ROUGE,
    SummaryFigures,
    System,
    measure_summary,
    read_gold,
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be measured: files of comparisons, and what beside them; `judge` is "" for none."""

    comparisons: Sequence[Path]
    gold: Path | None = None
    judge: str = ""
    votes: int = VOTES
    without: Sequence[Ablation] = ()


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """The figures of all systems, the judge's where there is one, and how well sentences are tagged."""

    systems: dict[str, SummaryFigures]
    judged: JudgeFigures | None
    classifier: Provenance

    def to_json(self) -> dict[str, Any]:
        return {
            "systems": {name: asdict(figures) for name, figures in self.systems.items()},
            "judge": asdict(self.judged) if self.judged else None,
            "classifier": self.classifier,
        }


def summary_report(asked: Asked, say: Say) -> SummaryReport:
    """Measure comparisons; `say` is told what model calls will be made before they are.

    Raises EvaluationError, CorpusError and AssistantError.
    """
    settings = read_settings()
    gold = read_gold(asked.gold) if asked.gold else None
    if not asked.comparisons:
        raise EvaluationError("There is no comparison to measure. Give --comparison a file, or --table.")
    systems = read_systems(asked.comparisons)
    judge = open_judge(asked.judge, settings) if asked.judge else None
    weights = tag_weights()
    systems += tuple(_ablated(systems, asked.without, say))
    # What the weights were trained with, whatever the corpus has.
    tagger = SentenceTagger(weights.chain(), SentenceEncoder())
    figures = {one.name: measure_summary(one, tagger, gold) for one in systems}
    judged = None
    if judge:
        say(judge.calls_said(asked.votes))
        judged = judge_summaries(judge, systems, asked.votes, gold)
    return SummaryReport(figures, judged, weights.provenance)


def read_systems(paths: Sequence[Path]) -> tuple[System, ...]:
    """Return the comparisons of files under the files' names; raises EvaluationError."""
    systems: dict[str, System] = {}
    for path in paths:
        name = path.stem if path.stem not in systems else str(path)
        if name in systems:
            raise EvaluationError(f"The file {path} is given twice. Give each comparison once.")
        systems[name] = System(name, read_trail(path, "comparison", comparison_from_json))
    return tuple(systems.values())


def read_parts(names: Sequence[str]) -> tuple[Ablation, ...]:
    """Return the parts of the method that are to be left out, each once; raises EvaluationError."""
    parts: dict[str, Ablation] = {part: part for part in get_args(Ablation)}
    if unknown := [name for name in names if name not in parts]:
        raise EvaluationError(f"{unknown[0]!r} cannot be left out; one of {', '.join(parts)} can.")
    return tuple(dict.fromkeys(parts[name] for name in names))


def _ablated(systems: Sequence[System], without: Sequence[Ablation], say: Say) -> Iterator[System]:
    """Yield each comparison once more for each part left out; nothing runs before all are said."""
    if not without:
        return
    settings = read_settings()
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    plans = [plan_ablation(system, part, corpus, encoder, settings) for system in systems for part in without]
    for plan in plans:
        say(f"{plan.name}: {plan.calls:,} model calls at most.")
    for plan in plans:
        try:
            yield plan.run()
        except AssistantError as error:
            raise EvaluationError(f"{plan.name}: {error}") from error


@dataclass(frozen=True, slots=True)
class PlannedAblation:
    """A comparison without a part of the method, ready to run.

    `calls` is how many model calls it takes at most; those that the whole comparison made in the same words
    are not made again.
    """

    name: str
    calls: int
    comparer: Comparer
    request: ComparisonRequest
    whole: Comparison

    def run(self) -> System:
        """Compare; raises AssistantError."""
        ledger = CallLedger(self.whole.calls)
        # An id of its own is not needed: nothing of it is stored.
        for event in self.comparer.compare(self.request, ledger, self.whole.id):
            if isinstance(event, Compared):
                return System(self.name, event.comparison)
        raise EvaluationError(f"{self.name} ended without a summary.")


def plan_ablation(
    system: System, without: Ablation, corpus: Corpus, encoder: Encoder, settings: Settings
) -> PlannedAblation:
    """Return a comparison of the same papers by the same generator without a part; raises AssistantError."""
    whole = system.comparison
    if without in whole.options.without:
        raise EvaluationError(
            f"{system.name} was made without {without} already. Leave --without {without} out."
        )
    generator = open_comparative_generator(whole.provenance.generator, settings, encoder, whole.parameters)
    check_applicable(without, whole.options, reflects=isinstance(generator, ReflectiveGenerator))
    comparer = Comparer(corpus, encoder, generator)
    options = replace(whole.options, without=(*whole.options.without, without))
    request = ComparisonRequest(whole.paper_ids, whole.about, options)
    planned = comparer.plan(request)
    return PlannedAblation(
        f"{system.name}, without {without}", planned.budget.calls, comparer, request, whole
    )


def train(file: Path, weights_file: Path) -> TagWeights:
    """Train the classifier of sentences and write its weights; raises EvaluationError and CorpusError."""
    # Here, because scikit-learn takes seconds to import.
    from evaluation.summaries.train_tags import train_tags, write_tag_weights  # noqa: PLC0415

    weights = train_tags(read_sections_to_train_on(file), SentenceEncoder())
    write_tag_weights(weights, weights_file)
    return weights


def summary_tables(report: SummaryReport) -> Iterator[Table]:
    """Yield what people read: the figures, the tags, the classifier's own, and the judge's marks."""
    yield _figures_table(report)
    yield tags_table(report.classifier, report.systems)
    if report.judged:
        unmarked = len(report.judged.dimensions) < len(DIMENSIONS)
        notes = ("Without a gold text consistency is not marked.",) if unmarked else ()
        yield judge_table(report.judged, "G-Score", notes)


def _figures_table(report: SummaryReport) -> Table:
    """Return the figures of all systems, beside those of real sections where there are any."""
    columns = (Column(name, justify="right") for name in (*report.systems, "Real sections"))
    table = Table("What", *columns, box=SIMPLE_HEAD)
    found = tuple(report.systems.values())
    real = _figures_of(report.classifier, "real_sections")
    for name in ROUGE if any(one.rouge for one in found) else ():
        label = f"ROUGE-{name.removeprefix('rouge')} F1"
        table.add_row(label, *(f"{one.rouge[name]:.2f}" if one.rouge else "" for one in found))
    table.add_row("Citation recall", *(_share(one.citation_recall) for one in found))
    table.add_row("Citation precision", *(_share(one.citation_precision) for one in found))
    for label, name in _COMPARATIVE.items():
        table.add_row(label, *(_share(getattr(one, name)) for one in found), _share(real.get(name)))
    table.add_row("Papers covered", *(f"{one.papers_covered} of {one.papers}" for one in found))
    table.add_row("Sentences", *(str(one.sentences) for one in found))
    table.add_row("Words", *(f"{one.words:,}" for one in found))
    return table


_COMPARATIVE = {
    "Sentences that compare, by tag": "comparative_by_tag",
    "by citing two works or more": "comparative_by_count",
    "by either": "comparative",
}


def tags_table(classifier: Provenance, systems: Mapping[str, SummaryFigures] | None = None) -> Table:
    """Return how sentences were tagged, beside people's tags of real ones, and how far to rely on it."""
    systems = systems or {}
    names = (*systems, "Real sections", "F1 on papers held back")
    table = Table("Tag", *(Column(name, justify="right") for name in names), box=SIMPLE_HEAD)
    table.title = _reliability(classifier)
    real, each = _figures_of(classifier, "real_tags"), _figures_of(classifier, "held_out_f1")
    for tag in TAGS:
        shares = (_share(one.tags[tag]) for one in systems.values())
        table.add_row(tag, *shares, _share(real.get(tag)), _share(each.get(tag)))
    return table


def _reliability(classifier: Provenance) -> str:
    held = _figures_of(classifier, "held_out")
    labelled = _figures_of(classifier, "held_out_citing_by_labels")
    if not held or not labelled:
        return "Tags of sentences"
    return (
        f"Tags of sentences: on {held['sentences']:,.0f} sentences of {held['papers']:.0f} papers held back"
        f" macro-F1 {held['macro_f1']:.4f}, accuracy {held['accuracy']:.4f}"
        f" (always the commonest: {held['majority_macro_f1']:.4f}, {held['majority_accuracy']:.4f});"
        f" made to cite as we do {labelled['macro_f1']:.4f}, {labelled['accuracy']:.4f}"
    )


def _figures_of(classifier: Provenance, name: str) -> dict[str, float]:
    found = classifier.get(name)
    return {key: float(number) for key, number in found.items()} if isinstance(found, dict) else {}


def _share(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"
